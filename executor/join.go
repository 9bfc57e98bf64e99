package executor

import (
	"context"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Join takes part in a run that another runner has begun and opened. run.Begun is that run's,
// and run.Plan has its lines; the caller has checked that it sends what the run does. It claims
// parts of the run until all are done, and those of runners that are lost as well. What it
// returns is what Apply does.
func Join(ctx context.Context, run Run) (Summary, error) {
	c := newCourse(ctx, run, 0)
	defer c.release()
	err := c.ready(ctx)
	if err == nil {
		_, err = c.confirmClock(ctx) // nothing to journal: the run has begun
	}
	if err != nil {
		c.deaf()
		_ = run.Share.Leave(c.lasting) // it has claimed nothing
		return c.report.summary, err
	}
	c.limit(nil)
	for op, l := range c.limiters {
		_ = l.Share(c.reserving(run.Share, op, l.Limit())) // none started
	}
	c.sending, c.joined = true, true
	c.setShared(newShared(run.Share, run.Plan))
	c.opened.Store(true)
	known := &survey{rows: make(map[string]state.Transfer), outside: make(map[string]transfer.Request)}
	o := newOrder(c, known, lines{of: &run.Plan.Changes})
	total := newLines(run.Plan, func(a planner.Action) bool { return a == planner.Submit || a == planner.Resolve }).len()
	c.report.tell(Event{Type: EventBegun, Total: total})
	return c.goThrough(o)
}
