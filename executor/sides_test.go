package executor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// ended are both sides of a transfer, each with a status of its own.
func ended(refID string, debit, credit transfer.RecordStatus) []transfer.Record {
	both := sides(request(refID), time.Now(), debit)
	return []transfer.Record{both[0], with(both[1], map[string]any{"status": string(credit)})}
}

// copyOf is a copy of a record with a status, updated so long after it was made.
func copyOf(record transfer.Record, status transfer.RecordStatus, after time.Duration) transfer.Record {
	return with(record, map[string]any{"status": string(status), "updated_at": record.CreatedAt.Add(after)})
}

// TestTheSidesOfATransferAreHeldAgainstOneAnother settles a doubt by a lookup, and refreshes a PENDING transfer.
func TestTheSidesOfATransferAreHeldAgainstOneAnother(t *testing.T) {
	both := func() []transfer.Record { return sides(request("a"), time.Now(), transfer.Completed) }
	tests := map[string]struct {
		listed           func() []transfer.Record
		doubt, refreshed state.Status
	}{
		"both are COMPLETED":                {both, state.Recorded, state.Recorded},
		"both FAILED":                       {func() []transfer.Record { return ended("a", "FAILED", "FAILED") }, state.Recorded, state.Recorded},
		"the debit FAILED alone":            {func() []transfer.Record { return ended("a", "FAILED", "COMPLETED") }, state.Conflict, state.Conflict},
		"the debit FAILED, credit unknown":  {func() []transfer.Record { return ended("a", "FAILED", "SETTLED") }, state.Conflict, state.Conflict},
		"the debit FAILED, credit PENDING":  {func() []transfer.Record { return ended("a", "FAILED", "PENDING") }, state.InDoubt, state.Recorded},
		"the credit FAILED alone":           {func() []transfer.Record { return ended("a", "COMPLETED", "FAILED") }, state.Unverified, state.Unverified},
		"the credit is PENDING":             {func() []transfer.Record { return ended("a", "COMPLETED", "PENDING") }, state.Unverified, state.Recorded},
		"an older copy FAILED, listed last": {func() []transfer.Record { return append(both(), copyOf(both()[0], "FAILED", -time.Second)) }, state.Recorded, state.Recorded},
		"an older copy FAILED, listed first": {func() []transfer.Record {
			return append([]transfer.Record{copyOf(both()[0], "FAILED", -time.Second)}, both()...)
		}, state.Recorded, state.Recorded},
		"a copy of the same time FAILED": {func() []transfer.Record { return append(both(), copyOf(both()[0], "FAILED", 0)) }, state.Conflict, state.Conflict},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				w.service.after = func(_ string, _ int, _ executor.Answer) executor.Answer { return *timeout() }
				w.apply(request("a"))
				w.service.remade("a", tt.listed()...)
				w.apply(request("a"))
				row := w.journal.row("a")
				if row.Status != tt.doubt {
					t.Errorf("of a doubt: %v, %s", row.Status, row.RecordStatus)
				}
				if isPaidAnew := row.Status.Made() && row.RecordStatus == transfer.Failed; isPaidAnew != (name == "both FAILED") {
					t.Errorf("of a doubt: %v, %s", row.Status, row.RecordStatus)
				}
				if n := w.service.requests("a"); n != 1 {
					t.Errorf("%d requests were sent", n)
				}
				w = pendingWorld(t, request("a"))
				w.service.remade("a", tt.listed()...)
				w.refresh()
				if row := w.journal.row("a"); row.Status != tt.refreshed || (tt.refreshed != tt.doubt) != (row.RecordStatus == transfer.Pending && row.Status.Made()) {
					t.Errorf("of what was PENDING: %v, %s", row.Status, row.RecordStatus)
				}
			})
		})
	}
}

