package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

const (
	// pollShare is how often a runner looks whether another one asks to take part, or has
	// stopped the run.
	pollShare = 250 * time.Millisecond
	// pauseClaim is how long a runner waits where no part of the run is free.
	pauseClaim = 100 * time.Millisecond
	// revisedMax is how many revisions are noted at once, with the bodies of their requests.
	revisedMax = 1024
)

// shared is a run that several runners carry out. Only the goroutine of an order touches its
// fields, apart from share.
type shared struct {
	share state.Share
	plan  *planner.Plan
	find  func(refID string) (number int, ok bool) // of a change of the plan

	opening  bool // the run is being opened
	claiming bool // a claim is under way or due
	noting   bool // what is done is being noted

	held     map[int]*held  // parts that this runner has and has not done
	partOf   map[string]int // their lines that are not settled
	own      tally          // of what is settled of parts that are done, or of none, and not noted
	noted    int            // transfers of which the count was noted
	finished []int          // parts that are done, and not noted as such

	pause time.Duration // before the next claim

	// aside are lines of parts that an interrupt kept this runner from sending: others may.
	aside []stood

	over    bool // this runner does nothing more
	allDone bool // every part of the run is done
}

// held is a part of a run that this runner has.
type held struct {
	open  int // lines that are not settled
	tally tally
}

func newShared(share state.Share, plan *planner.Plan) *shared {
	return &shared{
		share: share, plan: plan, find: plan.Changes.Find(),
		held: make(map[int]*held), partOf: make(map[string]int), own: newTally(),
	}
}

// have takes a part whose lines are to be settled.
func (s *shared) have(number int, refIDs []string) {
	s.held[number] = &held{open: len(refIDs), tally: newTally()}
	for _, refID := range refIDs {
		s.partOf[refID] = number
	}
	if len(refIDs) == 0 {
		s.finish(number)
	}
}

// has reports whether the plan has a ref_id.
func (s *shared) has(refID string) bool {
	_, ok := s.find(refID)
	return ok
}

func (s *shared) finish(number int) {
	s.own.merge(s.held[number].tally)
	delete(s.held, number)
	s.finished = append(s.finished, number)
}

// settle counts a transfer.
func (s *shared) settle(request transfer.Request, v verdict, planned bool) {
	refID := v.outcome.RefID
	number, ok := s.partOf[refID]
	if !ok {
		s.own.add(request, v, planned)
		return
	}
	delete(s.partOf, refID)
	part := s.held[number]
	part.tally.add(request, v, planned)
	if part.open--; part.open == 0 {
		s.finish(number)
	}
}

// settles reports whether a runner of this run settles a ref_id, as a line of the plan.
func (s *shared) settles(refID string) bool {
	number, ok := s.find(refID)
	if !ok {
		return false
	}
	action := s.plan.Changes.Action(number)
	return action == planner.Submit || action == planner.Resolve
}

// revise notes what a lookup made of a transfer that this runner settled as before, or "". It may be
// counted by any runner, and several may look it up: it is counted anew once, where all is added up.
func (s *shared) revise(n *news, before Result) {
	if s == nil {
		return
	}
	if before == "" && s.settles(n.refID) {
		before = resultOf(n.detail.Status, n.detail.RecordStatus)
	}
	s.own.Revised[n.refID] = revision{
		request: n.request, Before: before, After: n.verdict.result,
		Was: n.detail.RecordStatus, Is: n.verdict.status,
	}
}

// restate notes a line that this runner counts as the state has it, because a runner that is lost
// had settled it: what was revised of it is counted so.
func (s *shared) restate(one stood) {
	if number, ok := s.partOf[one.refID]; ok && (one.status.Final() || one.result == ResultConflict) {
		s.held[number].tally.Restated[one.refID] = true
	}
}

// stop has no runner start anything new.
func (s *shared) stop(c *course, reason string) {
	if err := s.share.Stop(c.lasting, reason); err != nil {
		_ = c.journal.fail(err) // it is told at the end of the run
	}
}

// sharedNow is c.shared, for those who are not the order.
func (c *course) sharedNow() *shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shared
}

func (c *course) setShared(s *shared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = s
}

// watchShare has the order hear that another runner asks to take part, and that one has stopped
// the run.
func (o *order) watchShare() {
	share := o.c.run.Share
	if share == nil {
		return
	}
	o.c.background.Go(func() {
		asked := o.c.sharedNow() != nil
		for o.c.run.Clock.Sleep(o.c.starting, pollShare) == nil {
			if o.c.hearStop(share) {
				return
			}
			if asked || !share.Wanted() {
				continue
			}
			asked = true
			o.inbox.post(o.open)
		}
	})
}

