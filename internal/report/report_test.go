package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/internal/report"
	"remit/internal/transfer"
	"remit/internal/zone"
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

// draw makes a transfer of any standing, around the period.
func draw(t *rapid.T, n int) state.Detail {
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
	d.Intent = state.Intent{RefID: refID, Operation: r.Operation, Body: string(r.Body()), Batch: fmt.Sprintf("b-%d", rapid.IntRange(0, 30).Draw(t, "batch"))}
	d.Status = rapid.SampledFrom(state.Statuses()).Draw(t, "status")
	d.Outcome = &state.Outcome{RefID: refID, Status: d.Status}
	if d.Status.Made() || d.Status == state.Tombstone && rapid.Bool().Draw(t, "forgotten") {
		d.RecordID = refID
		d.RecordStatus = rapid.SampledFrom([]transfer.RecordStatus{transfer.Completed, transfer.Pending, transfer.Failed, "HELD"}).Draw(t, "own")
		made := at.Add(time.Duration(rapid.IntRange(-600, 600).Draw(t, "later")) * time.Second)
		d.Outcome.Records = []json.RawMessage{fmt.Appendf(nil, `{"id":%q,"customer_id":"c","profile_id":"from","amount":%q,"total":%[2]q,"fee":"0.01","asset":%q,"direction":"DEBIT",`+
			`"type":"INTERNAL_TRANSFER_DEBIT","status":%q,"created_at":%q,"updated_at":%[5]q}`, refID, amount, d.Asset, d.RecordStatus, made.Format(time.RFC3339Nano))}
	}
	return d
}

// TestEveryTransferIsCountedOnce adds the transfers up by hand, and holds every table against
// that.
func TestEveryTransferIsCountedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := november(t)
		var all archive
		for n := range rapid.IntRange(0, 60).Draw(t, "transfers") {
			all = append(all, draw(t, n))
		}
		r, err := report.Gather(t.Context(), all, period)
		if err != nil {
			t.Fatal(err)
		}
		counted, paid := make(map[string]int), make(map[string]decimal.Decimal)
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
			}
		}
		if len(r.Assets) != len(counted) {
			t.Fatalf("%d assets, want %d", len(r.Assets), len(counted))
		}
		for i := range r.Assets {
			check(t, &r.Assets[i], counted, paid)
		}
	})
}

func check(t *rapid.T, a *report.Asset, counted map[string]int, paid map[string]decimal.Decimal) {
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
	if !a.Fees.Equal(decimal.New(int64(want.Count), -2)) {
		t.Fatalf("%s: fees %s of %d", a.Code, a.Fees, want.Count)
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
	for what, rows := range map[string][]report.Row{"batches": a.Batches, "destinations": a.Destinations} {
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
