package books_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
	"remit/state"
)

// archive is a state of details, with the outcomes before the latest ones.
type archive struct {
	details  map[string]state.Detail
	outcomes map[string][]state.Outcome
}

func (a archive) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for _, refID := range slices.Sorted(maps.Keys(a.details)) {
			if !yield(a.details[refID].Transfer, nil) {
				return
			}
		}
	}
}

func (a archive) Details(_ context.Context, refIDs ...string) ([]state.Detail, error) {
	var list []state.Detail
	for _, refID := range refIDs {
		list = append(list, a.details[refID])
	}
	return list, nil
}

func (a archive) Events(_ context.Context, _ int64, refID string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, o := range a.outcomes[refID] {
			data, err := json.Marshal(o)
			if !yield(state.Event{Kind: state.KindOutcome, RefID: refID, Data: data}, err) {
				return
			}
		}
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// side is a record, as "DEBIT amount fee total profile asset".
func side(direction, amount, fee, total, profile, asset string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id":"r-%s","customer_id":"c","profile_id":%q,"amount":%q,"fee":%q,"total":%q,"asset":%q,`+
		`"direction":%q,"type":"INTERNAL_TRANSFER_%s","status":"COMPLETED","group_id":"g","created_at":"2026-11-30T23:30:00Z","updated_at":"2026-11-30T23:31:00Z"}`,
		direction, profile, amount, fee, total, asset, direction, direction))
}

// made is a transfer of 10.00 USD from a to b, with records.
func made(status state.Status, records ...json.RawMessage) state.Detail {
	r := transfer.Request{Operation: transfer.Internal, RefID: "x", FromProfileID: "a", ToProfileID: "b", Amount: transfer.MustAmount("10.00"), Asset: "USD"}
	d := state.Detail{
		Transfer: state.Transfer{RefID: "x", Status: status, Asset: "USD", Amount: r.Amount, IntendedAt: noon, SettledAt: noon},
		Intent:   state.Intent{RefID: "x", Operation: r.Operation, Body: string(r.Body()), Batch: "payroll"},
		Outcome:  &state.Outcome{RefID: "x", Status: status, Records: records},
	}
	if len(records) > 0 {
		d.RecordID, d.GroupID, d.RecordStatus = "r", "g", transfer.Completed
	}
	return d
}

func read(t *testing.T, a archive, f books.Filter) (*books.Books, []books.Entry) {
	t.Helper()
	found, err := books.Read(t.Context(), a, f, books.ByTime)
	if err != nil {
		t.Fatal(err)
	}
	var list []books.Entry
	for e, err := range found.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, *e)
	}
	return found, list
}

func one(t *testing.T, d state.Detail, before ...state.Outcome) books.Entry {
	t.Helper()
	_, list := read(t, archive{map[string]state.Detail{"x": d}, map[string][]state.Outcome{"x": before}}, books.Filter{})
	if len(list) != 1 {
		t.Fatalf("there are %d entries", len(list))
	}
	return list[0]
}

// told is an entry in short: how it stands, and its postings.
func told(e *books.Entry) []string {
	list := []string{string(e.Booking()), string(e.Cause)}
	for _, p := range e.Postings {
		list = append(list, fmt.Sprintf("%d %s %s", p.Role, p.Profile, transfer.Digits(p.Amount)))
	}
	return list
}

