package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// after makes one line of a plan wait for others.
func after(plan *planner.Plan, refID string, dependencies ...string) {
	for i, c := range plan.Changes.All() {
		if c.RefID == refID {
			plan.Changes.Update(i, func(c *planner.Change) { c.After = dependencies })
		}
	}
}

func TestADependency(t *testing.T) {
	refuse := func(context.Context, string, int) *executor.Answer {
		return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."}
	}
	recorded, notAttempted := executor.ResultRecorded, executor.ResultNotAttempted
	tests := map[string]struct {
		funding func(w *world) // how the service treats it
		lookup  bool
		want    map[string]executor.Result
		reason  string // of the dependent
		took    time.Duration
	}{
		"that is COMPLETED lets the dependent go": {
			want: map[string]executor.Result{"funding": recorded, "payout": recorded, "other": recorded},
		},
		"that is refused does not": {
			funding: func(w *world) { w.service.before = onlyFor("funding", refuse) },
			want:    map[string]executor.Result{"funding": executor.ResultRefused, "payout": notAttempted, "other": recorded},
			reason:  `depends on "funding", which is refused`,
		},
		"that is in doubt does not": {
			funding: func(w *world) {
				w.service.before = onlyFor("funding", func(context.Context, string, int) *executor.Answer { return timeout() })
			},
			want:   map[string]executor.Result{"funding": executor.ResultInDoubt, "payout": notAttempted, "other": recorded},
			reason: "in doubt",
		},
		"that is not attempted does not": {
			funding: func(w *world) {
				w.service.before = onlyFor("funding", func(context.Context, string, int) *executor.Answer { return &executor.Answer{Kind: executor.Unwritten} })
			},
			want:   map[string]executor.Result{"funding": notAttempted, "payout": notAttempted, "other": recorded},
			reason: `depends on "funding", which is not attempted`,
		},
		"that FAILED does not": {
			funding: func(w *world) { w.service.status = transfer.Failed },
			want:    map[string]executor.Result{"funding": executor.ResultFailed, "payout": notAttempted, "other": executor.ResultFailed},
			reason:  "failed",
		},
		"that is PENDING is left where there is no lookup": {
			funding: func(w *world) { w.service.status = transfer.Pending },
			want:    map[string]executor.Result{"funding": recorded, "payout": notAttempted, "other": recorded},
			reason:  "no lookup",
		},
		"that stays PENDING is polled for as long as allowed": {
			funding: func(w *world) { w.service.status = transfer.Pending }, lookup: true,
			want:   map[string]executor.Result{"funding": recorded, "payout": notAttempted, "other": recorded},
			reason: "still not COMPLETED", took: 2 * time.Minute,
		},
		"that becomes COMPLETED lets the dependent go": {
			funding: func(w *world) { becomes(w, transfer.Completed) }, lookup: true,
			want: map[string]executor.Result{"funding": recorded, "payout": recorded, "other": recorded},
		},
		"that becomes FAILED does not": {
			funding: func(w *world) { becomes(w, transfer.Failed) }, lookup: true,
			want:   map[string]executor.Result{"funding": recorded, "payout": notAttempted, "other": recorded},
			reason: "failed",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = test.lookup
				if test.funding != nil {
					test.funding(w)
				}
				plan := w.plan(request("payout"), request("funding"), request("other"))
				after(plan, "payout", "funding")
				begun := time.Now()
				w.applyPlan(plan)
				if diff := cmp.Diff(test.want, w.results()); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if got := w.reason("payout"); !strings.Contains(got, test.reason) {
					t.Errorf("reason %q lacks %q", got, test.reason)
				}
				if took := time.Since(begun); test.took > 0 && took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				if row := w.journal.row("payout"); test.want["payout"] == notAttempted && row.Status != 0 {
					t.Errorf("an intent was written: %+v", row)
				}
			})
		})
	}
}

