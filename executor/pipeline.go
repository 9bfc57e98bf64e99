package executor

import (
	"sync/atomic"

	"remit/internal/transfer"
)

// pipeline takes attempts through their stages: intent, request, outcome. It writes the intent of the
// next request ahead, and the outcome of the last one behind, so that the service is busy while the
// disk is. Only the goroutine of the scheduler calls its methods, or they say so.
type pipeline struct {
	sender      *sender
	outcomes    *outcomeWriter
	inbox       *inbox
	inFlightMax int // requests, at least 1; as many more intents may be written, or be on their way to the disk
	settled     func(a *attempt, v verdict)

	queues  map[transfer.Operation]*intentQueue
	ahead   atomic.Int64  // intents whose requests have not begun (ADR 8)
	due     chan *attempt // whose intents are durable; closed when the run has ended
	workers int

	unanswered int
	writing    int        // outcomes of others
	answered   []*attempt // whose outcomes are to be written
	recording  bool       // outcomes are being written
}

// intentQueue holds the attempts of an operation that wait for a slot, and for their intents.
type intentQueue struct {
	attempts []*attempt // in their order
	busy     bool       // the intents of some are being written
}

// newPipeline returns a pipeline that calls settled with each verdict, on the scheduler's goroutine.
func newPipeline(sender *sender, inbox *inbox, settled func(*attempt, verdict)) *pipeline {
	inFlightMax := max(1, sender.run.Settings.InFlightMax)
	p := &pipeline{
		sender: sender, outcomes: sender.run.outcomes, inbox: inbox, inFlightMax: inFlightMax, settled: settled,
		queues: make(map[transfer.Operation]*intentQueue),
		due:    make(chan *attempt, 2*inFlightMax),
	}
	for _, op := range transfer.Operations() {
		p.queues[op] = new(intentQueue)
	}
	return p
}

// close ends the workers, when nothing is under way.
func (p *pipeline) close() { close(p.due) }

// underWay returns how many attempts have no durable outcome.
func (p *pipeline) underWay() int { return p.unanswered + p.writing }

// unansweredMax is how many attempts may be without an answer: those in flight, and as many
// whose intents are written ahead (ADR 8).
func (p *pipeline) unansweredMax() int {
	if p.inFlightMax == 1 {
		return 1
	}
	return 2 * p.inFlightMax
}

// hasRoom reports whether another attempt may be added.
func (p *pipeline) hasRoom() bool {
	most := p.unansweredMax()
	return p.unanswered < most && p.underWay() < most+p.inFlightMax
}

// add queues an attempt.
func (p *pipeline) add(a *attempt) {
	p.unanswered++
	q := p.queues[a.intent.Operation]
	q.attempts = append(q.attempts, a)
}

// intendWaiting has intents of queued attempts written, as soon as enough requests have begun to make
// the intents worth a commit: a few attempts can wait for others that are ahead of them anyway.
func (p *pipeline) intendWaiting() {
	for _, op := range transfer.Operations() {
		q := p.queues[op]
		room := p.inFlightMax - int(p.ahead.Load())
		if q.busy || len(q.attempts) == 0 || room < p.lotMin() {
			continue
		}
		n := min(len(q.attempts), room, lotMax)
		lot := q.attempts[:n:n]
		q.attempts, q.busy = q.attempts[n:], true
		p.ahead.Add(int64(n))
		go func() {
			made := p.sender.intend(lot)
			p.inbox.post(func() {
				q.busy = false
				p.intended(q, made)
			})
		}()
	}
}

// lotMin is how much room there must be ahead for another lot: a quarter, or a whole lot.
func (p *pipeline) lotMin() int { return max(1, min(p.inFlightMax/4, lotMax)) }

// intended hands on a lot whose intents were written, or failed.
func (p *pipeline) intended(q *intentQueue, made intents) {
	q.attempts = append(made.left, q.attempts...)
	p.ahead.Add(-int64(len(made.left) + len(made.barred)))
	for _, a := range made.barred {
		p.unanswered--
		p.settled(a, a.verdict)
	}
	for _, a := range made.durable {
		p.start(a)
	}
}

// giveUp settles the attempts that have no intent, once nothing may start any more.
func (p *pipeline) giveUp() {
	for _, op := range transfer.Operations() {
		q := p.queues[op]
		for _, a := range q.attempts {
			p.unanswered--
			p.settled(a, p.sender.stoppedBefore(a))
		}
		q.attempts = nil
	}
}

// start hands an attempt whose intent is durable to a worker. There are as many workers as requests
// may be in flight: each one has a place there.
func (p *pipeline) start(a *attempt) {
	p.due <- a // there is room for all attempts
	if p.workers < p.inFlightMax {
		p.workers++
		go p.work()
	}
}

// work makes requests, one after the other, until the run has ended. An answer that stops the run
// stops it before the next request.
func (p *pipeline) work() {
	for a := range p.due {
		may := p.sender.mayTry(a)
		p.begin(a)
		if !may || p.sender.try(a) {
			p.end(a)
		} else {
			go p.tryAgain(a)
		}
	}
}

// begin notes that an attempt is not ahead any more, once. It wakes the scheduler if that makes
// room for a lot of intents. A worker calls it.
func (p *pipeline) begin(a *attempt) {
	if a.begun {
		return
	}
	a.begun = true
	if p.inFlightMax-int(p.ahead.Add(-1)) == p.lotMin() {
		p.inbox.wake()
	}
}

// tryAgain waits until the next try of an attempt, or ends the attempt. It runs by itself, so that no
// worker waits.
func (p *pipeline) tryAgain(a *attempt) {
	if p.sender.mayRetry(a) {
		p.due <- a
	} else {
		p.end(a)
	}
}

// end judges an attempt by its last answer. A worker calls it.
func (p *pipeline) end(a *attempt) {
	a.verdict = p.sender.judge(a, a.answer)
	p.sender.afterAnswer(a)
	p.inbox.post(func() {
		if p.inFlightMax > 1 { // one at a time waits for its outcome too
			p.unanswered, p.writing = p.unanswered-1, p.writing+1
		}
		p.answered = append(p.answered, a)
		p.record()
	})
}

// record writes the outcomes of all answered attempts at once. The next call writes those that are
// answered meanwhile.
func (p *pipeline) record() {
	if p.recording || len(p.answered) == 0 {
		return
	}
	lot := p.answered
	p.answered, p.recording = make([]*attempt, 0, cap(lot)), true
	go func() {
		findings := make([]finding, len(lot))
		for i, a := range lot {
			findings[i] = finding{verdict: a.verdict, settled: true}
		}
		p.outcomes.writeAll(findings)
		p.inbox.post(func() {
			p.recording = false
			for i, a := range lot {
				if p.inFlightMax > 1 {
					p.writing--
				} else {
					p.unanswered--
				}
				p.settled(a, findings[i].verdict)
			}
			p.record()
		})
	}()
}
