package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
)

// TestWhatEndedBeforeIsNamedWhereAPersonMustLook has a run carry out the rest of a plan: a transfer that ended before it, and not as
// recorded, is an exception of that run.
func TestWhatEndedBeforeIsNamedWhereAPersonMustLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		whole := w.plan(request("paid"), request("doubt"), request("refused"), request("older"), request("rent"), request("left"))
		w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
			switch refID {
			case "doubt":
				return timeout()
			case "refused":
				return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."}
			}
			return nil
		}
		w.service.made["older"] = sides(request("older"), time.Now().Add(-time.Hour), transfer.Completed)
		w.apply(request("paid"), request("doubt"), request("refused"), request("older"))
		w.service.before = nil
		conflicting(w) // rent
		snapshot, err := w.journal.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before, err := executor.SettledBefore(t.Context(), whole, w.plan(request("left")), snapshot)
		if err != nil {
			t.Fatal(err)
		}
		named := make(map[string]executor.Result)
		for _, e := range before.Exceptions {
			named[e.RefID] = e.Result
		}
		want := map[string]executor.Result{
			"doubt": executor.ResultInDoubt, "refused": executor.ResultRefused, "older": executor.ResultUnverified, "rent": executor.ResultConflict,
		}
		if diff := cmp.Diff(want, named); diff != "" {
			t.Errorf("exceptions (-want +got):\n%s", diff)
		}
		all := map[executor.Result]int{executor.ResultRecorded: 1}
		for _, result := range want {
			all[result] = 1
		}
		if diff := cmp.Diff(all, counts(before)); diff != "" {
			t.Errorf("totals (-want +got):\n%s", diff)
		}
	})
}

// TestWhatEndedBeforeIsAddedUp adds what a run did before its server went away to what it did after.
func TestWhatEndedBeforeIsAddedUp(t *testing.T) {
	one := func(refID string) map[executor.Result]*transfer.Totals {
		totals, r := new(transfer.Totals), request(refID)
		totals.AddRequest(&r)
		return map[executor.Result]*transfer.Totals{executor.ResultRecorded: totals}
	}
	s := executor.Summary{Totals: one("after"), Requests: 3, Unfinished: 1, Unknown: executor.Unknown{"HELD": 1}}
	s.Add(executor.Summary{Totals: one("before"), Requests: 4, Unfinished: 2, Unknown: executor.Unknown{"HELD": 2}})
	if diff := cmp.Diff(map[executor.Result]int{executor.ResultRecorded: 2}, counts(s)); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	if s.Requests != 7 || s.Unfinished != 3 || s.Unknown["HELD"] != 3 {
		t.Errorf("%d requests, %d unfinished, statuses %v", s.Requests, s.Unfinished, s.Unknown)
	}
}
