package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/internal/accounts/books"
	"remit/internal/accounts/report"
	"remit/internal/clock/zone"
	"remit/internal/transfer"
	"remit/state"
)

// archive is a state of some transfers.
type archive []state.Detail

func (archive) Meta() state.Meta { return state.Meta{} }

func (a archive) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for _, d := range a {
			if !yield(d.Transfer, nil) {
				return
			}
		}
	}
}

func (a archive) Details(_ context.Context, refIDs ...string) ([]state.Detail, error) {
	var found []state.Detail
	for _, d := range a {
		for _, refID := range refIDs {
			if d.RefID == refID {
				found = append(found, d)
			}
		}
	}
	return found, nil
}

// Events has the outcome of each, that of a forgotten one as it was before.
func (a archive) Events(_ context.Context, _ int64, refID string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, d := range a {
			if d.RefID != refID {
				continue
			}
			o := *d.Outcome
			if o.Status == state.Tombstone {
				o.Status = state.Recorded
			}
			data, err := json.Marshal(o)
			if !yield(state.Event{Kind: state.KindOutcome, RefID: refID, Data: data}, err) {
				return
			}
		}
	}
}

func (archive) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(func(state.Run, error) bool) {}
}

// november is that of Berlin, in which days are not those of UTC.
func november(t interface{ Fatal(args ...any) }) report.Period {
	berlin, err := zone.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return report.Period{
		From: time.Date(2026, 11, 1, 0, 0, 0, 0, berlin), Until: time.Date(2026, 12, 1, 0, 0, 0, 0, berlin), Zone: berlin,
	}
}

// draw makes a transfer of any standing, around the period. The records of a wild one say what
// none should.
func draw(t *rapid.T, n int, isWild bool) state.Detail {
	refID := fmt.Sprintf("t-%03d", n)
	amount := transfer.MustAmount(fmt.Sprintf("%d.%02d", rapid.IntRange(1, 99999).Draw(t, "whole"), rapid.IntRange(0, 99).Draw(t, "cents")))
	at := time.Date(2026, 10, 31, 22, 30, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(-60, 60*24*31).Draw(t, "minute")) * time.Minute)
	d := state.Detail{Transfer: state.Transfer{
		RefID: refID, Asset: rapid.SampledFrom([]string{"USD", "EUR"}).Draw(t, "asset"), Amount: amount, IntendedAt: at, AttemptedAt: at, SettledAt: at,
	}}
	r := transfer.Request{
		Operation: transfer.Internal, RefID: refID, FromProfileID: "from", Asset: d.Asset, Amount: amount,
		ToProfileID: fmt.Sprintf("to-%d", rapid.IntRange(0, 40).Draw(t, "to")),
	}
	if !isWild || rapid.IntRange(0, 3).Draw(t, "declared") > 0 {
		d.Intent = state.Intent{RefID: refID, Operation: r.Operation, Body: string(r.Body()), Batch: fmt.Sprintf("b-%d", rapid.IntRange(0, 30).Draw(t, "batch"))}
	} else {
		d.IntendedAt = time.Time{}
	}
	d.Status = rapid.SampledFrom(state.Statuses()).Draw(t, "status")
	d.Outcome = &state.Outcome{RefID: refID, Status: d.Status}
	if !d.Status.Made() && (d.Status != state.Tombstone || !rapid.Bool().Draw(t, "forgotten")) {
		return d
	}
	d.RecordID = refID
	d.RecordStatus = rapid.SampledFrom([]transfer.RecordStatus{transfer.Completed, transfer.Pending, transfer.Failed, "HELD"}).Draw(t, "own")
	made := at.Add(time.Duration(rapid.IntRange(-600, 600).Draw(t, "later")) * time.Second)
	record := func(direction transfer.Direction, profile string) json.RawMessage {
		fees, amounts, assets := []string{"0", "0.01"}, []string{amount.String()}, []string{d.Asset}
		if isWild {
			fees = append(fees, "-0.02", "0.000000000000000001", "12345678901234567890.5", "1e999999999", "none")
			amounts = append(amounts, "0", "-3.5", "12345678901234567890123456", "1E6")
			assets = append(assets, "USD", "EUR")
		}
		text := func(name string, from []string) string { return rapid.SampledFrom(from).Draw(t, name) }
		return fmt.Appendf(nil, `{"id":"%s-%s","customer_id":"c","profile_id":%q,"amount":%q,"total":%q,"fee":%q,"asset":%q,"direction":%q,"group_id":"g-%[1]s",`+
			`"type":"INTERNAL_TRANSFER_%[2]s","status":%[9]q,"created_at":%[10]q,"updated_at":%[10]q}`, refID, direction, profile, text("amount", amounts), text("total", amounts),
			text("fee", fees), text("asset", assets), direction, d.RecordStatus, made.Format(time.RFC3339Nano))
	}
	d.Outcome.Records = []json.RawMessage{record(transfer.Debit, "from")}
	switch rapid.IntRange(0, 2).Draw(t, "sides") {
	case 1:
		d.Outcome.Records = append(d.Outcome.Records, record(transfer.Credit, r.ToProfileID))
	case 2:
		if isWild {
			d.Outcome.Records = append(d.Outcome.Records, record(transfer.Credit, "accepted"))
		}
	}
	return d
}

