package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"remit/internal/accounts/report"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// ledger is a state of made-up transfers that a report reads.
type ledger struct {
	details []state.Detail
	runs    []state.Run
	names   map[string]string
}

func (*ledger) Meta() state.Meta {
	return state.Meta{
		Environment: "production", Service: state.Identity{BaseURL: "https://api.example.com"},
		Lineage: "c0ffee00-0000-4000-8000-000000000001", Serial: 1480, Head: strings.Repeat("5e", 32),
	}
}

func (l *ledger) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for i := range l.details {
			if !yield(l.details[i].Transfer, nil) {
				return
			}
		}
	}
}

func (l *ledger) Details(_ context.Context, refIDs ...string) ([]state.Detail, error) {
	var found []state.Detail
	wanted := make(map[string]bool, len(refIDs))
	for _, refID := range refIDs {
		wanted[refID] = true
	}
	for i := range l.details {
		if wanted[l.details[i].RefID] {
			found = append(found, l.details[i])
		}
	}
	return found, nil
}

func (*ledger) Events(context.Context, int64, string) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

func (l *ledger) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(yield func(state.Run, error) bool) {
		for _, run := range l.runs {
			if !yield(run, nil) {
				return
			}
		}
	}
}

// add adds a transfer that is recorded and COMPLETED.
func (l *ledger) add(refID, batch, to, amount, asset string, at time.Time) *state.Detail {
	r := transfer.Request{
		Operation: transfer.Internal, RefID: refID, FromProfileID: "treasury", ToProfileID: to,
		Amount: transfer.MustAmount(amount), Asset: asset,
	}
	record := func(direction transfer.Direction, profile string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"id":"%s-%s","customer_id":"c","profile_id":%q,"amount":%q,"total":%q,"fee":"0.10","asset":%q,"direction":%q,`+
			`"type":"INTERNAL_TRANSFER_%s","status":"COMPLETED","created_at":%q,"updated_at":%q,"ref_id":%q,"group_id":"g-%s"}`,
			refID, direction, profile, amount, amount, asset, direction, direction, at.Format(time.RFC3339), at.Format(time.RFC3339), refID, refID))
	}
	l.details = append(l.details, state.Detail{
		Transfer: state.Transfer{
			RefID: refID, Status: state.Recorded, Asset: asset, Amount: r.Amount, RecordID: refID + "-DEBIT", GroupID: "g-" + refID,
			RecordStatus: transfer.Completed, IntendedAt: at, AttemptedAt: at, SettledAt: at,
		},
		Intent: state.Intent{RefID: refID, Operation: transfer.Internal, Path: "/v2/transfer/internal", Body: string(r.Body()), Batch: batch},
		Outcome: &state.Outcome{
			RefID: refID, Status: state.Recorded, Source: state.SourceAnswer,
			Records: []json.RawMessage{record(transfer.Debit, "treasury"), record(transfer.Credit, to)},
		},
	})
	return &l.details[len(l.details)-1]
}

// except makes the last transfer an exception.
func (l *ledger) except(status state.Status, own transfer.RecordStatus, reason string) {
	d := &l.details[len(l.details)-1]
	d.Status, d.RecordStatus = status, own
	d.Outcome.Status, d.Outcome.Reason = status, reason
	if own == "" {
		d.RecordID, d.GroupID, d.Outcome.Records = "", "", nil
	}
}

func (l *ledger) run(n int, at time.Time, outcomes map[string]int, approvers ...string) {
	run := state.Run{
		Begun: state.Begun{
			RunID: fmt.Sprintf("%08d-52a4-4d3c-9f0a-8b7e6d5c4b3a", n), Digest: strings.Repeat("ab", 32), Author: "ben@example.com",
			By: state.Holder{User: "ana", Host: "ledger-1", Command: "remit apply november.plan"},
		},
		BegunAt: at, EndedAt: at.Add(time.Minute), Ended: &state.Ended{Outcomes: outcomes, Complete: true},
	}
	for _, name := range approvers {
		run.Begun.Approvals = append(run.Begun.Approvals, state.Approval{Role: state.RoleApprover, Principal: name})
	}
	l.runs = append([]state.Run{run}, l.runs...)
}

var november = report.Period{
	From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Zone: time.UTC,
}

// monthLedger is a month of a company: payroll, rent and suppliers in three assets, and something
// of every exception.
func monthLedger() *ledger {
	l := &ledger{names: map[string]string{"fd51a06f-2f0e-5ec4-93b6-0b7a4f2bc818": "landlord", "1f6c2d94-70b3-5d5e-8a11-3c9ae47f20b6": "hosting"}}
	r := rand.New(rand.NewPCG(11, 26))
	day := func(d, hour int) time.Time { return time.Date(2026, 11, d, hour, 12, 0, 0, time.UTC) }
	for n := range 118 {
		l.add(fmt.Sprintf("payroll-2026-11-E-%03d", n), "payroll", fmt.Sprintf("836d7080-6c9e-5a0d-8f3b-6a1f5d21%04d", n), fmt.Sprintf("%d.%02d", 2800+r.IntN(2400), r.IntN(100)), "USD", day(27, 14))
	}
	l.add("rent-2026-11", "fixed", "fd51a06f-2f0e-5ec4-93b6-0b7a4f2bc818", "8450.00", "USD", day(2, 9))
	l.add("hosting-2026-11", "fixed", "1f6c2d94-70b3-5d5e-8a11-3c9ae47f20b6", "1302.15", "USD", day(3, 9))
	for n := range 46 {
		asset := []string{"USD", "EUR"}[r.IntN(2)]
		l.add(fmt.Sprintf("invoice-%04d", 7700+n), "suppliers", fmt.Sprintf("2b9d6e10-45fa-5c07-9e8d-d1086c7f3a%02d", r.IntN(30)), fmt.Sprintf("%d.%02d", 80+r.IntN(9000), r.IntN(100)), asset, day(2+r.IntN(27), 8+r.IntN(9)))
	}
	l.add("treasury-btc-1", "", "cold-wallet", "0.75000000", "BTC", day(12, 10))
	l.add("treasury-btc-2", "", "cold-wallet", "0.012", "BTC", day(19, 10))
	l.add("invoice-8800", "suppliers", "2b9d6e10-45fa-5c07-9e8d-d1086c7f3a52", "3120.50", "USD", day(24, 16))
	l.except(state.InDoubt, "", "the request timed out after 30s")
	l.add("invoice-8801", "suppliers", "2b9d6e10-45fa-5c07-9e8d-d1086c7f3a53", "318.75", "EUR", day(24, 16))
	l.except(state.Refused, "", "insufficient funds (422)")
	l.add("invoice-8802", "suppliers", "2b9d6e10-45fa-5c07-9e8d-d1086c7f3a54", "99.00", "USD", day(25, 9))
	l.except(state.Conflict, "", "answered amount 990.00, asked 99.00")
	l.add("invoice-8803", "suppliers", "2b9d6e10-45fa-5c07-9e8d-d1086c7f3a55", "1200.00", "EUR", day(25, 9))
	l.except(state.Recorded, transfer.Failed, "the service's own status is FAILED")
	l.add("invoice-8804", "suppliers", "2b9d6e10-45fa-5c07-9e8d-d1086c7f3a56", "47.30", "USD", day(30, 23))
	l.except(state.Recorded, transfer.Pending, "")
	l.add("old-lease-2025", "", "fd51a06f-2f0e-5ec4-93b6-0b7a4f2bc818", "8200.00", "USD", day(5, 9))
	l.except(state.Unverified, transfer.Completed, "this state did not make the record, and nothing proves whom it paid")
	l.add("insurance-q4", "fixed", "6d18f3a4-0c75-5be9-b2a7-28e4907bd15f", "3120.50", "USD", day(20, 9)).Intent.Due = day(16, 9)
	l.add("october", "fixed", "x", "5.00", "USD", time.Date(2026, 10, 30, 9, 0, 0, 0, time.UTC))
	l.except(state.InDoubt, "", "")
	l.run(1, day(2, 9), map[string]int{"recorded": 2})
	l.run(2, day(12, 10), map[string]int{"recorded": 1}, "chi@example.com")
	l.run(3, day(27, 14), map[string]int{"recorded": 118}, "chi@example.com", "dora@example.com")
	l.run(4, day(24, 16), map[string]int{"recorded": 20, "in_doubt": 1, "refused": 1}, "chi@example.com")
	return l
}

// reportHTML is the page of a period.
func reportHTML(t testing.TB, l *ledger, period report.Period) string {
	t.Helper()
	r, err := report.Gather(t.Context(), l, period)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := view.ReportHTML(&b, r, view.ReportOptions{Made: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC), Names: l.names}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// manyLedger is as many transfers as said, over so many assets and destinations.
func manyLedger(transfers, assets, destinations int) *ledger {
	l := new(ledger)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range transfers {
		at := november.From.Add(time.Duration(r.IntN(30*24*60)) * time.Minute)
		l.add(fmt.Sprintf("t-%06d", n), fmt.Sprintf("batch-%02d", n%40), fmt.Sprintf("profile-%04d", r.IntN(destinations)),
			fmt.Sprintf("%d.%02d", 1+r.IntN(9000), r.IntN(100)), fmt.Sprintf("AS%d", n%assets), at)
	}
	return l
}

// emptyLedger has one transfer, of another month.
func emptyLedger() *ledger {
	l := new(ledger)
	l.add("december", "", "x", "1", "USD", november.Until)
	return l
}

// oneLedger has one transfer, in the first second of the month.
func oneLedger() *ledger {
	l := new(ledger)
	l.add("rent", "", "landlord", "8200", "USD", november.From)
	return l
}

func TestReportHTML(t *testing.T) {
	for name, test := range map[string]struct {
		ledger *ledger
		want   []string
		never  []string
	}{
		"a month": {monthLedger(), []string{
			"<h1>Payments of November 2026</h1>", "169 transfers paid. 4 transfers need action: 1 unverified, 2 in doubt, 1 in conflict.",
			"111,176.20", "116 others", "chi@example.com, dora@example.com", "due 2026-11-16 09:12",
			"From before the period, and open still: 1 in doubt.", "<b>landlord</b>", "hash total",
		}, []string{"<script src", "<a ", "http://", "style="}},
		"an empty month": {emptyLedger(), []string{
			"Nothing was paid. Nothing is in doubt", "The state has no transfer of this period.", "No run began in the period.",
			"No exceptions.", "There is nothing to reconcile.",
		}, []string{"<svg"}},
		"one transfer": {oneLedger(), []string{
			"1 transfer paid. Nothing is in doubt", "Sun 2026-11-01", "8,200.00", "100.0%",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			page := reportHTML(t, test.ledger, november)
			if !strings.HasPrefix(page, view.ReportStart) {
				t.Errorf("it begins %.80q", page)
			}
			for _, want := range test.want {
				if !strings.Contains(page, want) {
					t.Errorf("it lacks %q", want)
				}
			}
			for _, never := range test.never {
				if strings.Contains(page, never) {
					t.Errorf("it has %q", never)
				}
			}
		})
	}
}

// TestReportHTMLOfNegativeAmounts draws what a person accepted with a sign: no mark has a negative
// length, which would be none.
func TestReportHTMLOfNegativeAmounts(t *testing.T) {
	l := new(ledger)
	l.add("much", "a", "x", "10.00", "USD", november.From)
	d := l.add("back", "b", "y", "4.00", "USD", november.From.AddDate(0, 0, 1))
	for i, raw := range d.Outcome.Records {
		d.Outcome.Records[i] = bytes.ReplaceAll(raw, []byte(`"4.00"`), []byte(`"-4.00"`))
	}
	page := reportHTML(t, l, november)
	if wrong := regexp.MustCompile(`(width|height)="-[^>]*>`).FindString(page); wrong != "" {
		t.Errorf("it draws %s", wrong)
	}
	for _, want := range []string{"USD 6.00", "-4.00", "-66.7%"} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %q", want)
		}
	}
}

func TestReportHTMLOfHostileText(t *testing.T) {
	l := new(ledger)
	hostile := `</td><script>alert(1)</script>"'&` + "\u202e"
	d := l.add("plain", hostile, "x", "1", "USD", november.From)
	d.Intent.Batch = hostile
	l.add("doubt", hostile, "x", "1", "USD", november.From)
	l.except(state.InDoubt, "", hostile)
	l.run(1, november.From, map[string]int{"recorded": 1}, hostile)
	page := reportHTML(t, l, november)
	if strings.Count(page, "<script") != 1 || strings.Contains(page, "\u202e") {
		t.Error("hostile text came through")
	}
}
