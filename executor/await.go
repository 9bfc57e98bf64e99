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
	result   Result       // in this run; "" where an earlier one recorded it
	status   state.Status // Recorded or Adopted
	recordID string
	since    time.Time
}

// polled is what a lookup says of a pending dependency.
type polled struct {
	refID    string
	status   transfer.RecordStatus
	conflict *verdict // where it contradicts what is recorded
	refused  bool     // the state takes its status from a person alone
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
		o.pending[k.refID] = &pending{known: k, result: v.result, status: v.outcome.Status, recordID: v.recordID, since: o.c.run.Clock.Now()}
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
		case r.conflict != nil:
			p := o.pending[r.refID]
			delete(o.pending, r.refID)
			if p.result == "" {
				o.c.report.settle(p.request, *r.conflict, false)
			} else {
				o.c.report.revise(p.request, p.result, *r.conflict)
			}
			o.fail(r.refID, "which is "+words(ResultConflict))
		case r.refused:
			delete(o.pending, r.refID)
			o.fail(r.refID, "which was not COMPLETED when a person accepted it; `"+command(r.refID, "--recorded FILE")+"` tells when it is")
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
	for chunk := range slices.Chunk(list, FindMax) {
		ids := make([]string, len(chunk))
		for i, p := range chunk {
			ids[i] = p.refID
		}
		found, err := c.find(c.starting, ids...)
		if err != nil {
			return results
		}
		for _, p := range chunk {
			if r, ok := c.pollResult(p, found.records[p.refID]); ok {
				results = append(results, r)
			}
		}
	}
	return results
}

// pollResult judges what was found of one dependency; false where there is nothing new. What
// a person has accepted of it contradicts nothing.
func (c *course) pollResult(p *pending, records []transfer.Record) (polled, bool) {
	finding := transfer.Examine(p.request, records, p.operator)
	deciding, differences := finding.Debit, finding.Differences
	if len(differences) > 0 {
		differences = unaccepted(p.known, c.detail(p.refID), differences)
	}
	if deciding == nil || deciding.ID != p.recordID {
		if i := slices.IndexFunc(records, func(r transfer.Record) bool { return r.ID == p.recordID }); i >= 0 {
			deciding = &records[i]
		}
	}
	if deciding != nil && deciding.ID != p.recordID && len(differences) == 0 {
		differences = []transfer.Difference{{Field: "id", Asked: p.recordID, Answered: deciding.ID}}
	}
	switch {
	case len(differences) > 0:
		v := c.contradict(p, records, differences)
		return polled{refID: p.refID, conflict: &v}, v.written
	case deciding == nil:
		return polled{}, false
	case deciding.Status != transfer.Completed && deciding.Status != transfer.Failed:
		return polled{}, false
	}
	outcome := state.Outcome{
		RefID: p.refID, RunID: p.runID, Status: p.status, Source: state.SourceLookup,
		Reason: "its status was looked up", Records: raws(records, deciding), Differences: finding.Differences,
	}
	switch err := c.journal.append(outcome); {
	case err == nil:
		return polled{refID: p.refID, status: deciding.Status}, true
	case refusal(err): // the record is of another customer, which only a person may accept
		return polled{refID: p.refID, refused: true}, true
	default:
		c.halt(fmt.Sprintf("the status of %q could not be written: %v", p.refID, err))
		return polled{}, false
	}
}

// contradict makes a conflict, durably, of what is recorded and what a lookup says instead.
// The stored record is kept with the others, so that it can be accepted although the service
// does not list it.
func (c *course) contradict(p *pending, records []transfer.Record, differences []transfer.Difference) verdict {
	v := conflict(p.known, records, differences)
	v.outcome.Source = state.SourceLookup
	stored := c.detail(p.refID).Outcome
	if stored != nil && len(stored.Records) > 0 && !slices.ContainsFunc(records, func(r transfer.Record) bool { return r.ID == p.recordID }) {
		v.outcome.Records = append(slices.Clone(stored.Records[:1]), v.outcome.Records...)
	}
	return c.write(v)
}

// detail is what the state knows of a ref_id; nothing where it can't be read, which must not
// keep a conflict from being written.
func (c *course) detail(refID string) state.Detail {
	snapshot, err := c.run.Journal.Snapshot(c.lasting)
	if err != nil {
		return state.Detail{}
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	details, err := snapshot.Details(c.lasting, refID)
	if err != nil || len(details) == 0 {
		return state.Detail{}
	}
	return details[0]
}
