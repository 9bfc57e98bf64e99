package storage

import (
	"fmt"
	"slices"
	"time"

	"remit/state"
)

// Stored is what a stage asks of the storage, inside of its commit, where its own rows do not
// say it.
type Stored interface {
	// Owner is the ref_id under which a record is stored, "" where it is not.
	Owner(recordID string) (string, error)
	// GroupOwners are the first and the last ref_id, in byte order, that are stored with a group_id;
	// "" where there is none.
	GroupOwners(groupID string) ([2]string, error)
	// Run is a run as the storage knows it, the zero Run where it does not.
	Run(runID string) (state.Run, error)
	// CountNames is how many display names are stored.
	CountNames() (int, error)
}

// Stage is what a commit is about to change. Nothing of it counts before the commit.
type Stage struct {
	Tip    Tip
	Rows   *Overlay // that the commit changes, over those that it started from
	Runs   map[string]state.Run
	Events []StoredEvent // that the commit appends
	Names  []state.Name  // that came with them
	// Erased says that no name that was there before this commit is left after it.
	Erased bool

	stored Stored
	now    func() time.Time
	undo   []undo // of the call that is being taken
}

// NewStage begins a commit after tip. The newest row of every ref_id that is taken must be
// in loaded.
func NewStage(tip Tip, loaded *Overlay, source Stored, now func() time.Time) *Stage {
	return &Stage{Tip: tip, Rows: NewOverlay(loaded), Runs: make(map[string]state.Run), stored: source, now: now}
}

// undo is a row or a run as it was before a call.
type undo struct {
	refID, runID string
	row          *Row       // nil where there was none in the stage
	run          *state.Run // likewise
	recordID     string     // that the call stored
	groupID      string     // of the row that it put
	groups       owners     // of that group_id before
}

// put changes a row of the stage.
func (s *Stage) put(r Row) {
	u := undo{refID: r.RefID, row: s.Rows.Rows[r.RefID], groupID: r.GroupID, groups: s.Rows.groups[r.GroupID]}
	if _, stored := s.Rows.records[r.RecordID]; !stored {
		u.recordID = r.RecordID
	}
	s.undo = append(s.undo, u)
	s.Rows.Put(r)
}

// putRun changes a run of the stage.
func (s *Stage) putRun(runID string, run state.Run) {
	u := undo{runID: runID}
	if before, known := s.Runs[runID]; known {
		u.run = &before
	}
	s.undo = append(s.undo, u)
	s.Runs[runID] = run
}

// revert takes back what a call changed.
func (s *Stage) revert(to Tip, lines int) {
	s.Tip, s.Events = to, s.Events[:lines]
	for _, u := range slices.Backward(s.undo) {
		switch {
		case u.run != nil:
			s.Runs[u.runID] = *u.run
		case u.runID != "":
			delete(s.Runs, u.runID)
		case u.row != nil:
			s.Rows.Rows[u.refID] = u.row
		default:
			delete(s.Rows.Rows, u.refID)
		}
		delete(s.Rows.records, u.recordID)
		if u.groups == (owners{}) {
			delete(s.Rows.groups, u.groupID)
		} else {
			s.Rows.groups[u.groupID] = u.groups
		}
	}
}

