package executor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

const (
	pollFirst = time.Second
	pollMax   = 15 * time.Second
)

// pending is a dependency that is recorded, but not COMPLETED.
type pending struct {
	known
	status   state.Status // Recorded or Adopted
	recordID string
	since    time.Time
}

// polled is what a lookup says of a pending dependency.
type polled struct {
	refID  string
	status transfer.RecordStatus
	err    error // why nothing can be said of it, for good
}

// await polls a dependency by lookup for as long as the policy says, and then leaves what
// depends on it for the next run.
func (o *order) await(k known, v verdict) {
	switch wait := o.c.run.Policy.Wait; {
	case v.status == transfer.Failed:
		o.fail(k.refID, "which failed")
	case o.c.run.Finder == nil:
		o.fail(k.refID, "which is not COMPLETED, and the service has no lookup; `"+command(k.refID, "--recorded FILE")+"` tells when it is")
	case wait <= 0 || k.request.RefID == "" || !o.c.sending:
		o.fail(k.refID, "which is not COMPLETED")
	default:
		o.pending[k.refID] = &pending{known: k, status: v.outcome.Status, recordID: v.recordID, since: o.c.run.Clock.Now()}
		if len(o.pending) == 1 {
			o.c.report.tell(Event{Type: EventWaiting, RefID: k.refID, Reason: fmt.Sprintf("Others depend on it, and it is not COMPLETED; it is looked up for up to %v.", wait)})
			o.poll(pollFirst)
		}
	}
}

// poll looks all pending dependencies up after a pause.
func (o *order) poll(pause time.Duration) {
	list := make([]*pending, 0, len(o.pending))
	now := o.c.run.Clock.Now()
	for _, p := range o.pending {
		list = append(list, p)
		pause = min(pause, max(0, p.since.Add(o.c.run.Policy.Wait).Sub(now)))
	}
	slices.SortFunc(list, func(a, b *pending) int { return strings.Compare(a.refID, b.refID) })
	o.waits++
	go func() {
		var results []polled
		if o.c.run.Clock.Sleep(o.c.starting, pause) == nil {
			results = o.c.pollOnce(list)
		}
		o.messages <- func() {
			o.waits--
			o.polledOnce(results)
			if len(o.pending) > 0 && o.c.starting.Err() == nil {
				o.poll(min(max(pause, pollFirst)*3/2, pollMax))
			}
		}
	}()
}

// polledOnce takes results over. When the run has stopped, finish settles what still waits.
func (o *order) polledOnce(results []polled) {
	for _, r := range results {
		switch {
		case r.err != nil:
			delete(o.pending, r.refID)
			o.c.report.tell(Event{Type: EventNotice, RefID: r.refID, Reason: r.err.Error()})
			o.fail(r.refID, "of which a lookup says something else than is recorded")
		case r.status == transfer.Completed:
			delete(o.pending, r.refID)
			o.c.report.tell(Event{Type: EventNotice, RefID: r.refID, Reason: "It is COMPLETED."})
			o.meet(r.refID)
		case r.status == transfer.Failed:
			delete(o.pending, r.refID)
			o.c.report.tell(Event{Type: EventNotice, RefID: r.refID, Reason: "It is FAILED."})
			o.fail(r.refID, "which failed")
		}
	}
	if o.c.starting.Err() != nil {
		return
	}
	now := o.c.run.Clock.Now()
	for refID, p := range o.pending {
		if !now.Before(p.since.Add(o.c.run.Policy.Wait)) {
			delete(o.pending, refID)
			o.fail(refID, "which is still not COMPLETED; the next apply goes on")
		}
	}
}

// pollOnce looks dependencies up and makes durable what has changed. A lookup that fails
// says nothing.
func (c *course) pollOnce(list []*pending) []polled {
	var results []polled
	for chunk := range slices.Chunk(list, findMax) {
		ids := make([]string, len(chunk))
		for i, p := range chunk {
			ids[i] = p.refID
		}
		found, err := c.find(c.starting, ids...)
		if err != nil {
			return results
		}
		for _, p := range chunk {
			if r, ok := c.pollResult(p, found[p.refID]); ok {
				results = append(results, r)
			}
		}
	}
	return results
}

// pollResult judges what was found of one dependency; false where there is nothing new.
func (c *course) pollResult(p *pending, records []transfer.Record) (polled, bool) {
	finding := transfer.Examine(p.request, records, p.operator)
	switch {
	case len(finding.Differences) > 0:
		return polled{refID: p.refID, err: fmt.Errorf("a lookup disagrees with what is recorded: %s", describe(finding.Differences))}, true
	case finding.Debit == nil:
		return polled{}, false
	case finding.Debit.ID != p.recordID:
		return polled{refID: p.refID, err: fmt.Errorf("a lookup finds the record %q instead of %q", finding.Debit.ID, p.recordID)}, true
	case finding.Debit.Status != transfer.Completed && finding.Debit.Status != transfer.Failed:
		return polled{}, false
	}
	outcome := state.Outcome{
		RefID: p.refID, RunID: p.runID, Status: p.status, Source: state.SourceLookup,
		Reason: "its status was looked up", Records: raws(records, finding.Debit),
	}
	if err := c.journal.append(outcome); err != nil {
		c.halt(fmt.Sprintf("the status of %q could not be written: %v", p.refID, err))
		return polled{}, false
	}
	return polled{refID: p.refID, status: finding.Debit.Status}, true
}