// TestTheReportIsWhatTheBooksHave holds the sums and fees of the report against those of an
// export of the same period, whatever the records say.
func TestTheReportIsWhatTheBooksHave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := november(t)
		var all archive
		for n := range rapid.IntRange(0, 60).Draw(t, "transfers") {
			all = append(all, draw(t, n, true))
		}
		r, err := report.Gather(t.Context(), all, period)
		if err != nil {
			t.Fatal(err)
		}
		exported, err := books.Read(t.Context(), all, books.Filter{From: period.From, Until: period.Until}, books.ByTime)
		if err != nil {
			t.Fatal(err)
		}
		want, got := make(map[string]string), make(map[string]string)
		for name, totals := range map[string]*transfer.Totals{"booked": &exported.Booked, "fees": &exported.Fees} {
			for total := range totals.All() {
				want[name+" "+total.Asset] = fmt.Sprint(total.Count, " ", transfer.Digits(total.Sum))
			}
		}
		for i := range r.Assets {
			a := &r.Assets[i]
			var booked, fees transfer.Totals
			for _, s := range []report.Standing{report.Paid, report.Pending, report.Unknown, report.Unverified} {
				booked.AddTotal(transfer.Total{Asset: a.Code, Count: a.OfStanding(s).Count, Sum: a.OfStanding(s).Sum})
				fees.AddTotal(transfer.Total{Asset: a.Code, Count: a.Fees[s].Count, Sum: a.Fees[s].Sum})
			}
			for name, totals := range map[string]*transfer.Totals{"booked": &booked, "fees": &fees} {
				if totals.Count() > 0 {
					got[name+" "+a.Code] = fmt.Sprint(totals.Count(), " ", transfer.Digits(totals.Sum(a.Code)))
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-export +report:\n%s", diff)
		}
		open := 0
		for cause, totals := range exported.Causes {
			if cause.NeedsPerson() {
				open += totals.Count()
			}
		}
		if got := r.NeedsPerson() - r.Older[report.Unverified] - r.Older[report.Unknown]; got != open {
			t.Fatalf("%d need a person, %d of the export", got, open)
		}
	})
}

// TestEveryTransferIsCountedOnce adds the transfers up by hand, and holds every table against
// that.
func TestEveryTransferIsCountedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := november(t)
		var all archive
		for n := range rapid.IntRange(0, 60).Draw(t, "transfers") {
			all = append(all, draw(t, n, false))
		}
		r, err := report.Gather(t.Context(), all, period)
		if err != nil {
			t.Fatal(err)
		}
		counted, paid, fees := make(map[string]int), make(map[string]decimal.Decimal), make(map[string]decimal.Decimal)
		for i := range all {
			d := &all[i]
			at := d.IntendedAt
			if d.RecordID != "" {
				record, err := transfer.ParseRecord(d.Outcome.Records[0])
				if err != nil {
					t.Fatal(err)
				}
				at = record.CreatedAt
			}
			if d.Status == state.Unsent || at.Before(period.From) || !at.Before(period.Until) {
				continue
			}
			counted[d.Asset]++
			isMade := d.Status == state.Recorded || d.Status == state.Adopted || d.Status == state.Tombstone
			if isMade && d.RecordStatus == transfer.Completed {
				paid[d.Asset] = paid[d.Asset].Add(d.Amount.Decimal())
				for _, raw := range d.Outcome.Records { // of both sides
					record, err := transfer.ParseRecord(raw)
					if err != nil {
						t.Fatal(err)
					}
					fees[d.Asset] = fees[d.Asset].Add(decimal.RequireFromString(record.Fee))
				}
			}
		}
		if len(r.Assets) != len(counted) {
			t.Fatalf("%d assets, want %d", len(r.Assets), len(counted))
		}
		for i := range r.Assets {
			check(t, &r.Assets[i], counted, paid, fees)
		}
	})
}

