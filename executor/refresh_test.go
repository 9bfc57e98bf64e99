package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// pendingWorld has requests recorded as PENDING.
func pendingWorld(t *testing.T, requests ...transfer.Request) *world {
	t.Helper()
	w := newWorld(t)
	w.lookup = true
	w.service.status = transfer.Pending
	w.apply(requests...)
	return w
}

// refresh looks up once, and fails on an error.
func (w *world) refresh() executor.Refreshed {
	w.t.Helper()
	found, err := w.tryRefresh(w.t.Context(), 0)
	if err != nil {
		w.t.Fatalf("refresh: %v", err)
	}
	return found
}

func (w *world) tryRefresh(ctx context.Context, wait time.Duration) (executor.Refreshed, error) {
	run := w.run(nil)
	run.Begun = state.Begun{}
	return executor.Refresh(ctx, run, wait, nil)
}

// changed are the changes that were told, by ref_id.
func (w *world) changed() map[string][]executor.RecordChange {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := make(map[string][]executor.RecordChange)
	for _, e := range w.events {
		if e.Type == executor.EventChanged {
			changes[e.RefID] = append(changes[e.RefID], e.Changes...)
		}
	}
	return changes
}

// remade has the service show other records of a ref_id from now on.
func (s *service) remade(refID string, records ...transfer.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[refID] = records
}

// with is a record with an object, a null or a text in a field.
func with(record transfer.Record, fields map[string]any) transfer.Record {
	var object map[string]any
	if err := json.Unmarshal(record.Raw, &object); err != nil {
		panic(err)
	}
	maps.Copy(object, fields)
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return parse(raw)
}

func TestRefreshLearnsWhatBecameOfATransfer(t *testing.T) {
	pending := sides(request("a"), time.Now(), transfer.Pending)
	tests := map[string]struct {
		listed  []transfer.Record
		changes []executor.RecordChange
		row     state.Status
		status  transfer.RecordStatus
		counted func(executor.Refreshed) int
	}{
		"it is COMPLETED": {
			listed:  sides(request("a"), time.Now(), transfer.Completed),
			changes: []executor.RecordChange{{Field: "status", Before: "PENDING", After: "COMPLETED"}},
			row:     state.Recorded, status: transfer.Completed,
			counted: func(r executor.Refreshed) int { return r.Completed.Count() },
		},
		"it FAILED, for a reason": {
			listed: []transfer.Record{with(pending[0], map[string]any{
				"status": "FAILED", "fee": "1.50", "total": "81.50",
				"status_details": map[string]any{"why": "closed"}, "secondary_status": map[string]any{"at": "bank"},
			})},
			changes: []executor.RecordChange{
				{Field: "status", Before: "PENDING", After: "FAILED"},
				{Field: "fee", Before: "0", After: "1.50"},
				{Field: "total", Before: "80.00", After: "81.50"},
				{Field: "status_details", After: `{"why":"closed"}`},
				{Field: "secondary_status", After: `{"at":"bank"}`},
			},
			row: state.Recorded, status: transfer.Failed,
			counted: func(r executor.Refreshed) int { return r.Failed.Count() },
		},
		"it has a status that nobody knows": {
			listed:  []transfer.Record{with(pending[0], map[string]any{"status": "SETTLING"})},
			changes: []executor.RecordChange{{Field: "status", Before: "PENDING", After: "SETTLING"}},
			row:     state.Recorded, status: "SETTLING",
			counted: func(r executor.Refreshed) int { return r.Pending.Count() },
		},
		"it is PENDING with another fee": {
			listed:  []transfer.Record{with(pending[0], map[string]any{"fee": "2"})},
			changes: []executor.RecordChange{{Field: "fee", Before: "0", After: "2"}},
			row:     state.Recorded, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Pending.Count() },
		},
		"nothing is new, amounts are written otherwise, and fields are gone": {
			listed: []transfer.Record{with(pending[0], map[string]any{"amount": "80", "total": "80.0000", "fee": "0.00", "group_id": ""})},
			row:    state.Recorded, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Pending.Count() },
		},
		"it is not listed": {
			row: state.Recorded, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Absent },
		},
		"the credit side alone is listed": {
			listed: []transfer.Record{sides(request("a"), time.Now(), transfer.Completed)[1]},
			row:    state.Recorded, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Absent },
		},
		"the amount is another": {
			listed: []transfer.Record{with(pending[0], map[string]any{"status": "COMPLETED", "amount": "81.00"})},
			row:    state.Conflict, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Conflicts.Count() },
		},
		"the group_id is another": {
			listed: []transfer.Record{with(pending[0], map[string]any{"status": "COMPLETED", "group_id": "elsewhere"})},
			row:    state.Conflict, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Conflicts.Count() },
		},
		"the record is another": {
			listed: []transfer.Record{with(pending[0], map[string]any{"status": "COMPLETED", "id": "another"})},
			row:    state.Conflict, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Conflicts.Count() },
		},
		"the record is another customer's": {
			listed: []transfer.Record{with(pending[0], map[string]any{"status": "COMPLETED", "customer_id": "somebody"})},
			row:    state.Conflict, status: transfer.Pending,
			counted: func(r executor.Refreshed) int { return r.Conflicts.Count() },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := pendingWorld(t, request("a"))
				w.service.remade("a", tt.listed...)
				before := w.journal.row("a").OutcomeSeq
				found := w.refresh()
				row := w.journal.row("a")
				if row.Status != tt.row || row.RecordStatus != tt.status || tt.counted(found) != 1 || found.Asked() != 1 {
					t.Errorf("the row is %v, %s; found %+v", row.Status, row.RecordStatus, found)
				}
				if changes := w.changed()["a"]; !slices.Equal(changes, tt.changes) {
					t.Errorf("changed %+v", changes)
				}
				if isNew := tt.changes != nil || tt.row == state.Conflict; (row.OutcomeSeq > before) != isNew {
					t.Errorf("the journal has outcome %d after %d", row.OutcomeSeq, before)
				}
				if w.service.requests("a") != 1 {
					t.Error("a refresh sent something")
				}
			})
		})
	}
}