func TestEntry(t *testing.T) {
	withStatus := func(d state.Detail, s transfer.RecordStatus) state.Detail { d.RecordStatus = s; return d }
	imported := func(d state.Detail) state.Detail {
		d.Intent, d.IntendedAt = state.Intent{RefID: "x"}, time.Time{}
		return d
	}
	debit := side("DEBIT", "10.00", "0.00", "10.00", "a", "USD")
	for name, test := range map[string]struct {
		detail state.Detail
		before []state.Outcome
		want   []string
	}{
		"no fee, no posting of one": {
			detail: made(state.Recorded, debit),
			want:   []string{"completed", "", "0 a -10.00", "1 b 10.00"},
		},
		"the sender pays the fee beside the amount": {
			detail: made(state.Recorded, side("DEBIT", "10.00", "0.25", "10.25", "a", "USD")),
			want:   []string{"completed", "", "0 a -10.25", "1 b 10.00", "2  0.25"},
		},
		"both sides pay a fee": {
			detail: made(state.Recorded, side("DEBIT", "10.00", "0.25", "10.25", "a", "USD"), side("CREDIT", "10.00", "0.1", "9.9", "b", "USD")),
			want:   []string{"completed", "", "0 a -10.25", "1 b 9.9", "2  0.35"},
		},
		"the service gives a fee back": {
			detail: made(state.Recorded, side("DEBIT", "10.00", "-0.25", "9.75", "a", "USD")),
			want:   []string{"completed", "", "0 a -9.75", "1 b 10.00", "2  -0.25"},
		},
		"total, amount and fee that do not add up leave a difference that is seen": {
			detail: made(state.Recorded, side("DEBIT", "10.00", "0.25", "10.00", "a", "USD")),
			want:   []string{"completed", "", "0 a -10.00", "1 b 10.00", "2  0.25", "3  -0.25"},
		},
		"digits of the record": {
			detail: made(state.Recorded, side("DEBIT", "10.00000000", "0", "10.00000000", "a", "USD")),
			want:   []string{"completed", "", "0 a -10.00000000", "1 b 10.00000000"},
		},
		"a record that a person accepted is booked, not what was asked": {
			detail: made(state.Recorded, side("DEBIT", "11.00", "0", "11.00", "other", "EUR")),
			want:   []string{"completed", "", "0 other -11.00", "1 b 11.00"},
		},
		"not finished":        {detail: withStatus(made(state.Recorded, debit), transfer.Pending), want: []string{"pending", "unfinished", "0 a -10.00", "1 b 10.00"}},
		"a status of its own": {detail: withStatus(made(state.Recorded, debit), "SETTLING"), want: []string{"pending", "unknown status", "0 a -10.00", "1 b 10.00"}},
		"unproven":            {detail: made(state.Unverified, debit), want: []string{"pending", "unverified", "0 a -10.00", "1 b 10.00"}},
		"failed":              {detail: withStatus(made(state.Recorded, debit), transfer.Failed), want: []string{"none", "failed"}},
		"unproven and failed": {detail: withStatus(made(state.Unverified, debit), transfer.Failed), want: []string{"none", "failed"}},
		"in doubt":            {detail: made(state.InDoubt), want: []string{"open", "in doubt"}},
		"conflict":            {detail: made(state.Conflict, debit), want: []string{"open", "conflict"}},
		"refused":             {detail: made(state.Refused), want: []string{"none", "refused"}},
		"unsent":              {detail: made(state.Unsent), want: []string{"none", "unsent"}},
		"settled as not made": {detail: made(state.Tombstone), want: []string{"none", "not made"}},
		"two assets": {
			detail: made(state.Recorded, json.RawMessage(string(debit[:len(debit)-1])+`,"balance_asset":"EUR"}`)),
			want:   []string{"open", "conversion"},
		},
		"sides in two assets": {
			detail: made(state.Recorded, debit, side("CREDIT", "10.00", "0.00", "10.00", "b", "EUR")),
			want:   []string{"open", "conversion"},
		},
		"a total that is no sum of amount and fee": {
			detail: made(state.Recorded, side("DEBIT", "10.00", "0.25", "9.00", "a", "USD")),
			want:   []string{"open", "unreadable"},
		},
		"an exponent":      {detail: made(state.Recorded, side("DEBIT", "10.00", "1e999999999", "10.00", "a", "USD")), want: []string{"open", "unreadable"}},
		"a fee in words":   {detail: made(state.Recorded, side("DEBIT", "10.00", "none", "10.00", "a", "USD")), want: []string{"open", "unreadable"}},
		"no record at all": {detail: withStatus(made(state.Recorded), transfer.Completed), want: []string{"open", "unreadable"}},
		"imported, the sender's side alone": {
			detail: imported(made(state.Unverified, debit)),
			before: []state.Outcome{{Status: state.Unverified, Records: []json.RawMessage{debit}}},
			want:   []string{"pending", "unverified", "0 a -10.00", "1  10.00"},
		},
		"imported, the recipient's side alone": {
			detail: imported(made(state.Unverified, side("CREDIT", "10.00", "0.5", "9.5", "b", "USD"))),
			want:   []string{"pending", "unverified", "0  -10.00", "1 b 9.5", "2  0.5"},
		},
		"imported with both sides, of which a later look saw one": {
			detail: imported(made(state.Adopted, debit)),
			before: []state.Outcome{
				{Status: state.Adopted, Records: []json.RawMessage{debit, side("CREDIT", "10.00", "0", "10.00", "b", "USD")}},
				{Status: state.Adopted, Records: []json.RawMessage{debit}},
			},
			want: []string{"completed", "", "0 a -10.00", "1 b 10.00"},
		},
		"made, and forgotten by a person": {
			detail: func() state.Detail {
				d := made(state.Tombstone, debit)
				d.Outcome.Records = nil
				return d
			}(),
			before: []state.Outcome{{Status: state.Recorded, Records: []json.RawMessage{debit}}, {Status: state.Tombstone}},
			want:   []string{"completed", "", "0 a -10.00", "1 b 10.00"},
		},
		"the other side of another transfer": {
			detail: made(state.Recorded, debit, json.RawMessage(`{"id":"q","customer_id":"c","profile_id":"z","amount":"10","fee":"9","total":"1","asset":"USD","direction":"CREDIT","type":"t","status":"COMPLETED","group_id":"another","created_at":"2026-11-30T23:30:00Z","updated_at":"2026-11-30T23:31:00Z"}`)),
			want:   []string{"completed", "", "0 a -10.00", "1 b 10.00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := one(t, test.detail, test.before...)
			if diff := cmp.Diff(test.want, told(&e)); diff != "" {
				t.Error(diff)
			}
			sum := transfer.MustAmount("1").Decimal().Sub(transfer.MustAmount("1").Decimal())
			for _, p := range e.Postings {
				sum = sum.Add(p.Amount)
			}
			if !sum.IsZero() {
				t.Errorf("the postings add up to %s", sum)
			}
			if e.Booking().Booked() != (len(e.Postings) > 0) {
				t.Errorf("it is %s and has %d postings", e.Booking(), len(e.Postings))
			}
		})
	}
}