func check(t *rapid.T, a *report.Asset, counted map[string]int, paid, fees map[string]decimal.Decimal) {
	count := 0
	for _, s := range report.Standings() {
		count += a.OfStanding(s).Count
	}
	if count != counted[a.Code] {
		t.Fatalf("%s: %d transfers, want %d", a.Code, count, counted[a.Code])
	}
	want := a.OfStanding(report.Paid)
	if !want.Sum.Equal(paid[a.Code]) {
		t.Fatalf("%s: paid %s, want %s", a.Code, want.Sum, paid[a.Code])
	}
	if !a.Fees[report.Paid].Sum.Equal(fees[a.Code]) {
		t.Fatalf("%s: fees %s, want %s", a.Code, a.Fees[report.Paid].Sum, fees[a.Code])
	}
	same := func(what string, sums iter.Seq[report.Sum]) {
		var got report.Sum
		for s := range sums {
			got.Count += s.Count
			got.Sum = got.Sum.Add(s.Sum)
		}
		if got.Count != want.Count || !got.Sum.Equal(want.Sum) {
			t.Fatalf("%s: %s add up to %d and %s, want %d and %s", a.Code, what, got.Count, got.Sum, want.Count, want.Sum)
		}
	}
	same("days", func(yield func(report.Sum) bool) {
		for _, s := range a.Buckets {
			if !yield(s) {
				return
			}
		}
	})
	for what, rows := range map[string][]report.Subtotal{"batches": a.Batches, "destinations": a.Destinations} {
		if len(rows) > report.TopMax+1 {
			t.Fatalf("%d %s", len(rows), what)
		}
		same(what, func(yield func(report.Sum) bool) {
			for _, row := range rows {
				if !yield(row.Sum) {
					return
				}
			}
		})
		same("days of "+what, func(yield func(report.Sum) bool) {
			for _, row := range rows {
				for _, s := range row.Buckets {
					if !yield(s) {
						return
					}
				}
			}
		})
	}
}

func TestBuckets(t *testing.T) {
	p := november(t)
	days, areMonths := p.Buckets()
	if len(days) != 30 || areMonths || !days[29].Equal(p.Until.AddDate(0, 0, -1)) {
		t.Errorf("%d days, months %t", len(days), areMonths)
	}
	p.From = time.Date(2026, 3, 29, 0, 0, 0, 0, p.Zone) // the day of 23 hours
	months, areMonths := p.Buckets()
	if len(months) != 9 || !areMonths || !months[1].Equal(time.Date(2026, 4, 1, 0, 0, 0, 0, p.Zone)) {
		t.Errorf("%v, months %t", months, areMonths)
	}
}

