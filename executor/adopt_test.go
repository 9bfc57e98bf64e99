package executor_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestAnExportIsAdopted rebuilds a state of what the plan has, in more than one hundred, and
// of what it does not have.
func TestAnExportIsAdopted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		old := time.Now().Add(-time.Hour)
		declared := numbered(150)
		for _, r := range declared {
			w.service.made[r.RefID] = sides(r, old, transfer.Completed)
		}
		odd := func(refID, field, value string) []transfer.Record {
			return []transfer.Record{*edited(*debit(request(refID), old), map[string]string{field: value})}
		}
		others := map[string][]transfer.Record{
			"half":        sides(request("half"), old, transfer.Completed)[:1],
			"other-half":  sides(request("other-half"), old, transfer.Completed)[1:],
			"unknown":     odd("unknown", "type", "FEE"),
			"no-amount":   odd("no-amount", "amount", "-1"),
			"same-record": odd("same-record", "id", "debit-of-half"),
			"no-customer": odd("no-customer", "customer_id", "another"),
		}
		for _, refID := range []string{"gone-1", "gone-2", "gone-3"} {
			others[refID] = sides(request(refID), old, transfer.Completed)
			w.service.made[refID] = others[refID]
		}
		summary, err := executor.Adopt(t.Context(), exported(w.run(w.plan(declared...)), others), unknown(others))
		if err != nil {
			t.Fatal(err)
		}
		want := map[executor.Result]int{executor.ResultAdopted: 153, executor.ResultUnverified: 3, executor.ResultConflict: 3}
		if diff := cmp.Diff(want, counts(summary)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if !summary.Complete || summary.Requests > 0 || len(w.service.bodies) > 0 {
			t.Errorf("summary: %+v", summary)
		}
		for _, refID := range []string{"t-000", "t-149", "gone-1"} {
			if row := w.journal.row(refID); row.Status != state.Adopted || row.GroupID != "group-of-"+refID {
				t.Errorf("the state says of %q: %+v", refID, row)
			}
		}
		for _, refID := range []string{"half", "other-half", "unknown"} {
			row := w.journal.row(refID)
			if row.Status != state.Unverified || row.Amount.String() != request(refID).Amount.String() || row.Fingerprint != (transfer.Fingerprint{}) {
				t.Errorf("the state says of %q: %+v", refID, row)
			}
		}
		for _, refID := range []string{"no-amount", "same-record", "no-customer"} {
			if row := w.journal.row(refID); row.Status != 0 || w.results()[refID] != executor.ResultConflict {
				t.Errorf("the state says of %q: %+v; told is %q", refID, row, w.results()[refID])
			}
		}
	})
}

func TestAnExportThatLacksALineLeavesItUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		summary, err := executor.Adopt(t.Context(), w.run(w.plan(request("rent"))), unknown(nil))
		if err != nil {
			t.Fatal(err)
		}
		if summary.Complete || w.journal.row("rent").Status != 0 || w.results()["rent"] != executor.ResultNotAttempted {
			t.Errorf("summary: %+v, results %v", summary, w.results())
		}
	})
}

// unknown are the ref_ids of records of which the state has nothing.
func unknown(records map[string][]transfer.Record) executor.Others {
	refIDs := slices.Sorted(maps.Keys(records))
	return executor.Others{Unknown: slices.Values(refIDs), Count: len(refIDs)}
}

// exported has a run find these records as well.
func exported(run executor.Run, records map[string][]transfer.Record) executor.Run {
	run.Finder = export{run.Finder, records}
	return run
}

type export struct {
	executor.Finder
	records map[string][]transfer.Record
}

func (e export) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	found, err := e.Finder.Find(ctx, refIDs)
	if err != nil {
		return nil, err
	}
	found = maps.Clone(found)
	if found == nil {
		found = make(map[string][]transfer.Record)
	}
	for _, refID := range refIDs {
		if r := e.records[refID]; r != nil {
			found[refID] = r
		}
	}
	return found, nil
}
