package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/state"
)

const (
	// pollShare is how often a runner looks whether another one asks to take part, or has
	// stopped the run.
	pollShare = 250 * time.Millisecond
	// pauseClaim is how long a runner waits where no part of the run is free.
	pauseClaim = 100 * time.Millisecond
)

// sharedRun is the part of a run that runners share: one opens the run to others, and then all of them
// claim parts of it until every part is done. A nil one is of a run that no other runner can join.
// Only the goroutine of the scheduler calls its methods and touches its fields, or they say so.
type sharedRun struct {
	run       *activeRun
	share     state.Share
	scheduler *scheduler

	handed map[string]bool // ref_ids of lines that are under way
	opened atomic.Bool     // the run is open to others
	mu     sync.Mutex
	book   *partBook // nil while this runner is alone; written under mu

	opening  bool // the run is being opened
	claiming bool // a claim is under way or due
	noting   bool // the news are being noted
	asking   bool // refused transfers are being looked up

	pause time.Duration // before the next claim
	aside []settledLine // lines of parts that an interrupt kept this runner from sending: others may

	over    bool // this runner does nothing more
	allDone bool // every part of the run is done
}

func newSharedRun(run *activeRun, s *scheduler) *sharedRun {
	r := &sharedRun{run: run, share: run.Share, scheduler: s, handed: make(map[string]bool)}
	run.life.tellOthers = r.tellStop
	return r
}

// isShared reports whether several runners carry the run out. Any goroutine may call it.
func (r *sharedRun) isShared() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book != nil
}

func (r *sharedRun) begin(book *partBook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.book = book
}

// join begins the part of a runner in a run that another one has opened.
func (r *sharedRun) join() {
	for op, l := range r.run.limiters {
		_ = l.Share(r.reserving(op, l.Limit())) // none started
	}
	r.begin(newPartBook(r.run.Plan))
	r.opened.Store(true)
}

// hand notes that a line is under way.
func (r *sharedRun) hand(refID string) {
	if r != nil {
		r.handed[refID] = true
	}
}

// settled counts a transfer that is settled.
func (r *sharedRun) settled(request transfer.Request, v verdict, planned bool) {
	if r == nil {
		return
	}
	delete(r.handed, v.outcome.RefID)
	switch {
	case r.book == nil:
	case planned && v.result == ResultNotAttempted && r.run.report.leaves(r.share.Stopped()):
		r.aside = append(r.aside, settledLine{knownTransfer{request: request}, v})
	default:
		r.book.settle(request, v, planned)
	}
}

// plans reports whether a line of the shared plan is about a ref_id.
func (r *sharedRun) plans(refID string) bool { return r.isShared() && r.book.plans(refID) }

// revise notes the news of a transfer that this runner settled as before, or "".
func (r *sharedRun) revise(n *news, before Result) {
	if r.isShared() {
		r.book.revise(n, before)
	}
}

// watch listens for another runner that asks to take part, and for one that has stopped the run.
func (r *sharedRun) watch() {
	if r == nil {
		return
	}
	r.run.life.background.Go(func() {
		asked := r.isShared()
		for r.run.Clock.Sleep(r.run.life.starting, pollShare) == nil {
			if r.hearStop() {
				return
			}
			if asked || !r.share.Wanted() {
				continue
			}
			asked = true
			r.scheduler.inbox.post(r.open)
		}
	})
}

// hearStop halts if another runner has stopped the run. Any goroutine may call it.
func (r *sharedRun) hearStop() bool {
	reason := r.share.Stopped()
	if reason != "" && r.run.life.mayStart() {
		r.run.life.halt("another runner of this run stopped it: " + reason)
	}
	return reason != ""
}

