package cli

import (
	"cmp"
	"strings"
	"time"

	"remit/internal/cli/workspace"
	"remit/internal/doubt"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
)

// nextOf is the one command to type about a transfer, and from when on it helps; zero for now.
func (o *planning) nextOf(service *workspace.Service, why *view.Why) (next string, from time.Time) {
	line := why.Line
	if line != nil && line.Next == doubt.Apply {
		return cmp.Or(o.finishing, line.Next), time.Time{}
	}
	if line != nil && line.Next != "" { // another doubt, or an unverified transfer
		return line.Next, time.Time{}
	}
	switch why.Group {
	case planner.GroupUnverified, planner.GroupConflict:
		if settling := nextFor(why.Recorded, service.CanLookUp()); settling != "" {
			return settling, time.Time{}
		}
		return "remit plan", time.Time{} // once the declaration is that of the made transfer
	case planner.GroupPending, planner.GroupUnknown:
		if service.CanLookUp() {
			return "remit refresh", time.Time{}
		}
		return doubt.Import, time.Time{}
	case planner.GroupInFlight:
		return "remit status", time.Time{}
	case planner.GroupFailed, planner.GroupSettled, planner.GroupExpired, planner.GroupNever:
		if line != nil {
			return "remit plan", time.Time{} // once the author has edited it
		}
	case planner.GroupLate, planner.GroupRefused, planner.GroupDue, planner.GroupWaiting, planner.GroupNext:
		if why.IsStopped() {
			return remedyFor(why.Stopped()), time.Time{}
		}
		if line.Action == planner.Wait {
			from = line.Until
		}
		return cmp.Or(o.finishing, doubt.Apply), from
	case planner.GroupInDoubt:
	}
	return "remit state show " + shell.Word(why.RefID), time.Time{}
}

// remedyFor is the command of the first obstacle that has one, and otherwise the one that shows all of them: a
// person accepts or overrides a control after a look at the whole plan.
func remedyFor(obstacles []planner.Obstacle) string {
	for _, o := range obstacles {
		if line, _, _ := strings.Cut(o.Remedy, "\n"); strings.HasPrefix(line, "remit ") {
			return line
		}
	}
	return "remit plan"
}
