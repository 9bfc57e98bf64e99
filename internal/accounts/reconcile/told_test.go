package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
	"remit/state"
)

// say is all that an item says, a line for each thing.
func say(l *reconcile.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %q group %q, %s %s", l.Result, l.Breaks, l.RefID, l.GroupID, l.Amount, l.Asset)
	if l.State != nil {
		fmt.Fprintf(&b, ", state %s %v of %q", l.State.RefID, l.State.Status, l.Batch)
	}
	if !l.Stored.IsZero() {
		fmt.Fprintf(&b, ", stored %s", l.Stored.UTC().Format(time.TimeOnly))
	}
	fmt.Fprintf(&b, ", at %s\n", l.At().UTC().Format(time.TimeOnly))
	side := func(name string, s *reconcile.Side) {
		if s != nil {
			fmt.Fprintf(&b, "%s %s %s of %s, updated %s\n", name, s.Place, s.ID, s.ProfileID, s.UpdatedAt.Format(time.TimeOnly))
		}
	}
	side("debit", l.Debit)
	side("credit", l.Credit)
	for i := range l.More {
		side("more", &l.More[i])
	}
	for _, d := range l.Differences {
		fmt.Fprintf(&b, "%s: asked %s, answered %s, %s %s, accepted %t\n", d.Field, d.Asked, d.Answered, d.Side, d.Place, d.Accepted)
	}
	if l.Reason != "" {
		fmt.Fprintf(&b, "reason: %s\n", l.Reason)
	}
	if l.Next != "" {
		fmt.Fprintf(&b, "next: %s\n", l.Next)
	}
	return b.String()
}

// TestWhatAnItemSays has transfers in two files, and compares every word and place of each.
func TestWhatAnItemSays(t *testing.T) {
	w := newWorld(t, 5)
	refused := request(5)
	w.append(t, func(add func(...state.Entry)) {
		o := recorded(refused.RefID, state.Refused, state.SourceAnswer)
		o.Reason = "no funds"
		add(intent(refused), o)
	})
	foreign := func(r row) row {
		return r.with("id", "f-"+r["id"], "ref_id", "f-"+r["ref_id"], "group_id", "f-"+r["group_id"])
	}
	made := sides(refused, 5)
	e := w.export
	first := []row{e[0], e[1], e[2].plus("0.01"), e[3]}
	second := []row{
		e[6], e[7], e[6], // twice
		e[8].with("id", "debit-4-again", "updated_at", "2026-11-01T10:00:00Z"), e[9], e[8], // of two
		foreign(e[1]).with("customer_id", "someone"), made[0], made[1],
	}
	var got []string
	s := w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
		got = append(got, say(l))
		return nil
	}}, format(0, first), format(0, second))
	want := []string{
		`matched [] "pay-0000000" group "group-0", 1.00 USD, state pay-0000000 recorded of "payroll", stored 00:00:00, at 00:00:00
debit export-1:1 debit-0 of treasury, updated 00:00:00
credit export-1:2 credit-0 of profile-0, updated 00:00:00
`, `differs [amount unbalanced] "pay-0000001" group "group-1", 2.01 EUR, state pay-0000001 recorded of "payroll", stored 00:00:01, at 00:00:01
debit export-1:3 debit-1 of treasury, updated 00:00:01
credit export-1:4 credit-1 of profile-1, updated 00:00:01
amount: asked 2.01, answered 2.02, DEBIT export-1:3, accepted false
next: remit state show pay-0000001
`, `differs [state_only] "pay-0000002" group "group-2", 3.02 BTC, state pay-0000002 recorded of "payroll", stored 00:00:02, at 00:00:02
next: remit state show pay-0000002
`, `differs [duplicate] "pay-0000003" group "group-3", 4.03 USD, state pay-0000003 recorded of "payroll", stored 00:00:03, at 00:00:03
debit export-2:1 debit-3 of treasury, updated 00:00:03
credit export-2:2 credit-3 of profile-3, updated 00:00:03
more export-2:3 debit-3 of treasury, updated 00:00:03
next: remit state show pay-0000003
`, `differs [several] "pay-0000004" group "group-4", 5.04 EUR, state pay-0000004 recorded of "payroll", stored 00:00:04, at 00:00:04
debit export-2:6 debit-4 of treasury, updated 00:00:04
credit export-2:5 credit-4 of profile-4, updated 00:00:04
more export-2:4 debit-4-again of treasury, updated 10:00:00
next: remit state show pay-0000004
`, `differs [not_made] "pay-0000005" group "group-5", 6.05 BTC, state pay-0000005 refused of "payroll", at 00:00:05
debit export-2:8 debit-5 of treasury, updated 00:00:05
credit export-2:9 credit-5 of profile-5, updated 00:00:05
reason: The state has it as refused: no funds
next: remit resolve pay-0000005 --recorded=FILE --reason="…"
`, `differs [customer service_only] "f-pay-0000000" group "f-group-0", 1.00 USD, at 00:00:00
credit export-2:7 f-credit-0 of profile-0, updated 00:00:00
reason: Only its credit side is there. The credit is of another customer: someone.
`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.Records != len(first)+len(second) {
		t.Errorf("%d records", s.Records)
	}
}