// tellStop has no runner start anything new. Before the run is open there is nothing to write that in:
// stopOpened does it then. Any goroutine may call it. What it returns is closed when the reason is written, or can't be.
func (r *sharedRun) tellStop(reason string) <-chan struct{} {
	if !r.isShared() || !r.opened.Load() || r.run.journal.failure() != nil {
		return isTold
	}
	told := make(chan struct{})
	r.run.life.background.Go(func() {
		defer close(told)
		if err := r.share.Stop(r.run.life.lasting, reason); err != nil {
			_ = r.run.journal.fail(err) // the end of the run tells it
		}
	})
	return told
}

// open lets other runners take part. It makes parts of the lines that are not under way, which each of
// them, and this one, may claim.
func (r *sharedRun) open() {
	if !r.run.sending || !r.run.life.mayStart() {
		return
	}
	r.opening = true
	s, book := r.scheduler, newPartBook(r.run.Plan)
	rest := s.takeRest()
	parts := partsOf(rest, s.change, func(i int32) bool { return !s.dependencies.areMet(s.lines[i].group) })
	if r.run.lookups.possible() {
		parts = withLast(parts)
	}
	s.dependencies.forget() // the runner that claims a line looks at its dependencies
	inHand := make([]string, 0, len(r.handed))
	for refID := range r.handed {
		inHand = append(inHand, refID)
	}
	book.own = r.run.report.tally(len(rest) + len(inHand))
	opening := state.Opening{InHand: inHand, Parts: parts, Rates: r.shareLimits, Settled: book.own.Count, Tally: book.own.encode()}
	book.noted, book.own = book.own.Count, newTally()
	book.have(0, inHand)
	if len(inHand) == 0 {
		book.finish(0)
	}
	r.begin(book)
	r.run.report.tell(Event{Type: EventNotice, Reason: "Another runner takes part in this run."})
	go func() {
		err := r.publish(opening)
		r.opened.Store(err == nil)
		if err == nil {
			err = r.stopOpened()
		}
		s.inbox.post(func() {
			r.opening = false
			if err != nil {
				r.fail(fmt.Errorf("open the run to other runners: %w", err))
			}
		})
	}()
}

// publish opens the run. A plan that is in no file goes with it.
func (r *sharedRun) publish(opening state.Opening) error {
	if !r.run.Saved {
		var plan bytes.Buffer
		whole := r.run.Plan
		if r.run.Whole != nil {
			whole = r.run.Whole
		}
		if err := whole.Save(&plan); err != nil {
			return err
		}
		var err error
		if opening.Plan, err = pack(plan.Bytes()); err != nil {
			return err
		}
	}
	return r.share.Open(r.run.life.lasting, opening)
}

// stopOpened stops a run that has just been opened, if this runner halted before.
func (r *sharedRun) stopOpened() error {
	reason := r.run.life.haltedFor()
	if reason == "" {
		return nil
	}
	return r.share.Stop(r.run.life.lasting, reason)
}

// shareLimits has the limiters share their limits, and returns what they know, when the run
// is opened.
func (r *sharedRun) shareLimits() map[transfer.Operation]state.Rate {
	rates := make(map[transfer.Operation]state.Rate)
	for op, l := range r.run.limiters {
		limit := l.Limit()
		if limit.Requests <= 0 {
			continue
		}
		rates[op] = state.Rate{Requests: limit.Requests, Window: limit.Window, Ages: l.Share(r.reserving(op, limit))}
	}
	return rates
}

// reserving reserves starts of an operation; before the run is open there are none.
func (r *sharedRun) reserving(op transfer.Operation, limit ratelimit.Limit) ratelimit.Reserve {
	return func(ctx context.Context, wanted int) (int, time.Duration, error) {
		if !r.opened.Load() {
			return 0, time.Millisecond, nil
		}
		starts, within, err := r.share.Reserve(ctx, op, state.Rate{Requests: limit.Requests, Window: limit.Window}, wanted)
		if err != nil && ctx.Err() == nil {
			err = r.run.journal.fail(err)
			r.run.stopOn(err)
		}
		return starts, within, err
	}
}

