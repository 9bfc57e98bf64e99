package executor

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// exceptionsMax bounds Summary.Exceptions.
const exceptionsMax = 1000

// report tells the handler the events, one at a time, and adds up how the run ends. Its invariant:
// each transfer of the run is settled once, and counted under one result.
type report struct {
	handler Handler
	clock   Clock

	mu      sync.Mutex
	summary Summary
	counts  map[string]int
	open    int // lines of the plan that have no outcome

	canLookUp bool
}

func newReport(run Run, lines int) *report {
	return &report{
		handler: run.Handler,
		clock:   run.Clock,
		summary: Summary{RunID: run.Begun.RunID, Totals: make(map[Result]*transfer.Totals)},
		counts:  make(map[string]int),
		open:    lines,

		canLookUp: run.Finder != nil,
	}
}

// tell hands an event to the handler, with the time of now.
func (r *report) tell(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handle(e)
}

func (r *report) handle(e Event) {
	e.Time = r.clock.Now()
	r.handler.Handle(e)
}

// settle tells how one transfer ended and counts it. A planned one is a line of the plan.
func (r *report) settle(request transfer.Request, v verdict, planned bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	isOfAnother := func(d transfer.Difference) bool { return d.IsOfAnother() && !d.IsForeign() }
	if r.canLookUp && v.outcome.Status == state.Conflict && !v.untaken && slices.ContainsFunc(v.outcome.Differences, isOfAnother) {
		v.next = command(v.outcome.RefID, "")
	}
	if planned && (v.stands || v.result != ResultNotAttempted && v.result != ResultInDoubt) {
		r.open--
	}
	if v.outcome.Status.Made() && v.outcome.Listed == nil && !v.status.Final() {
		r.summary.Unfinished++
		r.summary.Unknown.add(v.status, 1)
	}
	r.handler.Handle(r.count(request, v))
}

// changed tells what a lookup made of a recorded transfer. Where before is not "", the run
// settled it as that, and counts it anew where it is something else now. A conflict, a failure
// or an unverified one of another run is counted as well.
func (r *report) changed(n *news, before Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := n.verdict
	e := Event{
		Type: EventChanged, RefID: n.refID, Group: v.group, Result: v.result,
		Reason: v.outcome.Reason, Next: v.next, Detail: &v.outcome, Changes: n.changes,
		Amount: n.request.Amount, Asset: n.request.Asset,
	}
	if n.kind == newsChanged && v.status != transfer.Failed {
		e.Reason = ""
	}
	e.Time = r.clock.Now()
	r.handler.Handle(e)
	wasMade := n.detail.Status.Made()
	switch {
	case before == "":
	case wasMade && !n.detail.RecordStatus.Final() && (v.status.Final() || n.kind == newsConflict):
		r.summary.Unfinished--
	case !wasMade && v.outcome.Status.Made() && !v.status.Final():
		r.summary.Unfinished++
	}
	if before != "" && wasMade {
		r.summary.Unknown.add(n.detail.RecordStatus, -1)
	}
	if before != "" && (wasMade || v.outcome.Status.Made()) {
		r.summary.Unknown.add(v.status, 1)
	}
	if before == v.result || before == "" && v.result != ResultConflict && v.result != ResultFailed && v.result != ResultUnverified {
		return
	}
	if before == ResultNotAttempted {
		r.open-- // a line of the plan: a doubt is none that was not attempted
	}
	if n.wasIdle {
		r.summary.Idle--
	}
	if before != "" {
		r.summary.Totals[before].RemoveRequest(&n.request)
		if r.counts[string(before)]--; r.counts[string(before)] == 0 {
			delete(r.counts, string(before))
			delete(r.summary.Totals, before)
		}
		r.summary.Exceptions = slices.DeleteFunc(r.summary.Exceptions, func(e Event) bool { return e.RefID == n.refID })
	}
	r.count(n.request, v)
}

