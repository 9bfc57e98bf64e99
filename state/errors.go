package state

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of an entry that can't be appended. Nothing was written where one of these is returned;
// they are wrapped with the ref_id.
var (
	// ErrRecorded says that the ref_id has a record or a conflict already: it is never
	// sent again.
	ErrRecorded = errors.New("a record or a conflict is stored already")

	// ErrDifferent says that the ref_id is in doubt and was intended with another
	// operation, path or body: every attempt repeats the recorded bytes (law 2).
	ErrDifferent = errors.New("it was intended with another request, which may have been made")

	// ErrTombstone says that a person settled the ref_id for good.
	ErrTombstone = errors.New("it was closed as not made, or forgotten")

	// ErrNoAttempt says that an answer came for an attempt that is not open, or that is
	// of another run, or that something was said of a ref_id without a request.
	ErrNoAttempt = errors.New("there is no open attempt that this could settle")

	// ErrRun says that a run was begun twice, or ended without having begun or twice.
	ErrRun = errors.New("the run was begun already, was never begun, or has ended")
)

// Errors of a state that can't be used.
var (
	// ErrFenced says that the lock was taken away: nothing was written and nothing may be
	// sent.
	ErrFenced = errors.New("the lock of the state was taken away")

	// ErrTakenForLost says that a runner that shares a run showed no sign of life for longer than
	// its lease, and that the others go on without it. It comes with ErrFenced.
	ErrTakenForLost = errors.New("this runner showed no sign of life for longer than its lease, and the other runners go on without it")

	// ErrUnlocked says that a journal was used after its Unlock.
	ErrUnlocked = errors.New("the journal is unlocked")

	// ErrMissing says that there is no state where it should be.
	ErrMissing = errors.New("there is no state")

	// ErrExists says that a state, or the rest of one, is where a new one should be.
	ErrExists = errors.New("there is something already")

	// ErrEmpty says that there is a file without a state in it.
	ErrEmpty = errors.New("the state is empty")

	// ErrForeign says that there is something that is not a state of remit.
	ErrForeign = errors.New("this is not a state of remit")

	// ErrNotFile says that a directory, or something else that is no file, is where the file of a
	// state should be.
	ErrNotFile = errors.New("it is not a file")

	// ErrNoAccess says that the system or the server denied the person who runs remit the operation
	// on the state.
	ErrNoAccess = errors.New("access to the state was denied")

	// ErrNoRoom says that there is no room to write.
	ErrNoRoom = errors.New("there is no room for what is to be written")

	// ErrNewer says that a newer remit wrote the state.
	ErrNewer = errors.New("the state was written by a newer version of remit")

	// ErrOlder says that the state must be migrated first, which happens under the lock.
	ErrOlder = errors.New("the state was written by an older version of remit and is migrated by the next apply")

	// ErrDamaged says that the storage contradicts itself.
	ErrDamaged = errors.New("the state is damaged")

	// ErrBusy says that another process is in the middle of a commit and does not finish it.
	// A commit can't be taken away from it, only ended with it, which loses nothing.
	ErrBusy = errors.New("another process is in the middle of a commit and does not finish it")

	// ErrLost says that the connection on which the lock is held broke: another may have the
	// lock by now, so nothing is written and nothing may be sent.
	ErrLost = errors.New("the connection that holds the lock of the state was lost")

	// ErrAway says that the server of the state went away, or ended what was asked of it. What was appended before is
	// there once it is back, or another server that has everything is in its place.
	ErrAway = errors.New("the server of the state is away")

	// ErrLinked says that the file of a state has more than one name (hard links). Beside each of
	// them there would be another log of the last writes.
	ErrLinked = errors.New("the file of the state has more than one name (hard link)")

	// ErrMounted says that the file of a state is mounted by itself, without the files beside it.
	ErrMounted = errors.New("the file of the state is mounted by itself, without the files beside it")

	// ErrNoLocks says that a lock on the file of a state would not keep others out.
	ErrNoLocks = errors.New("a lock on the file of the state would not keep others out")

	// ErrReplaced says that another file was put in the place of an open state.
	ErrReplaced = errors.New("the file of the state was replaced or removed while it was in use")
)

// TakenError is an [ErrFenced] of which it is known who has the lock since.
type TakenError struct {
	By     Holder // who took it away by force, or else has locked since; the zero value where that is unknown
	Reason string // of who took it away by force; "" where nobody did
}

// Error is that of [ErrFenced]: every store says the same.
func (e *TakenError) Error() string { return ErrFenced.Error() }

// Unwrap returns [ErrFenced].
func (e *TakenError) Unwrap() error { return ErrFenced }

// LockedError says that someone else holds the lock.
type LockedError struct {
	Holder Holder // the zero value where the lock does not say
}