func onlyFor(refID string, answer func(context.Context, string, int) *executor.Answer) func(context.Context, string, int) *executor.Answer {
	return func(ctx context.Context, id string, try int) *executor.Answer {
		if id != refID {
			return nil
		}
		return answer(ctx, id, try)
	}
}

// becomes makes transfers PENDING that have the given status 20 seconds later.
func becomes(w *world, status transfer.RecordStatus) {
	w.service.status = transfer.Pending
	begun := time.Now()
	w.service.find = func(refIDs []string) (map[string][]transfer.Record, error) {
		now := transfer.Pending
		if time.Since(begun) > 20*time.Second {
			now = status
		}
		found := make(map[string][]transfer.Record)
		for _, refID := range refIDs {
			found[refID] = sides(request(refID), begun, now)
		}
		return found, nil
	}
}

func TestADependencyOfAnEarlierRun(t *testing.T) {
	for name, test := range map[string]struct {
		was, becomes transfer.RecordStatus
		want         executor.Result
		reason       string
	}{
		"that was PENDING and is COMPLETED by now": {transfer.Pending, transfer.Completed, executor.ResultRecorded, ""},
		"that FAILED pays nothing, and is not met": {transfer.Failed, transfer.Failed, executor.ResultNotAttempted, `depends on "funding", which failed`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.service.status = test.was
				w.apply(request("funding"))
				plan := w.plan(request("payout"))
				after(plan, "payout", "funding")
				w.lookup = true
				becomes(w, test.becomes)
				w.service.status = ""
				w.applyPlan(plan)
				if got := w.results()["payout"]; got != test.want || !strings.Contains(w.reason("payout"), test.reason) {
					t.Errorf("payout is %s: %s", got, w.reason("payout"))
				}
				if sent := w.service.requests("payout"); (sent == 1) != (test.want == executor.ResultRecorded) {
					t.Errorf("payout was sent %d times", sent)
				}
				if got := w.journal.row("funding").RecordStatus; got != test.becomes {
					t.Errorf("funding's status in the state is %s", got)
				}
			})
		})
	}
}

func TestAPolledRecordThatDisagreesIsAConflict(t *testing.T) {
	tests := map[string]struct {
		fields    map[string]string
		earlier   bool // the dependency was recorded by an earlier run
		different string
	}{
		"in its amount":                            {fields: map[string]string{"amount": "1.00"}, different: "amount"},
		"by being a new one":                       {fields: map[string]string{"id": "another"}, different: "id"},
		"in its amount, since an earlier run":      {fields: map[string]string{"amount": "1.00"}, earlier: true, different: "amount"},
		"by being a new one, since an earlier run": {fields: map[string]string{"id": "another"}, earlier: true, different: "id"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.service.status = transfer.Pending
				plan := w.plan(request("funding"), request("payout"))
				if test.earlier {
					w.apply(request("funding"))
					plan = w.plan(request("payout"))
				}
				w.lookup = true
				w.service.find = func([]string) (map[string][]transfer.Record, error) {
					return map[string][]transfer.Record{"funding": {*edited(*debit(request("funding"), time.Now()), test.fields)}}, nil
				}
				after(plan, "payout", "funding")
				summary := w.applyPlan(plan)
				want := map[executor.Result]int{executor.ResultConflict: 1, executor.ResultNotAttempted: 1}
				if diff := cmp.Diff(want, counts(summary)); diff != "" || summary.Stopped != "" {
					t.Errorf("results (-want +got):\n%s; stopped by %q", diff, summary.Stopped)
				}
				snapshot, err := w.journal.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				details, err := snapshot.Details(t.Context(), "funding")
				if err != nil {
					t.Fatal(err)
				}
				detail := details[0]
				if detail.Status != state.Conflict || detail.Outcome.Differences[0].Field != test.different {
					t.Errorf("funding is %s: %+v", detail.Status, detail.Outcome)
				}
				resolution := executor.Resolution{
					RefID: "funding", By: state.Holder{User: "ada"}, Reason: "the service confirmed it",
					Journal: w.journal, Settings: w.settings, Clock: clock{},
				}
				if _, err := executor.ResolveAcceptRecord(t.Context(), resolution, nil); err != nil {
					t.Errorf("the conflict is a dead end: %v", err)
				}
				if row := w.journal.row("funding"); row.Status != state.Recorded || row.RecordID != "debit-of-funding" {
					t.Errorf("funding is %s with %q", row.Status, row.RecordID)
				}
			})
		})
	}
}

