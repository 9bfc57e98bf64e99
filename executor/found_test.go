package executor_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestARecordThatWasFoundIsNeverOurs finds the credit side before the first request, so that
// an intent is written and nothing is sent, and the debit side in the next run.
func TestARecordThatWasFoundIsNeverOurs(t *testing.T) {
	tests := map[string]struct {
		later func([]transfer.Record) []transfer.Record
		want  executor.Result
		row   state.Status
	}{
		"by its debit side alone":  {func(both []transfer.Record) []transfer.Record { return both[:1] }, executor.ResultUnverified, state.Unverified},
		"by nothing, as lists lag": {func([]transfer.Record) []transfer.Record { return nil }, executor.ResultInDoubt, state.InDoubt},
		"by both sides":            {func(both []transfer.Record) []transfer.Record { return both }, executor.ResultAdopted, state.Adopted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup, w.settings.LookUpFirst = true, true
				both := sides(request("rent"), time.Now().Add(-time.Minute), transfer.Completed)
				found := both[1:]
				w.service.find = func([]string) (map[string][]transfer.Record, error) {
					return map[string][]transfer.Record{"rent": found}, nil
				}
				w.apply(request("rent"))
				if got := w.journal.row("rent").Status; got != state.InDoubt {
					t.Fatalf("by its credit side alone it is %v", got)
				}
				found = test.later(both)
				w.apply(request("rent"))
				if got := w.results()["rent"]; got != test.want || w.journal.row("rent").Status != test.row {
					t.Errorf("it is %s", got)
				}
				if n := w.service.requests("rent"); n != 0 {
					t.Errorf("%d requests were sent", n)
				}
			})
		})
	}
}

// TestARecordThatCannotBeReadHoldsUpNobodyElse has a lookup that shows something of one
// ref_id that can't be read.
func TestARecordThatCannotBeReadHoldsUpNobodyElse(t *testing.T) {
	tests := map[string]struct {
		before func(*world)
		want   executor.Result // of the one
		reason string
		events []string // of the one
	}{
		"before a first sending": {
			func(*world) {}, executor.ResultNotAttempted, "Nothing was sent. The service lists a record that cannot be read: it is torn.", nil,
		},
		"when it is in doubt": {
			func(w *world) {
				w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
				w.lookup = false
				w.apply(numbered(3)...)
				w.service.before, w.lookup = nil, true
			}, executor.ResultInDoubt, "The service lists a record that cannot be read: it is torn.", []string{"intent", "answer: in doubt"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup, w.settings.LookUpFirst = true, true
				test.before(w)
				before := len(w.service.bodies)
				w.service.find = func([]string) (map[string][]transfer.Record, error) {
					return nil, fmt.Errorf("look up: %w", &executor.UnreadableError{Reasons: map[string]string{"t-001": "it is torn"}})
				}
				w.apply(numbered(3)...)
				want := map[string]executor.Result{"t-000": executor.ResultRecorded, "t-001": test.want, "t-002": executor.ResultRecorded}
				if diff := cmp.Diff(want, w.results()); diff != "" || len(w.service.bodies)-before != 2 {
					t.Errorf("%d requests (-want +got):\n%s", len(w.service.bodies)-before, diff)
				}
				if got := w.reason("t-001"); got != test.reason {
					t.Errorf("the reason is %q", got)
				}
				if diff := cmp.Diff(test.events, w.journal.kinds("t-001")); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}
