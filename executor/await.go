package executor

import (
	"fmt"
	"slices"
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
	refID  string
	result Result // in this run; "" where an earlier one recorded it
	since  time.Time
}

// await polls a dependency by lookup for as long as the policy says, and then leaves what
// depends on it for the next run.
func (o *order) await(k known, v verdict) {
	switch wait := o.c.run.Policy.Wait; {
	case v.status == transfer.Failed:
		o.strand(k.refID, "which failed")
	case o.c.run.Finder == nil:
		o.strand(k.refID, "which is not COMPLETED, and the service has no lookup; `"+command(k.refID, "--recorded FILE")+"` tells when it is")
	case wait <= 0 || k.request.RefID == "" || !o.c.sending:
		o.fail(k.refID, "which is not COMPLETED")
	case o.pending[k.refID] != nil: // others that this runner claimed before wait for it as well
	default:
		o.pending[k.refID] = &pending{refID: k.refID, result: v.result, since: o.c.run.Clock.Now()}
		if len(o.pending) == 1 {
			o.c.report.tell(Event{Type: EventWaiting, RefID: k.refID, Reason: fmt.Sprintf("Others depend on it, and it is not COMPLETED; it is looked up for up to %v.", wait)})
			o.poll(pollFirst)
		}
	}
}

// poll looks all pending dependencies up after a pause.
func (o *order) poll(pause time.Duration) {
	list := make([]string, 0, len(o.pending))
	now := o.c.run.Clock.Now()
	for refID, p := range o.pending {
		list = append(list, refID)
		pause = min(pause, max(0, p.since.Add(o.c.run.Policy.Wait).Sub(now)))
	}
	slices.Sort(list)
	o.waits++
	go func() {
		var results []news
		if o.c.run.Clock.Sleep(o.c.starting, pause) == nil {
			results = o.c.pollOnce(list)
		}
		o.inbox.post(func() {
			o.waits--
			o.polledOnce(results)
			if len(o.pending) > 0 && o.c.starting.Err() == nil {
				o.poll(min(max(pause, pollFirst)*3/2, pollMax))
			}
		})
	}()
}

// pollOnce looks dependencies up. A lookup that fails says nothing.
func (c *course) pollOnce(refIDs []string) []news {
	var all []news
	for chunk := range slices.Chunk(refIDs, FindMax) {
		if c.starting.Err() != nil {
			break
		}
		list, err := c.readWatched(chunk, nil)
		if err != nil {
			break
		}
		results, err := c.watch(list)
		if err != nil {
			break
		}
		all = append(all, results...)
		if c.sharedNow() != nil && len(list) < len(chunk) {
			all = append(all, c.readSettled(chunk, list)...)
		}
	}
	return all
}

// readSettled is news of the transfers that another runner of this run has looked up meanwhile, so
// that they are not watched any more.
func (c *course) readSettled(refIDs []string, watched []watched) []news {
	settled := slices.Clone(refIDs)
	for _, w := range watched {
		settled = slices.DeleteFunc(settled, func(refID string) bool { return refID == w.refID })
	}
	snapshot, err := c.run.Journal.Snapshot(c.lasting)
	if err != nil {
		return nil // the next poll reads it
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	var all []news
	_ = eachDetail(c.lasting, snapshot, settled, func(d state.Detail) { // what it leaves out, the next poll reads
		all = append(all, newsSettledOf(d))
	})
	return all
}

func newsSettledOf(d state.Detail) news {
	n := news{kind: newsSettled}
	n.refID, n.detail = d.RefID, d
	return n
}

// polledOnce takes results over. When the run has stopped, finish settles what still waits.
func (o *order) polledOnce(results []news) {
	for i := range results {
		n := &results[i]
		p := o.pending[n.refID]
		if p == nil {
			continue
		}
		switch {
		case n.kind == newsSettled:
			delete(o.pending, n.refID)
			o.known.rows[n.refID] = n.detail.Transfer
			o.meetRecorded([]string{n.refID})
		case n.kind == newsConflict:
			delete(o.pending, n.refID)
			o.c.report.changed(n, p.result)
			o.c.shared.revise(n, p.result)
			o.strand(n.refID, "which is "+words(ResultConflict))
		case n.kind == newsRefused:
			delete(o.pending, n.refID)
			o.strand(n.refID, "which was not COMPLETED when a person accepted it; `"+command(n.refID, "--recorded FILE")+"` tells when it is")
		case n.final():
			delete(o.pending, n.refID)
			o.c.report.changed(n, p.result)
			o.c.shared.revise(n, p.result)
			if n.verdict.status == transfer.Failed {
				o.strand(n.refID, "which failed")
			} else {
				o.meet(n.refID)
			}
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
