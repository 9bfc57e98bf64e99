package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
)

// TestEveryStatusOfTheState has, for each status, the transfer at the service and not.
func TestEveryStatusOfTheState(t *testing.T) {
	person := func(o state.Outcome, reason string, differences ...transfer.Difference) state.Outcome {
		by := statetest.Holder("resolve")
		o.Source, o.By, o.Reason, o.Differences = state.SourcePerson, &by, reason, differences
		return o
	}
	answer := func(status state.Status, records ...row) func(refID string) []state.Entry {
		return func(refID string) []state.Entry {
			return []state.Entry{recorded(refID, status, state.SourceAnswer, records...)}
		}
	}
	r := request(0)
	both := sides(r, 0)
	debit, credit := both[0], both[1]
	paid := func(amount string) []row {
		return []row{debit.with("amount", amount), credit.with("amount", amount, "total", amount)}
	}
	status := func(s string) []row { return []row{debit.with("status", s), credit.with("status", s)} }
	conflict := func(refID string) []state.Entry {
		return answer(state.Conflict, debit.with("amount", "7"))(refID)
	}
	accepted := func(refID string) []state.Entry {
		return append(conflict(refID), person(recorded(refID, state.Recorded, "", debit.with("amount", "7")), "the bank's word",
			transfer.Difference{Field: "amount", Asked: r.Amount.String(), Answered: "7"},
			transfer.Difference{Field: "total", Asked: "amount 7, or that plus or minus fee 0", Answered: r.Amount.String()}))
	}
	doubt := answer(state.InDoubt)
	ended := func(debited, credited string) []row {
		return []row{debit.with("status", debited), credit.with("status", credited)}
	}
	settled := func(status state.Status, debited, credited string) func(refID string) []state.Entry {
		return func(refID string) []state.Entry {
			ofCredit := transfer.Difference{Field: "credit_status", Asked: debited, Answered: credited}
			before := recorded(refID, status, state.SourceLookup, ended(debited, credited)...)
			before.Differences = []transfer.Difference{ofCredit}
			after := recorded(refID, state.Adopted, "", ended(debited, credited)...)
			return []state.Entry{before, person(after, "the bank's word", ofCredit)}
		}
	}
	unpaid := settled(state.Unverified, "COMPLETED", "FAILED")
	forgotten := func(refID string) []state.Entry {
		word := person(recorded(refID, state.Tombstone, ""), "not ours")
		word.By.Command = "remit state forget"
		return append(unpaid(refID), word)
	}
	for name, test := range map[string]struct {
		after  func(refID string) []state.Entry
		export []row
		want   string // result and breaks; "" where nothing is listed
		next   string
	}{
		"recorded":                   {answer(state.Recorded, debit), both, "matched", ""},
		"recorded, with another fee": {answer(state.Recorded, debit), []row{debit.with("fee", "0.5", "total", "1.50"), credit}, "differs field", "state show"},
		"recorded, absent":           {answer(state.Recorded, debit), nil, "differs state_only", "state show"},
		"PENDING on both sides":      {answer(state.Recorded, debit.with("status", "PENDING")), status("PENDING"), "matched", ""},
		"PENDING, since COMPLETED":   {answer(state.Recorded, debit.with("status", "PENDING")), both, "differs status", "resolve"},
		"COMPLETED, since FAILED":    {answer(state.Recorded, debit), status("FAILED"), "differs status", "resolve"},
		"FAILED on both sides":       {answer(state.Recorded, debit.with("status", "FAILED")), status("FAILED"), "matched", ""},
		"FAILED, without a credit":   {answer(state.Recorded, debit.with("status", "FAILED")), status("FAILED")[:1], "matched", ""},
		"a status that nobody knows": {answer(state.Recorded, debit.with("status", "NOVEL")), status("NOVEL"), "matched", ""},
		"adopted":                    {answer(state.Adopted, debit), both, "matched", ""},
		"adopted with the debit's ID as the credit": {func(refID string) []state.Entry {
			return []state.Entry{person(recorded(refID, state.Adopted, "", debit.with("direction", "CREDIT")), "the bank's word",
				transfer.Difference{Field: "direction", Asked: "DEBIT", Answered: "CREDIT"})}
		}, both, "differs field", "state show"},
		"unverified":                         {answer(state.Unverified, debit), both, "differs unverified", "--recorded"},
		"unverified, absent":                 {answer(state.Unverified, debit), nil, "differs state_only unverified", "state show"},
		"in doubt":                           {doubt, both, "differs in_doubt", "--recorded"},
		"in doubt, absent":                   {doubt, nil, "differs in_doubt", "state show"},
		"in doubt, made with another amount": {doubt, paid("7"), "differs amount in_doubt", "--recorded"},
		"in doubt, one side":                 {doubt, both[:1], "differs one_side in_doubt", "--recorded"},
		"refused":                            {answer(state.Refused), nil, "", ""},
		"refused, but made":                  {answer(state.Refused), both, "differs not_made", "--recorded"},
		"refused, and FAILED":                {answer(state.Refused), status("FAILED"), "matched", ""},
		"unsent":                             {answer(state.Unsent), nil, "", ""},
		"unsent, but made":                   {answer(state.Unsent), both, "differs not_made", "--recorded"},
		"conflict":                           {conflict, paid("7"), "differs conflict amount", "--accept-record"},
		"conflict over another transfer's record": {func(refID string) []state.Entry {
			o := recorded(refID, state.Conflict, state.SourceLookup, debit)
			o.Differences = []transfer.Difference{transfer.SharedRecord("r-1", "other")}
			return []state.Entry{o}
		}, nil, "differs conflict state_only", "--recorded=FILE --accept-record"},
		"conflict, absent":                             {conflict, nil, "differs conflict state_only", "--accept-record"},
		"accepted conflict":                            {accepted, paid("7"), "accepted", ""},
		"accepted conflict, re-scaled":                 {accepted, paid("7.00000000"), "accepted", ""},
		"accepted conflict, credited as asked":         {accepted, []row{debit.with("amount", "7"), credit}, "accepted", ""},
		"accepted conflict, another amount again":      {accepted, paid("8"), "differs amount", "state show"},
		"accepted conflict, another destination":       {accepted, []row{paid("7")[0], paid("7")[1].with("profile_id", "mallory")}, "differs field", "state show"},
		"accepted conflict, since paid as asked":       {accepted, both, "differs amount", "state show"},
		"accepted conflict, credited in another asset": {accepted, []row{paid("7")[0], paid("7")[1].with("asset", "EUR")}, "differs asset unbalanced", "state show"},
		"recorded, then a conflict, settled as not made": {func(refID string) []state.Entry {
			later := recorded(refID, state.Conflict, state.SourceLookup, debit.with("amount", "7"))
			return append(answer(state.Recorded, debit)(refID), later, person(recorded(refID, state.Tombstone, ""), "no"))
		}, both, "differs not_made", "--recorded"},
		"accepted credit that FAILED": {unpaid, ended("COMPLETED", "FAILED"), "accepted", ""},
		"accepted credit that FAILED, as recorded": {func(refID string) []state.Entry {
			before := recorded(refID, state.Unverified, state.SourceAnswer, ended("COMPLETED", "FAILED")...)
			before.Differences = []transfer.Difference{{Field: "credit_status", Asked: "COMPLETED", Answered: "FAILED"}}
			after := recorded(refID, state.Recorded, "", ended("COMPLETED", "FAILED")...)
			return []state.Entry{before, person(after, "the bank's word", before.Differences...)}
		}, ended("COMPLETED", "FAILED"), "accepted", ""},
		"accepted credit that FAILED, since COMPLETED":  {unpaid, both, "matched", ""},
		"accepted credit that FAILED, since PENDING":    {unpaid, ended("COMPLETED", "PENDING"), "differs status", "--recorded"},
		"accepted credit that FAILED, and so the debit": {unpaid, ended("FAILED", "FAILED"), "differs status", "--recorded"},
		"accepted credit that FAILED, forgotten":        {forgotten, ended("COMPLETED", "FAILED"), "accepted", ""},
		"unverified credit that FAILED":                 {func(refID string) []state.Entry { return unpaid(refID)[:1] }, ended("COMPLETED", "FAILED"), "differs status unverified", "--recorded"},
		"accepted debit that FAILED":                    {settled(state.Conflict, "FAILED", "COMPLETED"), ended("FAILED", "COMPLETED"), "accepted", ""},
		"a tombstone": {func(refID string) []state.Entry {
			return append(doubt(refID), person(recorded(refID, state.Tombstone, ""), "the bank says no"))
		}, nil, "", ""},
		"a tombstone that was made": {func(refID string) []state.Entry {
			return append(doubt(refID), person(recorded(refID, state.Tombstone, ""), "the bank says no"))
		}, both, "differs not_made", "--recorded"},
		"a conflict settled as not made that was made": {func(refID string) []state.Entry {
			return append(conflict(refID), person(recorded(refID, state.Tombstone, ""), "no"))
		}, paid("7"), "differs not_made amount", "--recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) {
				add(intent(r))
				add(test.after(r.RefID)...)
			})
			var got, next string
			summary := w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
				got = strings.TrimSpace(fmt.Sprint(l.Result, " ", strings.Trim(fmt.Sprint(l.Breaks), "[]")))
				next = l.Next
				return nil
			}}, format(0, test.export))
			if got != test.want || !strings.Contains(next, test.next) || test.next == "" && next != "" {
				t.Errorf("%q with next %q, want %q with %q", got, next, test.want, test.next)
			}
			if summary.Agrees() == strings.HasPrefix(test.want, "differs") {
				t.Errorf("agrees %t", summary.Agrees())
			}
		})
	}
}