// TestAnUnverifiedDependencyIsNotMet has a dependency whose record is COMPLETED and has no group_id, in an
// earlier run or in the same one.
func TestAnUnverifiedDependencyIsNotMet(t *testing.T) {
	for name, inTheSameRun := range map[string]bool{"of an earlier run": false, "of the same run": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.service.after = func(refID string, _ int, a executor.Answer) executor.Answer {
					if refID == "funding" {
						a.Record = edited(*a.Record, map[string]string{"group_id": ""})
					}
					return a
				}
				requests := []transfer.Request{request("payout")}
				if inTheSameRun {
					requests = append(requests, request("funding"))
				} else {
					w.apply(request("funding"))
				}
				plan := w.plan(requests...)
				after(plan, "payout", "funding")
				w.applyPlan(plan)
				if row := w.journal.row("funding"); row.Status != state.Unverified || row.RecordStatus != transfer.Completed {
					t.Fatalf("funding is %s, %s", row.Status, row.RecordStatus)
				}
				if got := w.results()["payout"]; got != executor.ResultNotAttempted || w.service.requests("payout") != 0 {
					t.Errorf("payout is %s: %s", got, w.reason("payout"))
				}
			})
		})
	}
}

// TestAnAcceptedDependencyIsMetWhenItIsCompleted has a transfer that was accepted although it
// differs, while it is PENDING: its dependents go on once it is COMPLETED.
func TestAnAcceptedDependencyIsMetWhenItIsCompleted(t *testing.T) {
	tests := map[string]struct {
		fields map[string]string // of the record that is accepted
		shown  map[string]string // of the one that the lookup shows later, beside
		want   executor.Result   // of its dependent
		status state.Status      // of it
	}{
		"by lookup": {
			map[string]string{"amount": "70.00"}, nil, executor.ResultRecorded, state.Recorded,
		},
		"but not where it differs in something else by then": {
			map[string]string{"amount": "70.00"}, map[string]string{"asset": "EUR"}, executor.ResultNotAttempted, state.Conflict,
		},
		"but not where the accepted field has another value by then": {
			map[string]string{"amount": "70.00", "total": "70.00"}, map[string]string{"amount": "60.00", "total": "60.00"}, executor.ResultNotAttempted, state.Conflict,
		},
		"but not where it is another record by then": {
			map[string]string{"amount": "70.00"}, map[string]string{"id": "another"}, executor.ResultNotAttempted, state.Conflict,
		},
		"but not by lookup where another customer's was accepted": {
			map[string]string{"customer_id": "stranger"}, nil, executor.ResultNotAttempted, state.Recorded,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.apply(request("first")) // names the customer
				begun := time.Now()
				record := func(status transfer.RecordStatus, fields ...map[string]string) transfer.Record {
					r := sides(request("funding"), begun, status)[0]
					for _, f := range append([]map[string]string{test.fields}, fields...) {
						r = *edited(r, f)
					}
					return r
				}
				w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
					r := record(transfer.Pending)
					a.Record = &r
					return a
				}
				w.apply(request("funding"))
				w.service.after = nil
				if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("funding"), nil); err != nil {
					t.Fatal(err)
				}
				w.lookup = true
				w.service.find = func([]string) (map[string][]transfer.Record, error) {
					return map[string][]transfer.Record{"funding": {record(transfer.Completed, test.shown)}}, nil
				}
				plan := w.plan(request("payout"))
				after(plan, "payout", "funding")
				summary := w.applyPlan(plan)
				if got := w.results()["payout"]; got != test.want || summary.Stopped != "" {
					t.Errorf("payout is %s: %s; stopped by %q", got, w.reason("payout"), summary.Stopped)
				}
				if row := w.journal.row("funding"); row.Status != test.status {
					t.Errorf("funding is %s", row.Status)
				}
			})
		})
	}
}

func TestAnAcceptedDependencyIsMetByAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		given := func(status transfer.RecordStatus, amount string) []transfer.Record {
			return []transfer.Record{*edited(sides(request("rent"), time.Now(), status)[0], map[string]string{"amount": amount})}
		}
		if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), given(transfer.Pending, "70.00")); err != nil {
			t.Fatal(err)
		}
		var differs *executor.DifferenceError
		if _, err := executor.ResolveRecorded(t.Context(), w.resolution("rent"), given(transfer.Completed, "60.00")); !errors.As(err, &differs) {
			t.Errorf("another amount than the accepted one: %v", err)
		}
		if _, err := executor.ResolveRecorded(t.Context(), w.resolution("rent"), given(transfer.Completed, "70.00")); err != nil {
			t.Errorf("a newer copy of what was accepted: %v", err)
		}
		if row := w.journal.row("rent"); row.Status != state.Recorded || row.RecordStatus != transfer.Completed {
			t.Errorf("it is %s, %s", row.Status, row.RecordStatus)
		}
	})
}

func TestWhatDependsOnNothingKnownIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan := w.plan(numbered(4)...)
		after(plan, "t-000", "nowhere")
		after(plan, "t-001", "t-002") // a cycle, which config refuses
		after(plan, "t-002", "t-001")
		summary := w.applyPlan(plan)
		if diff := cmp.Diff(map[executor.Result]int{executor.ResultNotAttempted: 3, executor.ResultRecorded: 1}, counts(summary)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

// TestDependenciesAreMetBeforeTheirDependents runs random graphs at a service that refuses
// some: nothing starts before what it depends on is COMPLETED, nothing is left out that
// could have been sent, and nothing is sent twice.
func TestDependenciesAreMetBeforeTheirDependents(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "transfers")
		graph := make(map[string][]string)
		refused := make(map[string]bool)
		good := make(map[string]bool) // not refused, and neither is anything below
		requests := numbered(n)
		for i, r := range requests {
			refused[r.RefID] = rapid.IntRange(0, 5).Draw(rt, "refused") == 0
			good[r.RefID] = !refused[r.RefID]
			for range rapid.IntRange(0, min(i, 3)).Draw(rt, "dependencies") {
				below := requests[rapid.IntRange(0, i-1).Draw(rt, "dependency")].RefID
				graph[r.RefID] = append(graph[r.RefID], below)
				good[r.RefID] = good[r.RefID] && good[below]
			}
		}
		shuffled := rapid.Permutation(requests).Draw(rt, "order")
		earlier := rapid.IntRange(0, n).Draw(rt, "sent by an earlier run")
		var problems []string
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			plan := w.plan(shuffled...)
			for refID, below := range graph {
				after(plan, refID, below...)
			}
			if earlier > 0 && good[requests[0].RefID] {
				w.apply(requests[0])
			}
			w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
				for _, below := range graph[refID] {
					if w.journal.row(below).RecordStatus != transfer.Completed {
						problems = append(problems, fmt.Sprintf("%q started before %q", refID, below))
					}
				}
				if refused[refID] {
					return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
				}
				return nil
			}
			w.settings.InFlightMax = 1
			summary := w.applyPlan(plan)
			for _, r := range requests {
				if sent := w.service.requests(r.RefID); sent > 1 || good[r.RefID] && sent != 1 {
					problems = append(problems, fmt.Sprintf("%q was sent %d times", r.RefID, sent))
				}
			}
			total := 0
			for _, count := range counts(summary) {
				total += count
			}
			if len(w.results()) != n || total != n {
				problems = append(problems, fmt.Sprintf("%d of %d transfers are settled, %d counted", len(w.results()), n, total))
			}
		})
		for _, problem := range problems {
			rt.Error(problem)
		}
	})
}
