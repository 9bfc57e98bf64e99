// Package storage is what every store of a state is made of, whatever it keeps its bytes in:
// calls that share a commit, the stage on which their entries are tried before they are
// written, and the journal folded anew to prove what is stored.
//
// Its one invariant: what a commit writes is decided by package state alone, on the rows as
// the storage has them inside of that commit.
package storage

import (
	"time"

	"remit/state"
)

// Row is what the rows of a store know of a ref_id.
type Row struct {
	state.Transfer
	Last int64 // the newest event that is in it
}

// Line is an event as a store keeps it.
type Line struct {
	state.Event
	Previous int64 // the event before it of the same ref_id; 0 where there is none
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
func First(created state.Created, now time.Time) (state.Meta, Line, error) {
	draft, err := state.NewDraft(created)
	if err != nil {
		return state.Meta{}, Line{}, err
	}
	e := Tip{}.Next(draft, now)
	meta, err := state.Meta{}.Apply(draft, e.Seq, e.Time)
	if err != nil {
		return state.Meta{}, Line{}, err
	}
	meta.Head = e.Hash
	return meta, Line{Event: e}, nil
}