// TestAConflictBelongsToTheEarlierTime has a record that was made before its transfer was sent from here, as one
// that another program made, and one that was made after.
func TestAConflictBelongsToTheEarlierTime(t *testing.T) {
	made := func(intended time.Time) time.Time {
		d := made(state.Conflict, side("DEBIT", "11.00", "0", "11.00", "a", "USD")) // of the 30th, 23:30
		d.IntendedAt = intended
		e := one(t, d)
		return e.At
	}
	record := time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)
	for _, c := range []struct{ intended, want time.Time }{
		{noon, noon},
		{record.Add(36 * time.Hour), record},
		{time.Time{}, noon}, // it was settled at noon
	} {
		if got := made(c.intended); !got.Equal(c.want) {
			t.Errorf("intended at %s, it is of %s, want %s", c.intended, got, c.want)
		}
	}
}

// TestOrder has more entries than are sorted by insertion, of equal times, in batches that come in another order than
// that of their names. Entries of one payment follow each other, whatever their times.
func TestOrder(t *testing.T) {
	a := archive{details: make(map[string]state.Detail)}
	batches := []string{"z", "", "a", "m"}
	var byTime []string
	byPayment := make(map[string][]string)
	for hour := range 3 {
		for i := range 40 {
			d := made(state.InDoubt)
			d.RefID = fmt.Sprintf("%c-%02d", 'a'+(i*7+hour)%5, i)
			d.RefID += fmt.Sprint("-", hour)
			d.IntendedAt, d.Intent.Batch = noon.Add(-time.Duration(hour)*time.Hour), batches[i%len(batches)]
			a.details[d.RefID] = d
		}
	}
	for hour := 2; hour >= 0; hour-- {
		for _, refID := range slices.Sorted(maps.Keys(a.details)) {
			if d := a.details[refID]; d.IntendedAt.Equal(noon.Add(-time.Duration(hour) * time.Hour)) {
				byTime = append(byTime, refID)
				byPayment[d.Intent.Batch] = append(byPayment[d.Intent.Batch], refID)
			}
		}
	}
	refIDs := func(by books.Grouping) (list []string) {
		found, err := books.Read(t.Context(), a, books.Filter{}, by)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range found.Entries(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e.RefID)
		}
		return list
	}
	if diff := cmp.Diff(byTime, refIDs(books.ByTime)); diff != "" {
		t.Error(diff)
	}
	want := slices.Concat(byPayment[""], byPayment["a"], byPayment["m"], byPayment["z"])
	if diff := cmp.Diff(want, refIDs(books.ByPayment)); diff != "" {
		t.Error(diff)
	}
}

