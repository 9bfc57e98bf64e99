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
	"remit/state"
)

// TestARefusalOfWhatWasMadeIsFound has a server in between say no after the service made the transfer.
func TestARefusalOfWhatWasMadeIsFound(t *testing.T) {
	tests := map[string]struct {
		answer executor.Answer
		listed func(transfer.Record) []transfer.Record
		want   executor.Result
		status state.Status
		wait   bool
	}{
		"refused, and listed":       {executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}, nil, executor.ResultAdopted, state.Adopted, false},
		"not processed, and listed": {executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429}, nil, executor.ResultAdopted, state.Adopted, false},
		"refused, and waited for":   {executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}, nil, executor.ResultAdopted, state.Adopted, true},
		"listed with another amount": {
			executor.Answer{Kind: executor.Rejected, HTTPStatus: 403},
			func(r transfer.Record) []transfer.Record {
				return []transfer.Record{with(r, map[string]any{"amount": "3"})}
			},
			executor.ResultConflict, state.Conflict, false,
		},
		"not listed": {
			executor.Answer{Kind: executor.Rejected, HTTPStatus: 422},
			func(transfer.Record) []transfer.Record { return nil },
			executor.ResultRefused, state.Refused, false,
		},
		"the credit side alone": {
			executor.Answer{Kind: executor.Rejected, HTTPStatus: 422},
			func(transfer.Record) []transfer.Record {
				return sides(request("a"), time.Now(), transfer.Completed)[1:]
			},
			executor.ResultRefused, state.Refused, false,
		},
		"nothing was sent": {
			executor.Answer{Kind: executor.Unwritten}, nil, executor.ResultNotAttempted, state.Unsent, false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup, w.settings.WaitFinal = true, tt.wait
				w.service.after = func(refID string, _ int, answer executor.Answer) executor.Answer {
					if tt.listed != nil {
						w.service.remade(refID, tt.listed(*answer.Record)...)
					}
					return tt.answer
				}
				summary := w.apply(request("a"))
				if diff := cmp.Diff(map[executor.Result]int{tt.want: 1}, counts(summary)); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				isTold := slices.ContainsFunc(w.events, func(e executor.Event) bool {
					return e.Type == executor.EventNotice && strings.Contains(e.Reason, "Do not pay it under another ref_id")
				})
				if isTold != (name == "the credit side alone") {
					t.Errorf("told that it is listed: %t", isTold)
				}
				if row := w.journal.row("a"); row.Status != tt.status {
					t.Errorf("the state has %v", row.Status)
				}
				if isSettled := tt.want != executor.ResultNotAttempted; summary.Complete != isSettled {
					t.Errorf("complete: %t", summary.Complete)
				}
			})
		})
	}
}

// TestARefusalOfAnEarlierRunIsFound has the list lag until the next apply, which leaves refusals as they are.
func TestARefusalOfAnEarlierRunIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.settings.LeaveRefused = true, true
		var made []transfer.Record
		w.service.after = func(refID string, _ int, answer executor.Answer) executor.Answer {
			made = []transfer.Record{*answer.Record}
			w.service.remade(refID)
			return executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
		}
		plan := w.plan(request("a"))
		if got := counts(w.applyPlan(plan)); got[executor.ResultRefused] != 1 {
			t.Errorf("at first: %v", got)
		}
		summary := w.apply(request("a"))
		if got := counts(summary); got[executor.ResultNotAttempted] != 1 || summary.Idle != 1 {
			t.Errorf("while the list lags: %v, %d idle", got, summary.Idle)
		}
		w.service.remade("a", made...)
		summary = w.apply(request("a"))
		if diff := cmp.Diff(map[executor.Result]int{executor.ResultAdopted: 1}, counts(summary)); diff != "" || summary.Idle != 0 || !summary.Complete {
			t.Errorf("%d idle, complete: %t, results (-want +got):\n%s", summary.Idle, summary.Complete, diff)
		}
		if n := w.service.requests("a"); n != 1 || w.journal.row("a").Status != state.Adopted {
			t.Errorf("%d requests, and the state has %v", n, w.journal.row("a").Status)
		}
	})
}

// TestOnlyAnswersThatSaidNoAreLookedUp has a service that cannot be reached, and a run that somebody interrupts: a lookup would
// have both wait for nothing.
func TestOnlyAnswersThatSaidNoAreLookedUp(t *testing.T) {
	for name, tt := range map[string]struct {
		answer      executor.Answer
		interrupted bool
		finds       int
	}{
		"no connection":    {executor.Answer{Kind: executor.Unwritten}, false, 0},
		"a no":             {executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}, false, 1},
		"a no, and Ctrl-C": {executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				w.service.before = func(context.Context, string, int) *executor.Answer {
					if tt.interrupted {
						interrupt()
						synctest.Wait()
					}
					return &tt.answer
				}
				if _, err := executor.Apply(ctx, w.run(w.plan(request("a")))); err != nil {
					t.Fatal(err)
				}
				if n := len(w.service.finds); n != tt.finds {
					t.Errorf("%d lookups, want %d", n, tt.finds)
				}
			})
		})
	}
}

// TestWhatWasNeverAnsweredIsNotLookedUpWithRefusals has one request refused, and another one not reach the service: only the first
// can have been made.
func TestWhatWasNeverAnsweredIsNotLookedUpWithRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
			if refID == "a" {
				return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
			}
			return &executor.Answer{Kind: executor.Unwritten}
		}
		w.apply(request("a"), request("b"))
		if diff := cmp.Diff([][]string{{"a"}}, w.service.finds); diff != "" {
			t.Errorf("lookups (-want +got):\n%s", diff)
		}
	})
}
