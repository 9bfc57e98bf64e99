package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestWhatAnotherApplyWouldNotGoOnWithNamesWhatDoes ends runs with transfers that the next one would
// leave where they are.
func TestWhatAnotherApplyWouldNotGoOnWithNamesWhatDoes(t *testing.T) {
	tests := map[string]struct {
		make func(w *world) *planner.Plan
		next map[string]string // by ref_id, of all exceptions
		idle int
	}{
		"it expired before its first request": {
			func(w *world) *planner.Plan {
				w.service.ready = func() (time.Time, error) {
					time.Sleep(2 * time.Minute)
					return time.Now(), nil
				}
				return expiring(w, time.Minute)
			},
			map[string]string{"rent": "remit plan"},
			1,
		},
		"it expired between two requests": {
			func(w *world) *planner.Plan {
				w.service.before = func(context.Context, string, int) *executor.Answer {
					return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: 3 * time.Second}
				}
				return expiring(w, 2*time.Second)
			},
			map[string]string{"rent": "remit plan"},
			1,
		},
		"a doubt expired before it was sent again": {
			func(w *world) *planner.Plan {
				doubtful(w)
				w.service.before = func(context.Context, string, int) *executor.Answer {
					return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: 3 * time.Second}
				}
				return expiring(w, 2*time.Second)
			},
			map[string]string{"rent": `remit resolve rent --recorded FILE --reason "…"`},
			1,
		},
		"a doubt is too old to be sent again, and there is no lookup": {
			func(w *world) *planner.Plan {
				doubtful(w)
				time.Sleep(25 * time.Hour)
				return w.plan(request("rent"))
			},
			map[string]string{"rent": "remit resolve rent --recorded FILE --reason \"…\""},
			1,
		},
		"a doubt is too old to be sent again, and a list may lag": {
			func(w *world) *planner.Plan {
				doubtful(w)
				w.lookup = true
				time.Sleep(25 * time.Hour)
				return w.plan(request("rent"))
			},
			map[string]string{"rent": "remit resolve rent"},
			1,
		},
		"what it depends on expired": {
			func(w *world) *planner.Plan {
				w.service.ready = func() (time.Time, error) {
					time.Sleep(2 * time.Minute)
					return time.Now(), nil
				}
				plan := w.plan(request("rent"), request("fee"), request("tax"))
				plan.Changes.Update(0, func(c *planner.Change) { c.Expires = time.Now().Add(time.Minute) })
				plan.Changes.Update(1, func(c *planner.Change) { c.After = []string{"rent"} })
				plan.Changes.Update(2, func(c *planner.Change) { c.After = []string{"fee"} })
				return plan
			},
			map[string]string{"rent": "remit plan", "fee": "", "tax": ""},
			3,
		},
		"what it depends on failed": {
			func(w *world) *planner.Plan {
				w.service.status = transfer.Failed
				return chain(w)
			},
			map[string]string{"rent": "", "fee": ""},
			1,
		},
		"what it depends on was refused": {
			func(w *world) *planner.Plan {
				w.service.before = func(context.Context, string, int) *executor.Answer {
					return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
				}
				return chain(w)
			},
			map[string]string{"rent": "remit plan", "fee": ""},
			1,
		},
		"what it depends on is in doubt, which another apply goes on with": {
			func(w *world) *planner.Plan {
				w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
				return chain(w)
			},
			map[string]string{"rent": "remit apply", "fee": "remit apply"},
			0,
		},
		"its record cannot be read": {
			func(w *world) *planner.Plan {
				w.lookup, w.settings.LookUpFirst = true, true
				w.service.find = unreadable
				return chain(w)
			},
			map[string]string{"rent": "remit import FILE", "fee": ""},
			2,
		},
		"it is known to a service that has no lookup": {
			func(w *world) *planner.Plan {
				w.service.before = func(context.Context, string, int) *executor.Answer {
					return &executor.Answer{Kind: executor.Exists, HTTPStatus: 409}
				}
				return chain(w)
			},
			map[string]string{"rent": `remit resolve rent --recorded FILE --reason "…"`, "fee": ""},
			2,
		},
		"doubts are held, and there is no lookup": {
			func(w *world) *planner.Plan {
				w.settings.HoldDoubt = true
				w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
				return w.plan(request("rent"))
			},
			map[string]string{"rent": `remit resolve rent --recorded FILE --reason "…"`},
			1,
		},
		"doubts are held, and a list may lag": {
			func(w *world) *planner.Plan {
				w.lookup, w.settings.HoldDoubt = true, true
				w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
				return w.plan(request("rent"))
			},
			map[string]string{"rent": "remit resolve rent"},
			1,
		},
		"a doubt was refused when it was sent again": {
			func(w *world) *planner.Plan {
				doubtful(w)
				w.service.before = func(context.Context, string, int) *executor.Answer {
					return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."}
				}
				return w.plan(request("rent"))
			},
			map[string]string{"rent": `remit resolve rent --recorded FILE --reason "…"`},
			1,
		},
		"it is known, and a list may lag": {
			func(w *world) *planner.Plan {
				w.lookup = true
				w.service.before = func(context.Context, string, int) *executor.Answer {
					return &executor.Answer{Kind: executor.Exists, HTTPStatus: 409}
				}
				return w.plan(request("rent"))
			},
			map[string]string{"rent": "remit apply"},
			0,
		},
		"the record of a doubt cannot be read": {
			func(w *world) *planner.Plan {
				doubtful(w)
				w.lookup, w.service.find = true, unreadable
				return w.plan(request("rent"))
			},
			map[string]string{"rent": `remit resolve rent --recorded FILE --reason "…"`},
			1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				summary := w.applyPlan(test.make(w))
				if summary.Idle != test.idle {
					t.Errorf("another apply would not go on with %d, want %d", summary.Idle, test.idle)
				}
				if len(summary.Exceptions) != len(test.next) {
					t.Errorf("%d exceptions, want %d", len(summary.Exceptions), len(test.next))
				}
				for _, e := range summary.Exceptions {
					if want, ok := test.next[e.RefID]; !ok || e.Next != want {
						t.Errorf("%s (%s: %s) has next %q, want %q", e.RefID, e.Result, e.Reason, e.Next, want)
					}
				}
			})
		})
	}
}