// TestACreditThatFailedIsNamedUntilItIsSettled has a refresh learn of it, say so again, and learn that it is mended.
func TestACreditThatFailedIsNamedUntilItIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pendingWorld(t, request("a"))
		w.service.remade("a", ended("a", "COMPLETED", "FAILED")...)
		for n := range 2 {
			if found := w.refresh(); found.CreditFailed != 1 || found.Again.Count() != n {
				t.Errorf("refresh %d found %+v", n, found)
			}
		}
		w.service.remade("a") // a list that lags
		if found := w.refresh(); found.CreditFailed != 1 {
			t.Errorf("found %+v", found)
		}
		w.service.remade("a", sides(request("a"), time.Now(), transfer.Completed)[:1]...) // without the side
		if found := w.refresh(); found.CreditFailed != 1 {
			t.Errorf("found %+v", found)
		}
		w.service.remade("a", sides(request("a"), time.Now(), transfer.Completed)...)
		if found := w.refresh(); found.CreditFailed != 0 || w.journal.row("a").Status != state.Adopted {
			t.Errorf("found %+v", found)
		}
		if found := w.refresh(); found.Again.Count() != 0 {
			t.Errorf("found %+v", found)
		}
	})
}

// TestARefreshLooksAllOfThemUpAgain has many that nobody needs to ask about stand before debits that FAILED, one of which is
// COMPLETED now, and before a credit side that FAILED.
func TestARefreshLooksAllOfThemUpAgain(t *testing.T) {
	for name, tt := range map[string]struct{ unproven, most int }{"in passes": {20, 3}, "in one pass": {suite.Dose(300, 1300, 5100), 50_000}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := []transfer.Request{request("z")}
				for n := range 7 {
					requests = append(requests, request(fmt.Sprintf("b-%d", n)))
				}
				w := pendingWorld(t, requests...)
				w.service.remade("z", ended("z", "COMPLETED", "FAILED")...)
				for _, r := range requests[1:] {
					w.service.remade(r.RefID, ended(r.RefID, "FAILED", "FAILED")...)
				}
				if found := w.refresh(); found.Failed.Count() != 7 || found.CreditFailed != 1 {
					t.Fatalf("found %+v", found)
				}
				w.service.remade("b-6", sides(request("b-6"), time.Now().Add(time.Second), transfer.Completed)...)
				var unproven []state.Entry
				for n := range tt.unproven {
					refID := fmt.Sprintf("a-%04d", n)
					debit := sides(request(refID), time.Now(), transfer.Completed)[0]
					unproven = append(unproven, state.Outcome{RefID: refID, Status: state.Unverified, Source: state.SourceImport, Records: []json.RawMessage{debit.Raw}})
				}
				if err := w.journal.Append(t.Context(), unproven...); err != nil {
					t.Fatal(err)
				}
				run := w.run(nil)
				run.Begun = state.Begun{}
				found, err := executor.RefreshInPasses(t.Context(), run, tt.most)
				if err != nil || found.Again.Count() != 8 || found.CreditFailed != 1 || found.Conflicts.Count() != 1 {
					t.Errorf("%v, %+v", err, found)
				}
			})
		})
	}
}

// TestWhatDependsOnACreditThatFailedWaits polls a dependency.
func TestWhatDependsOnACreditThatFailedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.service.status = true, transfer.Pending
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			return map[string][]transfer.Record{"a": ended("a", "COMPLETED", "FAILED")}, nil
		}
		plan := w.plan(request("a"), request("b"))
		plan.Changes.Update(1, func(c *planner.Change) { c.After = []string{"a"} })
		w.applyPlan(plan)
		if n := w.service.requests("b"); n != 0 || w.journal.row("a").Status != state.Unverified {
			t.Errorf("%d requests; a is %v", n, w.journal.row("a").Status)
		}
	})
}

