package executor

import (
	"fmt"

	"remit/planner"
	"remit/state"
)

// claimedPart is a part, with the state's rows of its lines and of their dependencies.
type claimedPart struct {
	state.Part
	details map[string]state.Detail
	clocks  map[string]state.Clocks // of each doubt, at its first intent
}

// readClaimed reads the state's rows of parts, as far as the runner needs them. It runs beside the
// scheduler.
func (r *sharedRun) readClaimed(parts []state.Part) ([]claimedPart, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	snapshot, err := r.run.journal.snapshot()
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	list := make([]claimedPart, 0, len(parts))
	for _, part := range parts {
		one, err := r.readPart(snapshot, part)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// readPart reads nothing of lines that nobody has begun and the run does not send.
func (r *sharedRun) readPart(snapshot state.Snapshot, part state.Part) (claimedPart, error) {
	one := claimedPart{part, make(map[string]state.Detail, len(part.RefIDs)), make(map[string]state.Clocks)}
	if !r.run.life.mayStart() && !part.Again {
		return one, nil
	}
	wanted, err := r.withDependencies(part)
	if err != nil {
		return one, err
	}
	if err := eachDetail(r.run.life.lasting, snapshot, wanted, func(d state.Detail) { one.details[d.RefID] = d }); err != nil {
		return one, err
	}
	var doubts []*unsettled
	for _, d := range one.details {
		if d.Status == state.InDoubt {
			doubts = append(doubts, newUnsettled(d, r.run.Begun.RunID, r.run.Settings))
		}
	}
	if err := learnClocks(r.run.life.lasting, r.run.clocks, snapshot, &r.run.Begun, doubts); err != nil {
		return one, err
	}
	for _, u := range doubts {
		one.clocks[u.refID] = u.since.clocks
	}
	return one, nil
}

// withDependencies returns the lines of a part and their dependencies. It leaves out a list that the
// scheduler watches: an earlier part read it, and many lines may wait for many. A line that may be in
// doubt needs it all the same: nobody watches for that.
func (r *sharedRun) withDependencies(part state.Part) ([]string, error) {
	seen, lists := make(map[string]bool, len(part.RefIDs)), make(map[listOf]bool)
	wanted := make([]string, 0, len(part.RefIDs))
	add := func(refID string) {
		if !seen[refID] {
			seen[refID] = true
			wanted = append(wanted, refID)
		}
	}
	for _, refID := range part.RefIDs {
		number, ok := r.book.find(refID)
		if !ok {
			return nil, fmt.Errorf("the run has a transfer %q that this runner's plan does not have", refID)
		}
		add(refID)
		after := r.run.Plan.Changes.At(number).After
		if len(after) == 0 || lists[nameList(after)] {
			continue
		}
		mayDoubt := part.Again || r.run.Plan.Changes.Action(number) == planner.Resolve
		if !mayDoubt && r.scheduler.dependencies.watches(nameList(after)) {
			continue
		}
		lists[nameList(after)] = true
		for _, dependency := range after {
			add(dependency)
		}
	}
	return wanted, nil
}
