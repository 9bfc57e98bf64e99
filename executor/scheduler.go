package executor

import (
	"fmt"
	"slices"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// lookupsMax is how many lookups before a first sending run at once.
const lookupsMax = 4

// scheduler decides when each attempt starts: doubts first, then the lines of the plan, each once
// all its dependencies are COMPLETED. Its invariant: only the goroutine of run touches its fields;
// everything that takes time runs in other goroutines, which hand back a message.
type scheduler struct {
	run     *activeRun
	all     lines
	survey  *survey
	drafter drafter

	lines        []line
	settledLines []settledLine // before the run begins

	dependencies *dependencies
	planned      map[string]*planner.Change // lines that are in doubt; nil for a doubt that is no line
	earlier      map[string]bool            // settled transfers that earlier runs attempted

	ready   []int32            // lines that may be sent
	looking []int32            // lines that are looked up before they are sent
	queue   []*attempt         // that may start
	lookups int                // before a first sending
	denied  map[string]*denied // transfers to which an answer said no, by ref_id

	inbox    *inbox
	pipeline *pipeline
	doubts   *doubtSettler
	poller   *dependencyPoller
	shared   *sharedRun // nil where other runners can't take part
}

// line is a line of the plan that is not in doubt.
type line struct {
	number int32 // in the plan
	group  int32 // of its dependencies; 0 where it waits for nothing
	listed bool  // it was made ready, which happens once
	looks  bool  // it is looked up before it is sent
	done   bool  // settled, or handed on as an attempt
}

func newScheduler(run *activeRun, survey *survey, all lines) *scheduler {
	s := &scheduler{
		run: run, all: all, survey: survey, drafter: drafter{&run.Run, survey},
		lines:        make([]line, 0, all.len()),
		dependencies: newDependencies(),
		planned:      make(map[string]*planner.Change, len(survey.doubts)),
		earlier:      make(map[string]bool),
		denied:       make(map[string]*denied),
		inbox:        newInbox(),
	}
	s.pipeline = newPipeline(newSender(run), s.inbox, func(a *attempt, v verdict) { s.settled(a.knownTransfer, v, a.planned) })
	s.doubts = &doubtSettler{
		run: run, survey: survey, drafter: s.drafter, planned: s.planned, inbox: s.inbox, settled: s.settled,
		send: func(a *attempt) { s.queue = append(s.queue, a) },
	}
	s.poller = &dependencyPoller{scheduler: s, run: run, inbox: s.inbox, pending: make(map[string]*pending)}
	if run.Share != nil {
		s.shared = newSharedRun(run, s)
	}
	for _, d := range survey.doubts {
		s.planned[d.refID], s.earlier[d.refID] = nil, true
	}
	for i, change := range all.all() {
		if _, doubted := s.planned[change.RefID]; doubted {
			doubtful := *change // it is valid until the next
			s.planned[change.RefID] = &doubtful
			s.shared.hand(change.RefID)
			continue
		}
		v, isSettled := s.drafter.earlier(change)
		if isSettled {
			s.settledLines = append(s.settledLines, settledLine{s.drafter.knownOf(change), v})
		}
		number, _ := s.dependencies.add(int32(len(s.lines)), change.After, func() []string { return change.After })
		s.lines = append(s.lines, line{number: all.numbers[i], group: number, done: isSettled, looks: s.looksFirst(change.RefID)})
	}
	return s
}

// plan has a run that settles doubts alone know their lines, which it doesn't send: a line is no complete one while
// it is in doubt, and may say why no apply sends it again.
func (s *scheduler) plan(doubts lines) {
	for _, change := range doubts.all() {
		if _, doubted := s.planned[change.RefID]; doubted {
			doubtful := *change // it is valid until the next
			s.planned[change.RefID] = &doubtful
		}
	}
}

// change returns the change that a line is about.
func (s *scheduler) change(i int32) planner.Change { return s.all.of.At(int(s.lines[i].number)) }

// total is how many transfers the run settles.
func (s *scheduler) total() int { return len(s.lines) + len(s.survey.doubts) }

// carryOut settles every line and every doubt once, and returns when nothing is under way.
func (s *scheduler) carryOut() {
	defer s.pipeline.close()
	for i := range s.lines {
		s.makeReady(int32(i))
	}
	// All that is settled is marked before any of it is told: a line that it lets go on may be settled, too.
	for _, l := range s.settledLines {
		s.earlier[l.refID] = true
		s.settled(l.knownTransfer, l.verdict, true)
	}
	s.meetOutside()
	s.doubts.settle(s.survey.doubts)
	s.shared.watch()
	for s.fill(); s.underWay() > 0 || s.shared.goesOn(); s.fill() {
		for _, message := range s.inbox.wait() {
			message()
		}
	}
	s.finish()
}

// underWay is how much takes time.
func (s *scheduler) underWay() int {
	return s.pipeline.underWay() + s.lookups + s.doubts.waits + s.poller.waits
}

// makeReady lists a line that waits for nothing (any more), once.
func (s *scheduler) makeReady(i int32) {
	l := &s.lines[i]
	if !s.dependencies.areMet(l.group) || l.listed || l.done {
		return
	}
	l.listed = true
	if l.looks {
		s.looking = append(s.looking, i)
	} else {
		s.ready = append(s.ready, i)
	}
}

// looksFirst reports whether a line is looked up before it is sent: all of them, or one to which an answer said no
// before, as the service may have made it all the same.
func (s *scheduler) looksFirst(refID string) bool {
	if !s.run.lookups.possible() {
		return false
	}
	return s.run.Settings.LookUpFirst || s.wasDenied(refID)
}

// wasDenied reports whether the state had a transfer as refused, or as not processed, before this runner had it.
func (s *scheduler) wasDenied(refID string) bool {
	status := s.survey.rows[refID].Status
	return status == state.Refused || status == state.Unsent
}

// fill starts all attempts that may start now.
func (s *scheduler) fill() {
	if s.run.sending && s.run.life.mayStart() {
		s.fillPipeline()
		s.pipeline.intendWaiting()
	} else {
		s.pipeline.giveUp()
	}
	s.shared.fill()
}

// fillPipeline adds attempts to the pipeline while it has room.
func (s *scheduler) fillPipeline() {
	most := s.pipeline.unansweredMax()
	for len(s.looking) > 0 && s.lookups < min(lookupsMax, most) && len(s.queue)+FindMax*s.lookups < most+FindMax {
		s.lookUpFirst(s.take(&s.looking, FindMax))
	}
	for s.pipeline.hasRoom() {
		if len(s.queue) == 0 && len(s.ready) > 0 {
			s.queue = append(s.queue, s.take(&s.ready, 1)...)
		}
		if len(s.queue) == 0 {
			return
		}
		s.pipeline.add(s.queue[0])
		s.queue = s.queue[1:]
	}
}

// isShort reports whether the scheduler has fewer lines at hand than it may start.
func (s *scheduler) isShort() bool {
	return len(s.ready)+len(s.looking)+len(s.queue)+FindMax*s.lookups < s.pipeline.unansweredMax()
}

// take turns the next lines of a list into attempts, at most n.
func (s *scheduler) take(list *[]int32, n int) []*attempt {
	n = min(n, len(*list))
	attempts := make([]*attempt, 0, n)
	for _, i := range (*list)[:n] {
		s.lines[i].done = true
		change := s.change(i)
		a := s.drafter.attempt(&change)
		a.planned = true
		s.shared.hand(a.refID)
		attempts = append(attempts, a)
	}
	*list = (*list)[n:]
	return attempts
}

// lookUpFirst asks for ref_ids before their first requests (docs/states.md, When memory is lost): a restored
// backup or a second checkout must not pay again.
func (s *scheduler) lookUpFirst(attempts []*attempt) {
	s.lookups++
	go func() {
		findings, err := byLookup(s.run).firsts(attempts)
		s.inbox.post(func() {
			s.lookups--
			if err != nil {
				s.notAsked(attempts, err)
				return
			}
			for i, f := range findings {
				switch a := attempts[i]; {
				case f.settled:
					s.settled(a.knownTransfer, f.verdict, a.planned)
				case f.undue.Holds():
					v := stranded(a.knownTransfer, f.undue.Text())
					v.next = "remit import FILE" // the state knows it as well as not at all
					s.settled(a.knownTransfer, v, a.planned)
				default:
					s.queue = append(s.queue, a)
				}
			}
		})
	}()
}

// notAsked goes on without the attempts that could not be looked up. Where nothing is sent without a lookup, the run stops.
func (s *scheduler) notAsked(attempts []*attempt, err error) {
	isStopping := !s.run.life.mayStart() // an interrupt, which ends a lookup as well, is no reason for other runners to stop
	if isStopping || s.run.Settings.LookUpFirst {
		if !isStopping {
			s.run.life.halt(fmt.Sprintf("the pre-send lookup failed: %v", err))
		}
		s.queue = append(s.queue, attempts...) // finish settles them
		return
	}
	for _, a := range attempts {
		v := unsent(a.knownTransfer, fmt.Sprintf("Nothing was sent: an answer said no to it before, and the service could not be asked whether it made it all the same (%v).", err))
		s.settled(a.knownTransfer, v, a.planned)
	}
}

// tell tells how a transfer ended, and the other runners if they count it.
func (s *scheduler) tell(request transfer.Request, v verdict, planned bool) {
	s.noteDenied(v)
	if v.result == ResultInDoubt && v.advice == "" {
		v = s.run.adviser.advise(v, doubt.Doubt{})
	}
	s.run.report.settle(request, v, planned)
	s.shared.settled(request, v, planned)
}

// settled tells how a transfer ended, and lets the lines that depend on it go on, wait or fail.
func (s *scheduler) settled(k knownTransfer, v verdict, planned bool) {
	s.tell(k.request, v, planned)
	if !s.dependencies.waitFor(k.refID) {
		return
	}
	switch {
	case v.result == ResultFailed:
		s.strand(k.refID, "which failed")
	case v.idle || v.result == ResultRefused || v.result == ResultConflict || v.result == ResultUnverified:
		s.strand(k.refID, "which is "+words(v.result))
	case v.result != ResultRecorded && v.result != ResultAdopted:
		s.fail(k.refID, "which is "+words(v.result))
	case v.status == transfer.Completed:
		s.meet(k.refID)
	default:
		s.poller.await(k, v)
	}
}

// meet lets the lines go on that waited for a ref_id, which is COMPLETED now.
func (s *scheduler) meet(refID string) {
	for _, i := range s.dependencies.meet(refID) {
		s.makeReady(i)
	}
}

// fail settles the lines that wait for a ref_id that will not be COMPLETED in this run, and those
// that wait for them in turn.
func (s *scheduler) fail(refID, why string) { s.failWith(refID, why, unsent) }

// strand is fail where another apply would not go on with it either.
func (s *scheduler) strand(refID, why string) { s.failWith(refID, why, stranded) }

func (s *scheduler) failWith(refID, why string, settle func(knownTransfer, string) verdict) {
	type failure struct{ refID, why string }
	for failures := []failure{{refID, why}}; len(failures) > 0; failures = failures[1:] {
		f := failures[0]
		for _, i := range s.dependencies.fail(f.refID) {
			l := &s.lines[i]
			if l.done {
				continue
			}
			l.done = true
			change := s.change(i)
			v := settle(s.drafter.knownOf(&change), fmt.Sprintf("Nothing was sent: it depends on %q, %s.", f.refID, f.why))
			s.tell(change.Request, v, true)
			if n := s.denied[refID]; n != nil && v.idle {
				n.dependents = append(n.dependents, change.RefID)
			}
			failures = append(failures, failure{change.RefID, "which was not attempted"})
		}
	}
}

// finish settles the lines that nothing was done about.
func (s *scheduler) finish() {
	why := "Nothing was sent: what it depends on did not end."
	if stopped := s.run.report.stopped(); stopped != "" {
		why = fmt.Sprintf("Nothing was sent: the run stopped before (%s).", stopped)
	}
	for _, a := range s.queue {
		s.tell(a.request, unsent(a.knownTransfer, why), a.planned)
	}
	s.queue = nil
	for _, i := range s.takeRest() {
		change := s.change(i)
		s.tell(change.Request, unsent(s.drafter.knownOf(&change), why), true)
	}
}

// takeRest takes the lines that are not under way from this runner.
func (s *scheduler) takeRest() []int32 {
	var rest []int32
	for i := range s.lines {
		if !s.lines[i].done {
			s.lines[i].done = true
			rest = append(rest, int32(i))
		}
	}
	s.ready, s.looking = nil, nil
	return rest
}

// drop leaves the lines that this runner has not begun to the others.
func (s *scheduler) drop() {
	s.queue = nil
	s.takeRest()
}

// addLine adds a line that this runner has claimed. It returns the dependencies that no line waited
// for before.
func (s *scheduler) addLine(number int32, change *planner.Change) (first []string) {
	i := int32(len(s.lines))
	group, first := s.dependencies.add(i, change.After, func() []string { return s.unmet(change.After) })
	s.lines = append(s.lines, line{number: number, group: group, looks: s.looksFirst(change.RefID)})
	s.makeReady(i)
	return first
}

// unmet returns the dependencies of a list that are not COMPLETED, as they were read.
func (s *scheduler) unmet(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(refID string) bool {
		row := s.survey.rows[refID]
		return row.RecordStatus == transfer.Completed && (row.Status == state.Recorded || row.Status == state.Adopted)
	})
}

