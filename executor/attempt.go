package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"remit/executor/ratelimit"
	"remit/internal/doubt"
	"remit/state"
)

const (
	triesMax     = 6  // of one attempt, while there is no connection
	triesBusyMax = 12 // of one attempt that the service does not process: its fellows may be luckier each time
	backoffFirst = 500 * time.Millisecond
	backoffMax   = 15 * time.Second
	waitMax      = 5 * time.Minute // that a service may ask for; the run does not wait longer
	fruitlessMax = 3               // attempts in a row that may run out of tries before the run stops
	unclearMax   = 10              // attempts in a row, or as many as are in flight, that may end unclear before it stops
)

// attempt is one attempt to make a transfer.
type attempt struct {
	knownTransfer
	intent  state.Intent
	planned bool // it is a line of the plan
	stands  bool // that waits, or has expired

	// until is when the request may no longer start, for which late says why; the zero time is
	// never.
	until time.Time
	// old says of a doubt why it is too old to be sent again, "" where it is not; nil where nothing is
	// in doubt.
	old func() string
	// closed says which window is closed at a time, "" for none; nil where there are no windows.
	closed func(time.Time) string

	asked   reading                     // when the latest request was handed over
	checked reading                     // when the lock was known to be ours
	begun   bool                        // it is not ahead any more: a request has begun, or never will
	ages    time.Time                   // from when on the latest request ages in its limit, if it is not answered before
	tries   int                         // that made nothing
	pauses  *backoff.ExponentialBackOff // between them
	renewed bool                        // the token is the one that a 401 led to
	kept    bool                        // it was kept back, by its time or by the end of the run: that says nothing of the service
	answer  Answer                      // to the latest request
	verdict verdict                     // on the last answer, or why there is no request
}

// sender makes attempts. The methods below follow one attempt in its order: intend, mayTry, try,
// mayRetry, judge, afterAnswer. It is safe for concurrent use.
type sender struct {
	run      *activeRun
	backstop backstop

	mu        sync.Mutex
	fruitless int // attempts in a row whose tries ran out
	unclear   int // attempts without a clear answer since the last one that had one
}

func newSender(run *activeRun) *sender {
	return &sender{run: run, backstop: backstop{life: run.life}}
}

// lotMax is how many intents are written at once: the first requests need not wait for the
// intents of thousands behind them.
const lotMax = 1024

// intents sorts a lot of attempts by how the write of their intents ended.
type intents struct {
	durable []*attempt
	barred  []*attempt // that may not be made: their verdicts say why
	left    []*attempt // for which there is no slot now
}

// bar notes an attempt that may not be made, and the verdict on it.
func (in *intents) bar(a *attempt, v verdict) {
	a.verdict = v
	in.barred = append(in.barred, a)
}

// intend takes a slot for each attempt of a lot, and writes the intents of those that have one.
// It waits for the first slot alone, so that no intent waits for another one's.
func (s *sender) intend(lot []*attempt) intents {
	var made intents
	limit := s.run.limiters[lot[0].intent.Operation]
	if limit.Take(s.run.life.starting) != nil {
		for _, a := range lot {
			made.bar(a, s.stoppedBefore(a))
		}
		return made
	}
	ready := make([]*attempt, 0, len(lot))
	for i, a := range lot {
		if i > 0 && !limit.TryTake() {
			made.left = lot[i:]
			break
		}
		a.checked = s.run.clocks.local()
		if why := s.tooLate(a, a.checked); why != "" {
			limit.Release()
			made.bar(a, unsent(a.knownTransfer, why))
			continue
		}
		if a.first.IsZero() {
			a.first = a.checked.local
		}
		s.date(&a.intent)
		a.answer = Answer{Kind: Unwritten} // before any
		ready = append(ready, a)
	}
	s.writeIntents(ready, &made)
	return made
}

// date notes with an intent the time by clocks that nobody can turn.
func (s *sender) date(i *state.Intent) {
	i.AfterMS, i.Clocks = s.run.clocks.sinceBegin().Milliseconds(), state.Clocks{}
	if s.run.joined {
		i.Clocks = s.run.clocks.begun().Clocks
	}
}