// TestImportedWithoutItsRequest is held against the records that were imported.
func TestImportedWithoutItsRequest(t *testing.T) {
	both := sides(request(0), 0)
	for name, test := range map[string]struct {
		export []row
		want   string
	}{
		"another account":    {[]row{both[0].with("account_id", "a-2"), both[1]}, "field unverified"},
		"both sides":         {both, "unverified"},
		"another amount":     {[]row{both[0].plus("1"), both[1].plus("1")}, "amount unverified"},
		"another sender":     {[]row{both[0].with("profile_id", "mallory"), both[1]}, "field unverified"},
		"the credit differs": {[]row{both[0], both[1].plus("1")}, "unbalanced unverified"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) {
				o := recorded(request(0).RefID, state.Unverified, state.SourceImport, both[0].with("account_id", "a-1"))
				o.RunID = ""
				add(o)
			})
			summary := w.reconciled(t, reconcile.Options{ListMax: -1}, format(0, test.export))
			var got string
			for _, lines := range summary.Lists {
				got = strings.Trim(fmt.Sprint(lines[0].Breaks), "[]")
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestAGroupOfSeveralRefIDs(t *testing.T) {
	w := newWorld(t, 3)
	export := slices.Clone(w.export)
	for i := range 4 { // the first two
		export[i] = export[i].with("group_id", "one")
	}
	export[3] = export[3].with("ref_id", "")
	got := make(map[string]string)
	w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
		got[l.RefID] = strings.Trim(fmt.Sprint(l.Breaks), "[]") + "; " + l.Reason
		return nil
	}}, format(0, export))
	for refID, want := range map[string]string{
		"pay-0000000": "field shared_group; Its group_id belongs to other ref_ids as well: pay-0000001.",
		"pay-0000001": "field one_side shared_group; Its group_id belongs to other ref_ids as well: pay-0000000.",
		"pay-0000002": "; ",
		"":            "service_only; Only its credit side is there, without a ref_id: money that came in, or of which the debit is missing. Its group_id belongs to several ref_ids of the state, so nothing says of which it is.",
	} {
		if got[refID] != want {
			t.Errorf("%s: %q, want %q", refID, got[refID], want)
		}
	}
}