// fill claims parts of the run while there is room for their lines.
func (r *sharedRun) fill() {
	if !r.isShared() || r.opening || r.over {
		return
	}
	r.note()
	if !r.claiming && !r.asking && !r.allDone && r.run.life.mayStart() && r.scheduler.isShort() {
		r.claim(false)
	}
}

// goesOn does what this runner owes the others while nothing is under way, and reports whether the
// run goes on.
func (r *sharedRun) goesOn() bool {
	if !r.isShared() {
		return false
	}
	for !r.over && !r.opening && !r.claiming && !r.noting && !r.asking {
		switch {
		case r.run.journal.failure() != nil:
			r.over = true
		case r.book.hasNews():
			r.note() // before anything by which another runner could add up without it
		case r.allDone:
			r.over = true
		case r.run.life.mayStart():
			r.claim(false)
		case r.run.report.leaves(r.share.Stopped()) && !r.isAlone():
			r.scheduler.drop() // others go on
			r.over = true
		default: // the runner sends nothing of the rest: it only counts it
			r.scheduler.finish()
			for _, l := range r.aside {
				r.book.settle(l.request, l.verdict, true)
			}
			r.aside = nil
			r.note()
			r.claim(true)
		}
	}
	return !r.over
}

// isAlone reports whether no other runner is left to carry on. Then the run ends with this one.
func (r *sharedRun) isAlone() bool {
	alone, err := r.share.Alone(r.run.life.lasting)
	if err == nil && alone {
		err = r.share.Stop(r.run.life.lasting, r.run.report.stopped())
	}
	if err != nil {
		_ = r.run.journal.fail(err)
		return true // goesOn sees it
	}
	return alone
}

// claim claims a part, or all that are free. Where there was none it waits before.
func (r *sharedRun) claim(all bool) {
	r.claiming = true
	pause := r.pause
	go func() {
		if pause > 0 {
			_ = r.run.Clock.Sleep(r.run.life.lasting, pause) // it does not end
		}
		parts, done, err := r.share.Claim(r.run.life.lasting, all)
		var list []claimedPart
		if err == nil {
			list, err = r.readClaimed(parts)
		}
		r.scheduler.inbox.post(func() {
			r.claiming = false
			if err != nil {
				r.fail(err)
				return
			}
			r.hearStop()
			for _, part := range list {
				r.take(part)
			}
			r.allDone, r.pause = done, 0
			if len(list) == 0 {
				r.pause = pauseClaim
			}
		})
	}()
}

// take takes the lines of a part over. A line that another runner settled stays settled, one that it
// may have begun is in doubt, and the rest is sent.
func (r *sharedRun) take(part claimedPart) {
	s, begun := r.scheduler, &r.run.Begun
	r.book.have(part.Number, part.RefIDs)
	if len(part.RefIDs) == 0 {
		r.askRefused(part.Number)
		return
	}
	for refID, d := range part.details {
		s.survey.rows[refID] = d.Transfer
		if !r.book.owes(refID) {
			s.survey.addOutside(d, r.run.Settings)
		}
	}
	var settled []settledLine
	var doubts []*unsettled
	var waitsFor []string
	for _, refID := range part.RefIDs {
		number, _ := r.book.find(refID)
		change := r.run.Plan.Changes.At(number)
		if row := s.survey.rows[refID]; row.Status == state.InDoubt && (row.Open() || row.RunID != begun.RunID) {
			d := newUnsettled(part.details[refID], begun.RunID, r.run.Settings)
			s.planned[refID] = &change
			d.since.clocks = part.clocks[refID]
			doubts = append(doubts, d)
			continue
		}
		if v, isSettled := s.drafter.earlier(&change); isSettled {
			settled = append(settled, settledLine{s.drafter.knownOf(&change), v})
			continue
		}
		waitsFor = append(waitsFor, s.addLine(int32(number), &change)...)
	}
	for _, l := range settled {
		if part.Again {
			r.book.restate(l)
		}
		s.settled(l.knownTransfer, l.verdict, true)
	}
	if !r.run.life.mayStart() {
		for _, d := range doubts {
			s.doubts.hold(d, doubt.Stopped())
		}
		return
	}
	s.meetRecorded(waitsFor)
	s.doubts.settleTaken(doubts)
}

