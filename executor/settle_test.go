package executor_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestADoubtIsSentAgainOnlyWhere covers the conditions of docs/states.md, How a doubt ends, each by itself.
func TestADoubtIsSentAgainOnlyWhere(t *testing.T) {
	edit := func(line func(*planner.Change)) func(*world, *planner.Plan) {
		return func(_ *world, p *planner.Plan) { p.Changes.Update(0, line) }
	}
	tests := map[string]struct {
		change func(*world, *planner.Plan)
		saved  bool
		sent   bool
		reason string
	}{
		"all conditions hold":                            {func(*world, *planner.Plan) {}, false, true, ""},
		"a saved plan shows it as in doubt":              {func(*world, *planner.Plan) {}, true, true, ""},
		"its declaration only writes it anew":            {edit(func(c *planner.Change) { c.Request.Amount = transfer.MustAmount("80") }), false, true, ""},
		"a saved plan shows it, and only writes it anew": {edit(func(c *planner.Change) { c.Request.Amount = transfer.MustAmount("80") }), true, true, ""},
		"a saved plan was interrupted":                   {edit(func(c *planner.Change) { c.Action = planner.Submit }), true, true, ""},
		"a saved plan would send other bytes": {
			edit(func(c *planner.Change) {
				c.Action, c.Request.Amount = planner.Submit, transfer.MustAmount("80")
			}), true, false, "saved plan",
		},
		"the plan does not have it":               {func(_ *world, p *planner.Plan) { p.Changes = planner.Changes{} }, false, false, "plan"},
		"it is no longer declared":                {edit(func(c *planner.Change) { c.Address = "" }), false, false, "declared"},
		"its declaration was edited":              {edit(func(c *planner.Change) { c.Request.Amount = transfer.MustAmount("8.00") }), false, false, "differs"},
		"its declaration names another operation": {edit(func(c *planner.Change) { c.Request.Operation = transfer.Platform }), false, false, "differs"},
		"it has expired":                          {edit(func(c *planner.Change) { c.Expires = time.Now().Add(-time.Second) }), false, false, "expired"},
		"it is not due":                           {edit(func(c *planner.Change) { c.Until = time.Now().Add(time.Hour) }), false, false, "due"},
		"what it depends on is not COMPLETED":     {edit(func(c *planner.Change) { c.After = []string{"funding"} }), false, false, "funding"},
		"what it depends on is PENDING": {func(w *world, p *planner.Plan) {
			w.service.status = transfer.Pending
			w.apply(request("funding"))
			p.Changes.Update(0, func(c *planner.Change) { c.After = []string{"funding"} })
		}, false, false, "funding"},
		"doubts are held": {func(w *world, _ *planner.Plan) { w.settings.HoldDoubt = true }, false, false, "on_doubt"},
		"its first intent is as old as replay protection": {
			func(w *world, _ *planner.Plan) { time.Sleep(w.settings.ReplayWindow) }, false, false, "replay_window",
		},
		"replay protection may end while it is on its way": {
			func(w *world, _ *planner.Plan) { time.Sleep(w.settings.ReplayWindow - w.settings.RequestTimeout) }, false, false, "replay_window",
		},
		"the local clocks may be wrong": {
			func(w *world, _ *planner.Plan) {
				time.Sleep(w.settings.ReplayWindow - w.settings.RequestTimeout - 10*time.Minute)
			}, false, false, "replay_window",
		},
		"replay protection lasts a little longer": {
			func(w *world, _ *planner.Plan) {
				// Each local clock may be wrong by five minutes.
				time.Sleep(w.settings.ReplayWindow - w.settings.RequestTimeout - 10*time.Minute - time.Second)
			}, false, true, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				doubtful(w)
				w.service.before = nil
				plan := w.plan(request("rent"))
				test.change(w, plan)
				run := w.run(plan)
				run.Saved = test.saved
				if _, err := executor.Apply(t.Context(), run); err != nil {
					t.Fatal(err)
				}
				want, requests := executor.ResultInDoubt, 1
				if test.sent {
					want, requests = executor.ResultRecorded, 2
				}
				if got := w.results()["rent"]; got != want || w.service.requests("rent") != requests {
					t.Errorf("it is %s (%s) after %d requests", got, w.reason("rent"), w.service.requests("rent"))
				}
				if !strings.Contains(w.reason("rent"), test.reason) {
					t.Errorf("reason %q lacks %q", w.reason("rent"), test.reason)
				}
				bodies := slices.DeleteFunc(slices.Clone(w.service.bodies), func(body string) bool { return !strings.Contains(body, `"ref_id":"rent"`) })
				if len(slices.Compact(bodies)) != 1 {
					t.Errorf("other bytes were sent: %q", bodies)
				}
			})
		})
	}
}

