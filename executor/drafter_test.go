package executor_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
)

// TestASavedPlanDoesNotRepeatALaterRefusal has a plan show one refusal, and the state a later one, which nobody has reviewed.
func TestASavedPlanDoesNotRepeatALaterRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		refusedBefore(w)
		shown := w.plan(request("rent"))
		refusedBefore(w)
		run := w.run(shown)
		run.Saved = true
		if _, err := executor.Apply(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if got := w.results()["rent"]; got != executor.ResultRefused || w.service.requests("rent") != 2 {
			t.Errorf("%s after %d requests", got, w.service.requests("rent"))
		}
	})
}

// TestAPlanThatResolvesADoubtSendsNothingElse has a plan show a doubt, which the state has no more.
func TestAPlanThatResolvesADoubtSendsNothingElse(t *testing.T) {
	for name, before := range map[string]func(*world){
		"the state has nothing of it": func(*world) {},
		"it was refused":              refusedBefore,
		"it was not sent": func(w *world) {
			w.service.before = func(context.Context, string, int) *executor.Answer {
				return &executor.Answer{Kind: executor.Unwritten, Reason: "No connection."}
			}
			w.apply(request("rent"))
			w.service.before = nil
		},
	} {
		for _, isSaved := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s; saved: %t", name, isSaved), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					before(w)
					requests := w.service.requests("rent")
					plan := w.plan(request("rent"))
					plan.Changes.Update(0, func(c *planner.Change) { c.Action = planner.Resolve })
					run := w.run(plan)
					run.Saved = isSaved
					if _, err := executor.Apply(t.Context(), run); err != nil {
						t.Fatal(err)
					}
					if n := w.service.requests("rent") - requests; n != 0 {
						t.Errorf("it was sent %d times, and is %s", n, w.results()["rent"])
					}
				})
			})
		}
	}
}

// TestARefusalOfAnotherRequestMakesNoRecordOurs answers a request with a record of an hour ago. An hour before that the
// service refused a request of that ref_id, which alone can have made it.
func TestARefusalOfAnotherRequestMakesNoRecordOurs(t *testing.T) {
	for amount, want := range map[string]executor.Result{
		"80.00": executor.ResultRecorded, // as was refused
		"70.00": executor.ResultUnverified,
	} {
		t.Run(amount, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				refusedBefore(w)
				time.Sleep(2 * time.Hour)
				rent := request("rent")
				rent.Amount = transfer.MustAmount(amount)
				w.service.made["rent"] = sides(rent, time.Now().Add(-time.Hour), transfer.Completed)
				w.apply(rent)
				if got := w.results()["rent"]; got != want {
					t.Errorf("it is %s, want %s", got, want)
				}
			})
		})
	}
}