// TestADayThatHasNoMidnightIsADay has the month in which the clocks of Santiago skip the first hour of a day.
func TestADayThatHasNoMidnightIsADay(t *testing.T) {
	in, err := zone.Load("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	p := report.Period{From: zone.Midnight(2026, 9, 1, in), Until: zone.Midnight(2026, 9, 10, in), Zone: in}
	days, _ := p.Buckets()
	for i, at := range days {
		if at.Day() != i+1 {
			t.Errorf("day %d begins at %s", i+1, at)
		}
	}
	if len(days) != 9 {
		t.Errorf("%d days", len(days))
	}
}

// paid is a transfer of 10.00 USD that was made at a time.
func paid(refID, to string, at time.Time, edit func(*state.Detail)) state.Detail {
	amount := transfer.MustAmount("10.00")
	r := transfer.Request{Operation: transfer.Internal, RefID: refID, FromProfileID: "from", ToProfileID: to, Asset: "USD", Amount: amount}
	d := state.Detail{
		Transfer: state.Transfer{
			RefID: refID, Status: state.Recorded, Asset: "USD", Amount: amount, IntendedAt: at, AttemptedAt: at, SettledAt: at,
			RecordID: refID, GroupID: "g-" + refID, RecordStatus: transfer.Completed,
		},
		Intent: state.Intent{RefID: refID, Operation: r.Operation, Body: string(r.Body()), Batch: "b"},
		Outcome: &state.Outcome{RefID: refID, Status: state.Recorded, Records: []json.RawMessage{fmt.Appendf(nil,
			`{"id":%q,"customer_id":"c","profile_id":"from","amount":"10.00","total":"10.00","fee":"0","asset":"USD","direction":"DEBIT","group_id":"g-%s",`+
				`"type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","created_at":%q,"updated_at":%[3]q}`, refID, refID, at.Format(time.RFC3339Nano))}},
	}
	if edit != nil {
		edit(&d)
	}
	return d
}

func gather(t *testing.T, a report.Archive) *report.Report {
	t.Helper()
	r, err := report.Gather(t.Context(), a, november(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAPaymentIsOfTheDayThatHasIt pays at the first and the last instants of days in Berlin.
func TestAPaymentIsOfTheDayThatHasIt(t *testing.T) {
	p := november(t)
	second := p.From.AddDate(0, 0, 1)
	r := gather(t, archive{
		paid("first", "to", p.From, nil),
		paid("last of the first day", "to", second.Add(-time.Nanosecond), nil),
		paid("second", "to", second, nil),
		paid("last", "to", p.Until.Add(-time.Nanosecond), nil),
		paid("before", "to", p.From.Add(-time.Nanosecond), nil),
		paid("after", "to", p.Until, nil),
	})
	got := make(map[int]int)
	for day, s := range r.Assets[0].Buckets {
		if s.Count > 0 {
			got[day] = s.Count
		}
	}
	if diff := cmp.Diff(map[int]int{0: 2, 1: 1, 29: 1}, got); diff != "" {
		t.Errorf("payments by day (-want +got):\n%s", diff)
	}
}

func TestReversalsAreCounted(t *testing.T) {
	p := november(t)
	r := gather(t, archive{
		paid("x", "to", p.From, nil),
		paid("x-back", "to", p.From, func(d *state.Detail) { d.Intent.Reverses = "x" }),
	})
	if r.Reversals.Count() != 1 || r.Reversals.Sum("USD").String() != "10" {
		t.Errorf("%d reversals of %s", r.Reversals.Count(), r.Reversals.Sum("USD"))
	}
}

// TestTheRestIsWhatIsNotNamed pays more destinations than are named.
func TestTheRestIsWhatIsNotNamed(t *testing.T) {
	const more = 5
	p := november(t)
	var all archive
	for i := range report.TopMax + more {
		all = append(all, paid(fmt.Sprintf("t-%02d", i), fmt.Sprintf("to-%02d", i), p.From.AddDate(0, 0, i%30), nil))
	}
	rows := gather(t, all).Assets[0].Destinations
	rest := rows[len(rows)-1]
	if len(rows) != report.TopMax+1 || rest.Others != more || rest.Count != more || rest.Sum.Sum.String() != "50" {
		t.Errorf("%d rows; the rest is %+v", len(rows), rest)
	}
}

// applied is a state with runs.
type applied struct {
	archive
	runs []state.Run
}

func (a applied) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(yield func(state.Run, error) bool) {
		for _, run := range a.runs {
			if !yield(run, nil) {
				return
			}
		}
	}
}

// TestRunsThatPaidWithoutApprovalAreCounted has one for each way to have none, or to have paid nothing.
func TestRunsThatPaidWithoutApprovalAreCounted(t *testing.T) {
	p := november(t)
	approval := []state.Approval{{Role: state.RoleApprover, Principal: "bob"}}
	author := []state.Approval{{Role: state.RoleAuthor, Principal: "ada"}}
	ended := func(outcomes map[string]int) *state.Ended { return &state.Ended{Outcomes: outcomes} }
	for name, c := range map[string]struct {
		approvals []state.Approval
		ended     *state.Ended
		at        time.Time
		want      int
	}{
		"one payment":                     {nil, ended(map[string]int{"recorded": 1}), p.From, 1},
		"one that was adopted":            {nil, ended(map[string]int{"adopted": 1}), p.From, 1},
		"signed by its author alone":      {author, ended(map[string]int{"recorded": 1}), p.From, 1},
		"approved":                        {approval, ended(map[string]int{"recorded": 7}), p.From, 0},
		"nothing was made":                {nil, ended(map[string]int{"refused": 7}), p.From, 0},
		"it has not ended":                {nil, nil, p.From, 0},
		"one payment in the month before": {nil, ended(map[string]int{"recorded": 1}), p.From.Add(-time.Second), 0},
		"one payment at the month's end":  {nil, ended(map[string]int{"recorded": 1}), p.Until.Add(-time.Second), 1},
	} {
		run := state.Run{Begun: state.Begun{RunID: "r", Approvals: c.approvals}, BegunAt: c.at, Ended: c.ended}
		if got := gather(t, applied{runs: []state.Run{run}}).Unapproved; got != c.want {
			t.Errorf("%s: %d runs, want %d", name, got, c.want)
		}
	}
}
