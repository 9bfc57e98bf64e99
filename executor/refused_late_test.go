package executor_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// refuses has the service make each transfer and answer that it did not.
func refuses(string, int, executor.Answer) executor.Answer {
	return executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
}

// listed returns what the service made of ref_ids.
func (w *world) listed(ids []string) map[string][]transfer.Record {
	found := make(map[string][]transfer.Record)
	for _, id := range ids {
		found[id] = w.service.made[id]
	}
	return found
}

// noticed are the transfers of which notices say that nobody asked the service.
func (w *world) noticed() int {
	n := 0
	for _, e := range w.events {
		if e.Type == executor.EventNotice && strings.Contains(e.Reason, "nobody asked") {
			n += e.Total
		}
	}
	return n
}

// TestWhatWasToldNoIsLookedUpBeforeItIsSentAgain has a run not look up at its end what an answer refused, or what was not
// processed, and which the service made. The next run does not trust that its state is whole.
func TestWhatWasToldNoIsLookedUpBeforeItIsSentAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		kind executor.AnswerKind
		join bool
	}{
		"refused": {executor.Rejected, false}, "refused, by a runner that joins": {executor.Rejected, true},
		"not processed": {executor.NotProcessed, false}, "not processed, by a runner that joins": {executor.NotProcessed, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				w.service.after = func(string, int, executor.Answer) executor.Answer {
					interrupt()
					synctest.Wait()
					return executor.Answer{Kind: tt.kind, HTTPStatus: 429, Stop: true}
				}
				if _, err := executor.Apply(ctx, w.run(w.plan(request("a")))); err != nil {
					t.Fatal(err)
				}
				w.service.after = nil
				run := w.run(w.plan(request("a")))
				carryOut := executor.Apply
				if tt.join {
					run.Share = &offered{open: map[int]int{1: 0}, parts: []state.Part{{Number: 1, RefIDs: []string{"a"}}}}
					run.Saved, carryOut = true, executor.Join
					if err := w.journal.Append(t.Context(), run.Begun); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := carryOut(t.Context(), run); err != nil {
					t.Fatal(err)
				}
				if n := w.service.requests("a"); n != 1 || w.journal.row("a").Status != state.Adopted {
					t.Errorf("%d requests, and the state has %v", n, w.journal.row("a").Status)
				}
			})
		})
	}
}

// TestALineThatWasRefusedStopsNobody has no lookup succeed: what was never sent is sent, and what was refused is not.
func TestALineThatWasRefusedStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.after = refuses
		w.apply(request("z"))
		w.service.after, w.lookup = nil, true
		w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, context.DeadlineExceeded }
		summary := w.apply(append(numbered(1000), request("z"))...)
		want := map[executor.Result]int{executor.ResultRecorded: 1000, executor.ResultNotAttempted: 1}
		if diff := cmp.Diff(want, counts(summary)); diff != "" || summary.Stopped != "" {
			t.Errorf("stopped %q, results (-want +got):\n%s", summary.Stopped, diff)
		}
	})
}

// TestOneRunnerLooksUpWhatARunRefused has a run of several runners count a transfer as what the service has.
func TestOneRunnerLooksUpWhatARunRefused(t *testing.T) {
	for _, status := range []state.Status{state.Adopted, state.Conflict} {
		t.Run(status.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				w.service.before = func(context.Context, string, int) *executor.Answer {
					time.Sleep(300 * time.Millisecond) // somebody asks to take part meanwhile
					return nil
				}
				w.service.after = func(refID string, _ int, a executor.Answer) executor.Answer {
					if refID != "t-000" && refID != "t-999" {
						return a
					}
					if status == state.Conflict {
						w.service.remade(refID, with(*a.Record, map[string]any{"amount": "3"}))
					}
					return executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
				}
				share := new(offered)
				run := w.run(w.plan(numbered(1000)...))
				run.Share, run.Saved = share, true
				summary, err := executor.Apply(t.Context(), run)
				if err != nil || share.open == nil {
					t.Fatalf("shared %t, %v", share.open != nil, err)
				}
				result := executor.ResultAdopted
				if status == state.Conflict {
					result = executor.ResultConflict
				}
				want := map[executor.Result]int{executor.ResultRecorded: 998, result: 2}
				if diff := cmp.Diff(want, counts(summary)); diff != "" || !summary.Complete {
					t.Errorf("complete %t, results (-want +got):\n%s", summary.Complete, diff)
				}
				if ended := w.journal.ended(run.Begun.RunID).Outcomes; ended[string(result)] != 2 || ended["refused"] != 0 {
					t.Errorf("the journal says %v", ended)
				}
				for _, e := range summary.Exceptions {
					if e.Result == executor.ResultRefused {
						t.Errorf("%s is told as refused", e.RefID)
					}
				}
				if w.journal.row("t-000").Status != status || w.journal.row("t-999").Status != status {
					t.Errorf("the state has %v and %v", w.journal.row("t-000").Status, w.journal.row("t-999").Status)
				}
			})
		})
	}
}