// TestFirstTransfers counts neither refused transfers nor the filter, and an import as the first of all.
func TestFirstTransfers(t *testing.T) {
	a := archive{details: make(map[string]state.Detail)}
	add := func(refID, profileID string, status state.Status, intent int64) {
		d := made(status)
		r := transfer.Request{Operation: transfer.Internal, RefID: refID, FromProfileID: "from", ToProfileID: profileID, Amount: transfer.MustAmount("10.00"), Asset: "USD"}
		d.RefID, d.IntentSeq, d.Intent.Body = refID, intent, string(r.Body())
		a.details[refID] = d
	}
	add("a", "p", state.InDoubt, 9)
	add("b", "p", state.InDoubt, 4)
	add("c", "p", state.Refused, 2)
	add("d", "q", state.InDoubt, 7)
	add("e", "q", state.InDoubt, 0)
	add("f", "r", state.Unsent, 3)
	found, _ := read(t, a, books.Filter{Batch: "none"})
	if diff := cmp.Diff(map[string]int64{"p": 4, "q": 0}, maps.Collect(found.First.All())); diff != "" {
		t.Error(diff)
	}
	if seq, ok := found.First.Of("p"); !ok || seq != 4 {
		t.Errorf("the first to p is %d, %t", seq, ok)
	}
	if _, ok := found.First.Of("r"); ok {
		t.Error("r was paid")
	}
}

// TestPeriod holds that a day is that of the service's record, from its first instant to its
// last, and that an open transfer is left out of no period that may have it.
func TestPeriod(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	recorded := made(state.Recorded, side("DEBIT", "10.00", "0", "10.00", "a", "USD")) // made on the 30th, 23:30
	doubt := made(state.InDoubt)                                                       // intended on the 30th, 12:00
	for name, test := range map[string]struct {
		detail state.Detail
		filter books.Filter
		want   int
	}{
		"in":                 {recorded, books.Filter{From: day(30), Until: day(31)}, 1},
		"at its beginning":   {recorded, books.Filter{From: time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)}, 1},
		"at its end":         {recorded, books.Filter{Until: time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)}, 0},
		"after":              {recorded, books.Filter{Until: day(30)}, 0},
		"before":             {recorded, books.Filter{From: day(31)}, 0},
		"open, later":        {doubt, books.Filter{From: day(31)}, 1},
		"open, not yet":      {doubt, books.Filter{Until: day(30)}, 0},
		"of the batch":       {recorded, books.Filter{Batch: "payroll"}, 1},
		"of another batch":   {recorded, books.Filter{Batch: "bonus"}, 0},
		"of another run":     {recorded, books.Filter{RunID: "r"}, 0},
		"open, other batch":  {doubt, books.Filter{Batch: "bonus"}, 0},
		"open, in its batch": {doubt, books.Filter{Batch: "payroll"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, list := read(t, archive{details: map[string]state.Detail{"x": test.detail}}, test.filter)
			if len(list) != test.want {
				t.Errorf("%d entries, want %d", len(list), test.want)
			}
		})
	}
}

