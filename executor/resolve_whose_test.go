package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// answeredAsRent makes bonus a conflict: the service answers with a record that names rent.
func answeredAsRent(w *world) {
	w.service.before = nil
	w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
		a.Record = edited(*a.Record, map[string]string{"ref_id": "rent"})
		return a
	}
	w.apply(request("bonus"))
	w.service.after = nil
}

// TestARecordIsOfTheTransferThatItNames has records that name rent come to bonus.
func TestARecordIsOfTheTransferThatItNames(t *testing.T) {
	isOthers := func(err error) bool { _, is := errors.AsType[*executor.OthersError](err); return is }
	t.Run("a kept one is not accepted while rent has none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			doubtful(w)
			answeredAsRent(w)
			if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("bonus"), nil); !isOthers(err) {
				t.Errorf("it was accepted: %v", err)
			}
			time.Sleep(w.settings.RequestTimeout + 10*time.Minute)
			_, err := executor.ResolveNotMade(t.Context(), w.resolution("rent"))
			if held, ok := errors.AsType[*executor.HeldError](err); !ok || held.Other != "bonus" || held.Stored {
				t.Errorf("rent was called not made, though bonus has a record of it: %v", err)
			}
			if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), []transfer.Record{*edited(*debit(request("bonus"), time.Now()), map[string]string{"ref_id": "rent"})}); err != nil {
				t.Errorf("rent does not take it: %v", err)
			}
			if _, err := executor.ResolveNotMade(t.Context(), w.resolution("bonus")); err != nil {
				t.Errorf("bonus has no end: %v", err)
			}
		})
	})
	t.Run("it is where rent has one of its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			recordedBefore(w)
			answeredAsRent(w)
			if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("bonus"), nil); err != nil {
				t.Errorf("the service writes another ref_id, and nothing ends it: %v", err)
			}
		})
	})
	t.Run("it is where nobody knows rent, unless the files declare it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			answeredAsRent(w)
			r := w.resolution("bonus")
			r.Declares = declaring("RENT")
			if _, err := executor.ResolveAcceptRecord(t.Context(), r, nil); !isOthers(err) {
				t.Errorf("it was accepted: %v", err)
			}
			r.Declares = declaring("cleaning")
			if _, err := executor.ResolveAcceptRecord(t.Context(), r, nil); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("where an earlier version stored it, rent is forgotten, and never called not made", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			doubtful(w)
			answeredAsRent(w)
			r := w.resolution("bonus")
			if err := w.journal.Append(t.Context(), state.Outcome{
				RefID: "bonus", Status: state.Recorded, Source: state.SourcePerson, By: &r.By, Reason: r.Reason,
				Records: []json.RawMessage{debit(request("rent"), time.Now()).Raw},
			}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(w.settings.RequestTimeout + 10*time.Minute)
			_, err := executor.ResolveNotMade(t.Context(), w.resolution("rent"))
			if held, ok := errors.AsType[*executor.HeldError](err); !ok || !held.Stored {
				t.Errorf("rent was called not made: %v", err)
			}
			if _, err := executor.ResolveForgotten(t.Context(), w.resolution("rent")); err != nil {
				t.Errorf("rent has no end: %v", err)
			}
		})
	})
}

// declaring is a configuration that declares one ref_id.
func declaring(refID string) func(context.Context, func(string) bool) (string, error) {
	return func(_ context.Context, is func(string) bool) (string, error) {
		if is(refID) {
			return refID, nil
		}
		return "", nil
	}
}