// writeIntents makes intents durable before a byte of a request leaves (law 1): all at once, or,
// where the state refuses one of them, each by itself.
func (s *sender) writeIntents(lot []*attempt, made *intents) {
	if len(lot) == 0 {
		return
	}
	entries := make([]state.Entry, len(lot))
	for i, a := range lot {
		entries[i] = a.intent
	}
	err := s.run.journal.append(entries...)
	switch {
	case err == nil:
		for _, a := range lot {
			s.run.report.tell(Event{Type: EventIntended, RefID: a.refID, Amount: a.request.Amount, Asset: a.request.Asset})
		}
		made.durable = append(made.durable, lot...)
	case isRefusal(err) && len(lot) > 1:
		for _, a := range lot {
			s.writeIntents([]*attempt{a}, made)
		}
	default:
		s.run.stopOn(err)
		for _, a := range lot {
			s.run.limiters[a.intent.Operation].Release()
			made.bar(a, unsent(a.knownTransfer, fmt.Sprintf("Nothing was sent: its intent could not be written (%v).", err)))
		}
	}
}

// stoppedBefore returns the verdict on an attempt of which the run wrote no intent before it stopped.
func (s *sender) stoppedBefore(a *attempt) verdict {
	return unsent(a.knownTransfer, fmt.Sprintf("Nothing was sent: the run stopped before (%v).", context.Cause(s.run.life.starting)))
}

// mayTry waits until the next request of an attempt may start, and reports whether it may. Each
// request has a slot of its own, and is checked by itself, a repetition with a renewed token
// included.
func (s *sender) mayTry(a *attempt) bool {
	limit := s.run.limiters[a.intent.Operation]
	var err error
	if a.ages, err = limit.Start(s.run.life.starting, func() error { return s.mayStart(a) }); err != nil {
		limit.Release()
		a.answer, a.kept = stillNothing(a.answer, s.run.life.orStop(err)), true
		return false
	}
	return true
}

// mayStart returns an error if a request must not start now: it is too late for it, or the lock is not
// ours any more. It is called right before the start.
func (s *sender) mayStart(a *attempt) error {
	if a.old != nil {
		if err := s.run.clocks.renew(); err != nil {
			return lateError(fmt.Sprintf("Not sent again: how old it is can't be told (%v).", err))
		}
	}
	now := s.run.clocks.local()
	if since(a.checked, now) > checkAgeMax {
		if err := s.run.journal.check(); err != nil {
			s.run.stopOn(err)
			return fmt.Errorf("%w: %w", errLocked, err)
		}
		a.checked = now
	}
	if why := s.tooLate(a, s.run.clocks.local()); why != "" {
		return lateError(why)
	}
	if s.run.life.mayStart() {
		return nil
	}
	return context.Cause(s.run.life.starting) // while the clocks were renewed
}

// tooLate says why a request may not start at a reading, in a sentence; "" where it may. Where somebody set the
// local clock since the run began, the time that has passed since then must allow it as well.
func (s *sender) tooLate(a *attempt, now reading) string {
	if why := a.tooLate(now.local); why != "" {
		return why
	}
	counted := s.run.clocks.counted(now)
	if now.local.Sub(counted).Abs() <= clockSkewMax {
		return ""
	}
	if why := a.tooLate(counted); why != "" {
		return fmt.Sprintf("%s The clock of this machine was set during the run. By the time that passed since the begin, it is %s.", why, counted.UTC().Format(time.RFC3339))
	}
	return ""
}

// tooLate says why the request may not start at a time, in a sentence; "" where it may.
func (a *attempt) tooLate(now time.Time) string {
	if !a.until.IsZero() && now.After(a.until) {
		return a.late
	}
	if a.old != nil {
		if why := a.old(); why != "" {
			a.late = why
			return why
		}
	}
	if a.closed != nil {
		if why := a.closed(now); why != "" {
			return "Nothing was sent: " + why + "."
		}
	}
	return ""
}

var (
	errLocked    = errors.New("the lock could not be checked")
	errSlowCheck = fmt.Errorf("each of %d checks of the lock took longer than %v", checksMax, checkAgeMax)
)

// checksMax is how often a request checks the lock anew, where that takes too long, before it is left unsent.
const checksMax = 5

// lateError says why it is too late to start, in a sentence.
type lateError string

func (e lateError) Error() string { return string(e) }

// stillNothing returns the answer to an attempt that may not start (again): the last answer of the
// service, if there is one.
func stillNothing(last Answer, err error) Answer {
	late, isLate := errors.AsType[lateError](err)
	switch {
	case isLate:
		last.Reason = string(late)
	case last.Reason == "":
		last.Reason = fmt.Sprintf("Nothing was sent: %v.", err)
	}
	return last
}