// TakeAll takes calls in their order and returns what each is answered, nil for those that
// the commit will write. The second error is the source's, and ends the commit.
func (s *Stage) TakeAll(calls []*Call) ([]error, error) {
	answers := make([]error, len(calls))
	drafts := 0
	for _, c := range calls {
		drafts += len(c.Drafts)
	}
	s.Events = slices.Grow(s.Events, drafts)
	for i, c := range calls {
		var err error
		if answers[i], err = s.take(c); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

// take applies a call: whole, or not at all where it returns an answer. The second error is
// the source's.
func (s *Stage) take(c *Call) (answer, err error) {
	if err := c.ctx.Err(); err != nil {
		return err, nil //nolint:nilerr // the caller's context is the caller's business
	}
	s.undo = s.undo[:0]
	before, lines, names, erased := s.Tip, len(s.Events), s.Names, s.Erased
	for _, d := range c.Drafts {
		answer, err := s.apply(d)
		if answer != nil || err != nil {
			s.revert(before, lines)
			s.Names, s.Erased = names, erased
			return answer, err
		}
	}
	return nil, nil
}

// apply applies one entry.
func (s *Stage) apply(d state.Draft) (answer, err error) {
	l := StoredEvent{Event: s.Tip.Next(d, s.now())}
	meta, answer := s.Tip.Apply(d, l.Seq, l.Time)
	if answer != nil {
		return answer, nil
	}
	switch e := d.Entry.(type) {
	case state.Intent, state.Outcome:
		r, _ := s.Rows.Row(l.RefID)
		next, answer := r.Apply(d, l.Seq, l.Time)
		if answer == nil {
			answer = d.CheckShortcomings(r.Transfer)
		}
		if answer != nil {
			return answer, nil
		}
		if next.RecordID != r.RecordID && !next.SharesID {
			answer, err := s.checkRecord(next)
			if answer != nil || err != nil {
				return answer, err
			}
		}
		if groupID := d.ClaimsGroup(); groupID != "" && (groupID != r.GroupID || !isVouched(r.Status)) {
			answer, err := s.checkGroup(next.RefID, groupID)
			if answer != nil || err != nil {
				return answer, err
			}
		}
		l.Previous = r.Last
		s.put(Row{next, l.Seq})
		if i, ok := d.Entry.(state.Intent); ok && i.DisplayName != "" && next.IntentSeq == l.Seq {
			s.Names = append(s.Names, state.Name{Seq: l.Seq, RefID: l.RefID, Text: i.DisplayName})
		}
	case state.Begun, state.Ended:
		run, err := s.run(l.RunID)
		if err != nil {
			return nil, err
		}
		if run, answer = run.Apply(d, l.Time); answer != nil {
			return answer, nil
		}
		s.putRun(l.RunID, run)
	case state.Erased:
		if answer, err := s.erase(e); answer != nil || err != nil {
			return answer, err
		}
	case state.Created, state.Unlocked, state.Rebound, state.ClockConfirmed, state.Asked:
	}
	meta.Head = l.Hash
	s.Tip.Meta = meta
	s.Events = append(s.Events, l)
	return nil, nil
}

// erase removes all names, where the entry says how many they are.
func (s *Stage) erase(e state.Erased) (answer, err error) {
	count := len(s.Names)
	if !s.Erased {
		stored, err := s.stored.CountNames()
		if err != nil {
			return nil, err
		}
		count += stored
	}
	if count != e.Names {
		return fmt.Errorf("remove %d display names: the state has %d", e.Names, count), nil
	}
	s.Names, s.Erased = nil, true
	return nil, nil
}

// run returns a run as this commit, or the storage, knows it.
func (s *Stage) run(runID string) (state.Run, error) {
	if run, ok := s.Runs[runID]; ok {
		return run, nil
	}
	return s.stored.Run(runID)
}

// isVouched reports whether a row was called recorded or adopted before: its group_id was held
// against the others then.
func isVouched(before state.Status) bool { return before == state.Recorded || before == state.Adopted }

// checkGroup answers with a *DuplicateGroupError where a group_id is another's.
func (s *Stage) checkGroup(refID, groupID string) (answer, err error) {
	stored, err := s.stored.GroupOwners(groupID)
	if err != nil {
		return nil, err
	}
	if other := s.Rows.GroupOwner(groupID, refID, stored); other != "" {
		return fmt.Errorf("record outcome of %q: %w", refID, &state.DuplicateGroupError{GroupID: groupID, RefID: other, Asked: refID}), nil
	}
	return nil, nil
}

// checkRecord answers with a *DuplicateRecordError where the record of t is another's.
func (s *Stage) checkRecord(t state.Transfer) (answer, err error) {
	refID, ok := s.Rows.Owner(t.RecordID)
	if !ok {
		if refID, err = s.stored.Owner(t.RecordID); err != nil {
			return nil, err
		}
	}
	if refID == "" || refID == t.RefID {
		return nil, nil
	}
	return fmt.Errorf("record outcome of %q: %w", t.RefID, &state.DuplicateRecordError{RecordID: t.RecordID, RefID: refID}), nil
}