// TestAnExportHasRecordsOfSeveral gives a whole export for one of its transfers.
func TestAnExportHasRecordsOfSeveral(t *testing.T) {
	rename := func(records []transfer.Record, refID string) []transfer.Record {
		var all []transfer.Record
		for i := range records {
			all = append(all, *edited(records[i], map[string]string{"ref_id": refID}))
		}
		return all
	}
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	rent, others := sides(request("rent"), now, transfer.Completed), sides(request("bonus"), now, transfer.Completed)
	tests := map[string]struct {
		given  []transfer.Record
		accept bool
		want   bool
	}{
		"its own are taken out of it":                   {append(others, rent...), false, true},
		"none of its own":                               {others, false, false},
		"none of its own, accepted":                     {append(others, sides(request("fee"), now, transfer.Completed)...), true, false},
		"its own in capitals":                           {append(others, rename(rent, "RENT")...), false, false},
		"its own in capitals, accepted":                 {append(others, rename(rent, "RENT")...), true, true},
		"in two ways, accepted":                         {append(rename(rent[:1], "RENT"), rename(rent[1:], "Rent")...), true, false},
		"one record without a ref_id":                   {rename(rent[:1], ""), false, true},
		"one without a ref_id among others, accepted":   {append(rename(rent[:1], ""), others...), true, false},
		"several without ref_ids, accepted":             {append(rename(rent, ""), rename(others, "")...), true, false},
		"of a ref_id that nobody knows":                 {rename(rent, "P-17"), false, false},
		"of a ref_id that nobody knows, accepted":       {rename(rent, "P-17"), true, true},
		"its sides under two unknown ones, accepted":    {append(rename(rent[:1], "P-17"), rename(rent[1:], "P-18")...), true, false},
		"of an unknown one, of another sum, accepted":   {[]transfer.Record{*edited(rent[0], map[string]string{"ref_id": "P-17", "amount": "70.00", "total": "70.00"})}, true, false},
		"a credit side of another ref_id that FAILED":   {append(others, rent[0], *edited(rent[1], map[string]string{"ref_id": "IN-17", "status": "FAILED"})), false, false},
		"one of another ref_id that agrees":             {append(others, rent[0], *edited(rent[1], map[string]string{"ref_id": "IN-17"})), false, true},
		"one of another ref_id that has a debit":        {append(others, rent[0], *edited(rent[1], map[string]string{"ref_id": "bonus", "status": "FAILED"})), false, true},
		"a credit side of the same group counts as its": {append(others, rent[0], *edited(rent[1], map[string]string{"ref_id": ""})), false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				doubtful(w)
				word := executor.ResolveRecorded
				if test.accept {
					word = executor.ResolveAcceptRecord
				}
				outcome, err := word(t.Context(), w.resolution("rent"), test.given)
				if (err == nil) != test.want {
					t.Fatalf("taken: %v, want %v: %v", err == nil, test.want, err)
				}
				_, isOffered := errors.AsType[*executor.DifferenceError](err) // its advice is --accept-record
				if isOffered != (name == "its own in capitals" || name == "a credit side of another ref_id that FAILED") {
					t.Errorf("the advice is to accept it: %v: %v", isOffered, err)
				}
				if row := w.journal.row("rent"); err == nil && (row.RecordID != "debit-of-rent" || len(outcome.Records) > 2) {
					t.Errorf("it has the record %q, of %d", row.RecordID, len(outcome.Records))
				}
			})
		})
	}
}

