package cli

import (
	"context"
	"slices"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/planner"
)

// exitOfRun is the exit code of a run that ended.
func exitOfRun(ctx context.Context, s executor.Summary) int {
	some := func(results ...executor.Result) bool {
		for _, result := range results {
			if t := s.Totals[result]; t != nil && t.Count() > 0 {
				return true
			}
		}
		return false
	}
	switch {
	case some(executor.ResultInDoubt, executor.ResultUnverified, executor.ResultConflict), s.Unknown.Count() > 0:
		return exit.Look
	case s.Waited != nil && asksForPerson(s.Waited):
		return exit.Look
	case s.Interrupted:
		return exit.CodeOf(ctx)
	case s.Waited != nil && s.Waited.Pending.Count() > 0:
		return exit.Partial
	case wasOut(s) && !some(executor.ResultRecorded, executor.ResultRefused, executor.ResultFailed):
		return exit.Error
	case some(executor.ResultRefused, executor.ResultFailed), left(s) > s.Standing:
		return exit.Partial
	}
	return exit.Done
}

// left is how many transfers a run did not attempt.
func left(s executor.Summary) int {
	if t := s.Totals[executor.ResultNotAttempted]; t != nil {
		return t.Count()
	}
	return 0
}

// wasOut reports whether an outage stopped a run, or was there at its end, and the same apply goes on when
// it is over. Where the run recorded nothing either, nothing was sent.
func wasOut(s executor.Summary) bool {
	return (s.Stopped != "" || s.Out) && left(s) > s.Idle
}

// asksForPerson reports whether lookups found what no further lookup mends.
func asksForPerson(found *executor.Refreshed) bool {
	return found.Conflicts.Count()+found.Refused.Count()+found.Unreadable+found.CreditFailed+found.UnknownNow > 0
}

// exitOf is the exit code of a plan that must not be applied: 4 where a declaration or an answer
// is in conflict with a record, else 1 where the plan itself is wrong, and 5 where a control
// says no.
func exitOf(obstacles []planner.Obstacle) int {
	if slices.ContainsFunc(obstacles, func(o planner.Obstacle) bool { return o.Kind == planner.ObstacleConflict }) {
		return exit.Look
	}
	isWrong := func(o planner.Obstacle) bool {
		switch o.Kind {
		case planner.ObstacleEmpty:
			return true
		case planner.ObstacleConflict, planner.ObstacleLookAlike, planner.ObstacleRename, planner.ObstacleReversal, planner.ObstacleLate, planner.ObstacleWindow, planner.ObstacleElsewhere,
			planner.ObstacleControl, planner.ObstacleLimit, planner.ObstaclePolicy:
			return false
		}
		return true
	}
	if slices.ContainsFunc(obstacles, isWrong) {
		return exit.Error
	}
	return exit.Control
}