// TestRefreshContradictsNothingThatAPersonAccepted has a person close a conflict, and the service
// go on to say what it said.
func TestRefreshContradictsNothingThatAPersonAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pendingWorld(t, request("a"))
		other := with(sides(request("a"), time.Now(), transfer.Pending)[0], map[string]any{"amount": "81.00"})
		w.service.remade("a", other)
		if found := w.refresh(); found.Conflicts.Count() != 1 {
			t.Fatalf("found %+v", found)
		}
		if _, err := executor.ResolveAcceptRecord(t.Context(), executor.Resolution{
			RefID: "a", Reason: "agreed", Journal: w.journal, Settings: w.settings, Clock: clock{},
		}, nil); err != nil {
			t.Fatal(err)
		}
		w.service.remade("a", with(other, map[string]any{"status": "COMPLETED"}))
		if found := w.refresh(); found.Completed.Count() != 1 || w.journal.row("a").Status != state.Recorded {
			t.Errorf("found %+v", found)
		}
	})
}

// TestRefreshComparesAnImportedRecord has no request: only the stored record says which fields must
// stay.
func TestRefreshComparesAnImportedRecord(t *testing.T) {
	tests := map[string]struct {
		fields map[string]any
		row    state.Status
		status transfer.RecordStatus
	}{
		"it is COMPLETED":         {map[string]any{"status": "COMPLETED"}, state.Unverified, transfer.Completed},
		"it FAILED":               {map[string]any{"status": "FAILED"}, state.Unverified, transfer.Failed},
		"it debits another":       {map[string]any{"status": "COMPLETED", "profile_id": "somebody"}, state.Conflict, transfer.Pending},
		"it is of another amount": {map[string]any{"status": "COMPLETED", "amount": "8.00"}, state.Conflict, transfer.Pending},
		"its record is another":   {map[string]any{"status": "COMPLETED", "id": "another"}, state.Conflict, transfer.Pending},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				debit := sides(request("a"), time.Now(), transfer.Pending)[0]
				imported := state.Outcome{RefID: "a", Status: state.Unverified, Source: state.SourceImport, Records: []json.RawMessage{debit.Raw}}
				if err := w.journal.Append(t.Context(), imported); err != nil {
					t.Fatal(err)
				}
				w.service.remade("a", with(debit, tt.fields))
				found := w.refresh()
				if row := w.journal.row("a"); row.Status != tt.row || row.RecordStatus != tt.status {
					t.Errorf("the row is %v, %s; found %+v", row.Status, row.RecordStatus, found)
				}
			})
		})
	}
}