// TestDoubtsInOtherLetters has an export with capitals in the place of rent.
func TestDoubtsInOtherLetters(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	capitals := func(fields map[string]string) transfer.Record {
		record := edited(*debit(request("rent"), now), map[string]string{"ref_id": "RENT"})
		return *edited(*record, fields)
	}
	plain := capitals(nil)
	tests := map[string]struct {
		before   func(*world)
		declares string
		given    []transfer.Record
		found    int
		fits     bool
	}{
		"it agrees in all else":                      {doubtful, "rent", []transfer.Record{plain}, 1, true},
		"the sum differs":                            {doubtful, "rent", []transfer.Record{capitals(map[string]string{"amount": "70.00", "total": "70.00"})}, 1, false},
		"it has no group_id":                         {doubtful, "rent", []transfer.Record{capitals(map[string]string{"group_id": ""})}, 1, false},
		"the files declare that one as well":         {doubtful, "RENT", []transfer.Record{plain}, 1, false},
		"its own ref_id is there too":                {doubtful, "rent", []transfer.Record{plain, *edited(*debit(request("rent"), now), map[string]string{"id": "own"})}, 0, false},
		"the credit side alone":                      {doubtful, "rent", []transfer.Record{*edited(sides(request("rent"), now, transfer.Completed)[1], map[string]string{"ref_id": "RENT"})}, 1, false},
		"its credit side FAILED":                     {doubtful, "rent", inCapitals(transfer.Completed, transfer.Failed), 1, false},
		"its credit side is PENDING":                 {doubtful, "rent", inCapitals(transfer.Completed, transfer.Pending), 1, false},
		"it FAILED, and its credit side is PENDING":  {doubtful, "rent", inCapitals(transfer.Failed, transfer.Pending), 1, false},
		"both sides are COMPLETED":                   {doubtful, "rent", inCapitals(transfer.Completed, transfer.Completed), 1, true},
		"its credit side without a ref_id FAILED":    {doubtful, "rent", append(inCapitals(transfer.Completed, transfer.Failed)[:1], with(ended("rent", transfer.Completed, transfer.Failed)[1], map[string]any{"ref_id": ""})), 1, false},
		"its credit side of another ref_id FAILED":   {doubtful, "rent", append(inCapitals(transfer.Completed, transfer.Failed)[:1], with(ended("rent", transfer.Completed, transfer.Failed)[1], map[string]any{"ref_id": "IN-17"})), 1, false},
		"its credit side of another ref_id agrees":   {doubtful, "rent", append(inCapitals(transfer.Completed, transfer.Failed)[:1], with(ended("rent", transfer.Completed, transfer.Completed)[1], map[string]any{"ref_id": "IN-17"})), 1, true},
		"it is recorded, and not in doubt":           {recordedBefore, "rent", []transfer.Record{plain}, 0, false},
		"its group_id is that of another transfer":   {withBonus, "rent", []transfer.Record{capitals(map[string]string{"group_id": "group-of-bonus"})}, 1, false},
		"its id is that of another transfer":         {withBonus, "rent", []transfer.Record{capitals(map[string]string{"id": "debit-of-bonus"})}, 1, false},
		"another transfer of the state is so called": {func(w *world) { w.apply(request("Rent")); doubtful(w) }, "rent", []transfer.Record{plain}, 1, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				test.before(w)
				r := w.resolution("")
				r.Declares = declaring(test.declares)
				found, err := executor.FindRelettered(t.Context(), r, test.given)
				if err != nil || len(found) != test.found {
					t.Fatalf("found %d, want %d: %v", len(found), test.found, err)
				}
				if len(found) == 0 {
					return
				}
				if (found[0].Why == "") != test.fits {
					t.Errorf("it fits: %v, want %v: %s", found[0].Why == "", test.fits, found[0].Why)
				}
				if !test.fits {
					return
				}
				outcomes, err := executor.ResolveRelettered(t.Context(), r, found)
				if err != nil || len(outcomes) != 1 || w.journal.row("rent").RecordID != "debit-of-rent" {
					t.Errorf("wrote %d: %v", len(outcomes), err)
				}
			})
		})
	}
}

// inCapitals are both sides of rent with statuses of their own, under another spelling of its ref_id.
func inCapitals(debit, credit transfer.RecordStatus) []transfer.Record {
	records := ended("rent", debit, credit)
	for i := range records {
		records[i] = with(records[i], map[string]any{"ref_id": "RENT"})
	}
	return records
}

// TestAnAcceptedRecordHasItsCreditSide gives both sides of a doubt under another spelling, and accepts them.
func TestAnAcceptedRecordHasItsCreditSide(t *testing.T) {
	for credit, want := range map[transfer.RecordStatus]error{transfer.Completed: nil, transfer.Failed: nil, transfer.Pending: executor.ErrCreditOpen} {
		t.Run(string(credit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				doubtful(w)
				_, err := executor.ResolveRecorded(t.Context(), w.resolution("rent"), inCapitals(transfer.Completed, credit))
				told, _ := errors.AsType[*executor.DifferenceError](err)
				if told == nil || slices.ContainsFunc(told.Differences, transfer.Difference.IsOfCredit) != (credit != transfer.Completed) {
					t.Errorf("before, it says %v", err)
				}
				outcome, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), inCapitals(transfer.Completed, credit))
				if !errors.Is(err, want) {
					t.Fatalf("error %v, want %v", err, want)
				}
				if _, isNamed := transfer.OfCredit(outcome.Differences); isNamed != (credit == transfer.Failed) {
					t.Errorf("the journal keeps %v", outcome.Differences)
				}
			})
		})
	}
}

// withBonus has bonus recorded, and rent in doubt.
func withBonus(w *world) {
	w.apply(request("bonus"))
	doubtful(w)
}
