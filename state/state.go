// Package state is the record of submitted transfers: its types, the life of a transfer, and
// the contract that every store fulfils.
//
// Its one invariant: the journal of events is the truth and only grows; the row of a ref_id
// is what [Transfer.Apply] makes of its events, in order, and nothing else.
package state

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
)

// Status is what the state knows of a ref_id.
type Status uint8

// The states of a ref_id, as docs/states.md explains them. A ref_id that was never intended
// has the zero Status.
const (
	Unsent     Status = iota + 1 // every attempt provably wrote nothing
	InDoubt                      // an attempt without a known outcome, or not yet answered
	Recorded                     // the service's record is stored and agrees
	Adopted                      // the same, by a record that this state did not create
	Unverified                   // adopted without an own earlier intent, destination unproven
	Refused                      // the service said no, after no doubt
	Conflict                     // asked and answered do not agree; the answer is kept
	Tombstone                    // a person settled it as not made, or forgot it: never sent again
)

// Transfer is the row of one ref_id: what a plan needs of a million of them at once. Its
// request, record and reasons are in a [Detail].
type Transfer struct {
	RefID       string
	Status      Status
	Fingerprint transfer.Fingerprint // of the request in force; zero where it was imported without one
	Twin        transfer.Twin
	Destination transfer.Destination

	// RequestDigest stands for the bytes of the request in force, which every further
	// attempt repeats (law 2).
	RequestDigest RequestDigest

	Asset     string
	Amount    transfer.Amount
	FromLabel bool // its ref_id is the label of its block

	// Doubted says that an attempt before the latest one is in doubt: an answer to the
	// latest settles only that one (law 3).
	Doubted bool

	RecordID     string                // the service's id; "" without a record
	SharesID     bool                  // a person accepted that the record of another transfer has that id: else it is unique in a state
	GroupID      string                // the service's link of both sides, by the record or by a list
	RecordStatus transfer.RecordStatus // the service's own status; "" without a record

	IntendedAt  time.Time // first intent of the request in force
	AttemptedAt time.Time // latest intent
	SettledAt   time.Time // latest outcome; zero while the latest attempt has none

	RunID      string // run of the latest attempt
	IntentSeq  int64  // event with the request in force; 0 where it was imported without one
	OutcomeSeq int64  // event with the latest outcome of that request; 0 where there is none
}

// Open reports whether the latest attempt has no outcome: its run is in flight, or died.
func (t Transfer) Open() bool { return t.Status == InDoubt && t.SettledAt.IsZero() }

// IsListed reports whether all that the state has in place of a record is what a list says:
// see [Listed].
func (t Transfer) IsListed() bool { return t.RecordID == "" && t.GroupID != "" }

// MayBeMade reports whether the service made the transfer or may have made it, a forgotten
// one of which the record is known included, and did not say that it FAILED: what a
// look-alike is compared with.
func (t Transfer) MayBeMade() bool { return t.Outline().MayBeMade() }

// Detail is all that the state knows of one ref_id.
type Detail struct {
	Transfer
	Intent  Intent   // the request in force; with its DisplayName, where the state has one
	Outcome *Outcome // the latest; nil where there is none
}

// KeepsAnothers reports whether the record that a conflict kept is, by its ref_id, its id or its kind, that of another transfer: this one
// has none yet.
func (d *Detail) KeepsAnothers() bool {
	return d.Status == Conflict && d.RecordID == "" && d.Outcome != nil && slices.ContainsFunc(d.Outcome.Differences, transfer.Difference.IsOfAnother)
}

// KeepsForeign reports whether all that a conflict kept is money that came in, which is no side of the transfer: see [transfer.IsForeign].
func (d *Detail) KeepsForeign() bool {
	return d.KeepsAnothers() && slices.ContainsFunc(d.Outcome.Differences, transfer.Difference.IsForeign)
}

// Unread is why nobody can tell whether what a lookup or an export lists is the record of a doubt; "" where
// there is no such thing. It is the only lookup without a record that leaves a doubt.
func (d *Detail) Unread() string {
	o := d.Outcome
	if d.Status != InDoubt || d.Open() || o == nil || o.Source != SourceLookup || o.Status != InDoubt || len(o.Records) > 0 {
		return ""
	}
	return o.Reason
}

// Meta is what a state says of itself.
type Meta struct {
	Lineage     string // a UUID, made with the state, never changed
	Serial      int64  // number of the newest event
	Environment string
	Service     Identity
	Fence       int64  // grows with each lock
	Head        string // hash of the newest event, hexadecimal
	Precheck    bool   // made by init --new-state: look up before first sending
	CreatedAt   time.Time
	At          time.Time // of the newest event, as its writer's clock had it

	// Lacks is the number of an event that was durable in this state and that it does not have, as an older
	// copy of it does not; 0 where no such event is known of.
	Lacks int64
	// Forked says that the copy which has that event lacks some of this one, or of a third: several were written to.
	Forked bool
	// Elsewhere says that the event was written under another path: this one is a copy, or was moved by hand, and a payment was begun there since.
	Elsewhere bool
	// Restored says that a dump of the state was restored: its tables or rows are not those in which it was written
	// last, and events that were written there after the dump are not in it. Which, nothing says.
	Restored bool
	// Told says that Lacks is written in the state itself, where every machine reads it, see [Witness] and [Successor].
	Told bool
}