// TestSummary holds that each transfer is counted: booked, or by its cause.
func TestSummary(t *testing.T) {
	a := archive{details: map[string]state.Detail{}}
	add := func(refID string, d state.Detail) {
		d.RefID = refID
		a.details[refID] = d
	}
	add("1", made(state.Recorded, side("DEBIT", "10.00", "0.25", "10.25", "a", "USD")))
	add("2", made(state.Unverified, side("DEBIT", "10.00", "0", "10.00", "a", "USD")))
	add("3", made(state.InDoubt))
	add("4", made(state.Refused))
	found, list := read(t, a, books.Filter{})
	if got := []int{len(list), found.Booked.Count(), found.Fees.Count(), found.NeedsPerson(), len(found.Look)}; !slices.Equal(got, []int{4, 2, 1, 2, 2}) {
		t.Errorf("entries, booked, with a fee, for a person, named: %v", got)
	}
	if got := found.Booked.Sum("USD").String() + " " + found.Fees.Sum("USD").String() + " " + found.Causes[books.CauseInDoubt].Sum("USD").String(); got != "20 0.25 10" {
		t.Errorf("booked, fees, in doubt: %s", got)
	}
}

// TestPaymentStatus says how a transfer ended whose amounts can't be booked, or that nobody proved.
func TestPaymentStatus(t *testing.T) {
	for name, test := range map[string]struct {
		cause  books.Cause
		status state.Status
		record transfer.RecordStatus
		want   books.PaymentStatus
	}{
		"booked":                                  {"", state.Recorded, transfer.Completed, books.SettledDebtor},
		"a conversion that is COMPLETED":          {books.CauseConversion, state.Recorded, transfer.Completed, books.SettledDebtor},
		"a conversion that was found":             {books.CauseConversion, state.Adopted, transfer.Completed, books.SettledDebtor},
		"a conversion that was forgotten":         {books.CauseConversion, state.Tombstone, transfer.Completed, books.SettledDebtor},
		"a conversion that is PENDING":            {books.CauseConversion, state.Recorded, transfer.Pending, books.PaymentPending},
		"a conversion that nobody proved":         {books.CauseConversion, state.Unverified, transfer.Completed, books.PaymentPending},
		"an unreadable one that nobody proved":    {books.CauseUnreadable, state.Unverified, transfer.Completed, books.PaymentPending},
		"an unverified one that can be booked":    {books.CauseUnverified, state.Unverified, transfer.Completed, books.PaymentPending},
		"one that failed":                         {books.CauseFailed, state.Recorded, transfer.Failed, books.Rejected},
		"one that a person settled as not made":   {books.CauseNotMade, state.Tombstone, "", books.Rejected},
		"a doubt, of which nobody knows anything": {books.CauseInDoubt, state.InDoubt, "", books.PaymentPending},
	} {
		t.Run(name, func(t *testing.T) {
			e := books.Entry{Cause: test.cause}
			e.Status, e.RecordStatus = test.status, test.record
			if got := e.PaymentStatus(); got != test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
		})
	}
}

// TestACreditAloneHasItsAmounts books a transfer of which the state has the destination's side only.
func TestACreditAloneHasItsAmounts(t *testing.T) {
	e := one(t, made(state.Recorded, side("CREDIT", "10.00", "0", "10.00", "b", "USD")))
	if e.Amount.String() != "10" || e.Total.String() != "10" || e.BothSides {
		t.Errorf("amount %s, total %s, both sides %t", e.Amount, e.Total, e.BothSides)
	}
}

