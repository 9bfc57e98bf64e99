package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"remit/executor/ratelimit"
	"remit/internal/doubt"
	"remit/internal/transfer"
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

	findTimeout = 2 * time.Minute // of one lookup, its own retries included

	// lockCheckMax is how old the check of the lock may be when a request begins to be
	// written (design section 10), and checkAgeMax when it is handed to the Submitter.
	lockCheckMax = 5 * time.Second
	checkAgeMax  = time.Second
)

// job is one attempt that is to be made.
type job struct {
	known
	intent  state.Intent
	planned bool // it is a line of the plan

	// until is when the request may no longer start, for which late says why; the zero time is
	// never.
	until time.Time
	// old says of a doubt why it is too old to be sent again, "" where it is not; nil where nothing is
	// in doubt.
	old func() string
	// shut says which window is closed at a time, "" for none; nil where there are no windows.
	shut func(time.Time) string

	asked   reading                     // when the latest request was handed over
	checked reading                     // when the lock was known to be ours
	begun   bool                        // it is not ahead any more: a request has begun, or never will
	ages    time.Time                   // from when on the latest request ages in its limit, if it is not answered before
	tries   int                         // that made nothing
	pauses  *backoff.ExponentialBackOff // between them
	renewed bool                        // the token is the one that a 401 led to
	answer  Answer                      // to the latest request
	verdict verdict                     // on the last answer
}

var errLocked = errors.New("the lock could not be checked")

// lateError says why it is too late to start, in a sentence.
type lateError string

func (e lateError) Error() string { return string(e) }

// judge says what an answer makes of the transfer, and of a doubt what ends it.
func (c *course) judge(j *job, answer Answer) verdict {
	v := c.judgeWithLookup(j, answer)
	if v.result != ResultInDoubt {
		return v
	}
	var u doubt.Doubt
	switch {
	case v.outcome.Status == state.Refused:
		u.Answer = doubt.AnswerRefused
	case v.outcome.Status == state.Unsent && v.outcome.Reason == j.late:
		u.Hold = doubt.Final(j.late) // what came too late will come too late again
	case answer.Kind == Exists:
		u.Answer = doubt.AnswerKnown
	}
	return c.advise(v, u)
}

// judgeWithLookup is judge where a lookup may tell whose record there is, or whom it paid, which the
// answer leaves open.
func (c *course) judgeWithLookup(j *job, answer Answer) verdict {
	v := judgeAnswer(c.aged(j.known, j.asked), answer, nil)
	isUnproven := v.outcome.Status == state.Unverified && len(v.outcome.Differences) == 0
	if c.run.Finder == nil || answer.Kind != Exists && !isUnproven {
		return v
	}
	found, err := c.find(c.flight, j.refID)
	if err != nil {
		return v // what the answer itself says
	}
	return judgeAnswer(c.aged(j.known, j.asked), answer, found.records[j.refID])
}

// mayTry waits until the next request of an attempt may start, and reports whether it may. Each
// request has a slot of its own, and is checked by itself, a repetition with a renewed token
// included.
func (c *course) mayTry(j *job) bool {
	limit := c.limiters[j.intent.Operation]
	var err error
	if j.ages, err = limit.Start(c.starting, func() error { return c.mayStart(j) }); err != nil {
		limit.Release()
		j.answer = stillNothing(j.answer, err)
		return false
	}
	return true
}

// try submits the recorded bytes once, and reports whether the answer is the attempt's: where it
// is "nothing was made", there may be another try.
func (c *course) try(j *job) (ended bool) {
	if j.asked = c.timekeeper.local(); since(j.checked, j.asked) > checkAgeMax { // the process stood still
		if err := c.mayStart(j); err != nil {
			j.answer = stillNothing(j.answer, err)
			return true
		}
		j.asked = j.checked
	}
	c.report.requested()
	j.answer = c.submit(j.intent.Path, []byte(j.intent.Body))
	c.limiters[j.intent.Operation].Arrived(j.ages)
	switch j.answer.Kind {
	case Answered, Unclear, Exists, Rejected:
		c.limiters[j.intent.Operation].Processed()
		return true
	case TokenRefused:
		if j.renewed {
			j.answer = refusedAgain(j.answer)
			return true
		}
		j.renewed = true
	case NotProcessed:
		j.renewed = false
	case Unwritten:
	}
	return false
}

// mayRetry waits for the slot of another try of an attempt, and reports whether there is one.
func (c *course) mayRetry(j *job) bool {
	limit := c.limiters[j.intent.Operation]
	if j.answer.Kind != TokenRefused {
		j.tries++
		if !c.waitToRetry(j, limit) {
			return false
		}
	}
	return limit.Take(c.starting) == nil
}