// allEvents is the Lacks of a state that was made in place of one that is gone: its first event, which no state lacks
// otherwise.
const allEvents = 1

// LacksAll reports whether the state was made in place of one that is gone, and nobody has said since that all that was sent
// from that is in it.
func (m Meta) LacksAll() bool { return m.Lacks == allEvents }

// LackAll is the event that a note names of such a state; see [Successor].
func LackAll() (seq int64, hash string) { return allEvents, strings.Repeat("0", 2*sha256.Size) }

// MayLack reports whether events are known to be missing in the state, or may be.
func (m Meta) MayLack() bool { return m.Lacks > 0 || m.Restored }

// Identity names a service, so that a record of one is never taken for that of another.
type Identity struct {
	BaseURL    string `json:"base_url"` // normalised: lower-case scheme and host, no default port, no trailing slash
	Operator   string `json:"operator"`
	ClientID   string `json:"client_id"`
	TokenURL   string `json:"token_url,omitempty"`   // where tokens come from: scheme, host and port; "" for those of BaseURL
	CustomerID string `json:"customer_id,omitempty"` // of the first record; "" before it
}

// Holder says who holds a lock.
type Holder struct {
	RunID   string    `json:"run_id,omitempty"`
	Command string    `json:"command"`
	User    string    `json:"user"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Version string    `json:"version"`
}

// Store is a state that is open.
type Store interface {
	// Snapshot reads the state as it is now, unchanged by later writes. It takes no lock
	// and writes nothing. The caller closes it.
	Snapshot(ctx context.Context) (Snapshot, error)

	// Lock makes the caller the only writer, until Unlock or its death. It waits up to
	// wait for another holder, then returns a *LockedError that names them.
	Lock(ctx context.Context, holder Holder, wait time.Duration) (Journal, error)

	// ForceUnlock takes the lock away from a holder that can't be reached: its writes and
	// its checks fail from now on with [ErrFenced]. It journals who did it and why, and what clocks
	// said before it; a store that has a server adds that one's. It returns
	// *[MovedError], and writes nothing, where the state was moved away.
	ForceUnlock(ctx context.Context, by Holder, clocks Clocks, reason string) error

	// Close releases what the store holds open. A journal must be unlocked before.
	Close() error
}

// Snapshot is one consistent view of a state.
type Snapshot interface {
	Meta() Meta

	// Holder says who holds the lock now, if anyone alive does.
	Holder() (Holder, bool)

	// Transfers yields the row of every ref_id, in byte order of ref_id.
	Transfers(ctx context.Context) iter.Seq2[Transfer, error]

	// Outlines yields the [Transfer.Outline] of every row, in the same order, for less than
	// Transfers costs. The texts of one are parts of a larger one: a caller who keeps some
	// of many clones them.
	Outlines(ctx context.Context) iter.Seq2[Outline, error]

	// Details returns the details of the given ref_ids, in their order, without those
	// that the state does not know.
	Details(ctx context.Context, refIDs ...string) ([]Detail, error)

	// Events yields the journal after the given number, of one ref_id or, with "", all.
	Events(ctx context.Context, after int64, refID string) iter.Seq2[Event, error]

	// Runs yields every run, the newest first.
	Runs(ctx context.Context) iter.Seq2[Run, error]

	// Jumps yields every event whose time lies more than [JumpMin] before that of the event
	// before it, the newest first.
	Jumps(ctx context.Context) iter.Seq2[Jump, error]

	// Clocks yields every event of a [ClockConfirmed], the newest first.
	Clocks(ctx context.Context) iter.Seq2[Event, error]

	// Told yields every outcome that came by a person's word, the newest first. It costs nothing where there
	// is none.
	Told(ctx context.Context) iter.Seq2[Event, error]

	// Names yields every display name that the state has, in the order of the events with which they
	// came: one for each ref_id and each request of it that had one. It costs nothing where there is none.
	Names(ctx context.Context) iter.Seq2[Name, error]

	Close() error
}

// Journal writes to a locked state.
type Journal interface {
	Snapshot(ctx context.Context) (Snapshot, error)

	// Append makes entries durable, all or none, in their order, and returns when they
	// are. Concurrent calls share commits. Nothing is written where
	//
	//   - an entry is not one that [NewDraft] and [Draft.CheckShortcomings] accept, or breaks a rule of
	//     [Transfer.Apply], [Meta.Apply] or [Run.Apply]: that error is returned;
	//   - a record's id is stored under another ref_id: *[DuplicateRecordError];
	//   - a record is called recorded or adopted, and its group_id is that of another ref_id, which no
	//     person has accepted: *[DuplicateGroupError];
	//   - the lock was taken away: [ErrFenced]; the journal was unlocked: [ErrUnlocked];
	//   - ctx ended before a commit took the entries up: its error.
	//
	// The first three are about these entries alone; others, and other calls, go on. On any
	// other error the caller must assume that the entries may or may not be durable, and
	// stop; the journal then refuses everything else with the same error.
	Append(ctx context.Context, entries ...Entry) error

	// Check returns ErrFenced where the lock was taken away. It is the check that the
	// start of a request needs.
	Check(ctx context.Context) error

	// Unlock waits for commits under way and lets the next one lock. The journal can't be
	// used any more, even where it returns an error, such as ErrFenced.
	Unlock() error
}

// Losable is a [Journal] with a lock that does not always live as long as its holder: a server lets
// go of it when a connection ends, at a restart of its own as well. So a lock that is free says of
// who had it that they write nothing any more, and not that they have no request under way.
type Losable interface {
	IsLosable() bool
}

// Replicated is a [Journal] on a server whose place another server may take, which may lack what was written last.
type Replicated interface {
	// Newest is the number and the hash of the newest event that this journal knows to be durable. It is asked of a
	// journal that failed, once that is unlocked.
	Newest() (seq int64, hash string)

	// IsShared reports whether other runners appended to it as well. Newest need not know their last events.
	IsShared() bool
}

// Returning is a [Store] on such a server, which may have gone away and be back.
type Returning interface {
	// Return compares the server, as it is now, with the one on which a journal was.
	Return(ctx context.Context, before Replicated) (Return, error)
}

// Return says what became of a server.
type Return struct {
	Anew    bool // it has started anew since, or another one is in its place: no session of then is left
	MayLack bool // another one is in its place, and some commit of then waited for no copy: what others appended may be missing
}

// Placed is a [Journal] of a state in a file. Its lock is the kernel's, on that very file: who has it
// has seen every holder release it that locked the same file under the same kernel.
type Placed interface {
	Place() FilePlace
}

// Completer is a [Journal] of a state that an older copy of it can replace.
type Completer interface {
	// Complete says that a person has brought in the missing events where [Meta.MayLack]: from now on the
	// state lacks nothing. The journal must have been written to before, or nothing was missing.
	Complete() error
}

// Noting is a [Journal] that notes outside of the state which event was its newest.
type Noting interface {
	// Unnoted are the notes that could not be brought up to date last. It may be called after Unlock.
	Unnoted() []Unnoted
}

// Unnoted is a note that could not be brought up to date: it names an earlier event, or none.
type Unnoted struct {
	Path      string
	IsMissing bool // there is no such file
	Err       error
}

// Successor is a [Journal] of a state that was made in place of one that is gone.
type Successor interface {
	// LackAll says that the state has nothing of what the other one had: [Meta.LacksAll], until it is complete.
	LackAll(ctx context.Context) error
}

// Witness is a [Journal] of a state that several machines use, each of which may know of events that the others do not.
type Witness interface {
	// TellLack has every machine know that the state lacks an event: [Meta.Lacks] names one, until the state is complete.
	TellLack(ctx context.Context, seq int64) error
}

// Detailed is what [AllDetails] reads; a [Snapshot] is one.
type Detailed interface {
	Transfers(ctx context.Context) iter.Seq2[Transfer, error]
	Details(ctx context.Context, refIDs ...string) ([]Detail, error)
}

// Detailer is a [Snapshot] that need not look up again the rows that its Transfers has yielded.
type Detailer interface {
	// DetailsOf returns what Details would return of the ref_ids of rows. The rows must be of this very snapshot.
	DetailsOf(ctx context.Context, rows []Transfer) ([]Detail, error)
}

// Copied is a [Snapshot] of a state in a file.
type Copied interface {
	// CopyOf returns the newest run where that has not ended and used another file: then this file
	// is a copy, and that run may go on elsewhere. It reports false for any other state. Where a
	// file was moved to another disk it is wrong about that.
	CopyOf(ctx context.Context) (Run, bool, error)
}

// Timekeeper is a [Journal] or a [Snapshot] on a server that has a clock of its own.
type Timekeeper interface {
	// ServerTime is what that clock says now.
	ServerTime(ctx context.Context) (time.Time, error)
}

// Mover is a [Journal] whose state can be moved to another place.
type Mover interface {
	// Move is Unlock, and leaves the state marked as moved: neither Lock nor Snapshot, but
	// Verify alone, takes it from then on; both return *[MovedError]. On an error the state may
	// or may not be marked, and is unlocked.
	Move(ctx context.Context, to string) error
}