// hearStop halts where another runner has stopped the run.
func (c *course) hearStop(share state.Share) bool {
	reason := share.Stopped()
	if reason != "" && c.starting.Err() == nil {
		c.halt("another runner of this run stopped it: " + reason)
	}
	return reason != ""
}

// open lets other runners take part: what is not under way makes parts that each of them, and
// this one, may claim.
func (o *order) open() {
	if !o.c.sending || o.c.starting.Err() != nil {
		return
	}
	s := newShared(o.c.run.Share, o.c.run.Plan)
	s.opening = true
	rest := o.takeRest()
	parts := o.parts(rest)
	o.gates.forget() // whoever claims a line looks at what it depends on
	inHand := make([]string, 0, len(o.handed))
	for refID := range o.handed {
		inHand = append(inHand, refID)
	}
	s.own = o.c.report.tally(len(rest) + len(inHand))
	opening := state.Opening{InHand: inHand, Parts: parts, Rates: o.c.shareLimits(s.share), Settled: s.own.Count, Tally: s.own.encode()}
	s.noted, s.own = s.own.Count, newTally()
	s.have(0, inHand)
	o.c.setShared(s)
	o.c.report.tell(Event{Type: EventNotice, Reason: "Another runner takes part in this run."})
	go func() {
		err := o.c.openShare(s.share, opening)
		o.c.opened.Store(err == nil)
		if err == nil {
			err = o.c.stopOpened(s.share)
		}
		o.inbox.post(func() {
			s.opening = false
			if err != nil {
				s.over = true
				o.c.stopOn(o.c.journal.fail(fmt.Errorf("open the run to other runners: %w", err)))
			}
		})
	}()
}

// openShare opens the run. A plan that is in no file goes with it.
func (c *course) openShare(share state.Share, opening state.Opening) error {
	if !c.run.Saved {
		var plan bytes.Buffer
		if err := c.run.Plan.Save(&plan); err != nil {
			return err
		}
		var err error
		if opening.Plan, err = pack(plan.Bytes()); err != nil {
			return err
		}
	}
	return share.Open(c.lasting, opening)
}

// stopOpened stops a run that is open since a moment, where this runner halted before: then
// there was nothing yet in which the others could be told.
func (c *course) stopOpened(share state.Share) error {
	reason := c.haltedFor()
	if reason == "" {
		return nil
	}
	return share.Stop(c.lasting, reason)
}

// shareLimits has the limiters share their limits, and returns what they know, when the run
// is opened.
func (c *course) shareLimits(share state.Share) func() map[transfer.Operation]state.Rate {
	return func() map[transfer.Operation]state.Rate {
		rates := make(map[transfer.Operation]state.Rate)
		for op, l := range c.limiters {
			if l.Limit().Requests <= 0 {
				continue
			}
			ages := l.Share(c.reserving(share, op, l.Limit()))
			rates[op] = state.Rate{Requests: l.Limit().Requests, Window: l.Limit().Window, Ages: ages}
		}
		return rates
	}
}

// reserving reserves starts of an operation; before the run is open there are none.
func (c *course) reserving(share state.Share, op transfer.Operation, limit ratelimit.Limit) func(context.Context, int) (int, time.Duration, error) {
	return func(ctx context.Context, wanted int) (int, time.Duration, error) {
		if !c.opened.Load() {
			return 0, time.Millisecond, nil
		}
		starts, within, err := share.Reserve(ctx, op, state.Rate{Requests: limit.Requests, Window: limit.Window}, wanted)
		if err != nil && ctx.Err() == nil {
			err = c.journal.fail(err)
			c.stopOn(err)
		}
		return starts, within, err
	}
}

// takeRest takes the lines that are not under way from this runner.
func (o *order) takeRest() []int32 {
	var rest []int32
	for i := range o.lines {
		if !o.lines[i].done {
			o.lines[i].done = true
			rest = append(rest, int32(i))
		}
	}
	o.ready = nil
	return rest
}