// refusedAgain is the answer to an attempt of which the renewed token was refused as well.
func refusedAgain(answer Answer) Answer {
	answer.Kind, answer.Stop = Rejected, true
	answer.Reason = strings.TrimSpace(answer.Reason + " A renewed token was refused as well: the client may not do this.")
	return answer
}

// waitToRetry waits after a try that made nothing, and reports whether there is another one.
func (c *course) waitToRetry(j *job, limit *ratelimit.Limiter) bool {
	answer := j.answer
	if j.pauses == nil {
		j.pauses = &backoff.ExponentialBackOff{InitialInterval: backoffFirst, Multiplier: 2, MaxInterval: backoffMax}
	}
	wait := c.pauseAfter(answer, j.pauses)
	if wait > waitMax && !answer.Stop {
		c.halt(fmt.Sprintf("the service asks for a pause of %v", wait.Round(time.Second)))
		return false
	}
	if answer.Kind == NotProcessed && limit.Pause(wait) {
		c.report.tell(Event{Type: EventWaiting, RefID: j.refID, Reason: fmt.Sprintf("The service did not process a request; requests of operation %s pause for %v.", j.intent.Operation, wait.Round(time.Millisecond))})
	}
	if answer.Stop || j.tries == triesMax && answer.Kind == Unwritten || j.tries == triesBusyMax {
		return false
	}
	return c.run.Clock.Sleep(c.starting, wait) == nil
}

// mayStart is asked right before a request starts: it must not be too late for it, and the
// lock must be ours.
func (c *course) mayStart(j *job) error {
	if j.old != nil {
		if err := c.renewClocks(); err != nil {
			return lateError(fmt.Sprintf("Not sent again: how old it is can't be told (%v).", err))
		}
	}
	now := c.timekeeper.local()
	if since(j.checked, now) > checkAgeMax {
		if err := c.journal.check(); err != nil {
			c.stopOn(err)
			return fmt.Errorf("%w: %w", errLocked, err)
		}
		j.checked = now
	}
	if why := j.tooLate(c.run.Clock.Now()); why != "" {
		return lateError(why)
	}
	return nil
}

// stillNothing is the answer to an attempt that may not start (again): what the service
// said last, if it did.
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

// pauseAfter is how long to wait before the next try, a random part of it included so that
// those who failed together do not come back together.
func (c *course) pauseAfter(answer Answer, pauses *backoff.ExponentialBackOff) time.Duration {
	own := pauses.NextBackOff()
	c.mu.Lock() // a source of randomness may be no more than a generator
	jitter := time.Duration(c.run.Random() * float64(own) / 2)
	c.mu.Unlock()
	if answer.RetryAfter > 0 {
		return answer.RetryAfter + jitter
	}
	return own/2 + jitter
}

// submit sends once, under a backstop: a Submitter has its own timeouts, for a request, and
// for a new token after it.
func (c *course) submit(path string, body []byte) Answer {
	return c.run.Submitter.Submit(c.backstop.get(c), path, body)
}

// lookup is what was found of the ref_ids that were asked for.
type lookup struct {
	records    map[string][]transfer.Record // none for what is absent, and for what can't be read
	unreadable map[string]string            // why, by ref_id
}

// find looks up at most 100 ref_ids. An error says nothing about any of them.
func (c *course) find(ctx context.Context, refIDs ...string) (lookup, error) {
	ctx, cancel := c.bounded(ctx, findTimeout)
	defer cancel()
	found, err := c.run.Finder.Find(ctx, refIDs)
	unreadable, ok := errors.AsType[*UnreadableError](err)
	if !ok {
		return lookup{records: found}, err
	}
	for refID := range unreadable.Reasons {
		delete(found, refID)
	}
	return lookup{found, unreadable.Reasons}, nil
}

// write makes an outcome durable, after the entries that lead to it. What the state refuses
// because the record belongs to something else becomes a conflict, and what it refuses because the
// group_id does, unverified. Where the journal fails,
// the transfer is in doubt, as the state has it: an intent without an outcome.
func (c *course) write(v verdict, lead ...state.Entry) verdict {
	err := c.journal.append(slices.Concat(lead, []state.Entry{v.outcome})...)
	if against, ok := contradiction(err, v); ok {
		v = against
		err = c.journal.append(slices.Concat(lead, []state.Entry{v.outcome})...)
	}
	if err != nil {
		c.halt(fmt.Sprintf("the outcome of %q could not be written: %v", v.outcome.RefID, err))
		v.outcome.Reason = fmt.Sprintf("Its outcome, %v, could not be written: %v.", v.outcome.Status, err)
		v.outcome.Status, v.result, v.next, v.written = state.InDoubt, ResultInDoubt, "remit apply", false
		return v
	}
	v.written = true
	return v
}

