package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// deposit is a wire that somebody else sent to the sender of rent, with the ref_id of that.
func deposit() transfer.Record {
	rent := request("rent")
	return *edited(*debit(rent, time.Now().Add(-time.Hour)), map[string]string{
		"id": "wire", "amount": "0.01", "total": "0.01", "direction": "CREDIT", "type": "WIRE_DEPOSIT", "group_id": "",
	})
}

// takenByDeposit makes rent a conflict before it is sent: a deposit has its ref_id.
func takenByDeposit(w *world, records ...transfer.Record) {
	w.lookup, w.settings.LookUpFirst = true, true
	w.service.find = func([]string) (map[string][]transfer.Record, error) {
		return map[string][]transfer.Record{"rent": records}, nil
	}
	w.apply(request("rent"))
}

// TestARefIDThatADepositHasIsClosedByAPerson has every way out of such a conflict lead to the one that works.
func TestARefIDThatADepositHasIsClosedByAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		takenByDeposit(w, deposit())
		if w.service.requests("rent") != 0 {
			t.Fatal("it was sent")
		}
		next := ""
		for _, e := range w.events {
			if e.Result == executor.ResultConflict {
				next = e.Next
			}
		}
		if !strings.Contains(next, "--not-made") || !strings.Contains(w.reason("rent"), "the ref_id is that of a WIRE_DEPOSIT of 0.01 USD") {
			t.Errorf("it says %q, and %q", w.reason("rent"), next)
		}
		r := w.resolution("rent")
		for name, word := range map[string]func() (state.Outcome, error){
			"a lookup":     func() (state.Outcome, error) { return executor.ResolveByLookup(t.Context(), r, w.service) },
			"accepting it": func() (state.Outcome, error) { return executor.ResolveAcceptRecord(t.Context(), r, nil) },
			"giving it": func() (state.Outcome, error) {
				return executor.ResolveRecorded(t.Context(), r, []transfer.Record{deposit()})
			},
			"giving, accepting it": func() (state.Outcome, error) {
				return executor.ResolveAcceptRecord(t.Context(), r, []transfer.Record{deposit()})
			},
		} {
			_, err := word()
			if _, ok := errors.AsType[*executor.ForeignError](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
			if _, next := executor.Remedy(err, "rent", ""); next != "remit resolve rent --not-made --reason=…" {
				t.Errorf("%s advises %q", name, next)
			}
		}
		r.Finder = w.service
		if outcome, err := executor.ResolveNotMade(t.Context(), r); err != nil || outcome.Status != state.Tombstone {
			t.Error(outcome, err)
		}
	})
}

// TestADepositDoesNotHideThatItWasMade has the service list the transfer itself as well, by the second list that it is asked for.
func TestADepositDoesNotHideThatItWasMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		takenByDeposit(w, deposit())
		r := w.resolution("rent")
		r.Finder = &laterList{listing{"rent": {deposit()}}, listing{"rent": append(sides(request("rent"), time.Now(), transfer.Completed), deposit())}}
		_, err := executor.ResolveNotMade(t.Context(), r)
		if _, ok := errors.AsType[*executor.ListedError](err); !ok {
			t.Error(err)
		}
	})
}

// laterList is one list, and another one from the second time on.
type laterList struct{ first, later listing }

func (l *laterList) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	found := l.first
	l.first = l.later
	return found.Find(ctx, refIDs)
}

// TestAConflictThatKeptItsOwnRecordIsNotCalledNotMadeByADeposit has another amount made of it, and only a deposit listed.
func TestAConflictThatKeptItsOwnRecordIsNotCalledNotMadeByADeposit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		conflicting(w)
		r := w.resolution("rent")
		r.Finder = listing{"rent": {deposit()}}
		_, err := executor.ResolveNotMade(t.Context(), r)
		if _, ok := errors.AsType[*executor.ListedError](err); !ok {
			t.Error(err)
		}
	})
}

// TestADepositIsNoNewsOfAPaidTransfer lists a deposit beside the sides of a transfer that was paid, and alone.
func TestADepositIsNoNewsOfAPaidTransfer(t *testing.T) {
	for name, listed := range map[string]func() []transfer.Record{
		"beside it": func() []transfer.Record {
			return append(sides(request("rent"), time.Now(), transfer.Completed), deposit())
		},
		"alone": func() []transfer.Record { return []transfer.Record{deposit()} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				w.apply(request("rent"))
				records := listed()
				if _, differences, isNew := executor.News(w.detail(t, "rent"), records, w.settings); isNew || len(differences) > 0 {
					t.Errorf("it is news: %+v", differences)
				}
			})
		})
	}
}

// TestAWithdrawalIsLeftToAPersonAndThenToRest has a withdrawal under the ref_id: nothing is advised before a person has read both ways, and
// once the transfer is closed as not made, the withdrawal is no news of it. The transfer itself is.
func TestAWithdrawalIsLeftToAPersonAndThenToRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		rent := request("rent")
		withdrawal := *edited(*debit(rent, time.Now()), map[string]string{"id": "wire", "type": "WIRE_WITHDRAWAL", "amount": "2500.00", "total": "2500.00", "group_id": ""})
		takenByDeposit(w, withdrawal)
		for _, e := range w.events {
			if e.Result == executor.ResultConflict && e.Next != "remit plan" {
				t.Errorf("it advises %q", e.Next)
			}
		}
		r := w.resolution("rent")
		r.Finder = w.service
		if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		late := *edited(withdrawal, map[string]string{"id": "late"})
		for name, test := range map[string]struct {
			listed []transfer.Record
			isNews bool
		}{
			"the withdrawal alone":           {[]transfer.Record{withdrawal}, false},
			"one that nobody was shown":      {[]transfer.Record{late}, true},
			"beside it, the transfer itself": {append(sides(rent, time.Now(), transfer.Completed), withdrawal), true},
		} {
			w.service.find = func([]string) (map[string][]transfer.Record, error) {
				return map[string][]transfer.Record{"rent": test.listed}, nil
			}
			if found := w.refresh(); found.Conflicts.Count()+found.Refused.Count() > 0 != test.isNews {
				t.Errorf("%s is news: %v", name, !test.isNews)
			}
		}
	})
}
