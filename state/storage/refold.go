package storage

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	"remit/state"
)

// Refold is what a journal makes of a state, from its first event on. It holds every row in
// memory, packed.
type Refold struct {
	meta state.Meta
	rows packedRows
	runs map[string]state.Run

	jumps []state.Jump // in the order of the events
	at    time.Time    // of the event before
	err   error        // of the first event that broke a rule
}

// NewRefold returns what the empty journal makes.
func NewRefold() *Refold {
	return &Refold{rows: newPackedRows(), runs: make(map[string]state.Run)}
}

// Follow applies the next event of a journal, and returns it as a store keeps it. Its chain is
// not checked.
func (f *Refold) Follow(e state.Event) (StoredEvent, error) {
	l := StoredEvent{Event: e, Previous: f.rows.last(e.RefID)}
	if err := f.apply(l); err != nil {
		return StoredEvent{}, fmt.Errorf("%w: %w", state.ErrDamaged, err)
	}
	return l, nil
}

// Rows yields the rows, in the order of ref_id, as overlays of at most n of them.
func (f *Refold) Rows(n int) iter.Seq[*Overlay] {
	return func(yield func(*Overlay) bool) {
		for part := range slices.Chunk(f.rows.sorted(), n) {
			rows := NewOverlay(nil)
			for _, refID := range part {
				rows.Put(f.rows.row(refID))
			}
			if !yield(rows) {
				return
			}
		}
	}
}

// Verify reads a whole journal, as [state.Verify] does, and returns what it makes of the
// state. An event that breaks a rule is an error wrapped around [state.ErrDamaged].
func Verify(lines iter.Seq2[StoredEvent, error], head string) (*Refold, error) {
	again := NewRefold()
	var line StoredEvent
	events := func(yield func(state.Event, error) bool) {
		for l, err := range lines {
			if line = l; !yield(l.Event, err) {
				return
			}
		}
	}
	// Each line is applied once the chain has it.
	if err := state.VerifyEach(events, head, func(e state.Event, entry state.Entry) {
		if again.err != nil {
			return
		}
		draft, err := e.DraftOf(entry)
		if err == nil {
			err = again.applyDraft(line, draft)
		}
		again.err = err
	}); err != nil {
		return nil, err
	}
	if again.err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrDamaged, again.err)
	}
	return again, nil
}

func (f *Refold) apply(l StoredEvent) error {
	draft, err := l.Checked()
	if err != nil {
		return err
	}
	return f.applyDraft(l, draft)
}

func (f *Refold) applyDraft(l StoredEvent, draft state.Draft) (err error) {
	if to, ok := draft.Entry.(state.Rebound); ok && to.EnvironmentAfter != "" && f.rows.texts.Len() > 0 {
		return fmt.Errorf("event %d binds a state that has transfers to another environment", l.Seq)
	}
	if f.meta, err = f.meta.Apply(draft, l.Seq, l.Time); err != nil {
		return fmt.Errorf("event %d breaks a rule: %w", l.Seq, err)
	}
	f.meta.Head = l.Hash
	if back := f.at.Sub(l.Time); l.Seq > 1 && back > state.JumpMin {
		f.jumps = append(f.jumps, state.Jump{Seq: l.Seq, Back: back})
	}
	f.at = l.Time
	if last := f.rows.last(l.RefID); l.Previous != last {
		return fmt.Errorf("event %d names event %d as the one before it of its ref_id, which is %d", l.Seq, l.Previous, last)
	}
	switch l.Kind {
	case state.KindIntent, state.KindOutcome:
		t, err := f.rows.row(l.RefID).Apply(draft, l.Seq, l.Time)
		if err != nil {
			return fmt.Errorf("event %d breaks a rule: %w", l.Seq, err)
		}
		f.rows.put(Row{t, l.Seq})
	case state.KindBegun, state.KindEnded:
		if f.runs[l.RunID], err = f.runs[l.RunID].Apply(draft, l.Time); err != nil {
			return fmt.Errorf("event %d breaks a rule: %w", l.Seq, err)
		}
	case state.KindCreated, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked, state.KindErased:
	}
	return nil
}

// CompareJumps holds the stored jumps of the clock, the newest first, against those of the journal.
// The error is that of jumps, or names the first event at which they differ and is wrapped around
// [state.ErrDamaged].
func (f *Refold) CompareJumps(jumps iter.Seq2[state.Jump, error]) error {
	left := f.jumps
	for jump, err := range jumps {
		if err != nil {
			return err
		}
		last := len(left) - 1
		switch {
		case last < 0 || jump.Seq > left[last].Seq:
			return fmt.Errorf("a jump of the clock is stored at event %d, where its journal has none: %w", jump.Seq, state.ErrDamaged)
		case jump.Seq < left[last].Seq:
			return fmt.Errorf("the jump of the clock at event %d is missing: %w", left[last].Seq, state.ErrDamaged)
		case jump.Back != left[last].Back:
			return fmt.Errorf("the jump of the clock at event %d is stored as %s and is %s: %w", jump.Seq, jump.Back, left[last].Back, state.ErrDamaged)
		}
		left = left[:last]
	}
	if len(left) > 0 {
		return fmt.Errorf("the jump of the clock at event %d is missing: %w", left[len(left)-1].Seq, state.ErrDamaged)
	}
	return nil
}

// Compare compares the stored rows with those that the journal makes, and can be called once.
// The error is that of rows, or names the first thing that differs and is wrapped around
// [state.ErrDamaged].
func (f *Refold) Compare(meta state.Meta, rows iter.Seq2[Row, error], runs []state.Run) error {
	// The lock's own, and facts beside the journal: in no event.
	f.meta.Fence, f.meta.Lacks, f.meta.Forked, f.meta.Elsewhere = meta.Fence, meta.Lacks, meta.Forked, meta.Elsewhere
	f.meta.Restored, f.meta.Told = meta.Restored, meta.Told
	if meta != f.meta {
		return fmt.Errorf("what the state says of itself is not what its journal makes of it: %w", state.ErrDamaged)
	}
	for r, err := range rows {
		if err != nil {
			return err
		}
		if !f.rows.has(r) {
			return fmt.Errorf("the row of ref_id %q is not what its events make of it: %w", r.RefID, state.ErrDamaged)
		}
		f.rows.remove(r.RefID)
	}
	if missing, isThere := f.rows.least(); isThere {
		return fmt.Errorf("the row of ref_id %q is missing: %w", missing, state.ErrDamaged)
	}
	for _, run := range runs {
		if !reflect.DeepEqual(run, f.runs[run.Begun.RunID]) {
			return fmt.Errorf("run %q is not what its events make of it: %w", run.Begun.RunID, state.ErrDamaged)
		}
		delete(f.runs, run.Begun.RunID)
	}
	if missing := slices.Sorted(maps.Keys(f.runs)); len(missing) > 0 {
		return fmt.Errorf("run %q is missing: %w", missing[0], state.ErrDamaged)
	}
	return nil
}