func TestThePeriodAndTheBatch(t *testing.T) {
	w := newWorld(t, 10) // created in the first ten seconds of November
	at := func(second int) time.Time { return time.Date(2026, 11, 1, 0, 0, second, 0, time.UTC) }
	period := reconcile.Options{From: at(3), Until: at(6)}
	type found struct{ matched, differ, left, other int }
	for name, test := range map[string]struct {
		options reconcile.Options
		export  []row
		want    found
	}{
		"all of it":                               {reconcile.Options{}, w.export, found{10, 0, 0, 0}},
		"the period of all":                       {period, w.export, found{3, 0, 7, 0}},
		"the period alone":                        {period, w.export[6:12], found{3, 0, 7, 0}},
		"the period, of which one is missing":     {period, w.export[6:10], found{2, 1, 7, 0}},
		"no end":                                  {reconcile.Options{From: at(3)}, w.export[6:], found{7, 0, 3, 0}},
		"no beginning":                            {reconcile.Options{Until: at(6)}, w.export[:12], found{6, 0, 4, 0}},
		"a time that was changed, out of it":      {period, slices.Concat(w.export[6:10], []row{w.export[10].with("created_at", "2026-12-01T00:00:00Z")}, w.export[11:12]), found{2, 1, 7, 0}},
		"a record of long after it was made":      {reconcile.Options{From: at(0).AddDate(0, 2, 0)}, []row{w.export[0].with("created_at", "2027-01-20T00:00:00Z"), w.export[1].with("created_at", "2027-01-20T00:00:00Z")}, found{0, 1, 9, 0}},
		"a lone credit that is made in it":        {period, slices.Concat([]row{w.export[5].with("created_at", "2026-11-01T00:00:03Z")}, w.export[6:12]), found{3, 1, 6, 0}},
		"a stranger outside of it":                {period, slices.Concat(w.export, []row{w.export[0].with("id", "x", "ref_id", "x", "group_id", "x")}), found{3, 0, 8, 0}},
		"a stranger in it":                        {period, slices.Concat(w.export, []row{w.export[6].with("id", "x", "ref_id", "x", "group_id", "x")}), found{3, 1, 7, 0}},
		"another batch":                           {reconcile.Options{Batch: "other"}, w.export, found{0, 0, 0, 10}},
		"its batch, and both sides of a stranger": {reconcile.Options{Batch: "payroll"}, slices.Concat(w.export, sides(request(99), 99)), found{10, 0, 0, 2}},
		"its batch, and a stranger":               {reconcile.Options{Batch: "payroll"}, slices.Concat(w.export, []row{w.export[0].with("id", "x", "ref_id", "x", "group_id", "x")}), found{10, 0, 0, 1}},
		"debits only, although sides are missing": {reconcile.Options{DebitsOnly: true}, []row{w.export[0], w.export[2]}, found{2, 8, 0, 0}},
		"nothing at all":                          {reconcile.Options{}, nil, found{0, 10, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			s := w.reconciled(t, test.options, format(0, test.export))
			if got := (found{s.Matched, s.Differ, s.OutOfPeriod, s.OtherBatch}); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

func TestATransferOfNoBatchIsNotOfOneThatIsAskedFor(t *testing.T) {
	r := request(1)
	w := newWorld(t, 1)
	w.append(t, func(add func(...state.Entry)) {
		alone := intent(r)
		alone.Batch = ""
		add(alone, recorded(r.RefID, state.Recorded, state.SourceAnswer, sides(r, 1)[0]))
	})
	s := w.reconciled(t, reconcile.Options{Batch: "payroll"}, format(0, append(w.export, sides(r, 1)...)))
	if s.Matched != 1 || s.OtherBatch != 1 {
		t.Errorf("%d match, %d are of another batch, want one each", s.Matched, s.OtherBatch)
	}
}

func TestTotalsAreExact(t *testing.T) {
	w := newWorld(t, 9)
	export := slices.Clone(w.export)
	export[0] = export[0].plus("0.01")                                                                 // USD, debit
	export = append(export, sides(request(3), 99)[0].with("ref_id", "foreign", "group_id", "foreign")) // USD
	export = slices.Delete(export, 3, 4)                                                               // EUR, credit
	export = append(export, export[4])                                                                 // a line twice counts once
	s := w.reconciled(t, reconcile.Options{}, format(3, export))
	var got []string
	for _, a := range s.Assets {
		got = append(got, fmt.Sprintf("%s state %d %s debits %d %s credits %d %s difference %s", a.Asset,
			a.State.Count, a.State.Sum, a.Debits.Count, a.Debits.Sum, a.Credits.Count, a.Credits.Sum, a.Difference()))
	}
	want := []string{
		"BTC state 3 18.15 debits 3 18.15 credits 3 18.15 difference 0",
		"EUR state 3 15.12 debits 3 15.12 credits 2 13.11 difference 0",
		"USD state 3 12.09 debits 4 16.13 credits 3 12.09 difference 4.04",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestWhatFailedMovedNothing leaves transfers that FAILED on both sides out of every total.
func TestWhatFailedMovedNothing(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(r), recorded(r.RefID, state.Recorded, state.SourceAnswer, both[0].with("status", "FAILED")))
	})
	s := w.reconciled(t, reconcile.Options{}, format(0, []row{both[0].with("status", "FAILED"), both[1].with("status", "FAILED")}))
	for _, a := range s.Assets {
		if a.State.Count+a.Debits.Count+a.Credits.Count != 0 {
			t.Errorf("%s: state %d, debits %d, credits %d", a.Asset, a.State.Count, a.Debits.Count, a.Credits.Count)
		}
	}
	if !s.Agrees() {
		t.Error("it does not agree")
	}
}

// TestTotalsHaveEachTransferOnce adds up a difference, a refusal and a record in two versions: none is in a total
// that it does not belong to, and none is in one twice.
func TestTotalsHaveEachTransferOnce(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	paid := []row{both[0].with("amount", "7"), both[1].with("amount", "7")}
	later := both[0].with("updated_at", "2026-11-03T00:00:00Z")
	type counts struct{ State, Debits, Credits, Matched int }
	for name, test := range map[string]struct {
		status state.Status
		export []row
		want   counts
	}{
		"as it was asked for":         {state.Recorded, both, counts{1, 1, 1, 1}},
		"another amount":              {state.Recorded, paid, counts{1, 1, 1, 0}},
		"refused, but made":           {state.Refused, both, counts{0, 1, 1, 0}},
		"a newer version after it":    {state.Recorded, []row{both[0], later, both[1]}, counts{1, 1, 1, 0}},
		"a newer version before it":   {state.Recorded, []row{later, both[0], both[1]}, counts{1, 1, 1, 0}},
		"a newer version at the end":  {state.Recorded, []row{both[1], both[0], later}, counts{1, 1, 1, 0}},
		"a version with its credit":   {state.Recorded, []row{both[1].with("updated_at", "2026-11-03T00:00:00Z"), both[1], both[0]}, counts{1, 1, 1, 0}},
		"a version on the other side": {state.Recorded, []row{both[0], both[1], both[0].with("direction", "CREDIT")}, counts{1, 1, 1, 0}},
		"the debit in two files":      {state.Recorded, []row{both[0], both[0], both[1]}, counts{1, 1, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) {
				outcome := recorded(r.RefID, test.status, state.SourceAnswer, both[0])
				if test.status == state.Refused {
					outcome = recorded(r.RefID, test.status, state.SourceAnswer)
				}
				add(intent(r), outcome)
			})
			s := w.reconciled(t, reconcile.Options{}, format(0, test.export))
			var got counts
			for _, a := range s.Assets {
				got.State += a.State.Count
				got.Debits += a.Debits.Count
				got.Credits += a.Credits.Count
				got.Matched += a.Matched.Count
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestADoubtOfTheRunThatIsGoingNeedsNobody has a request without an answer while a run holds the lock: its own run will
// hear of it, and of one of an earlier run nobody will.
func TestADoubtOfTheRunThatIsGoingNeedsNobody(t *testing.T) {
	r := request(0)
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) { add(intent(r)) })
	const open = "The service has no record of it here, which proves nothing: an export may be older, and lists lag.; remit state show pay-0000000"
	for running, want := range map[string]string{runID: "It is in flight: its run is under way.; ", "run-2": open, "": open} {
		holder := statetest.Holder("apply")
		holder.RunID = running
		journal, err := w.store.Lock(t.Context(), holder, 0)
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := w.store.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		during := &world{snapshot: snapshot}
		next := "nothing was told"
		during.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
			next = l.Reason + "; " + l.Next
			return nil
		}})
		if next != want {
			t.Errorf("while run %q is going: %q, want %q", running, next, want)
		}
		if err := errors.Join(snapshot.Close(), journal.Unlock()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestADoubtSaysWhetherTheServiceHasIt reads why a doubt is open.
func TestADoubtSaysWhetherTheServiceHasIt(t *testing.T) {
	r := request(0)
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(r), recorded(r.RefID, state.InDoubt, state.SourceAnswer))
	})
	for want, export := range map[string][]row{"The service made it.": sides(r, 0), "The service has no record of it here": sides(request(1), 1)} {
		s := w.reconciled(t, reconcile.Options{ListMax: 5}, format(0, export))
		var reasons []string
		for _, list := range s.Lists {
			for _, item := range list {
				if item.RefID == r.RefID {
					reasons = append(reasons, item.Reason)
				}
			}
		}
		if len(reasons) != 1 || !strings.HasPrefix(reasons[0], want) {
			t.Errorf("it says %q, want %q", reasons, want)
		}
	}
}

// TestWhatOnlyTheStateHasMayBeOutsideOfTheFiles counts transfers before the first record and after the last one.
func TestWhatOnlyTheStateHasMayBeOutsideOfTheFiles(t *testing.T) {
	w := newWorld(t, 5)
	if s := w.reconciled(t, reconcile.Options{}, format(0, w.export[2:8])); s.Differ != 2 || s.Outside != 2 { // of three in the middle
		t.Errorf("%d differ, %d of them are outside, want 2 and 2", s.Differ, s.Outside)
	}
	if s := w.reconciled(t, reconcile.Options{}, format(0, append(w.export[:4:4], w.export[8:]...))); s.Differ != 2 || s.Outside != 0 {
		t.Errorf("%d differ, %d of them are outside, want 2 and none", s.Differ, s.Outside)
	}
	if s := w.reconciled(t, reconcile.Options{}, format(0, w.export[4:])); s.Differ != 2 || s.Outside != 2 {
		t.Errorf("%d differ, %d of them are outside, want 2 and 2", s.Differ, s.Outside)
	}
}

func TestAnAmountThatIsNoDecimalIsAnError(t *testing.T) {
	r := reconcile.New(reconcile.Options{})
	defer r.Close()
	for amount, ok := range map[string]bool{"10": true, "0.00": true, "-3.5": true, "1,200.00": false, "ten": false, "": false, "--1": false, "1e3": false} {
		if err := r.Add(transfer.Record{Amount: amount, CreatedAt: time.Now()}, 1); (err == nil) != ok {
			t.Errorf("amount %q: %v", amount, err)
		}
	}
	if err := r.Add(transfer.Record{Amount: "10"}, 1); err == nil {
		t.Error("a record of no time is taken for one of the period")
	}
}
