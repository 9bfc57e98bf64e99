package view_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
)

// TestAPlanIsNotShownAsApprovedWithoutItsAuthor has as many approvers as the rule says, and nobody who signed as the author: one more is needed.
func TestAPlanIsNotShownAsApprovedWithoutItsAuthor(t *testing.T) {
	for _, c := range []struct {
		author string
		others []string
		want   string
	}{
		{"", []string{"bob", "carol"}, "Not approved yet: 2 of 3 approvers"},
		{"", []string{"bob", "carol", "dan"}, "Approved by 3 of 3 approvers"},
		{"ada", []string{"bob"}, "Not approved yet: 1 of 2 approvers"},
		{"ada", []string{"bob", "carol"}, "Approved by 2 of 2 approvers"},
	} {
		a := signed(c.author, c.others...)
		if got := a.Ask(); !strings.HasPrefix(got, c.want) {
			t.Errorf("author %q, %d others: %s", c.author, len(c.others), got)
		}
	}
}

// TestTheNetMovementOfAProfileHasWhatItGetsInAnySpelling pays a UUID in two spellings.
func TestTheNetMovementOfAProfileHasWhatItGetsInAnySpelling(t *testing.T) {
	const plain, spelled = "37867177f88c45ccb9b5d786e7079609", "37867177-f88c-45cc-b9b5-d786e7079609"
	var f fixture
	for _, m := range [][3]string{{"a", plain, spelled + "x"}, {"b", "other", spelled}, {"c", "other", plain}} {
		f.Changes = append(f.Changes, planner.Change{
			Action: planner.Submit, RefID: m[0], Place: "main.hcl:1", Address: "transfer.internal." + m[0],
			Request: transfer.Request{Operation: transfer.Internal, RefID: m[0], Asset: "USD", Amount: transfer.MustAmount("20.00"), FromProfileID: m[1], ToProfileID: m[2]},
		})
	}
	var out bytes.Buffer
	if err := view.NewJSON(&out, "").Plan(f.plan(), view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := `"profile_id":"` + plain + `","asset":"USD","out":"20.00","in":"40.00","net":"20.00"`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
}

// TestAStatusReportIsOfWhatWasAskedFor has a record that a person accepted of another debtor and creditor, and groups of two assets and statuses.
func TestAStatusReportIsOfWhatWasAskedFor(t *testing.T) {
	e := booksEntry(1, "rent", "USD", "10.00")
	e.Asked = books.Movement{From: "asked-from", To: "asked-to", Asset: "USD", Amount: decimal.RequireFromString("10.00")}
	e.From, e.To = "got-from", "got-to"
	usd := books.StatusSum{Count: 1, Sum: decimal.NewFromInt(10), Asset: "USD"}
	eur := books.StatusSum{Count: 1, Sum: decimal.NewFromInt(7), Asset: "EUR"}
	groups := []books.Group{{ID: e.PaymentID(), Statuses: map[books.PaymentStatus]books.StatusSum{books.SettledDebtor: usd, books.Rejected: eur}}}
	var out bytes.Buffer
	if err := view.BooksPain002(&out, &books.Summary{Groups: groups}, booksSeq([]*books.Entry{e}), booksOptions()); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), "")
	for want, count := range map[string]int{
		"<Dbtr><Pty><Nm>asked-from</Nm>": 1, "<Cdtr><Pty><Nm>asked-to</Nm>": 1, "recordeddebtorgot-from": 1, "recordedcreditorgot-to": 1,
		"<GrpSts>PART</GrpSts>": 1, "<PmtInfSts>PART</PmtInfSts>": 1, "<OrgnlCtrlSum>": 0, "<DtldCtrlSum>": 4,
	} {
		if got := strings.Count(text, want); got != count {
			t.Errorf("%d times %s, want %d\n%s", got, want, count, out.String())
		}
	}
}