// try submits the recorded bytes once, and reports whether the answer is the attempt's: where it
// is "nothing was made", there may be another try.
func (s *sender) try(a *attempt) (ended bool) {
	for checks := 0; ; checks++ {
		if a.asked = s.run.clocks.local(); since(a.checked, a.asked) <= checkAgeMax {
			break
		}
		// The process was stopped, or the check itself took so long that it says nothing of now.
		if checks == checksMax {
			s.run.limiters[a.intent.Operation].Forget(a.ages)
			a.answer = stillNothing(a.answer, errSlowCheck)
			return true
		}
		if !s.mayStillTry(a) {
			return true
		}
	}
	s.run.report.requested()
	a.answer = s.submit(a.intent.Path, []byte(a.intent.Body))
	s.run.limiters[a.intent.Operation].Arrived(a.ages)
	switch a.answer.Kind {
	case Unclear:
		if a.answer.RetryAfter > 0 {
			s.pauseFor(a, a.answer.RetryAfter)
			return true
		}
		fallthrough
	case Answered, Exists, Rejected:
		s.run.limiters[a.intent.Operation].Processed()
		return true
	case TokenRefused:
		if a.renewed {
			a.answer = refusedAgain(a.answer)
			return true
		}
		a.renewed = true
	case NotProcessed:
		a.renewed = false
	case Unwritten:
	}
	return false
}

// mayStillTry is mayTry of a request that did not start when it was to: others may have started since then, so
// it waits for another slot.
func (s *sender) mayStillTry(a *attempt) bool {
	limit := s.run.limiters[a.intent.Operation]
	limit.Forget(a.ages)
	if err := limit.Take(s.run.life.starting); err != nil {
		a.answer, a.kept = stillNothing(a.answer, s.run.life.orStop(err)), true
		return false
	}
	return s.mayTry(a)
}

// submit sends once, under a backstop: a Submitter has its own timeouts, for a request, and
// for a new token after it.
func (s *sender) submit(path string, body []byte) Answer {
	return s.run.Submitter.Submit(s.backstop.get(), path, body)
}

// refusedAgain returns the answer to an attempt whose renewed token the service refused as well. Where another request had
// used that token up, it says nothing of this one, which the next run sends.
func refusedAgain(answer Answer) Answer {
	const oneInFlight = "apply with --parallelism=1, or write max_in_flight = 1 in the service block"
	answer.Stop = true
	var why string
	switch answer.TokenUse {
	case TokenUsed:
		why = "A renewed token was refused as well, which the service had taken for another transfer: " +
			"its tokens seem to be good for one request. Requests that are in flight together take them from each other: " + oneInFlight + "."
	case TokenPerhapsUsed:
		answer.Kind = Rejected
		why = "A renewed token was refused as well, which another request had too. Either the client may not do this, " +
			"or a token is good for one request: then " + oneInFlight + "."
	case TokenUnused:
		answer.Kind = Rejected
		why = "A renewed token was refused as well: the client may not do this."
	}
	answer.Reason = strings.TrimSpace(answer.Reason + " " + why)
	return answer
}

// mayRetry waits for the slot of another try of an attempt, and reports whether there is one.
func (s *sender) mayRetry(a *attempt) bool {
	limit := s.run.limiters[a.intent.Operation]
	if a.answer.Kind != TokenRefused {
		a.tries++
		if !s.waitToRetry(a, limit) {
			return false
		}
	}
	a.kept = limit.Take(s.run.life.starting) != nil
	return !a.kept
}

// waitToRetry waits after a try that made nothing, and reports whether there is another one.
func (s *sender) waitToRetry(a *attempt, limit *ratelimit.Limiter) bool {
	answer := a.answer
	if a.pauses == nil {
		a.pauses = &backoff.ExponentialBackOff{InitialInterval: backoffFirst, Multiplier: 2, MaxInterval: backoffMax}
	}
	wait := s.pauseAfter(answer, a.pauses)
	if wait > waitMax && !answer.Stop {
		s.haltFor(wait)
		return false
	}
	if answer.Kind == NotProcessed && limit.Pause(wait) {
		s.run.report.tell(Event{Type: EventWaiting, RefID: a.refID, Reason: fmt.Sprintf("The service did not process a request; requests of operation %s pause for %v.", a.intent.Operation, wait.Round(time.Millisecond))})
	}
	if answer.Stop || a.tries == triesMax && answer.Kind == Unwritten || a.tries == triesBusyMax {
		return false
	}
	a.kept = s.run.Clock.Sleep(s.run.life.starting, wait) != nil
	return !a.kept
}