// TestWhyTheServiceHasWhatWasNotMade reads the reasons of records that nobody expects.
func TestWhyTheServiceHasWhatWasNotMade(t *testing.T) {
	r := request(0)
	forget := told("state forget", recorded(r.RefID, state.Tombstone, ""))
	bare := forget
	bare.Reason = ""
	closed := told("resolve", recorded(r.RefID, state.Tombstone, ""))
	doubt := recorded(r.RefID, state.InDoubt, state.SourceAnswer)
	made := recorded(r.RefID, state.Recorded, state.SourceAnswer, sides(r, 0)[0])
	for want, after := range map[string][]state.Outcome{
		"The state has it as unsent": {recorded(r.RefID, state.Unsent, state.SourceAnswer)},
		"It was forgotten before anybody knew whether it was made: moved to the other state": {doubt, forget},
		"It was closed as not made: moved to the other state":                                {doubt, closed},
		"It was forgotten on purpose: moved to the other state":                              {made, forget},
	} {
		if got := itemAfter(t, r, after, sides(r, 0)).Reason; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhatIsLeftOutIsCounted has transfers that were not made, deposits under a ref_id of the state and of nobody, and
// the settings of a reconciliation.
func TestWhatIsLeftOutIsCounted(t *testing.T) {
	w := newWorld(t, 1)
	notMade, closed := request(1), request(2)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(notMade), recorded(notMade.RefID, state.Refused, state.SourceAnswer), intent(closed), recorded(closed.RefID, state.InDoubt, state.SourceAnswer),
			told("resolve", recorded(closed.RefID, state.Tombstone, "")))
	})
	deposit := sides(closed, 2)[1].with("type", "WIRE_DEPOSIT")
	stray := deposit.with("id", "stray", "ref_id", "", "group_id", "stray")
	options := reconcile.Options{From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}
	s := w.reconciled(t, options, format(0, append(slices.Clone(w.export), deposit, stray, stray.with("id", "later", "group_id", "later", "created_at", "2026-11-02T00:00:00Z"))))
	if s.Matched != 1 || s.Differ != 0 || s.NotMade != 2 || s.OutOfPeriod != 1 || s.Records != 5 || !s.Agrees() {
		t.Errorf("%d match, %d differ, %d were not made, %d are out of the period, of %d records, agrees %t", s.Matched, s.Differ, s.NotMade, s.OutOfPeriod, s.Records, s.Agrees())
	}
	if diff := cmp.Diff(map[transfer.RecordType]int{"WIRE_DEPOSIT": 2}, s.OtherTypes); diff != "" {
		t.Errorf("other types (-want +got):\n%s", diff)
	}
	if s.From != options.From || s.Until != options.Until || s.Batch != "" || s.DebitsOnly || s.LookedUp {
		t.Errorf("settings: %+v", s)
	}
	if s := w.reconciled(t, reconcile.Options{Batch: "payroll", DebitsOnly: true}, format(0, w.export)); s.Batch != "payroll" || !s.DebitsOnly || s.Transfers() != 1 {
		t.Errorf("settings: %+v", s)
	}
	if s := w.lookedUp(t, reconcile.Options{}, w.export); !s.LookedUp {
		t.Error("a lookup is called an export")
	}
}

