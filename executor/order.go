package executor

import (
	"fmt"
	"sync/atomic"
	"time"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// lookupsMax is how many lookups before a first sending run at once.
const lookupsMax = 4

// order decides what starts when: doubts first, then the lines of the plan, each when all
// that it depends on is COMPLETED. Its invariant: only the goroutine of run touches its
// fields; everything that takes time happens in others, which hand back a message.
type order struct {
	c      *course
	doubts []*unsettled
	all    lines
	lines  []line
	stood  []stood // lines that are done before the run begins

	gates   *gates
	pending map[string]*pending // dependencies that are recorded, but not COMPLETED
	known   *survey
	planned map[string]*planner.Change // lines that are in doubt
	earlier map[string]bool            // what is settled of attempts of earlier runs

	ready []int32 // lines that may be looked up, or sent
	queue []*job  // attempts that may start

	lanes    map[transfer.Operation]*lane
	ahead    atomic.Int64 // intents whose requests have not begun (design section 6)
	due      chan *job    // whose intents are durable; closed when the run has ended
	workers  int
	inbox    *inbox
	attempts int // that have no answer yet
	writing  int // outcomes of others

	answered  []*job // whose outcomes are to be written
	recording bool   // outcomes are being written

	lookups int // before a first sending
	waits   int // lookups of doubts and of dependencies that are under way or due

	// handed are the ref_ids of lines that are under way; nil where the run can't be shared.
	handed map[string]bool
}

// line is a line of the plan that is not in doubt.
type line struct {
	number int32 // in the plan
	gate   int32 // at which it waits; 0 where it waits for nothing
	listed bool  // it was made ready, which happens once
	done   bool  // settled, or handed on as a job
}

func newOrder(c *course, known *survey, all lines) *order {
	o := &order{
		c: c, known: known, doubts: known.doubts, all: all,
		gates:   newGates(),
		pending: make(map[string]*pending),
		planned: make(map[string]*planner.Change, len(known.doubts)),
		earlier: make(map[string]bool),
		lanes:   newLanes(),
		due:     make(chan *job, 2*max(1, c.run.Policy.InFlightMax)),
		inbox:   newInbox(),
	}
	if c.run.Share != nil {
		o.handed = make(map[string]bool)
	}
	for _, d := range known.doubts {
		o.planned[d.refID], o.earlier[d.refID] = nil, true
	}
	o.lines = make([]line, 0, all.len())
	for i, change := range all.all() {
		if _, doubted := o.planned[change.RefID]; doubted {
			doubtful := *change // it is valid until the next
			o.planned[change.RefID] = &doubtful
			o.hand(change.RefID)
			continue
		}
		v, stands := o.standing(change)
		if stands {
			o.stood = append(o.stood, stood{o.knownOf(change), v})
		}
		gate, _ := o.gates.put(int32(len(o.lines)), change.After, func() []string { return change.After })
		o.lines = append(o.lines, line{number: all.numbers[i], gate: gate, done: stands})
	}
	return o
}

// change is what a line is about.
func (o *order) change(i int32) planner.Change { return o.all.of.At(int(o.lines[i].number)) }

// total is how many transfers the run settles.
func (o *order) total() int { return len(o.lines) + len(o.doubts) }

// run settles every line and every doubt once, and returns when nothing is under way.
func (o *order) run() {
	defer close(o.due)
	for i := range o.lines {
		o.makeReady(int32(i))
	}
	// All that stands is marked before any of it is told: what it lets go on may stand, too.
	for _, s := range o.stood {
		o.earlier[s.refID] = true
		o.settled(s.known, s.verdict, true)
	}
	o.meetOutside()
	o.settleDoubts()
	o.watchShare()
	for o.fill(); o.underWay() > 0 || o.together(); o.fill() {
		for _, message := range o.inbox.wait() {
			message()
		}
	}
	o.finish()
}

// underWay is how much takes time.
func (o *order) underWay() int { return o.attempts + o.writing + o.lookups + o.waits }

// hand notes that a line is under way.
func (o *order) hand(refID string) {
	if o.handed != nil {
		o.handed[refID] = true
	}
}

// stood is a line that there is nothing to send for, because an earlier run of its plan
// settled it, and what became of it.
type stood struct {
	known
	verdict
}

// makeReady lists a line that waits for nothing (any more), once.
func (o *order) makeReady(i int32) {
	l := &o.lines[i]
	if !o.gates.isOpen(l.gate) || l.listed || l.done {
		return
	}
	l.listed = true
	o.ready = append(o.ready, i)
}

// standing is the result of a line that there is nothing to send for, because of what the
// state holds since the plan was made.
func (o *order) standing(change *planner.Change) (verdict, bool) {
	row, recorded := o.known.rows[change.RefID]
	v := verdict{
		outcome: state.Outcome{RefID: change.RefID, Reason: "An earlier run settled it."},
		status:  row.RecordStatus, recordID: row.RecordID, group: row.GroupID,
	}
	switch {
	case !recorded || row.Status == state.Unsent:
	case row.Status == state.Refused && row.RunID != o.c.run.Begun.RunID && o.again(change, row):
	case row.Status == state.Refused && row.RunID != o.c.run.Begun.RunID && o.c.run.Policy.LeaveRefused:
		v.result, v.outcome.Reason = ResultNotAttempted, "Nothing was sent: the service refused it before."
		v.next, v.idle = NextRefused, true
		return v, true
	case row.Status == state.Tombstone:
		v.result, v.outcome.Reason, v.idle = ResultNotAttempted, "A person settled it as not made, or forgot it: it is never sent again.", true
		return v, true
	default:
		v.result, v.outcome.Status = resultOf(row.Status, row.RecordStatus), row.Status
		if v.result == ResultConflict || v.result == ResultUnverified {
			v.next = command(change.RefID, "--accept-record")
		}
		return v, true
	}
	if change.Action == planner.Resolve {
		v.result, v.outcome.Reason = ResultNotAttempted, "It is no longer in doubt, and this plan does not say that it is to be sent."
		v.next, v.idle = "remit plan", true
		return v, true
	}
	return verdict{}, false
}

// again reports whether a refused transfer is sent again: where the plan shows the refusal that the state
// holds, whoever reviewed it wants that, unless the policy says otherwise.
func (o *order) again(change *planner.Change, row state.Transfer) bool {
	switch {
	case o.c.run.Policy.LeaveRefused:
		return false
	case !o.c.run.Saved:
		return true
	}
	return change.Again && change.Recorded != nil && change.Recorded.RunID == row.RunID
}

// knownOf is what is known of a line before its first attempt of this run.
func (o *order) knownOf(change *planner.Change) known {
	k := known{
		refID: change.RefID, runID: o.c.run.Begun.RunID,
		request: change.Request, operator: o.c.run.Policy.Operator,
	}
	if row, ok := o.known.rows[change.RefID]; ok && row.Fingerprint == change.Request.Fingerprint() {
		k.first, k.earlier = row.IntendedAt, !row.IntendedAt.IsZero()
	}
	return k
}

// jobOf is the first attempt of a line.
func (o *order) jobOf(change *planner.Change) *job {
	request := change.Request
	j := &job{known: o.knownOf(change), until: change.Expires}
	if !change.Expires.IsZero() {
		j.late = fmt.Sprintf("Nothing was sent: it expired at %s. Remove it, or pay it under a new ref_id.", change.Expires.UTC().Format(time.RFC3339))
	}
	j.intent = state.Intent{
		RefID: change.RefID, RunID: j.runID,
		Operation: request.Operation, Path: j.operator.Path(request.Operation),
		Body: string(request.Body()), Fingerprint: request.Fingerprint().String(),
		Address: change.Address, Place: change.Place, Batch: change.Batch, FromLabel: change.FromLabel,
		Naming: change.Naming, Reverses: change.Reverses, Due: change.Due,
	}
	j.shut = o.shut(change)
	return j
}

// shut is that of the job of a change.
func (o *order) shut(change *planner.Change) func(time.Time) string {
	windows, header := change.Windows, &o.c.run.Plan.Header
	if len(windows) == 0 {
		return nil
	}
	return func(now time.Time) string { return header.Shut(windows, now) }
}

// fill starts what may start now.
func (o *order) fill() {
	o.fillAttempts()
	o.fillShared()
}

func (o *order) fillAttempts() {
	if !o.c.sending || o.c.starting.Err() != nil {
		o.giveUp()
		return
	}
	o.fillLanes()
	o.intendWaiting()
}

// fillLanes has as many attempts wait for their intents as may be without an answer.
func (o *order) fillLanes() {
	attemptsMax := o.attemptsMax()
	openMax := attemptsMax + o.inFlightMax() // without a durable outcome
	lookFirst := o.c.run.Policy.LookUpFirst && o.c.run.Finder != nil
	for lookFirst && len(o.ready) > 0 && o.lookups < min(lookupsMax, attemptsMax) && len(o.queue)+FindMax*o.lookups < attemptsMax+FindMax {
		o.lookUpFirst(o.takeReady(FindMax))
	}
	for o.attempts < attemptsMax && o.attempts+o.writing < openMax {
		if len(o.queue) == 0 && !lookFirst && len(o.ready) > 0 {
			o.queue = append(o.queue, o.takeReady(1)...)
		}
		if len(o.queue) == 0 {
			return
		}
		j := o.queue[0]
		o.queue = o.queue[1:]
		o.attempts++
		l := o.lanes[j.intent.Operation]
		l.jobs = append(l.jobs, j)
	}
}

// attemptsMax is how many attempts may be without an answer: those in flight, and as many
// whose intents are written ahead (design section 6).
func (o *order) attemptsMax() int {
	if o.inFlightMax() == 1 {
		return 1
	}
	return 2 * o.inFlightMax()
}

// inFlightMax is how many requests may be in flight, and of how many more the intents may be
// written, or be on their way to the disk.
func (o *order) inFlightMax() int { return max(1, o.c.run.Policy.InFlightMax) }

// takeReady turns the next ready lines into jobs, at most n.
func (o *order) takeReady(n int) []*job {
	n = min(n, len(o.ready))
	jobs := make([]*job, 0, n)
	for _, i := range o.ready[:n] {
		o.lines[i].done = true
		change := o.change(i)
		j := o.jobOf(&change)
		j.planned = true
		o.hand(j.refID)
		jobs = append(jobs, j)
	}
	o.ready = o.ready[n:]
	return jobs
}

// tell tells how a transfer ended, and the other runners where it is in their count.
func (o *order) tell(request transfer.Request, v verdict, planned bool) {
	if v.result == ResultInDoubt && v.advice == "" {
		v = o.c.advise(v, doubt.Doubt{})
	}
	o.c.report.settle(request, v, planned)
	if o.handed == nil {
		return
	}
	delete(o.handed, v.outcome.RefID)
	switch s := o.c.shared; {
	case s == nil:
	case planned && v.result == ResultNotAttempted && o.c.report.leaves(s.share.Stopped()):
		s.aside = append(s.aside, stood{known{request: request}, v})
	default:
		s.settle(request, v, planned)
	}
}

// settled tells how a transfer ended, and what that means for those that depend on it.
func (o *order) settled(k known, v verdict, planned bool) {
	o.tell(k.request, v, planned)
	if !o.gates.waitFor(k.refID) {
		return
	}
	switch {
	case v.result == ResultFailed:
		o.strand(k.refID, "which failed")
	case v.idle || v.result == ResultRefused || v.result == ResultConflict || v.result == ResultUnverified:
		o.strand(k.refID, "which is "+words(v.result))
	case v.result != ResultRecorded && v.result != ResultAdopted:
		o.fail(k.refID, "which is "+words(v.result))
	case v.status == transfer.Completed:
		o.meet(k.refID)
	default:
		o.await(k, v)
	}
}

// meet lets go on what waited for a ref_id that is COMPLETED now.
func (o *order) meet(refID string) {
	for _, i := range o.gates.meet(refID) {
		o.makeReady(i)
	}
}

// fail settles what waits for a ref_id that will not be COMPLETED in this run, and what
// waits for that in turn.
func (o *order) fail(refID, why string) { o.failWith(refID, why, unsent) }

// strand is fail where another apply would not go on with it either.
func (o *order) strand(refID, why string) { o.failWith(refID, why, stranded) }

func (o *order) failWith(refID, why string, settle func(known, string) verdict) {
	type failure struct{ refID, why string }
	for failures := []failure{{refID, why}}; len(failures) > 0; failures = failures[1:] {
		f := failures[0]
		for _, i := range o.gates.fail(f.refID) {
			l := &o.lines[i]
			if l.done {
				continue
			}
			l.done = true
			change := o.change(i)
			v := settle(o.knownOf(&change), fmt.Sprintf("Nothing was sent: it depends on %q, %s.", f.refID, f.why))
			o.tell(change.Request, v, true)
			failures = append(failures, failure{change.RefID, "which was not attempted"})
		}
	}
}

// finish settles what nothing was done about.
func (o *order) finish() {
	why := "Nothing was sent: what it depends on did not end."
	if stopped := o.c.report.stopped(); stopped != "" {
		why = fmt.Sprintf("Nothing was sent: the run stopped before (%s).", stopped)
	}
	for _, j := range o.queue {
		o.tell(j.request, unsent(j.known, why), j.planned)
	}
	o.queue = nil
	for i := range o.lines {
		if !o.lines[i].done {
			o.lines[i].done = true
			change := o.change(int32(i))
			o.tell(change.Request, unsent(o.knownOf(&change), why), true)
		}
	}
	o.ready = nil
}

// meetOutside looks at the dependencies that are neither lines nor in doubt.
func (o *order) meetOutside() {
	awaited := o.gates.refIDs()
	if len(awaited) == 0 {
		return
	}
	inside := make(map[string]bool, len(awaited))
	for i := range o.lines {
		if refID := o.change(int32(i)).RefID; o.gates.waitFor(refID) {
			inside[refID] = true
		}
	}
	var outside []string
	for _, refID := range awaited {
		if _, doubted := o.planned[refID]; !doubted && !inside[refID] {
			outside = append(outside, refID)
		}
	}
	o.meetRecorded(outside)
}

// meetRecorded looks at dependencies by what the state has of them.
func (o *order) meetRecorded(refIDs []string) {
	for _, refID := range refIDs {
		row, ok := o.known.rows[refID]
		switch {
		case !ok && o.c.shared != nil && o.c.shared.has(refID):
			o.fail(refID, "which was not attempted")
		case !ok:
			o.strand(refID, "which is neither recorded nor in this plan")
		case row.Status == state.InDoubt || row.Status == state.Unsent:
			o.fail(refID, "which is "+row.Status.String())
		case row.Status != state.Recorded && row.Status != state.Adopted:
			o.strand(refID, "which is "+row.Status.String())
		case row.RecordStatus == transfer.Completed:
			o.meet(refID)
		case row.RecordStatus == transfer.Failed:
			o.strand(refID, "which failed")
		default:
			k := known{refID: refID, runID: o.c.run.Begun.RunID, request: o.known.outside[refID], operator: o.c.run.Policy.Operator, first: row.IntendedAt, earlier: true}
			o.await(k, verdict{outcome: state.Outcome{Status: row.Status}, recordID: row.RecordID, status: row.RecordStatus})
		}
	}
}

// words is a result as people read it.
func words(r Result) string {
	switch r {
	case ResultInDoubt:
		return "in doubt"
	case ResultNotAttempted:
		return "not attempted"
	case ResultConflict:
		return "in conflict"
	case ResultRecorded, ResultAdopted, ResultUnverified, ResultRefused, ResultFailed:
	}
	return string(r)
}
