package executor

import (
	"context"
	"errors"
	"fmt"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Apply carries run.Plan out on a state that the caller has locked, with a plan that the
// caller has checked against it: it settles doubts, then submits due transfers, in dependency
// order. The error says why the run did not begin, or that the journal failed, in which case wrapped
// [ErrJournal] says that the state must be looked at; the Summary holds in both cases. After a first
// cancellation of ctx, Apply starts nothing new and lets requests in flight end.
func Apply(ctx context.Context, run Run) (Summary, error) {
	all := newLines(run.Plan, isSent)
	a := newActiveRun(ctx, run, all.len())
	defer a.life.release()
	if err := a.begin(ctx); err != nil {
		a.life.ignoreInterrupts()
		a.report.leave(all.all(), false)
		return a.report.summary, err
	}
	survey, err := takeSurvey(a.life.lasting, &a.Run, a.clocks, all)
	if err != nil {
		a.report.leave(all.all(), false)
		return endRun(a, nil, fmt.Errorf("read the state: %w", err))
	}
	a.sending = true
	return carryOut(newScheduler(a, survey, all))
}

func isSent(a planner.Action) bool { return a == planner.Submit || a == planner.Resolve }

// SettleByLookup settles doubts by lookup alone and sends nothing: an apply of a plan that is not
// applicable still does that. run.Plan may be nil; a run whose plan would
// have submitted something, or has a line that stays in doubt, is not complete. Where nothing is in doubt, or the service has no
// lookup, it writes nothing to the journal.
func SettleByLookup(ctx context.Context, run Run) (Summary, error) {
	var all lines
	if run.Plan != nil {
		all = newLines(run.Plan, isSent)
	}
	run.Plan = nil
	a := newActiveRun(ctx, run, all.len())
	defer a.life.release()
	survey, err := takeSurvey(a.life.lasting, &a.Run, a.clocks, lines{})
	open, doubts := survey.split(all)
	a.report.leave(open.all(), true) // the plan can't be applied again either
	if err != nil {
		a.life.ignoreInterrupts()
		a.report.leave(doubts.all(), false)
		return a.report.summary, fmt.Errorf("read the state: %w", err)
	}
	if len(survey.doubts) == 0 || !a.lookups.possible() {
		for _, d := range survey.doubts {
			a.report.settle(d.request, a.adviser.hold(d, doubt.Passing("The service has no lookup.")), false)
		}
		a.life.ignoreInterrupts()
		a.report.summary.Complete = a.report.open == 0
		return a.report.summary, nil
	}
	if err := a.begin(ctx); err != nil {
		a.life.ignoreInterrupts()
		a.report.leave(doubts.all(), false)
		return a.report.summary, err
	}
	s := newScheduler(a, survey, lines{})
	s.plan(doubts)
	return carryOut(s)
}

// Join takes part in a run that another runner has begun and opened. run.Begun is that run's,
// and run.Plan has its lines; the caller has checked that it sends what the run does. It claims
// parts of the run until all are done, and those of runners that are lost as well. It returns
// what Apply does.
func Join(ctx context.Context, run Run) (Summary, error) {
	a := newActiveRun(ctx, run, 0)
	defer a.life.release()
	err := a.checkJoined(ctx)
	if err == nil {
		err = a.ready(ctx)
	}
	if err == nil { // it has nothing to journal: the run has begun
		_, err = a.checkState(ctx)
	}
	if err != nil {
		a.life.ignoreInterrupts()
		_ = run.Share.Leave(a.life.lasting) // it has claimed nothing
		return a.report.summary, err
	}
	a.limit(nil)
	a.sending, a.joined = true, true
	survey := &survey{rows: make(map[string]state.Transfer), outside: make(map[string]transfer.Request)}
	s := newScheduler(a, survey, lines{of: &run.Plan.Changes})
	s.shared.join()
	a.report.tell(Event{Type: EventBegun, Total: newLines(run.Plan, isSent).len()})
	return finishRun(s)
}

// carryOut carries a run out between its first event and its last.
func carryOut(s *scheduler) (Summary, error) {
	s.run.limit(s.survey.starts)
	s.run.report.tell(Event{Type: EventBegun, Total: s.total()})
	return finishRun(s)
}

// finishRun lets a scheduler settle everything, and ends the run.
func finishRun(s *scheduler) (Summary, error) {
	s.carryOut()
	s.run.report.out(s.pipeline.sender.isOut())
	if err := s.shared.addUp(); err != nil {
		return endRun(s.run, s.shared, err)
	}
	if !s.run.sending || s.shared.leaves() {
		return endRun(s.run, s.shared, nil)
	}
	runID := s.run.Begun.RunID
	isOfRun := func(row state.Transfer) bool { return row.RunID == runID || s.earlier[row.RefID] }
	if len(s.denied) > 0 && !s.shared.isShared() { // of a shared run one runner does that, before the others add up
		if err := lookRefusedUp(s.run, isOfRun, s.takenOver); err != nil {
			return endRun(s.run, s.shared, err)
		}
	}
	if s.run.Settings.WaitFinal {
		return endRun(s.run, s.shared, awaitFinal(s.run, isOfRun))
	}
	return endRun(s.run, s.shared, lookFailedAgain(s.run, isOfRun))
}

// endRun writes the run's last event, for every kind of end.
func endRun(a *activeRun, shared *sharedRun, failure error) (Summary, error) {
	a.life.ignoreInterrupts()
	err := errors.Join(failure, a.journal.failure())
	if shared.isShared() {
		err = shared.end(err)
	} else {
		err = a.end(err)
	}
	return a.summary(), err
}