// TestADestinationKeepsItsAccountUnderAnotherSpelling has a credit that names the account's profile in another form of its UUID.
func TestADestinationKeepsItsAccountUnderAnotherSpelling(t *testing.T) {
	const asked, answered = "37867177f88c45ccb9b5d786e7079609", "37867177-f88c-45cc-b9b5-d786e7079609"
	for profile, want := range map[string]string{answered: "acc", "another": ""} {
		d := made(state.Recorded, side("DEBIT", "10.00", "0", "10.00", "a", "USD"), side("CREDIT", "10.00", "0", "10.00", profile, "USD"))
		r := transfer.Request{
			Operation: transfer.Internal, RefID: "x", FromProfileID: "a", ToProfileID: asked, ToAccountID: "acc",
			Amount: transfer.MustAmount("10.00"), Asset: "USD",
		}
		d.Intent.Body = string(r.Body())
		if e := one(t, d); e.To != profile || e.ToAccountID != want {
			t.Errorf("to %s, account %q, want %q", e.To, e.ToAccountID, want)
		}
	}
}

// TestATotalThatDoesNotAddUpIsBelievedOfAPersonAlone has a total that is neither the amount, nor that plus or minus the fee.
func TestATotalThatDoesNotAddUpIsBelievedOfAPersonAlone(t *testing.T) {
	for source, want := range map[state.Source]books.Cause{state.SourceAnswer: books.CauseUnreadable, state.SourcePerson: ""} {
		d := made(state.Recorded, side("DEBIT", "10.00", "0", "7.00", "a", "USD"))
		d.Outcome.Source = source
		if e := one(t, d); e.Cause != want {
			t.Errorf("by %s: %q, want %q", source, e.Cause, want)
		}
	}
}

func TestASumOfTwoAssetsIsMixed(t *testing.T) {
	usd := books.StatusSum{Count: 1, Sum: decimal.NewFromInt(5), Asset: "USD"}
	eur := books.StatusSum{Count: 2, Sum: decimal.NewFromInt(7), Asset: "EUR"}
	for _, c := range []struct {
		sum     books.StatusSum
		count   int
		isMixed bool
	}{{usd.Plus(usd), 2, false}, {usd.Plus(eur), 3, true}, {usd.Plus(books.StatusSum{}), 1, false}, {usd.Plus(eur).Plus(usd), 4, true}, {books.StatusSum{}.Plus(eur), 2, false}} {
		if c.sum.Count != c.count || c.sum.IsMixed != c.isMixed {
			t.Errorf("%+v, want %d transfers, mixed %t", c.sum, c.count, c.isMixed)
		}
	}
}

// TestAStatusReportAddsUpWhatWasAskedFor has a record that a person accepted although it is another movement: the books
// have it, and what answers the request has the request.
func TestAStatusReportAddsUpWhatWasAskedFor(t *testing.T) {
	d := made(state.Recorded, side("DEBIT", "99.00", "0", "99.00", "petty", "CHF"))
	d.Outcome.Source = state.SourcePerson
	found, err := books.Read(t.Context(), archive{details: map[string]state.Detail{"x": d}}, books.Filter{}, books.ByPayment)
	if err != nil {
		t.Fatal(err)
	}
	if all := found.Summary.Groups[0].All(); all.Asset != "USD" || all.Sum.String() != "10" {
		t.Errorf("the sum is %s %s", all.Sum, all.Asset)
	}
	e := one(t, d)
	if recorded := e.Recorded(); recorded.From != "petty" || recorded.Asset != "CHF" || recorded.Amount.String() != "99" {
		t.Errorf("recorded is %+v", recorded)
	}
	if asked := e.Instructed(); asked.From != "a" || asked.To != "b" || asked.Asset != "USD" || asked.Amount.String() != "10" {
		t.Errorf("instructed is %+v", asked)
	}
	d.Intent.Body = ""
	if e = one(t, d); e.Instructed() != e.Recorded() {
		t.Errorf("without a request, instructed is %+v", e.Instructed())
	}
}