// TestReplayProtectionIsMeasuredFromTheFirstIntent sends a doubt again and again: that does
// not make the service's memory longer.
func TestReplayProtectionIsMeasuredFromTheFirstIntent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		for range 5 {
			time.Sleep(10 * time.Hour)
			w.apply(request("rent"))
		}
		if got := w.service.requests("rent"); got != 3 {
			t.Errorf("%d requests in 50 hours, want those of hours 0, 10 and 20", got)
		}
	})
}

func TestALookupSettlesADoubt(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	rent := request("rent")
	ours := sides(rent, start, transfer.Completed)
	older := sides(rent, start.Add(-time.Hour), transfer.Completed)
	tests := map[string]struct {
		records []transfer.Record
		late    int // lookups that list nothing
		want    executor.Result
		events  []string
	}{
		"with our own record":              {ours, 0, executor.ResultRecorded, []string{"lookup: recorded"}},
		"with its debit side":              {ours[:1], 0, executor.ResultRecorded, []string{"lookup: recorded"}},
		"when the list is late":            {ours, 3, executor.ResultRecorded, []string{"lookup: recorded"}},
		"when the list is at its latest":   {ours, 4, executor.ResultRecorded, []string{"lookup: recorded"}},
		"with a proven record before ours": {older, 0, executor.ResultAdopted, []string{"lookup: adopted"}},
		"with an unproven one before ours": {older[:1], 0, executor.ResultUnverified, []string{"lookup: unverified"}},
		"with another amount": {
			[]transfer.Record{*edited(ours[0], map[string]string{"amount": "70.00"})},
			0,
			executor.ResultConflict,
			[]string{"lookup: conflict"},
		},
		"but not with the credit side": {ours[1:], 0, executor.ResultInDoubt, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				doubtful(w)
				w.lookup, w.service.before = true, nil
				calls := 0
				w.service.find = func([]string) (map[string][]transfer.Record, error) {
					if calls++; calls <= test.late {
						return nil, nil
					}
					return map[string][]transfer.Record{"rent": test.records}, nil
				}
				w.apply(rent)
				if got := w.results()["rent"]; got != test.want || w.service.requests("rent") != 1 {
					t.Errorf("it is %s (%s) after %d requests", got, w.reason("rent"), w.service.requests("rent"))
				}
				want := append([]string{"intent", "answer: in doubt"}, test.events...)
				if diff := cmp.Diff(want, w.journal.kinds("rent")); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestALookupThatFailsNeverLeadsToSendingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		w.lookup, w.service.before = true, nil
		w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, errDisk }
		w.apply(request("rent"), request("other"))
		want := map[string]executor.Result{"rent": executor.ResultInDoubt, "other": executor.ResultRecorded}
		if diff := cmp.Diff(want, w.results()); diff != "" || w.service.requests("rent") != 1 {
			t.Errorf("%d requests; results (-want +got):\n%s", w.service.requests("rent"), diff)
		}
	})
}

func TestDoubtsAreLookedUpByTheHundred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.after = func(string, int, executor.Answer) executor.Answer { return *timeout() }
		w.settings.InFlightMax = 250 // fewer would stop the run
		w.apply(numbered(250)...)
		w.lookup, w.service.after = true, nil
		summary := w.apply(numbered(250)...)
		if summary.Requests > 0 || counts(summary)[executor.ResultRecorded] != 250 || !summary.Complete {
			t.Errorf("summary: %+v", summary)
		}
		var sizes []int
		for _, ids := range w.service.finds {
			sizes = append(sizes, len(ids))
		}
		if diff := cmp.Diff([]int{100, 100, 50}, sizes); diff != "" {
			t.Errorf("lookups (-want +got):\n%s", diff)
		}
	})
}

func TestAFreshDoubtIsNotSentAgainInItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		if got := w.service.requests("rent"); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
}