// askRefused does the part of a run that has no lines.
func (r *sharedRun) askRefused(number int) {
	r.asking = true
	runID := r.run.Begun.RunID
	isOfRun := func(row state.Transfer) bool { return row.RunID == runID || r.book.settles(row.RefID) }
	go func() {
		var found []*news
		err := lookRefusedUp(r.run, isOfRun, func(n *news) { found = append(found, n) })
		r.scheduler.inbox.post(func() {
			r.asking = false
			for _, n := range found {
				r.takeOver(n)
			}
			if err != nil {
				r.fail(err)
				return
			}
			r.book.finish(number)
		})
	}()
}

// takeOver tells what a lookup made of a transfer to which an answer said no, and has it be counted anew.
func (r *sharedRun) takeOver(n *news) {
	before := resultOf(n.detail.Status, n.detail.RecordStatus)
	if n.detail.Status == state.Refused && n.detail.Intent.RunID != r.run.Begun.RunID && r.run.Settings.LeaveRefused {
		before, n.wasIdle = ResultNotAttempted, true // as the runner has counted it that began the run
	}
	r.run.report.changed(n, "")
	r.revise(n, before)
}

// note tells the others which parts are done, and how their lines ended. It writes the news alone:
// the whole would grow with every part.
func (r *sharedRun) note() {
	if r.noting || !r.book.hasNews() || r.run.journal.failure() != nil {
		return
	}
	r.noting = true
	finished, news := r.book.takeNews()
	settled, tally := r.book.noted, news.encode()
	go func() {
		err := r.share.Done(r.run.life.lasting, finished, settled, tally)
		r.scheduler.inbox.post(func() {
			r.noting = false
			if err != nil {
				r.fail(err)
			}
		})
	}()
}

// fail ends a runner that can't go on with the others.
func (r *sharedRun) fail(err error) {
	r.over = true
	r.run.stopOn(r.run.journal.fail(err))
}

// leaves reports whether this runner ends before the run does.
func (r *sharedRun) leaves() bool { return r.isShared() && !r.allDone }

// addUp makes the summary one of the whole run, once every line of it is settled.
func (r *sharedRun) addUp() error {
	if !r.isShared() || !r.allDone || r.run.journal.failure() != nil {
		return nil
	}
	runners, tallies, err := r.share.Runners(r.run.life.lasting)
	if err != nil {
		return fmt.Errorf("read who carried out run %s: %w", r.run.Begun.RunID, err)
	}
	whole := newTally()
	for i := range tallies {
		one, err := decodeTally(tallies[i])
		if err != nil {
			return fmt.Errorf("read who carried out run %s: %w", r.run.Begun.RunID, err)
		}
		whole.merge(one)
	}
	r.run.report.dropRevised(whole.Revised)
	whole.revise()
	r.run.report.addUp(whole, runners, r.share.Stopped())
	return nil
}

// end ends the part of a runner in a shared run. A runner that sees every line settled ends the run.
func (r *sharedRun) end(failure error) error {
	switch {
	case failure != nil:
		return failure // others claim the parts of this one
	case !r.allDone:
		r.run.report.summary.Left = true
		return r.share.Leave(r.run.life.lasting)
	}
	ended := r.run.report.ended(nil)
	ended.Runners = r.run.report.summary.Runners
	if err := r.run.journal.append(ended); err != nil && !errors.Is(err, state.ErrRun) { // another one was first
		return fmt.Errorf("end run %s: %w", ended.RunID, err)
	}
	if err := r.share.Leave(r.run.life.lasting); err != nil {
		return fmt.Errorf("end run %s: %w", ended.RunID, err)
	}
	return nil
}
