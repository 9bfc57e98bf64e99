// Package storage is what every store of a state is made of, whatever it keeps its bytes in:
// calls that share a commit, the stage on which their entries are tried before they are
// written, and the journal folded anew to prove the stored rows.
//
// Its one invariant: what a commit writes is decided by package state alone, on the rows as
// the storage has them inside of that commit.
package storage

import (
	"fmt"
	"strings"
	"time"

	"remit/state"
)

// Row is what the rows of a store know of a ref_id.
type Row struct {
	state.Transfer
	Last int64 // the newest event that is in it
}

// sharedIDSep separates, in the column of ids, an id that the record of another transfer has as well from its own
// ref_id: the column is unique.
const sharedIDSep = "\x1e"

// StoredID is what the column of ids has of the row.
func (r *Row) StoredID() string {
	if r.SharesID {
		return r.RecordID + sharedIDSep + r.RefID
	}
	return r.RecordID
}

// ReadID sets what [Row.StoredID] wrote. The row has its ref_id already.
func (r *Row) ReadID(stored string) {
	r.RecordID, r.SharesID = strings.CutSuffix(stored, sharedIDSep+r.RefID)
}

// StoredEvent is an event as a store keeps it.
type StoredEvent struct {
	state.Event
	Previous int64 // the event before it of the same ref_id; 0 where there is none
}

// Checked is the draft of a line that says what its fields say, and [state.ErrDamaged] otherwise. Of
// rows that were read from a disk nothing else may be applied.
func (l StoredEvent) Checked() (state.Draft, error) {
	draft, err := l.Draft()
	if err != nil {
		return draft, fmt.Errorf("%w: %w", state.ErrDamaged, err)
	}
	if refID, runID := draft.Entry.Subject(); draft.Entry.Kind() != l.Kind || refID != l.RefID || runID != l.RunID {
		return draft, fmt.Errorf("event %d: its payload is of another ref_id or run: %w", l.Seq, state.ErrDamaged)
	}
	return draft, nil
}

// ApplyRun is [state.Run.Apply] for a line that was read.
func ApplyRun(run state.Run, l StoredEvent) (state.Run, error) {
	if l.Kind != state.KindBegun && l.Kind != state.KindEnded {
		return run, fmt.Errorf("event %d, which a run names, is of kind %q: %w", l.Seq, l.Kind, state.ErrDamaged)
	}
	draft, err := l.Checked()
	if err != nil {
		return run, err
	}
	next, err := run.Apply(draft, l.Time)
	if err != nil {
		return run, fmt.Errorf("event %d: %w: %w", l.Seq, state.ErrDamaged, err)
	}
	return next, nil
}

// ApplyRow is [state.Transfer.Apply] for a line that was read, on the row as it was before.
func ApplyRow(r Row, l StoredEvent) (Row, error) {
	if l.Kind != state.KindIntent && l.Kind != state.KindOutcome {
		return r, fmt.Errorf("event %d, of ref_id %q, is of kind %q: %w", l.Seq, l.RefID, l.Kind, state.ErrDamaged)
	}
	draft, err := l.Checked()
	if err != nil {
		return r, err
	}
	next, err := r.Apply(draft, l.Seq, l.Time)
	if err != nil {
		return r, fmt.Errorf("event %d breaks a rule: %w: %w", l.Seq, state.ErrDamaged, err)
	}
	return Row{next, l.Seq}, nil
}

// Tip is what a writer starts from: the state's word on itself.
type Tip struct{ state.Meta }

// Next makes the event of draft after t: numbered, dated as the clock has it, and chained.
func (t Tip) Next(draft state.Draft, now time.Time) state.Event {
	refID, runID := draft.Entry.Subject()
	e := state.Event{
		Seq: t.Serial + 1, Time: now.UTC().Truncate(time.Millisecond),
		Kind: draft.Entry.Kind(), RefID: refID, RunID: runID, Data: draft.Data,
	}
	e.Hash = e.Chain(t.Head)
	return e
}

// First makes a state: what it says of itself after its first event, and that event.
func First(created state.Created, now time.Time) (state.Meta, StoredEvent, error) {
	draft, err := state.NewDraft(created)
	if err != nil {
		return state.Meta{}, StoredEvent{}, err
	}
	e := Tip{}.Next(draft, now)
	meta, err := state.Meta{}.Apply(draft, e.Seq, e.Time)
	if err != nil {
		return state.Meta{}, StoredEvent{}, err
	}
	meta.Head = e.Hash
	return meta, StoredEvent{Event: e}, nil
}