// TestALookupThatFailsLeavesTheOthersAsked has lookups of refused transfers fail, or take long.
func TestALookupThatFailsLeavesTheOthersAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		find    func(n int) error // of the n-th lookup
		adopted int
		most    time.Duration
	}{
		"the first": {func(n int) error {
			if n == 1 {
				return context.DeadlineExceeded
			}
			return nil
		}, 900, time.Minute},
		"each": {func(int) error { return context.DeadlineExceeded }, 0, time.Minute},
		"slow": {func(int) error { time.Sleep(110 * time.Second); return nil }, 200, 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				var last atomic.Pointer[time.Time]
				w.service.after = func(refID string, n int, a executor.Answer) executor.Answer {
					now := time.Now()
					last.Store(&now)
					return refuses(refID, n, a)
				}
				n := 0
				w.service.find = func(ids []string) (map[string][]transfer.Record, error) {
					n++
					return w.listed(ids), tt.find(n)
				}
				summary := w.apply(numbered(1000)...)
				if got := counts(summary); got[executor.ResultAdopted] != tt.adopted || got[executor.ResultRefused] != 1000-tt.adopted {
					t.Errorf("results %v", got)
				}
				if w.noticed() != 1000-tt.adopted || time.Since(*last.Load()) > tt.most {
					t.Errorf("%d are told as not looked up, after %v", w.noticed(), time.Since(*last.Load()))
				}
			})
		})
	}
}

// TestAnInterruptEndsTheLookupsOfRefusals has a person press Ctrl-C during the first of three.
func TestAnInterruptEndsTheLookupsOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.service.after = refuses
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		w.service.find = func(ids []string) (map[string][]transfer.Record, error) {
			interrupt()
			synctest.Wait()
			return w.listed(ids), nil
		}
		summary, err := executor.Apply(ctx, w.run(w.plan(numbered(300)...)))
		if got := counts(summary); err != nil || got[executor.ResultAdopted] != 100 || len(w.service.finds) != 1 || w.noticed() != 0 {
			t.Errorf("%d lookups, results %v, %d noticed, %v", len(w.service.finds), got, w.noticed(), err)
		}
	})
}

// TestEarlierRefusalsHaveTheirTurns has lookups that take so long that each run asks for few of the refused transfers.
func TestEarlierRefusalsHaveTheirTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.after = refuses
		w.apply(numbered(1000)...)
		w.service.after = nil
		w.lookup, w.settings.LeaveRefused = true, true
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			time.Sleep(110 * time.Second)
			return nil, nil
		}
		asked := make(map[string]bool)
		for range 10 {
			w.service.finds = nil
			w.apply(numbered(1000)...)
			for _, ids := range w.service.finds {
				asked[ids[0]] = true
			}
		}
		if len(asked) <= 2 {
			t.Errorf("ten runs began their lookups with %v", asked)
		}
	})
}

// TestALostLockEndsTheLookups has others take the lock away while a run looks up what was refused: it tells nothing that the
// state does not have.
func TestALostLockEndsTheLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.service.after = refuses
		w.service.find = func(ids []string) (map[string][]transfer.Record, error) {
			w.journal.fence()
			return w.listed(ids), nil
		}
		summary, err := executor.Apply(t.Context(), w.run(w.plan(numbered(300)...)))
		if err == nil || counts(summary)[executor.ResultRefused] != 300 || len(w.service.finds) != 1 {
			t.Errorf("%d lookups, results %v, %v", len(w.service.finds), counts(summary), err)
		}
		for _, e := range w.events {
			if e.Type == executor.EventChanged {
				t.Errorf("%s is told as %s", e.RefID, e.Result)
			}
		}
	})
}