// TestRefreshProvesADestination has a record without its other side at first.
func TestRefreshProvesADestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.settings.LookUpFirst = true
		both := sides(request("a"), time.Now().Add(-time.Hour), transfer.Pending)
		w.service.remade("a", both[0])
		w.apply(request("a"))
		if row := w.journal.row("a"); row.Status != state.Unverified {
			t.Fatalf("it is %v", row.Status)
		}
		w.service.remade("a", both...)
		w.refresh()
		if row := w.journal.row("a"); row.Status != state.Adopted || row.RecordStatus != transfer.Pending {
			t.Errorf("it is %v, %s", row.Status, row.RecordStatus)
		}
	})
}

// TestRefreshGoesOnAfterALookupThatFailed keeps what it learned before and after.
func TestRefreshGoesOnAfterALookupThatFailed(t *testing.T) {
	tests := map[string]struct {
		fails   func(lookup int) bool
		asked   int // lookups
		unasked int
	}{
		"one fails":        {func(n int) bool { return n == 2 }, 6, 100},
		"three in a row":   {func(n int) bool { return n >= 2 }, 4, 420},
		"never two in row": {func(n int) bool { return n%2 == 0 }, 6, 220},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := pendingWorld(t, numbered(520)...)
				lookups := 0
				w.service.finds = nil
				w.service.find = func(refIDs []string) (map[string][]transfer.Record, error) {
					if lookups++; tt.fails(lookups) {
						return nil, errors.New("503")
					}
					found := make(map[string][]transfer.Record)
					for _, refID := range refIDs {
						found[refID] = sides(request(refID), time.Now(), transfer.Completed)
					}
					return found, nil
				}
				found, err := w.tryRefresh(t.Context(), 0)
				if !errors.Is(err, executor.ErrLookup) || found.Unasked != tt.unasked || found.Completed.Count() != 520-tt.unasked || lookups != tt.asked {
					t.Errorf("%d lookups; %v; unasked %d, completed %d", lookups, err, found.Unasked, found.Completed.Count())
				}
				if found.Pending.Count() != tt.unasked || found.Asked() != 520 {
					t.Errorf("pending %d of %d", found.Pending.Count(), found.Asked())
				}
			})
		})
	}
}

// TestARefreshThatWaitsAsksAgainAfterRoundsThatFailed has the service away for longer than one round asks it.
func TestARefreshThatWaitsAsksAgainAfterRoundsThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pendingWorld(t, request("a"))
		lookups := 0
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			if lookups++; lookups <= 5 {
				return nil, errors.New("503")
			}
			return map[string][]transfer.Record{"a": sides(request("a"), time.Now(), transfer.Completed)}, nil
		}
		found, err := w.tryRefresh(t.Context(), time.Hour)
		if err != nil || found.Completed.Count() != 1 || found.Unasked != 0 {
			t.Errorf("after %d lookups %d are COMPLETED, and %d were not asked for: %v", lookups, found.Completed.Count(), found.Unasked, err)
		}
	})
}

func TestRefreshLeavesWhatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pendingWorld(t, request("a"), request("b"))
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			return map[string][]transfer.Record{"b": sides(request("b"), time.Now(), transfer.Completed)},
				fmt.Errorf("look up: %w", &executor.UnreadableError{Reasons: map[string]string{"a": "no amount"}})
		}
		found := w.refresh()
		if found.Unreadable != 1 || found.Completed.Count() != 1 || found.Pending.Count() != 1 || found.Named[0] != "a" {
			t.Errorf("found %+v", found)
		}
	})
}

