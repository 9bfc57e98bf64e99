package storage

import (
	"fmt"
	"slices"

	"remit/state"
)

// NewestMax is how many of the newest events are compared with their rows whenever a
// state is opened.
const NewestMax = 16

// Newest is the end of a journal and what the state has folded of it. Its size does not grow with
// the state.
type Newest struct {
	Meta   state.Meta
	Folded int64            // the last event that is marked as being in its row
	AtOnce bool             // each commit folds what it appends: the mark is never behind
	Lines  []StoredEvent    // the [NewestMax] newest events, in their order
	Behind []StoredEvent    // the newest one of a transfer and that of a run before Lines, of the [BehindMax] there
	Rows   map[string]int64 // the newest event that the row has, by the ref_id, of those in Lines and Behind
	Runs   map[string]RunAt // by ID, of those in Lines and Behind; and the run that began last
	Last   []StoredEvent    // the events that the run that began last names, in their order
}

// BehindMax is in how many events before the [NewestMax] newest ones the newest one of a transfer and the
// newest one of a run are looked for.
const BehindMax = 1024

// RunAt says which events a state names as the beginning and the end of a run; 0 for none.
type RunAt struct{ Begun, Ended int64 }

// Check refuses a state of which the parts do not go together, wrapped around [state.ErrDamaged]:
// the newest events must be chained, no row and no run may know of a later event, and those that
// are marked as folded must be in their rows. Each opening of a state calls it; the Verify of a
// store reads all.
func (n *Newest) Check() error {
	if n.Folded > n.Meta.Serial || n.AtOnce && n.Folded < n.Meta.Serial {
		return apart("its rows are marked as having event %d, and its journal ends with event %d", n.Folded, n.Meta.Serial)
	}
	if err := n.checkChain(); err != nil {
		return err
	}
	for _, l := range slices.Concat(n.Behind, n.Lines) {
		if err := n.checkFolded(l); err != nil {
			return err
		}
	}
	if err := n.checkService(); err != nil {
		return err
	}
	return n.checkLastRun()
}

// checkChain wants as many events as the journal has, up to [NewestMax] of them, without a gap.
func (n *Newest) checkChain() error {
	if want := min(n.Meta.Serial, NewestMax); int64(len(n.Lines)) != want {
		return apart("of its %d newest events it has %d", want, len(n.Lines))
	}
	for i, l := range n.Lines {
		switch {
		case l.Seq != n.Meta.Serial-int64(len(n.Lines)-1-i):
			return apart("event %d follows event %d", l.Seq, n.Lines[max(i-1, 0)].Seq)
		case i > 0 && l.Hash != l.Chain(n.Lines[i-1].Hash):
			return apart("event %d does not follow from event %d", l.Seq, l.Seq-1)
		}
	}
	return nil
}

// checkFolded holds an event against the row, or the run, that it is about.
func (n *Newest) checkFolded(l StoredEvent) error {
	switch l.Kind {
	case state.KindIntent, state.KindOutcome:
		switch at := n.Rows[l.RefID]; {
		case at > n.Meta.Serial:
			return apart("the row of ref_id %q has event %d, and the journal ends with event %d", l.RefID, at, n.Meta.Serial)
		case l.Seq <= n.Folded && at < l.Seq:
			return apart("the row of ref_id %q lacks event %d, which is marked as folded", l.RefID, l.Seq)
		}
	case state.KindBegun:
		if n.Runs[l.RunID].Begun != l.Seq {
			return apart("run %q does not name event %d", l.RunID, l.Seq)
		}
	case state.KindEnded:
		if n.Runs[l.RunID].Ended != l.Seq {
			return apart("run %q does not name event %d", l.RunID, l.Seq)
		}
	case state.KindCreated, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked, state.KindErased:
	}
	return nil
}

// checkService holds the service of the state against the newest events: the first record of a
// customer is in it already.
func (n *Newest) checkService() error {
	for _, l := range slices.Backward(n.Lines) {
		if l.Kind == state.KindRebound {
			return nil // those before it were of another one
		}
		if l.Kind != state.KindOutcome {
			continue
		}
		draft, err := l.Checked()
		if err != nil {
			return err
		}
		// An error is of a customer that a person accepted, and whom the state does not have.
		if after, err := n.Meta.Apply(draft, l.Seq, l.Time); err == nil && after.Service != n.Meta.Service {
			return apart("the customer of event %d is not that of the state", l.Seq)
		}
	}
	return nil
}

// CheckIn refuses a row that knows of an event that a journal up to serial does not have, wrapped around
// [state.ErrDamaged].
func (r *Row) CheckIn(serial int64) error {
	if r.Last <= serial {
		return nil
	}
	return apart("the row of ref_id %q has event %d, and the journal ends with event %d", r.RefID, r.Last, serial)
}

// checkLastRun holds the run that began last against the events that it names.
func (n *Newest) checkLastRun() error {
	var runID string
	var at RunAt
	for id, run := range n.Runs {
		if run.Begun > at.Begun {
			runID, at = id, run
		}
	}
	if runID == "" {
		return nil
	}
	if last := max(at.Begun, at.Ended); last > n.Meta.Serial {
		return apart("run %q names event %d, and the journal ends with event %d", runID, last, n.Meta.Serial)
	}
	var run state.Run
	var found RunAt
	for _, l := range n.Last {
		var err error
		switch {
		case l.RunID != runID:
			return apart("run %q names event %d, which is not of it", runID, l.Seq)
		case l.Kind == state.KindBegun:
			found.Begun = l.Seq
		case l.Kind == state.KindEnded:
			found.Ended = l.Seq
		}
		if run, err = ApplyRun(run, l); err != nil {
			return err
		}
	}
	if found != at {
		return apart("run %q names an event as its beginning or its end that is none", runID)
	}
	return nil
}

func apart(format string, args ...any) error {
	return fmt.Errorf("its parts are of different times: "+format+": %w", append(args, state.ErrDamaged)...)
}
