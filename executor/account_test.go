package executor_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/planner"
)

// TestTheTotalsAccountForEachLine ends runs before they could settle all that their plans have.
func TestTheTotalsAccountForEachLine(t *testing.T) {
	noToken := func(w *world) executor.Run {
		plan := doubtAndThree(w)
		w.service.ready = func() (time.Time, error) { return time.Time{}, errors.New("no token") }
		return w.run(plan)
	}
	tests := map[string]struct {
		run      func(w *world) executor.Run
		carryOut func(*testing.T, executor.Run) executor.Summary
		want     map[executor.Result]int
		idle     int
	}{
		"a run that only settles doubts": {
			func(w *world) executor.Run {
				w.lookup = true
				return w.run(doubtAndThree(w))
			},
			settleByLookup,
			map[executor.Result]int{executor.ResultInDoubt: 1, executor.ResultNotAttempted: 3},
			3,
		},
		"a run that only settles doubts, where there is no lookup": {
			func(w *world) executor.Run { return w.run(doubtAndThree(w)) },
			settleByLookup,
			map[executor.Result]int{executor.ResultInDoubt: 1, executor.ResultNotAttempted: 3},
			3,
		},
		"a run that only settles doubts and gets no token": {
			func(w *world) executor.Run {
				w.lookup = true
				return noToken(w)
			},
			settleByLookup,
			map[executor.Result]int{executor.ResultInDoubt: 1, executor.ResultNotAttempted: 3},
			3,
		},
		"a run that only settles doubts, of a plan that has no other line": {
			func(w *world) executor.Run {
				w.lookup = true
				doubtful(w)
				w.service.before = nil
				return w.run(w.plan(request("rent")))
			},
			settleByLookup,
			map[executor.Result]int{executor.ResultInDoubt: 1},
			0,
		},
		"a run that only settles doubts, of a plan that has none of them sent": {
			func(w *world) executor.Run {
				w.lookup = true
				doubtful(w)
				w.service.before, w.settings.HoldDoubt = nil, true
				return w.run(w.plan(request("rent")))
			},
			settleByLookup,
			map[executor.Result]int{executor.ResultInDoubt: 1},
			1,
		},
		"a run that gets no token": {
			noToken, apply, map[executor.Result]int{executor.ResultInDoubt: 1, executor.ResultNotAttempted: 3}, 0,
		},
		"a run whose begin cannot be written": {
			func(w *world) executor.Run {
				run := w.run(doubtAndThree(w))
				w.journal.before = func(effect string) error { return failOn(effect, "append begun") }
				return run
			},
			apply,
			map[executor.Result]int{executor.ResultInDoubt: 1, executor.ResultNotAttempted: 3},
			0,
		},
		"a run that cannot read the state": {
			func(w *world) executor.Run {
				run := w.run(doubtAndThree(w))
				w.journal.before = func(effect string) error { return failOn(effect, "snapshot") }
				return run
			},
			apply,
			map[executor.Result]int{executor.ResultInDoubt: 1, executor.ResultNotAttempted: 3},
			0,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				summary := test.carryOut(t, test.run(w))
				got := make(map[executor.Result]int)
				for result, totals := range summary.Totals {
					got[result] = totals.Count()
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("totals (-want +got):\n%s", diff)
				}
				if summary.Complete || summary.Idle != test.idle {
					t.Errorf("complete %v, another apply would not go on with %d, want %d", summary.Complete, summary.Idle, test.idle)
				}
			})
		})
	}
}

// doubtAndThree is a plan of a doubt and of three that nothing is known of.
func doubtAndThree(w *world) *planner.Plan {
	doubtful(w)
	w.service.before = nil
	return w.plan(append(numbered(3), request("rent"))...)
}

func apply(t *testing.T, run executor.Run) executor.Summary {
	summary, err := executor.Apply(t.Context(), run)
	if err == nil {
		t.Error("the run began")
	}
	return summary
}

func settleByLookup(t *testing.T, run executor.Run) executor.Summary {
	summary, err := executor.SettleByLookup(t.Context(), run)
	t.Logf("ended with %v", err)
	return summary
}