// meetOutside looks at the dependencies that are neither lines nor in doubt.
func (s *scheduler) meetOutside() {
	awaited := s.dependencies.refIDs()
	if len(awaited) == 0 {
		return
	}
	inside := make(map[string]bool, len(awaited))
	for i := range s.lines {
		if refID := s.change(int32(i)).RefID; s.dependencies.waitFor(refID) {
			inside[refID] = true
		}
	}
	var outside []string
	for _, refID := range awaited {
		if _, doubted := s.planned[refID]; !doubted && !inside[refID] {
			outside = append(outside, refID)
		}
	}
	s.meetRecorded(outside)
}

// meetRecorded looks at dependencies by their rows in the state.
func (s *scheduler) meetRecorded(refIDs []string) {
	for _, refID := range refIDs {
		row, ok := s.survey.rows[refID]
		switch {
		case !ok && s.shared.plans(refID):
			s.fail(refID, "which was not attempted")
		case !ok:
			s.strand(refID, "which is neither recorded nor in this plan")
		case row.Status == state.InDoubt || row.Status == state.Unsent:
			s.fail(refID, "which is "+row.Status.String())
		case row.Status != state.Recorded && row.Status != state.Adopted:
			s.strand(refID, "which is "+row.Status.String())
		case row.RecordStatus == transfer.Completed:
			s.meet(refID)
		case row.RecordStatus == transfer.Failed:
			s.strand(refID, "which failed")
		default:
			k := knownTransfer{refID: refID, runID: s.run.Begun.RunID, request: s.survey.outside[refID], operator: s.run.Settings.Operator, first: row.IntendedAt, earlier: true}
			s.poller.await(k, verdict{outcome: state.Outcome{Status: row.Status}, recordID: row.RecordID, status: row.RecordStatus})
		}
	}
}