// contradiction is what becomes of a verdict with a record that the state refuses, and how a
// person closes it: a conflict, or unverified where the group_id is another's.
func contradiction(err error, v verdict) (verdict, bool) {
	refID := v.outcome.RefID
	if shared, ok := sharesGroup(err, v); ok {
		return shared, true
	}
	against := verdict{result: ResultConflict}
	var difference transfer.Difference
	if duplicate, ok := errors.AsType[*state.DuplicateRecordError](err); ok {
		difference = transfer.Difference{Field: "id", Asked: "a record of its own", Answered: fmt.Sprintf("%s, which is recorded under ref_id %q", duplicate.RecordID, duplicate.RefID)}
		against.stop = fmt.Sprintf("the record of %q is recorded under ref_id %q", refID, duplicate.RefID)
		against.next = command(refID, "--recorded FILE --accept-record")
	} else if customer, ok := errors.AsType[*state.CustomerError](err); ok {
		difference = transfer.Difference{Field: "customer_id", Asked: customer.Want, Answered: customer.Got}
		against.stop = fmt.Sprintf("the record of %q belongs to another customer", refID)
		against.next = command(refID, "--accept-record")
	} else {
		return v, false
	}
	against.outcome = state.Outcome{
		RefID: refID, RunID: v.outcome.RunID, Status: state.Conflict, Source: v.outcome.Source,
		Reason:     Describe([]transfer.Difference{difference}),
		HTTPStatus: v.outcome.HTTPStatus, Problem: v.outcome.Problem, Records: v.outcome.Records,
		Differences: []transfer.Difference{difference},
	}
	return against, true
}

// sharesGroup is the unverified verdict where the state refuses one because another transfer has the
// group_id.
func sharesGroup(err error, v verdict) (verdict, bool) {
	shared, ok := errors.AsType[*state.DuplicateGroupError](err)
	if !ok {
		return v, false
	}
	return fallShort(v, false, []transfer.Difference{transfer.SharedGroup(shared.GroupID, shared.RefID)}), true
}

// afterAnswer stops the run where the answer, or a row of them, says that it must.
func (c *course) afterAnswer(answer Answer, v verdict) {
	switch {
	case v.stop != "":
		c.halt(v.stop)
	case answer.Kind == Rejected && c.run.Policy.StopOnRefusal:
		c.halt(fmt.Sprintf("%q was refused", v.outcome.RefID))
	}
	if why := c.stuck(answer); why != "" {
		c.halt(why)
	}
}

// stuck counts attempts in a row that led to nothing, and says when they are too many to try
// others: a service that is down leaves few transfers in doubt, not a whole plan.
func (c *course) stuck(answer Answer) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch answer.Kind {
	case Unwritten, NotProcessed, TokenRefused:
		c.fruitless++
	case Unclear:
		c.fruitless = 0
		c.unclear++
	case Answered, Exists, Rejected:
		c.fruitless, c.unclear = 0, 0
	}
	switch {
	case c.fruitless >= fruitlessMax:
		return orElse(answer.Reason, "the service processes nothing")
	case c.unclear >= max(unclearMax, c.run.Policy.InFlightMax):
		return fmt.Sprintf("the last %d requests had no clear answer, so no other is sent; what they asked for is in doubt", c.unclear)
	}
	return ""
}

// stopOn halts for an error of the journal.
func (c *course) stopOn(err error) {
	if !refusal(err) {
		c.halt(err.Error())
	}
}

// refusal reports whether err is the state's refusal of entries that break a rule: nothing
// was written, and the journal is sound.
func refusal(err error) bool {
	for _, rule := range []error{
		state.ErrRecorded, state.ErrDifferent, state.ErrTombstone, state.ErrNoAttempt, state.ErrRun,
	} {
		if errors.Is(err, rule) {
			return true
		}
	}
	if _, ok := errors.AsType[*state.EdgeError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*state.CustomerError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*state.DuplicateGroupError](err); ok {
		return true
	}
	_, ok := errors.AsType[*state.DuplicateRecordError](err)
	return ok
}

// tooLate says why the request may not start now, in a sentence; "" where it may.
func (j *job) tooLate(now time.Time) string {
	if !j.until.IsZero() && now.After(j.until) {
		return j.late
	}
	if j.old != nil {
		if why := j.old(); why != "" {
			j.late = why
			return why
		}
	}
	if j.shut != nil {
		if why := j.shut(now); why != "" {
			return "Nothing was sent: " + why + "."
		}
	}
	return ""
}