// revive has lines count as those with which another apply goes on, as what they depend on is made after all.
func (r *report) revive(of string, lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Idle -= len(lines)
	for i := range r.summary.Exceptions {
		if e := &r.summary.Exceptions[i]; e.Result == ResultNotAttempted && slices.Contains(lines, e.RefID) {
			e.Reason, e.Next = fmt.Sprintf("Nothing was sent: it depends on %q, whose record was found after all else had ended.", of), "remit apply"
		}
	}
}

// dropRevised leaves transfers out of the exceptions that the lookup of any runner found to be something else.
func (r *report) dropRevised(revised map[string]revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Exceptions = slices.DeleteFunc(r.summary.Exceptions, func(e Event) bool {
		now, ok := revised[e.RefID]
		return ok && now.Before == e.Result && now.After != e.Result
	})
}

// count adds a transfer to the totals of its result, and returns the event that says so.
func (r *report) count(request transfer.Request, v verdict) Event {
	e := Event{
		Time: r.clock.Now(), Type: EventSettled, RefID: v.outcome.RefID, Group: v.group,
		Result: v.result, Reason: v.outcome.Reason, Next: v.next,
		Amount: request.Amount, Asset: request.Asset,
	}
	if v.written {
		e.Detail = &v.outcome
	}
	r.add(v.result, &request)
	if v.idle {
		r.summary.Idle++
	}
	if v.stands {
		r.summary.Standing++
	}
	if v.untaken {
		r.summary.Untaken++
	}
	if v.result != ResultRecorded && v.result != ResultAdopted && len(r.summary.Exceptions) < exceptionsMax {
		left := e
		left.Reason = strings.TrimSpace(left.Reason + " " + v.advice)
		r.summary.Exceptions = append(r.summary.Exceptions, left)
	}
	return e
}

// leave counts lines of the plan that the run did not come to, without an event for each: a doubt
// stays one. If they are idle, another apply would not go on with them.
func (r *report) leave(left iter.Seq2[int, *planner.Change], idle bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, change := range left {
		result := ResultNotAttempted
		if change.Action == planner.Resolve {
			result = ResultInDoubt
		}
		r.add(result, &change.Request)
		if idle {
			r.summary.Idle++
		}
	}
}

// add adds a transfer to the totals of a result.
func (r *report) add(result Result, request *transfer.Request) {
	totals := r.summary.Totals[result]
	if totals == nil {
		totals = new(transfer.Totals)
		r.summary.Totals[result] = totals
	}
	totals.AddRequest(request)
	r.counts[string(result)]++
}

// stopping notes why nothing new starts, and whether the journal was sound then. Only the first reason counts.
func (r *report) stopping(reason string, interrupted, sound bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Interrupted = r.summary.Interrupted || interrupted
	if r.summary.Stopped != "" {
		return
	}
	r.summary.Stopped, r.summary.StoppedSound = reason, sound
	r.handle(Event{Type: EventStopping, Reason: reason})
}

// has reports whether the run has a transfer of a result.
func (r *report) has(result Result) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[string(result)] > 0
}

// waited notes how the transfers ended that the run recorded.
func (r *report) waited(found *Refreshed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Waited = found
}

// interrupted reports whether a person or a program has asked for the end.
func (r *report) interrupted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary.Interrupted
}

// stopped returns why nothing new starts; "" while it may.
func (r *report) stopped() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary.Stopped
}

// out notes whether the latest attempts made nothing.
func (r *report) out(isOut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Out = isOut
}

// requested counts a request that begins.
func (r *report) requested() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Requests++
}

// ended returns the run's last event for the journal.
func (r *report) ended(failure error) state.Ended {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Complete = r.open == 0
	ended := state.Ended{RunID: r.summary.RunID, Outcomes: r.counts, Complete: r.summary.Complete}
	switch {
	case failure != nil:
		ended.Error = failure.Error()
	case r.summary.Stopped != "":
		ended.Error = r.summary.Stopped
	}
	return ended
}