// TestAFailedAnswerIsAskedAboutAgain has an answer say FAILED alone, which a lookup at the end of the run denies, or a later
// refresh, or nobody.
func TestAFailedAnswerIsAskedAboutAgain(t *testing.T) {
	failed := func(w *world) {
		w.lookup = true
		w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
			a.Record = edited(*a.Record, map[string]string{"status": "FAILED"})
			return a
		}
	}
	at := func(t *testing.T, w *world, want state.Status) {
		t.Helper()
		if row := w.journal.row("a"); row.Status != want || row.MayBeMade() != (want == state.Conflict) {
			t.Errorf("it is %v, %s", row.Status, row.RecordStatus)
		}
	}
	tests := map[string]func(t *testing.T, w *world){
		"at the end of the run": func(t *testing.T, w *world) {
			if s := w.apply(request("a")); s.Totals[executor.ResultFailed] != nil || s.Totals[executor.ResultConflict].Count() != 1 || len(s.Exceptions) != 1 {
				t.Errorf("the run ended with %+v", s)
			}
			at(t, w, state.Conflict)
		},
		"while it waits for what is PENDING": func(t *testing.T, w *world) {
			w.settings.WaitFinal = true
			w.apply(request("a"))
			at(t, w, state.Conflict)
		},
		"by a refresh": func(t *testing.T, w *world) {
			w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, nil }
			w.apply(request("a"))
			at(t, w, state.Recorded)
			w.service.find = nil
			time.Sleep(6 * 24 * time.Hour)
			if found := w.refresh(); found.Conflicts.Count() != 1 || found.Asked() != 0 {
				t.Errorf("found %+v", found)
			}
			at(t, w, state.Conflict)
		},
		"and not after a week": func(t *testing.T, w *world) {
			w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, nil }
			w.apply(request("a"))
			w.service.find = nil
			time.Sleep(8 * 24 * time.Hour)
			if found := w.refresh(); found.Again.Count() != 0 {
				t.Errorf("found %+v", found)
			}
		},
		"by a list that lags": func(t *testing.T, w *world) {
			w.service.find = func([]string) (map[string][]transfer.Record, error) {
				return map[string][]transfer.Record{"a": sides(request("a"), time.Now().Add(-time.Minute), transfer.Pending)}, nil
			}
			w.apply(request("a"))
			at(t, w, state.Recorded)
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				failed(w)
				test(t, w)
			})
		})
	}
}

// TestADisputedConflictIsNotForgotten has a person forget what one record says FAILED and another COMPLETED.
func TestADisputedConflictIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
			a.Record = edited(*a.Record, map[string]string{"status": "FAILED"})
			return a
		}
		w.apply(request("a"))
		if _, err := executor.ResolveForgotten(t.Context(), w.resolution("a")); err == nil {
			t.Error("it was forgotten")
		}
	})
}

// TestAnOpenCreditIsNotAccepted has a person accept a transfer while its credit side is PENDING, and again after it FAILED: the word of
// a person is for what they saw.
func TestAnOpenCreditIsNotAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.service.after = func(_ string, _ int, _ executor.Answer) executor.Answer { return *timeout() }
		w.apply(request("a"))
		w.service.remade("a", ended("a", "COMPLETED", "PENDING")...)
		w.apply(request("a"))
		_, kept := executor.ResolveAcceptRecord(t.Context(), w.resolution("a"), nil)
		_, given := executor.ResolveAcceptRecord(t.Context(), w.resolution("a"), ended("a", "COMPLETED", "PENDING"))
		_, told := executor.ResolveRecorded(t.Context(), w.resolution("a"), ended("a", "COMPLETED", "PENDING"))
		for _, err := range []error{kept, given, told} {
			if !errors.Is(err, executor.ErrCreditOpen) {
				t.Errorf("error %v", err)
			}
		}
		w.service.remade("a", ended("a", "COMPLETED", "FAILED")...)
		if found := w.refresh(); found.CreditFailed != 1 || w.journal.row("a").Status != state.Unverified {
			t.Errorf("found %+v", found)
		}
		if _, err := executor.ResolveRecorded(t.Context(), w.resolution("a"), ended("a", "COMPLETED", "FAILED")); err == nil {
			t.Error("a FAILED credit side was taken without a word")
		}
		if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("a"), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestWhatAnEarlierVersionRecordedOfContradictingSidesIsNamed has a state with a debit side that FAILED and a credit side that did