// TestAListKeepsItsItems has more transfers than are judged at once, and lists that have room for some: no listed item is changed
// by a later one.
func TestAListKeepsItsItems(t *testing.T) {
	const transfers = 520
	w := newWorld(t, transfers)
	export := slices.Clone(w.export)
	for _, i := range []int{3, 514, 516} {
		export[2*i] = export[2*i].plus("1")
	}
	listed := func(items []reconcile.Item) (refIDs []string) {
		for _, item := range items {
			if item.State == nil || item.Debit == nil || item.State.RefID != item.RefID || item.Debit.RefID != item.RefID {
				t.Errorf("%s: %+v", item.RefID, item.State)
			}
			refIDs = append(refIDs, item.RefID)
		}
		return refIDs
	}
	all := []string{"pay-0000003", "pay-0000514", "pay-0000516"}
	for most, want := range map[int][]string{1: all[:1], 2: all[:2], -1: all} {
		s := w.reconciled(t, reconcile.Options{ListMax: most}, format(0, export))
		if got := listed(s.Lists[reconcile.Amount]); !slices.Equal(got, want) || s.Differ != 3 || s.Matched != transfers-3 {
			t.Errorf("at most %d: %q, %d differ, %d match", most, got, s.Differ, s.Matched)
		}
		if got := listed(s.MatchedLines); (len(got) > 0) != (most < 0) || most < 0 && (len(got) != transfers-3 || got[3] != "pay-0000004") {
			t.Errorf("at most %d: %d that match are listed", most, len(got))
		}
	}
}

// TestAcceptedTransfersAreListedWithinTheBound has two that were forgotten on purpose.
func TestAcceptedTransfersAreListedWithinTheBound(t *testing.T) {
	w := newWorld(t, 2)
	w.append(t, func(add func(...state.Entry)) {
		for i := range 2 {
			add(told("state forget", recorded(request(i).RefID, state.Tombstone, "")))
		}
	})
	for most, want := range map[int]int{1: 1, 0: 2, -1: 2} {
		s := w.reconciled(t, reconcile.Options{ListMax: most}, format(0, w.export))
		if s.Accepted != 2 || len(s.AcceptedLines) != want || s.AcceptedLines[0].State.RefID != "pay-0000000" {
			t.Errorf("at most %d: %d of %d accepted ones", most, len(s.AcceptedLines), s.Accepted)
		}
	}
}