// TestRefreshIsInterrupted ends a refresh in the middle of a lookup: what that one has is kept.
func TestRefreshIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pendingWorld(t, numbered(250)...)
		ctx, interrupt := context.WithCancel(t.Context())
		lookups := 0
		w.service.find = func(refIDs []string) (map[string][]transfer.Record, error) {
			if lookups++; lookups == 2 {
				interrupt()
				time.Sleep(time.Second)
			}
			found := make(map[string][]transfer.Record)
			for _, refID := range refIDs {
				found[refID] = sides(request(refID), time.Now(), transfer.Completed)
			}
			return found, nil
		}
		found, err := w.tryRefresh(ctx, time.Hour)
		if err != nil || !found.Interrupted || found.Completed.Count() != 200 || found.Unasked != 50 || lookups != 2 {
			t.Errorf("%d lookups; %v; found %+v", lookups, err, found)
		}
	})
}

func TestRefreshWaitsUntilAllIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pendingWorld(t, request("a"), request("b"), request("c"))
		begun := time.Now()
		w.service.find = func(refIDs []string) (map[string][]transfer.Record, error) {
			found := make(map[string][]transfer.Record)
			for _, refID := range refIDs {
				status := transfer.Pending
				switch since := time.Since(begun); {
				case refID == "a" && since > 10*time.Second:
					status = transfer.Completed
				case refID == "b" && since > time.Minute:
					status = transfer.Failed
				}
				found[refID] = sides(request(refID), begun, status)
			}
			return found, nil
		}
		found, err := w.tryRefresh(t.Context(), 5*time.Minute)
		if err != nil || found.Completed.Count() != 1 || found.Failed.Count() != 1 || !slices.Equal(found.Named, []string{"c"}) {
			t.Errorf("%v; found %+v", err, found)
		}
		if took := time.Since(begun); took != 5*time.Minute {
			t.Errorf("it took %v", took)
		}
		if n := len(w.service.finds); n > 40 {
			t.Errorf("%d lookups", n)
		}
	})
}

// TestApplyWaitsForAllThatItRecorded counts transfers that failed meanwhile as failed.
func TestApplyWaitsForAllThatItRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.settings.WaitFinal = true, true
		w.service.status = transfer.Pending
		begun := time.Now()
		w.service.find = func(refIDs []string) (map[string][]transfer.Record, error) {
			found := make(map[string][]transfer.Record)
			for _, refID := range refIDs {
				status := transfer.Completed
				if refID == "b" {
					status = transfer.Failed
				}
				if refID == "c" || time.Since(begun) < 30*time.Second {
					status = transfer.Pending
				}
				found[refID] = sides(request(refID), begun, status)
			}
			return found, nil
		}
		summary := w.applyPlan(w.plan(request("a"), request("b"), request("c")))
		if n := summary.Totals[executor.ResultFailed].Count(); n != 1 || summary.Totals[executor.ResultRecorded].Count() != 2 || summary.Unfinished != 1 {
			t.Errorf("%d failed, %d not final", n, summary.Unfinished)
		}
		if summary.Waited == nil || !slices.Equal(summary.Waited.Named, []string{"c"}) || time.Since(begun) < w.settings.Wait {
			t.Errorf("waited %+v for %v", summary.Waited, time.Since(begun))
		}
	})
}

// TestRefreshEndsWhereTheStateFails has a journal that fails in the middle.
func TestRefreshEndsWhereTheStateFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pendingWorld(t, numbered(150)...)
		for refID := range w.service.made {
			w.service.remade(refID, sides(request(refID), time.Now(), transfer.Completed)...)
		}
		run := w.run(nil)
		run.Begun, run.Journal = state.Begun{}, &failingAfter{Journal: run.Journal, appends: 1}
		found, err := executor.Refresh(t.Context(), run, 0, nil)
		if !errors.Is(err, executor.ErrJournal) || found.Completed.Count() != 100 {
			t.Errorf("%v; found %+v", err, found)
		}
	})
}

// failingAfter is a journal whose appends fail after so many.
type failingAfter struct {
	executor.Journal
	appends int
}

func (f *failingAfter) Append(ctx context.Context, entries ...state.Entry) error {
	if f.appends--; f.appends < 0 {
		return errors.New("no space left")
	}
	return f.Journal.Append(ctx, entries...)
}