// not. A refresh finds the conflict, records that say the same need a word, and that word is kept as a difference.
func TestWhatAnEarlierVersionRecordedOfContradictingSidesIsNamed(t *testing.T) {
	tests := map[string]func(t *testing.T, w *world){
		"by what falls short": func(t *testing.T, w *world) {
			got := executor.DescribeShort(executor.Unaccepted(w.detail(t, "a")))
			if got != "the debit side is FAILED and the credit side COMPLETED" {
				t.Errorf("it says %q", got)
			}
		},
		"by a refresh": func(t *testing.T, w *world) {
			if found := w.refresh(); found.Conflicts.Count() != 1 || w.journal.row("a").Status != state.Conflict {
				t.Errorf("found %+v", found)
			}
		},
		"by the records of a person": func(t *testing.T, w *world) {
			_, err := executor.ResolveRecorded(t.Context(), w.resolution("a"), ended("a", "FAILED", "COMPLETED"))
			if _, is := errors.AsType[*executor.DifferenceError](err); !is {
				t.Errorf("error %v", err)
			}
		},
		"by who accepts it": func(t *testing.T, w *world) {
			outcome, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("a"), nil)
			if _, is := transfer.OfCredit(outcome.Differences); !is || err != nil {
				t.Errorf("the differences are %v, error %v", outcome.Differences, err)
			}
			if short := executor.Unaccepted(w.detail(t, "a")); len(short) > 0 {
				t.Errorf("it still falls short: %v", short)
			}
		},
		"and not once both sides FAILED": func(t *testing.T, w *world) {
			if _, err := executor.ResolveRecorded(t.Context(), w.resolution("a"), ended("a", "FAILED", "FAILED")); err != nil {
				t.Error(err)
			}
			if short := executor.Unaccepted(w.detail(t, "a")); len(short) > 0 {
				t.Errorf("it falls short: %v", short)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				w.service.after = func(_ string, _ int, _ executor.Answer) executor.Answer { return *timeout() }
				w.apply(request("a"))
				w.service.remade("a", ended("a", "FAILED", "COMPLETED")...)
				both := ended("a", "FAILED", "COMPLETED")
				earlier := state.Outcome{RefID: "a", Status: state.Recorded, Source: state.SourceLookup, Records: []json.RawMessage{both[0].Raw, both[1].Raw}}
				if err := w.journal.Append(t.Context(), earlier); err != nil {
					t.Fatal(err)
				}
				test(t, w)
			})
		})
	}
}

// detail is what the state has of a ref_id.
func (w *world) detail(t *testing.T, refID string) state.Detail {
	t.Helper()
	snapshot, err := w.journal.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	details, err := snapshot.Details(t.Context(), refID)
	if err != nil || len(details) != 1 {
		t.Fatalf("%d details, error %v", len(details), err)
	}
	return details[0]
}

// TestAConflictWithAnOpenCreditIsNotAccepted has a person accept another amount than was asked for while its credit side is PENDING.
func TestAConflictWithAnOpenCreditIsNotAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		w.service.after = func(_ string, _ int, _ executor.Answer) executor.Answer { return *timeout() }
		w.apply(request("a"))
		records := ended("a", "COMPLETED", "PENDING")
		for i := range records {
			records[i] = with(records[i], map[string]any{"amount": "7.50", "total": "7.50"})
		}
		w.service.remade("a", records...)
		w.apply(request("a"))
		if status := w.journal.row("a").Status; status != state.Conflict {
			t.Fatalf("it is %v", status)
		}
		if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("a"), nil); !errors.Is(err, executor.ErrCreditOpen) {
			t.Errorf("error %v", err)
		}
	})
}