// TestAnErrorOfTheCallerEndsTheReconciliation has a caller who cannot write an item, the first, a later one, or a stranger.
func TestAnErrorOfTheCallerEndsTheReconciliation(t *testing.T) {
	w := newWorld(t, 2)
	errFull := errors.New("the disk is full")
	for nth := range 3 {
		count := 0
		r := reconcile.New(reconcile.Options{TempDir: t.TempDir(), Each: func(*reconcile.Item) error {
			if count++; count > nth {
				return errFull
			}
			return nil
		}})
		stranger := sides(request(9), 9)
		record, err := transfer.ParseRecord([]byte(stranger[0].json()))
		if err == nil {
			err = r.Add(record, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Judge(t.Context(), w.snapshot); !errors.Is(err, errFull) || count != nth+1 {
			t.Errorf("after %d items: %v, %d told", nth, err, count)
		}
		r.Close()
	}
}

// TestAnAnswerThatCannotBeRead has lookups of which the answer is no record: of a recorded transfer, and of one in doubt.
func TestAnAnswerThatCannotBeRead(t *testing.T) {
	w := newWorld(t, 1)
	doubt := request(1)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(doubt), recorded(doubt.RefID, state.InDoubt, state.SourceAnswer))
	})
	got := ""
	r := reconcile.New(reconcile.Options{LookedUp: true, TempDir: t.TempDir(), Each: func(l *reconcile.Item) error {
		got += say(l)
		return nil
	}})
	defer r.Close()
	if err := errors.Join(r.AddUnreadable("pay-0000000", "it is no JSON"), r.AddUnreadable(doubt.RefID, "")); err != nil {
		t.Fatal(err)
	}
	s := w.judged(t, r)
	want := `differs [unreadable] "pay-0000000" group "group-0", 1.00 USD, state pay-0000000 recorded of "payroll", stored 00:00:00, at 00:00:00
reason: it is no JSON
next: remit state show pay-0000000
differs [unreadable] "pay-0000001" group "", 2.01 EUR, state pay-0000001 in doubt of "payroll", at 00:01:00
reason: it can't be read
next: remit resolve pay-0000001 --recorded=FILE --reason="…"
`
	if diff := cmp.Diff(want, got); diff != "" || s.Differ != 2 || s.Agrees() {
		t.Errorf("%d differ, -want +got:\n%s", s.Differ, diff)
	}
}

// TestTheCommandToType has each kind of finding, with a lookup and without one.
func TestTheCommandToType(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	debit := both[0]
	answer := func(status state.Status, records ...row) state.Outcome {
		return recorded(r.RefID, status, state.SourceAnswer, records...)
	}
	anothers := recorded(r.RefID, state.Conflict, state.SourceLookup, debit)
	anothers.Differences = []transfer.Difference{transfer.SharedRecord("r-1", "other")}
	twice := append(slices.Clone(both), debit.with("id", "again", "group_id", "g-2"))
	const show, resolve = "remit state show pay-0000000", "remit resolve pay-0000000"
	const give, accept = resolve + ` --recorded=FILE --reason="…"`, resolve + ` --accept-record --reason="…"`
	for name, test := range map[string]struct {
		after          state.Outcome
		export         []row
		alone, lookups string
	}{
		"matched":                              {answer(state.Recorded, debit), both, "", ""},
		"absent":                               {answer(state.Recorded, debit), nil, show, show},
		"paid twice":                           {answer(state.Recorded, debit), twice, show, show},
		"in doubt, and made twice":             {answer(state.InDoubt), twice, show, show},
		"in doubt, and made":                   {answer(state.InDoubt), both, give, "remit apply"},
		"in doubt, and absent":                 {answer(state.InDoubt), nil, show, "remit apply"},
		"refused, and made":                    {answer(state.Refused), both, give, give},
		"unverified":                           {answer(state.Unverified, debit), both, give, resolve},
		"unverified, and absent":               {answer(state.Unverified, debit), nil, show, show},
		"a conflict":                           {answer(state.Conflict, debit.with("amount", "7")), both, accept, accept},
		"a conflict over another's record":     {anothers, nil, resolve + ` --recorded=FILE --accept-record --reason="…"`, resolve},
		"since FAILED":                         {answer(state.Recorded, debit), []row{debit.with("status", "FAILED"), both[1].with("status", "FAILED")}, give, give},
		"since COMPLETED":                      {answer(state.Recorded, debit.with("status", "PENDING")), both, give, "remit refresh"},
		"since COMPLETED, with another amount": {answer(state.Recorded, debit.with("status", "PENDING")), []row{debit.plus("1"), both[1].plus("1")}, show, show},
		"a fee of the credit":                  {answer(state.Recorded, debit), []row{debit, both[1].with("fee", "0.25", "total", "0.75")}, give, give},
		"a fee of the debit":                   {answer(state.Recorded, debit), []row{debit.with("fee", "0.25", "total", "1.25"), both[1]}, show, show},
		"a fee of the credit to another":       {answer(state.Recorded, debit), []row{debit, both[1].with("fee", "0.25", "total", "0.75", "profile_id", "mallory")}, show, show},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) { add(intent(r), test.after) })
			for canLookUp, want := range map[bool]string{false: test.alone, true: test.lookups} {
				got := "nothing was told"
				w.reconciled(t, reconcile.Options{CanLookUp: canLookUp, Settling: "remit apply", Each: func(l *reconcile.Item) error {
					got = l.Next
					return nil
				}}, format(0, test.export))
				if got != want {
					t.Errorf("with a lookup %t: %q, want %q", canLookUp, got, want)
				}
			}
		})
	}
}

