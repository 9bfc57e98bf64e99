//go:build unix

package history

import (
	"fmt"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// forbids says why a runner must not send a line of the run at this moment; "" where it may. One that is lost has
// what is left of the time within which a request begins after a look at the lock, unless it showed no sign of life for
// its whole lease, which is longer.
func (c *crew) forbids(p *process, refID string) string {
	one, m := c.piece(refID), c.of(p)
	switch {
	case !c.isOpen || one == nil:
		return ""
	case m == nil:
		return "it takes no part in the run"
	case m.gone == left:
		return "it has left the run"
	case m.gone == outlived && c.world.kernel.Now().After(p.fencedAt):
		return "its lease was over before"
	case m.gone.isLost():
		return "" // for how long, is asked of every lock that is taken away
	case one.owner != m:
		return fmt.Sprintf("part %d of the run is not its own", one.Number)
	case one.isDone:
		return fmt.Sprintf("part %d of the run is done", one.Number)
	case p.file == nil && p.declared[refID].Request.Fingerprint().String() != p.intended[refID].intent.Fingerprint:
		return "its own files declare something else"
	}
	return ""
}

// hearMax is how long after a run was stopped a runner may begin a request: it hears of it within a second, and
// looks four times a second.
const hearMax = 2 * time.Second

// halt notes an answer after which the run starts nothing new.
func (c *crew) halt() {
	if c != nil && c.haltedAt.IsZero() {
		c.haltedAt = c.world.kernel.Now()
	}
}

// isDeaf says that a runner goes on although the run was stopped; "" where it had no time to hear of that.
func (c *crew) isDeaf(p *process, begun start) string {
	if c.haltedAt.IsZero() || !c.isOpen {
		return ""
	}
	heard := c.haltedAt
	for _, at := range []time.Time{c.openedAt, p.stoppedUntil, p.cutUntil} {
		if at.After(heard) {
			heard = at
		}
	}
	if begun.at.Sub(heard) <= hearMax {
		return ""
	}
	return fmt.Sprintf("the run was stopped %v before", begun.at.Sub(c.haltedAt))
}

// told checks the end of a run that several runners carried out, as the journal has it: every part is done,
// and each line, and each transfer of another run that it found in need of a person, is counted once, as what it is.
func (o *oracle) told(p *process, e state.Ended) {
	c := p.crew
	if c == nil || !c.isOpen {
		return
	}
	if _, isLeft := c.level(); isLeft {
		o.violate("I8", "%s ends run %s, of which parts are not done", p.id, c.runID)
	}
	lines, counted := 0, 0
	is := make(map[executor.Result]int)
	isLine := make(map[string]bool)
	for _, change := range c.first.plan.Changes.All() {
		if change.Action == planner.Submit || change.Action == planner.Resolve {
			lines++
			isLine[change.RefID] = true
			is[resultOf(o.model.rows[change.RefID])]++
		}
	}
	for refID, result := range c.outcomes { // what a lookup made of another run's transfer is counted, where a person is to hear of it
		if !isLine[refID] && (result == executor.ResultConflict || result == executor.ResultFailed || result == executor.ResultUnverified) {
			lines++
			is[result]++
		}
	}
	for _, n := range e.Outcomes {
		counted += n
	}
	for _, row := range o.model.rows {
		if row.Status == state.InDoubt && !isLine[row.RefID] {
			return // it is counted as well, though no line is about it
		}
	}
	if counted != lines && c.first.file == nil {
		o.violate("I8", "run %s counts %d transfers, its plan has %d: %v", c.runID, counted, lines, e.Outcomes)
	}
	for _, result := range []executor.Result{
		executor.ResultRecorded, executor.ResultAdopted, executor.ResultUnverified, executor.ResultConflict, executor.ResultInDoubt, executor.ResultFailed,
	} {
		if n := e.Outcomes[string(result)]; n != is[result] && c.first.file == nil {
			o.violate("I8", "run %s ends with %d %s, and %d of its lines are: %v", c.runID, n, result, is[result], e.Outcomes)
		}
	}
}

// resultOf is what a run may call a transfer; "" for what moved nothing, of which the journal says less.
func resultOf(row state.Transfer) executor.Result {
	switch {
	case row.Status.Made() && row.RecordStatus == transfer.Failed:
		return executor.ResultFailed
	case row.Status == state.Recorded:
		return executor.ResultRecorded
	case row.Status == state.Adopted:
		return executor.ResultAdopted
	case row.Status == state.Unverified:
		return executor.ResultUnverified
	case row.Status == state.Conflict:
		return executor.ResultConflict
	case row.Status == state.InDoubt:
		return executor.ResultInDoubt
	}
	return ""
}

// shareTraits are how runners of one run come and go.
type shareTraits struct {
	joins float64 // of each step of an apply, that another runner asks to take part; 0 for never
	cuts  float64 // that one is cut off from the state
	edits float64 // that its files are edited before it asks, once and again
	lines int     // that are declared, besides the few
}