// haltFor ends the run where a service asks for a longer pause than a run waits.
func (s *sender) haltFor(wait time.Duration) {
	s.run.life.halt(fmt.Sprintf("the service asks for a pause of at least %v", wait.Round(time.Second)))
}

// pauseFor has the requests to come wait after one that leaves its transfer in doubt and may have come too fast.
func (s *sender) pauseFor(a *attempt, wait time.Duration) {
	if wait > waitMax {
		s.haltFor(wait)
		return
	}
	s.run.limiters[a.intent.Operation].Pause(wait)
}

// pauseAfter returns how long to wait before the next try. A part of it is random, so that requests
// that failed together do not come back together.
func (s *sender) pauseAfter(answer Answer, pauses *backoff.ExponentialBackOff) time.Duration {
	own := pauses.NextBackOff()
	s.mu.Lock() // a source of randomness may be no more than a generator
	jitter := time.Duration(s.run.Random() * float64(own) / 2)
	s.mu.Unlock()
	if answer.RetryAfter > 0 {
		return answer.RetryAfter + jitter
	}
	return own/2 + jitter
}

// aged returns the knowledge of an attempt's transfer, with the age of its request.
func (s *sender) aged(a *attempt) knownTransfer {
	k := a.knownTransfer
	k.age, k.isAged = s.run.clocks.ageOf(k.since, k.doubted, a.asked)
	return k
}

// judge says what an answer makes of the transfer, and whether a doubt ends by it.
func (s *sender) judge(a *attempt, answer Answer) verdict {
	v := s.judgeWithLookup(a, answer)
	if v.result != ResultInDoubt {
		return v
	}
	var u doubt.Doubt
	switch {
	case v.outcome.Status == state.Refused:
		u.Answer = doubt.AnswerRefused
	case v.outcome.Status == state.Unsent && v.outcome.Reason == a.late:
		u.Hold = doubt.Final(a.late) // a later answer would be too late as well
	case answer.Kind == Exists:
		u.Answer = doubt.AnswerKnown
	}
	return s.run.adviser.advise(v, u)
}

// judgeWithLookup is judge, with a lookup where the answer leaves open whose record there is, or whom
// it paid.
func (s *sender) judgeWithLookup(a *attempt, answer Answer) verdict {
	v := judgeAnswer(s.aged(a), answer, nil)
	isUnproven := v.outcome.Status == state.Unverified && len(v.outcome.Differences) == 0
	if s.run.Finder == nil || answer.Kind != Exists && !isUnproven {
		return v
	}
	found, err := s.run.lookups.find(s.run.life.flight, a.refID)
	if err != nil {
		return v // what the answer itself says
	}
	return judgeAnswer(s.aged(a), answer, found.records[a.refID])
}

// afterAnswer stops the run where the answer, or a row of them, says that it must.
func (s *sender) afterAnswer(a *attempt) {
	answer, v := a.answer, a.verdict
	switch {
	case v.stop != "":
		s.run.life.halt(v.stop)
	case answer.Kind == Rejected && s.run.Settings.StopOnRefusal:
		s.run.life.halt(fmt.Sprintf("%q was refused", v.outcome.RefID))
	}
	if a.kept {
		return
	}
	if why := s.stuck(answer); why != "" {
		s.run.life.halt(why)
	}
}

// isOut reports whether the latest attempts made nothing.
func (s *sender) isOut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fruitless > 0
}

// stuck counts attempts in a row that led to nothing, and says when they are too many to try
// others: a service that is down leaves few transfers in doubt, not a whole plan.
func (s *sender) stuck(answer Answer) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch answer.Kind {
	case Unwritten, NotProcessed, TokenRefused:
		s.fruitless++
	case Unclear:
		s.fruitless = 0
		s.unclear++
	case Answered, Exists, Rejected:
		s.fruitless, s.unclear = 0, 0
	}
	switch {
	case s.fruitless >= fruitlessMax:
		return orElse(answer.Reason, "the service processes nothing")
	case s.unclear >= max(unclearMax, s.run.Settings.InFlightMax):
		return fmt.Sprintf("the last %d requests had no clear answer, so no other is sent; what they asked for is in doubt", s.unclear)
	}
	return ""
}