// TestATombstoneIsNothingToApplyAgain finishes a plan of which a person has settled a line.
func TestATombstoneIsNothingToApplyAgain(t *testing.T) {
	synctest.Test(t, tombstoneIdle)
}

func tombstoneIdle(t *testing.T) {
	w := newWorld(t)
	doubtful(w)
	plan := w.plan(request("rent"))
	time.Sleep(w.settings.RequestTimeout)
	_, err := executor.ResolveNotMade(t.Context(), executor.Resolution{RefID: "rent", Reason: "no", Journal: w.journal, Settings: w.settings, Clock: clock{}})
	if err != nil {
		t.Fatal(err)
	}
	if summary := w.applyPlan(plan); summary.Idle != 1 || w.journal.row("rent").Status != state.Tombstone {
		t.Errorf("another apply would not go on with %d, want 1", summary.Idle)
	}
}

// chain is a plan of rent and of fee, which depends on it.
func chain(w *world) *planner.Plan {
	plan := w.plan(request("rent"), request("fee"))
	plan.Changes.Update(1, func(c *planner.Change) { c.After = []string{"rent"} })
	return plan
}

// expiring is a plan of rent that expires so long from now.
func expiring(w *world, in time.Duration) *planner.Plan {
	plan := w.plan(request("rent"))
	plan.Changes.Update(0, func(c *planner.Change) { c.Expires = time.Now().Add(in) })
	return plan
}

// unreadable is a lookup that has something of each ref_id that can't be read.
func unreadable(refIDs []string) (map[string][]transfer.Record, error) {
	reasons := make(map[string]string)
	for _, refID := range refIDs {
		reasons[refID] = "it has no amount"
	}
	return nil, &executor.UnreadableError{Reasons: reasons}
}