func TestOneRecordCannotSettleTwoDoubts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.after = func(string, int, executor.Answer) executor.Answer { return *timeout() }
		w.apply(numbered(3)...)
		w.lookup, w.service.after = true, nil
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			found := map[string][]transfer.Record{}
			for _, r := range numbered(3) {
				found[r.RefID] = []transfer.Record{*edited(*debit(r, time.Now()), map[string]string{"id": "one-and-the-same"})}
			}
			return found, nil
		}
		summary := w.apply(numbered(3)...)
		want := map[executor.Result]int{executor.ResultRecorded: 1, executor.ResultConflict: 2}
		if diff := cmp.Diff(want, counts(summary)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestSettleByLookup(t *testing.T) {
	tests := map[string]struct {
		doubts, lookup bool
		want           map[string]executor.Result
		runs           int // in the journal
	}{
		"settles doubts and sends nothing":         {true, true, map[string]executor.Result{"made": executor.ResultRecorded, "rent": executor.ResultInDoubt}, 2},
		"holds them where there is no lookup":      {true, false, map[string]executor.Result{"made": executor.ResultInDoubt, "rent": executor.ResultInDoubt}, 1},
		"writes nothing where nothing is in doubt": {false, true, map[string]executor.Result{}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if test.doubts {
					w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
						if refID == "rent" {
							return timeout()
						}
						return nil
					}
					w.service.after = func(string, int, executor.Answer) executor.Answer { return *timeout() }
					w.apply(request("made"), request("rent"))
				}
				w.lookup, w.service.before = test.lookup, nil
				sent := len(w.service.bodies)
				summary, err := executor.SettleByLookup(t.Context(), w.run(nil))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, w.results()); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if len(w.service.bodies) != sent || summary.Requests > 0 {
					t.Error("something was sent")
				}
				if len(w.journal.runs) != test.runs {
					t.Errorf("%d runs in the journal, want %d", len(w.journal.runs), test.runs)
				}
			})
		})
	}
}

func TestHeldDoubtsSayWhatToType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.HoldDoubt = true
		w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
		odd := request("o'brien & sons")
		w.apply(odd)
		summary := w.apply(odd)
		if got := summary.Exceptions[0].Next; got != `remit resolve 'o'\''brien & sons' --recorded FILE --reason "…"` {
			t.Errorf("next: %s", got)
		}
	})
}

func TestDoubtsAreSentAgainBeforeAnythingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		w.service.before, w.settings.InFlightMax = nil, 1
		w.apply(append(numbered(3), request("rent"))...)
		if !strings.Contains(w.service.bodies[1], `"rent"`) {
			t.Errorf("sent in this order: %q", w.service.bodies)
		}
		if diff := cmp.Diff([]string{"intent", "answer: in doubt", "intent", "answer: recorded"}, w.journal.kinds("rent")); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestAStoppedRunHoldsItsDoubts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		w.lookup, w.service.before = true, nil
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, interrupt)
		begun := time.Now()
		if _, err := executor.Apply(ctx, w.run(w.plan(request("rent")))); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != 1500*time.Millisecond {
			t.Errorf("it ended after %v", took)
		}
		if got := w.results()["rent"]; got != executor.ResultInDoubt || w.journal.row("rent").Status != state.InDoubt {
			t.Errorf("it is %s", got)
		}
		if !slices.ContainsFunc(w.events, func(e executor.Event) bool { return e.Type == executor.EventWaiting }) {
			t.Error("nobody was told that it waits")
		}
	})
}

// TestTheRecordedBytesAreSent declares the same amount with other digits than were recorded.
func TestTheRecordedBytesAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		rent := request("rent")
		recorded := rent
		recorded.Amount = transfer.MustAmount("80.0")
		body := string(recorded.Body())
		err := w.journal.Append(
			t.Context(), state.Begun{RunID: "older", Clocks: state.Clocks{Date: time.Now()}},
			state.Intent{
				RefID: "rent", RunID: "older", Operation: transfer.Internal, Path: "/v2/transfer/internal",
				Body: body, Fingerprint: rent.Fingerprint().String(),
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		w.apply(rent)
		if diff := cmp.Diff([]string{body}, w.service.bodies); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		if got := w.journal.row("rent").Status; got != state.Recorded {
			t.Errorf("it is %v", got)
		}
	})
}