// TestEachFieldOfAnImportedRecordIsCompared has a transfer that was imported without its request, and one that only a list has.
func TestEachFieldOfAnImportedRecordIsCompared(t *testing.T) {
	r := request(0)
	own := []string{"identity_id", "i-1", "account_id", "a-1"}
	both := sides(r, 0)
	debit, credit := both[0].with(own...), both[1]
	listed := recorded(r.RefID, state.Unverified, state.SourceImport)
	listed.RunID, listed.Listed = "", &state.Listed{GroupID: debit["group_id"], Amount: r.Amount.String(), Asset: r.Asset}
	imported := recorded(r.RefID, state.Unverified, state.SourceImport, debit)
	imported.RunID = ""
	chf := []row{debit.with("asset", "CHF"), credit.with("asset", "CHF")}
	for name, test := range map[string]struct {
		outcome state.Outcome
		export  []row
		want    string // fields that differ
	}{
		"the same":                    {imported, []row{debit, credit}, ""},
		"no optional field":           {imported, []row{both[0].with("balance_asset", "", "ref_id", ""), credit}, ""},
		"profile":                     {imported, []row{debit.with("profile_id", "mallory"), credit}, "profile_id"},
		"asset":                       {imported, chf, "asset"},
		"amount":                      {imported, []row{debit.plus("1"), credit.plus("1")}, "amount"},
		"type":                        {imported, []row{debit.with("type", "PLATFORM_TRANSFER_DEBIT"), credit}, "type"},
		"identity":                    {imported, []row{debit.with("identity_id", "i-2"), credit}, "identity_id"},
		"account":                     {imported, []row{debit.with("account_id", "a-2"), credit}, "account_id"},
		"balance":                     {imported, []row{debit.with("balance_asset", "CHF"), credit}, "balance_asset"},
		"ref_id":                      {imported, []row{debit.with("ref_id", "x"), credit}, "ref_id"},
		"a list, the same":            {listed, []row{debit, credit}, ""},
		"a list, in other words":      {listed, []row{debit.with("amount", "1.0"), credit.with("amount", "1")}, ""},
		"a list, and another amount":  {listed, []row{debit.plus("1"), credit.plus("1")}, "amount amount"},
		"a list, and another asset":   {listed, chf, "asset asset"},
		"a list, and a credit of 0.5": {listed, []row{debit, credit.with("amount", "0.5")}, "amount"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) { add(test.outcome) })
			var fields, places []string
			w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
				for _, d := range l.Differences {
					fields = append(fields, d.Field)
					if d.Accepted || d.Asked == d.Answered || d.Place == "" {
						places = append(places, fmt.Sprintf("%+v", d))
					}
				}
				return nil
			}}, format(0, test.export))
			if got := strings.Join(fields, " "); got != test.want || len(places) > 0 {
				t.Errorf("%q, want %q; %q", got, test.want, places)
			}
		})
	}
}