// Error names who, where and what.
func (e *LockedError) Error() string {
	if e.Holder == (Holder{}) {
		return "the state is locked by someone unknown"
	}
	h := e.Holder
	return fmt.Sprintf("the state is locked by %s on %s (process %d, %q, since %s)",
		h.User, h.Host, h.PID, h.Command, h.Since.UTC().Format("2006-01-02T15:04:05Z"))
}

// Arriving is the [MovedError.To] of a state that is still being moved to where it is.
const Arriving = "here, and the move was not finished"

// MovedError says that a state was moved to another place, and is not used where it is.
type MovedError struct {
	To   string // in words
	Mark string // the file that says so, of a state that does not say so itself; "" else
}

// Error names the place.
func (e *MovedError) Error() string { return "the state was moved to " + e.To }

// DuplicateRecordError says that a record's id is stored under another ref_id.
type DuplicateRecordError struct {
	RecordID string
	RefID    string // under which it is stored
}

// Error names the record and its owner.
func (e *DuplicateRecordError) Error() string {
	return fmt.Sprintf("the record %q is stored under ref_id %q", e.RecordID, e.RefID)
}

// DuplicateGroupError says that a record's group_id is that of the transfer of another ref_id. The
// service links the two sides of one transfer by it, so one of both records is not what it says.
type DuplicateGroupError struct {
	GroupID string
	RefID   string // of the other transfer
	Asked   string // the ref_id whose record was not taken
}

// Error names the group_id and its owner.
func (e *DuplicateGroupError) Error() string {
	return fmt.Sprintf("the group_id %q is that of ref_id %q", e.GroupID, e.RefID)
}

// CustomerError says that a record is of another customer than the first record of the
// state: it comes from another service, or from another account of it.
type CustomerError struct {
	Want string // of the first record
	Got  string
}

// Error names both.
func (e *CustomerError) Error() string {
	return fmt.Sprintf("the record is of customer %q, the state of customer %q", e.Got, e.Want)
}

// EdgeError says that an outcome is not one that its source may give to a ref_id in its
// status: there is no such edge in [Edges].
type EdgeError struct {
	RefID  string
	From   Status // zero where the ref_id was never intended
	Source Source
	Says   Status
}

// Error names the edge that is missing.
func (e *EdgeError) Error() string {
	from := "unknown"
	if e.From != 0 {
		from = e.From.String()
	}
	return fmt.Sprintf("ref_id %q is %s: the source %q cannot make it %s", e.RefID, from, e.Source, e.Says)
}

// Mismatch is one thing in which a state is not the expected one.
type Mismatch struct {
	Field string // "environment", "lineage", "base_url", "operator", "client_id", "token_url", "customer_id"
	Have  string // of the state
	Want  string
}

// MismatchError says that a state is not the expected one: of another environment, lineage
// or service.
type MismatchError struct {
	Mismatches []Mismatch // at least one, in the order of Mismatch.Field's list
}

// Error names all that differs.
func (e *MismatchError) Error() string {
	parts := make([]string, len(e.Mismatches))
	for i, m := range e.Mismatches {
		parts[i] = fmt.Sprintf("its %s is %q, expected is %q", m.Field, m.Have, m.Want)
	}
	return "this is another state: " + strings.Join(parts, "; ")
}

// HeadError says that a journal without a break has no event with a hash that was kept
// elsewhere: it was cut off or written anew, or the hash is of another journal.
type HeadError struct {
	Head   string
	Events int64 // how many the journal has
}

// Error names the hash.
func (e *HeadError) Error() string {
	return fmt.Sprintf("none of its %d events has the hash %s: the journal was cut off or written anew", e.Events, e.Head)
}

// ChainError says where a journal breaks.
type ChainError struct {
	Seq    int64  // the first event that is wrong
	Reason string // in words
}

// Error names the event.
func (e *ChainError) Error() string {
	return fmt.Sprintf("event %d: %s", e.Seq, e.Reason)
}

// FullError says that a volume has too little room left to begin a run or a payment there: attempts under way need the rest to be
// recorded. Nothing was written, and the journal is sound. It is an [ErrNoRoom].
type FullError struct {
	Name         string // of the state
	Free, Needed int64  // bytes
}

// Error says how much room there is, how much is needed, and how to get it.
func (e *FullError) Error() string {
	const kib = 1 << 10
	return fmt.Sprintf("the volume of the state %s has %d KiB free, and remit needs %d KiB to begin a payment and to record it. Make room there, by anything but the state's own files, or make the volume larger",
		e.Name, e.Free/kib, (e.Needed+kib-1)/kib)
}

// Is reports whether it is the target: an [ErrNoRoom].
func (e *FullError) Is(target error) bool { return target == ErrNoRoom }