// TestWhatIsFoundLateIsCountedAsThat has a lookup at the end of a run find what the run counts as something else than refused.
func TestWhatIsFoundLateIsCountedAsThat(t *testing.T) {
	tests := map[string]struct {
		answer executor.Answer
		edit   func(w *world, plan *planner.Plan)
		want   map[executor.Result]int
	}{
		"too late after a 429": {
			executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: 30 * time.Second},
			func(_ *world, plan *planner.Plan) {
				plan.Changes.Update(0, func(c *planner.Change) { c.Expires = time.Now().Add(10 * time.Second) })
			},
			map[executor.Result]int{executor.ResultAdopted: 1, executor.ResultRecorded: 1},
		},
		"another one depends on it": {
			executor.Answer{Kind: executor.Rejected, HTTPStatus: 422},
			func(_ *world, plan *planner.Plan) {
				plan.Changes.Update(1, func(c *planner.Change) { c.After = []string{"a"} })
			},
			map[executor.Result]int{executor.ResultAdopted: 1, executor.ResultNotAttempted: 1},
		},
		"the plan has it as a doubt": {
			executor.Answer{Kind: executor.Rejected, HTTPStatus: 422},
			func(w *world, plan *planner.Plan) {
				w.lookup = false
				w.apply(request("a"))
				w.lookup = true
				plan.Changes.Update(0, func(c *planner.Change) { c.Action = planner.Resolve })
			},
			map[executor.Result]int{executor.ResultAdopted: 1, executor.ResultRecorded: 1},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				w.service.after = func(refID string, _ int, a executor.Answer) executor.Answer {
					if refID == "a" {
						return tt.answer
					}
					return a
				}
				plan := w.plan(request("a"), request("b"))
				tt.edit(w, plan)
				summary := w.applyPlan(plan)
				if diff := cmp.Diff(tt.want, counts(summary)); diff != "" || summary.Idle != 0 {
					t.Errorf("%d idle, results (-want +got):\n%s", summary.Idle, diff)
				}
				for _, e := range summary.Exceptions {
					if e.RefID == "b" && (e.Next != "remit apply" || strings.Contains(e.Reason, "refused")) {
						t.Errorf("told of b: %s %s", e.Reason, e.Next)
					}
				}
			})
		})
	}
}

// TestManyRefusalsAreAskedForInPages has more refused transfers than one page.
func TestManyRefusalsAreAskedForInPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.settings.InFlightMax = 256
		w.service.after = refuses
		var all []transfer.Request
		for i := range suite.Dose(700, 1400, 5200) {
			all = append(all, request(fmt.Sprintf("t-%05d", i)))
		}
		if got := counts(w.apply(all...)); got[executor.ResultAdopted] != len(all) || len(w.service.finds) != (len(all)+99)/100 {
			t.Errorf("%d lookups, results %v", len(w.service.finds), got)
		}
	})
}

// unreadably is a journal whose intents nobody can read.
type unreadably struct{ *memory }

func (u unreadably) Snapshot(ctx context.Context) (state.Snapshot, error) {
	s, err := u.memory.Snapshot(ctx)
	return unreadableIntents{s}, err
}

type unreadableIntents struct{ state.Snapshot }

func (u unreadableIntents) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	details, err := u.Snapshot.Details(ctx, refIDs...)
	for i := range details {
		details[i].Intent.Body = "?"
	}
	return details, err
}

// TestARefusalOfARequestThatNobodyCanReadStands has the service list what an answer refused: without the request there is
// nothing that the record is held against.
func TestARefusalOfARequestThatNobodyCanReadStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.service.after = refuses
		run := w.run(w.plan(request("a")))
		run.Journal = unreadably{w.journal}
		summary, err := executor.Apply(t.Context(), run)
		if got := counts(summary); err != nil || got[executor.ResultRefused] != 1 || len(got) != 1 || len(w.service.finds) != 1 {
			t.Errorf("%d lookups, results %v, %v", len(w.service.finds), got, err)
		}
		if row := w.journal.row("a"); row.Status != state.Refused {
			t.Errorf("the state has %v", row.Status)
		}
	})
}