// TestWhenATransferWas goes by the service, then by the stored record, then by what the state did.
func TestWhenATransferWas(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }
	side := func(day int) *reconcile.Side { return &reconcile.Side{Record: transfer.Record{CreatedAt: at(day)}} }
	row := &state.Transfer{AttemptedAt: at(4), SettledAt: at(5)}
	for name, test := range map[string]struct {
		item reconcile.Item
		want time.Time
	}{
		"the debit":                     {reconcile.Item{Debit: side(1), Credit: side(2), Stored: at(3), State: row}, at(1)},
		"the credit":                    {reconcile.Item{Credit: side(2), Stored: at(3), State: row}, at(2)},
		"the stored record":             {reconcile.Item{Stored: at(3), State: row}, at(3)},
		"the attempt":                   {reconcile.Item{State: row}, at(4)},
		"the word that was never tried": {reconcile.Item{State: &state.Transfer{SettledAt: at(5)}}, at(5)},
		"nothing":                       {reconcile.Item{}, time.Time{}},
	} {
		if got := test.item.At(); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestARequestWithAFingerprintMatchesItsEcho has requests that carry their fingerprint in their metadata, and answers that echoed
// all of it or nothing.
func TestARequestWithAFingerprintMatchesItsEcho(t *testing.T) {
	r := request(1) // with metadata
	r.FingerprintKey = "fp"
	both := sides(r, 1)
	for side := range both {
		both[side] = both[side].with("metadata.fp", r.Fingerprint().String())
	}
	for answered, stored := range map[string]row{"all": both[0], "nothing": both[0].with("metadata.fp", "", "metadata.employee", "")} {
		w := newWorld(t, 0)
		w.append(t, func(add func(...state.Entry)) {
			add(intent(r), recorded(r.RefID, state.Recorded, state.SourceAnswer, stored))
		})
		for name, test := range map[string]struct {
			export []row
			want   string
		}{
			"its own":           {both, "matched []"},
			"another":           {[]row{both[0].with("metadata.fp", "00"), both[1].with("metadata.fp", "00")}, "differs [field]"},
			"none":              {[]row{both[0].with("metadata.fp", ""), both[1]}, "differs [field]"},
			"another's pair":    {[]row{both[0].with("metadata.employee", "E-9"), both[1]}, "differs [field]"},
			"another recipient": {[]row{both[0], both[1].with("profile_id", "mallory")}, "differs [field]"},
		} {
			got := ""
			w.reconciled(t, reconcile.Options{FingerprintKey: "fp", Each: func(l *reconcile.Item) error {
				got = fmt.Sprint(l.Result, " ", l.Breaks)
				return nil
			}}, format(0, test.export))
			if got != test.want {
				t.Errorf("%s, of an answer that echoed %s: %s, want %s", name, answered, got, test.want)
			}
		}
	}
}

// TestAnAcceptedAmountThatIsNoNumberIsNoTotal has a person accept a record with an amount that is grouped, of which no sum can be made.
func TestAnAcceptedAmountThatIsNoNumberIsNoTotal(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	stored := both[0].with("amount", "1,000.00")
	record, err := transfer.ParseRecord([]byte(stored.json()))
	if err != nil {
		t.Fatal(err)
	}
	differences := append(transfer.Compare(r, record, transfer.DefaultOperator), transfer.Shortcomings(record)...)
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(r), recorded(r.RefID, state.Conflict, state.SourceLookup, stored), told("resolve", recorded(r.RefID, state.Recorded, "", stored), differences...))
	})
	s := w.reconciled(t, reconcile.Options{}, format(0, both))
	if s.Agrees() || s.Breaks[reconcile.Amount] != 1 || s.Assets[0].State.Sum.String() != "1" {
		t.Errorf("agrees %t, %v, %v", s.Agrees(), s.Breaks, s.Assets)
	}
}

// itemAfter is the last item of a reconciliation of an intent and its outcomes with rows of the service.
func itemAfter(t *testing.T, r transfer.Request, after []state.Outcome, rows []row) (item reconcile.Item) {
	t.Helper()
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(r))
		for _, o := range after {
			add(o)
		}
	})
	w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
		item = *l
		return nil
	}}, format(0, rows))
	return item
}
