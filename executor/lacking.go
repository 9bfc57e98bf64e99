package executor

import (
	"fmt"

	"remit/state"
)

// LackingError says that the state lacks events that it once had, or may lack them, and that the service has no lookup that could
// find the transfers of those events. Nothing was sent.
type LackingError struct {
	Newest int64 // number of the newest event of the state
	Lacks  int64 // number of an event that the state had, and lacks; 0 where the state was restored from a dump
	Joined bool  // a run was in progress, and was stopped for it
}

// Error names both events.
func (e *LackingError) Error() string {
	if e.Joined {
		return fmt.Sprintf("the state lacks event %d (its newest is %d), and the run in progress was begun without knowing that. This runner sent nothing, and stops the run: what was paid before may be paid again by it", e.Lacks, e.Newest)
	}
	if (state.Meta{Lacks: e.Lacks}).LacksAll() {
		return "the state was made in place of one that is gone, and the service has no lookup that finds the payments of that one. Nothing was sent"
	}
	if e.Lacks == 0 {
		return fmt.Sprintf("the state was restored from a dump, whose newest event is %d, and the service has no lookup that finds what was paid since. Nothing was sent", e.Newest)
	}
	if e.Newest >= e.Lacks {
		return fmt.Sprintf("the state lacks event %d: it is an older copy that was used since, so that its event %d is another one, and the service has no lookup that finds the missing transfers. Nothing was sent", e.Lacks, e.Lacks)
	}
	return fmt.Sprintf("the state lacks event %d (its newest is %d), and the service has no lookup that finds what was paid since. Nothing was sent", e.Lacks, e.Newest)
}
