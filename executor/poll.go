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

// dependencyPoller looks pending dependencies up until they are COMPLETED.
type dependencyPoller struct {
	scheduler *scheduler
	run       *activeRun
	inbox     *inbox
	pending   map[string]*pending
	waits     int // lookups that are under way or due
}

// await polls a dependency by lookup for as long as the settings say, and then leaves its dependents
// for the next run.
func (p *dependencyPoller) await(k knownTransfer, v verdict) {
	switch wait := p.run.Settings.Wait; {
	case v.status == transfer.Failed:
		p.scheduler.strand(k.refID, "which failed")
	case !p.run.lookups.possible():
		p.scheduler.strand(k.refID, "which is not COMPLETED, and the service has no lookup; `"+command(k.refID, "--recorded FILE")+"` tells when it is")
	case wait <= 0 || k.request.RefID == "" || !p.run.sending:
		p.scheduler.fail(k.refID, "which is not COMPLETED")
	case p.pending[k.refID] != nil: // others that this runner claimed before wait for it as well
	default:
		p.pending[k.refID] = &pending{refID: k.refID, result: v.result, since: p.run.Clock.Now()}
		if len(p.pending) == 1 {
			p.run.report.tell(Event{Type: EventWaiting, RefID: k.refID, Reason: fmt.Sprintf("Others depend on it, and it is not COMPLETED; it is looked up for up to %v.", wait)})
			p.poll(pollFirst)
		}
	}
}

// poll looks all pending dependencies up after a pause.
func (p *dependencyPoller) poll(pause time.Duration) {
	list := make([]string, 0, len(p.pending))
	now := p.run.Clock.Now()
	for refID, one := range p.pending {
		list = append(list, refID)
		pause = min(pause, max(0, one.since.Add(p.run.Settings.Wait).Sub(now)))
	}
	slices.Sort(list)
	p.waits++
	go func() {
		var results []news
		if p.run.Clock.Sleep(p.run.life.starting, pause) == nil {
			results = p.pollOnce(list)
		}
		p.inbox.post(func() {
			p.waits--
			p.polledOnce(results)
			if len(p.pending) > 0 && p.run.life.mayStart() {
				p.poll(min(max(pause, pollFirst)*3/2, pollMax))
			}
		})
	}()
}

// pollOnce looks dependencies up. A lookup that fails says nothing.
func (p *dependencyPoller) pollOnce(refIDs []string) []news {
	var all []news
	for chunk := range slices.Chunk(refIDs, FindMax) {
		if !p.run.life.mayStart() {
			break
		}
		list, err := p.run.watcher.read(chunk, isUnfinished)
		if err != nil {
			break
		}
		results, err := p.run.watcher.watch(list)
		if err != nil {
			break
		}
		all = append(all, results...)
		if p.scheduler.shared.isShared() && len(list) < len(chunk) {
			all = append(all, p.readSettled(chunk, list)...)
		}
	}
	return all
}

// readSettled is news of the transfers that another runner of this run has looked up meanwhile, so
// that they are not watched any more.
func (p *dependencyPoller) readSettled(refIDs []string, watched []watched) []news {
	settled := slices.Clone(refIDs)
	for _, w := range watched {
		settled = slices.DeleteFunc(settled, func(refID string) bool { return refID == w.refID })
	}
	snapshot, err := p.run.journal.snapshot()
	if err != nil {
		return nil // the next poll reads it
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	var all []news
	_ = eachDetail(p.run.life.lasting, snapshot, settled, func(d state.Detail) { // what it leaves out, the next poll reads
		all = append(all, newsSettledOf(d))
	})
	return all
}

func newsSettledOf(d state.Detail) news {
	n := news{kind: newsSettled}
	n.refID, n.detail = d.RefID, d
	return n
}

// polledOnce takes results over. When the run has stopped, finish settles the dependencies that
// still wait.
func (p *dependencyPoller) polledOnce(results []news) {
	for i := range results {
		n := &results[i]
		one := p.pending[n.refID]
		if one == nil {
			continue
		}
		switch {
		case n.kind == newsSettled:
			delete(p.pending, n.refID)
			p.scheduler.survey.rows[n.refID] = n.detail.Transfer
			p.scheduler.meetRecorded([]string{n.refID})
		case n.kind == newsConflict:
			delete(p.pending, n.refID)
			p.run.report.changed(n, one.result)
			p.scheduler.shared.revise(n, one.result)
			p.scheduler.strand(n.refID, "which is "+words(ResultConflict))
		case n.kind == newsRefused:
			delete(p.pending, n.refID)
			p.scheduler.strand(n.refID, "which was not COMPLETED when it was accepted; `"+command(n.refID, "--recorded FILE")+"` tells when it is")
		case n.final():
			delete(p.pending, n.refID)
			p.run.report.changed(n, one.result)
			p.scheduler.shared.revise(n, one.result)
			switch {
			case n.verdict.status == transfer.Failed:
				p.scheduler.strand(n.refID, "which failed")
			case n.verdict.result == ResultUnverified:
				p.scheduler.strand(n.refID, "which is "+words(ResultUnverified))
			default:
				p.scheduler.meet(n.refID)
			}
		}
	}
	if !p.run.life.mayStart() {
		return
	}
	now := p.run.Clock.Now()
	for refID, one := range p.pending {
		if !now.Before(one.since.Add(p.run.Settings.Wait)) {
			delete(p.pending, refID)
			p.scheduler.fail(refID, "which is still not COMPLETED; the next apply goes on")
		}
	}
}
