package executor

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// LeftoverMax bounds [Leftover.Statuses].
const LeftoverMax = 10_000

// Leftover lists what an apply leaves to a person, whatever it did itself and however it ended.
type Leftover struct {
	// Statuses are those of the transfers that ask for a person ([state.Outline.AsksForPerson]), by
	// ref_id: of the first [LeftoverMax].
	Statuses map[string]state.Status
	More     bool // there are more than that

	// Unknown are those that the service calls by a status that its document does not list, with any declaration.
	Unknown Unknown

	// Edited is how many transfers are declared otherwise than they were made or settled. The state
	// alone does not say so.
	Edited int

	// Lacks says that the state may lack events, see [state.Meta.MayLack].
	Lacks bool
}

// AsksForPerson reports whether a person should look at anything: the apply then ends with exit
// code 4. But for Lacks it agrees with [planner.Plan.AsksForPerson] of a plan that is made right after, of the
// same declarations and without targets.
func (l *Leftover) AsksForPerson() bool {
	return len(l.Statuses) > 0 || l.Unknown.Count() > 0 || l.Edited > 0 || l.Lacks
}

// outlined is the part of a [state.Snapshot] that ReadLeftover reads.
type outlined interface {
	Outlines(ctx context.Context) iter.Seq2[state.Outline, error]
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
}

// ReadLeftover reads what an apply left to a person, of the state as it is after it. The plan is
// that of the apply, carried out or not; nil where there is none.
func ReadLeftover(ctx context.Context, after outlined, plan *planner.Plan) (Leftover, error) {
	left := Leftover{Statuses: make(map[string]state.Status)}
	for o, err := range after.Outlines(ctx) {
		if err != nil {
			return Leftover{}, fmt.Errorf("read what is left in doubt: %w", err)
		}
		if o.HasUnknownStatus() {
			left.Unknown.add(transfer.RecordStatus(strings.Clone(string(o.RecordStatus))), 1)
		}
		switch {
		case !o.AsksForPerson():
		case len(left.Statuses) == LeftoverMax:
			left.More = true
		default:
			left.Statuses[strings.Clone(o.RefID)] = o.Status
		}
	}
	edited, err := ReadEdited(ctx, after, plan)
	left.Edited = edited
	return left, err
}

// ReadEdited returns the [Leftover.Edited] of an apply, without the cost of the rest. It reads the
// outcomes of transfers that were in doubt at the time of the plan, and compares them with their
// declarations.
func ReadEdited(ctx context.Context, after outlined, plan *planner.Plan) (int, error) {
	if plan == nil {
		return 0, nil
	}
	edited := plan.ConflictsBeyond
	doubts := make(map[string]*planner.Change)
	var refIDs []string
	for i := range plan.Changes.Len() {
		switch action := plan.Changes.Action(i); action {
		case planner.Conflict:
			edited++
		case planner.Resolve:
			if c := plan.Changes.At(i); c.Declared() {
				doubts[c.RefID] = &c
				refIDs = append(refIDs, c.RefID)
			}
		case planner.Submit, planner.Wait, planner.None, planner.Failed, planner.Expired, planner.Undeclared:
		}
	}
	err := eachDetail(ctx, after, refIDs, func(d state.Detail) {
		if d.Status.Made() && !d.Fingerprint.IsZero() && d.Fingerprint != doubts[d.RefID].Request.Fingerprint() {
			edited++
		}
	})
	if err != nil {
		return 0, fmt.Errorf("read what became of doubts: %w", err)
	}
	return edited, nil
}