// together does what is to be done with the other runners while nothing is under way, and
// reports whether the run goes on.
func (o *order) together() bool {
	s := o.c.shared
	if s == nil {
		return false
	}
	for !s.over && !s.opening && !s.claiming && !s.noting {
		switch {
		case o.c.journal.failure() != nil:
			s.over = true
		case s.hasNews():
			o.note() // before anything by which another runner could add up without it
		case s.allDone:
			s.over = true
		case o.c.starting.Err() == nil:
			o.claim(false)
		case o.c.report.leaves(s.share.Stopped()) && !o.alone(s):
			o.drop() // others go on
			s.over = true
		default: // nothing of what is left is sent: it is only counted
			o.finish()
			for _, one := range s.aside {
				s.settle(one.request, one.verdict, true)
			}
			s.aside = nil
			o.note()
			o.claim(true)
		}
	}
	return !s.over
}

// alone reports whether no other runner is left to carry on. Then the run ends with this one.
func (o *order) alone(s *shared) bool {
	alone, err := s.share.Alone(o.c.lasting)
	if err == nil && alone {
		err = s.share.Stop(o.c.lasting, o.c.report.stopped())
	}
	if err != nil {
		_ = o.c.journal.fail(err)
		return true // what is together sees it
	}
	return alone
}

// drop leaves what this runner has and has not begun to the others.
func (o *order) drop() {
	o.queue, o.ready = nil, nil
	for i := range o.lines {
		o.lines[i].done = true
	}
}

// fillShared claims parts of the run while there is room for their lines.
func (o *order) fillShared() {
	s := o.c.shared
	if s == nil || s.opening || s.over {
		return
	}
	o.note()
	if !s.claiming && !s.allDone && o.c.starting.Err() == nil && len(o.ready)+len(o.queue)+FindMax*o.lookups < o.attemptsMax() {
		o.claim(false)
	}
}

// hasNews reports whether this runner knows something that was not noted.
func (s *shared) hasNews() bool { return len(s.finished) > 0 || !s.own.isEmpty() }

// takeNews takes what is noted next. A part is noted as done with, or after, all that was learned
// before it was.
func (s *shared) takeNews() (finished []int, news tally) {
	if len(s.own.Revised) > revisedMax {
		news = newTally()
		for refID, r := range s.own.Revised {
			if len(news.Revised) == revisedMax {
				break
			}
			news.Revised[refID] = r
			delete(s.own.Revised, refID)
		}
		return nil, news
	}
	finished, news = s.finished, s.own
	s.finished, s.own = nil, newTally()
	s.noted += news.Count
	return finished, news
}

// note has the others know which parts are done, and what became of their lines. What was noted
// before is not written again: with every part it would be more.
func (o *order) note() {
	s := o.c.shared
	if s.noting || !s.hasNews() || o.c.journal.failure() != nil {
		return
	}
	s.noting = true
	finished, news := s.takeNews()
	settled, tally := s.noted, news.encode()
	go func() {
		err := s.share.Done(o.c.lasting, finished, settled, tally)
		o.inbox.post(func() {
			s.noting = false
			o.shareFailed(err)
		})
	}()
}

// shareFailed ends a runner that can't go on with the others.
func (o *order) shareFailed(err error) bool {
	if err == nil {
		return false
	}
	o.c.shared.over = true
	o.c.stopOn(o.c.journal.fail(err))
	return true
}

// addUp has the summary be about the whole run, once every line of it is settled.
func (c *course) addUp() error {
	s := c.shared
	if s == nil || !s.allDone || c.journal.failure() != nil {
		return nil
	}
	runners, tallies, err := s.share.Runners(c.lasting)
	if err != nil {
		return fmt.Errorf("read who carried out run %s: %w", c.run.Begun.RunID, err)
	}
	whole := newTally()
	for i := range tallies {
		one, err := decodeTally(tallies[i])
		if err != nil {
			return fmt.Errorf("read who carried out run %s: %w", c.run.Begun.RunID, err)
		}
		whole.merge(one)
	}
	whole.revise()
	c.report.addUp(whole, runners, s.share.Stopped())
	return nil
}

// endShared ends the part of a runner in a run that several carry out: who sees that every
// line is settled ends the run.
func (c *course) endShared(failure error) error {
	s := c.shared
	switch {
	case failure != nil:
		return failure // others claim what this one had
	case !s.allDone:
		c.report.summary.Left = true
		return s.share.Leave(c.lasting)
	}
	ended := c.report.ended(nil)
	ended.Runners = c.report.summary.Runners
	if err := c.journal.append(ended); err != nil && !errors.Is(err, state.ErrRun) { // another one was first
		return fmt.Errorf("end run %s: %w", ended.RunID, err)
	}
	if err := s.share.Leave(c.lasting); err != nil {
		return fmt.Errorf("end run %s: %w", ended.RunID, err)
	}
	return nil
}
