package books_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
	"remit/state"
)

// TestTheAccountIsThatOfTheRecord has a credit of another account and identity than was asked for, which a person accepted.
func TestTheAccountIsThatOfTheRecord(t *testing.T) {
	credit := strings.Replace(string(side("CREDIT", "10.00", "0", "10.00", "b", "USD")), "{", `{"account_id":"theirs","identity_id":"them",`, 1)
	d := made(state.Recorded, side("DEBIT", "10.00", "0", "10.00", "a", "USD"), json.RawMessage(credit))
	r := transfer.Request{
		Operation: transfer.Internal, RefID: "x", FromProfileID: "a", ToProfileID: "b", ToAccountID: "asked", ToIdentityID: "who",
		Amount: transfer.MustAmount("10.00"), Asset: "USD",
	}
	d.Intent.Body = string(r.Body())
	if e := one(t, d); e.ToAccountID != "theirs" || e.ToIdentityID != "them" {
		t.Errorf("account %q of %q", e.ToAccountID, e.ToIdentityID)
	}
}

// TestTheCreditorIsPaidWhereItsRecordSaysSo has a debit that is COMPLETED, and each status of its credit.
func TestTheCreditorIsPaidWhereItsRecordSaysSo(t *testing.T) {
	for status, want := range map[string]books.PaymentStatus{"COMPLETED": books.SettledCreditor, "PENDING": books.SettledDebtor, "FAILED": books.SettledDebtor, "HELD": books.SettledDebtor} {
		credit := strings.Replace(string(side("CREDIT", "10.00", "0", "10.00", "b", "USD")), "COMPLETED", status, 1)
		e := one(t, made(state.Recorded, side("DEBIT", "10.00", "0", "10.00", "a", "USD"), json.RawMessage(credit)))
		if got := e.PaymentStatus(); got != want {
			t.Errorf("with a credit that is %s: %s, want %s", status, got, want)
		}
	}
}

// TestACreditThatFailedArrivedNowhere has a debit that is COMPLETED and a credit that FAILED, which a person accepted.
func TestACreditThatFailedArrivedNowhere(t *testing.T) {
	credit := strings.Replace(string(side("CREDIT", "10.00", "0", "10.00", "b", "USD")), "COMPLETED", "FAILED", 1)
	e := one(t, made(state.Recorded, side("DEBIT", "10.00", "0.50", "10.50", "a", "USD"), json.RawMessage(credit)))
	amount := func(text string) decimal.Decimal { return decimal.RequireFromString(text) }
	want := []books.Posting{{Role: books.Sender, Profile: "a", Amount: amount("-10.50")}, {Role: books.Fees, Amount: amount("0.50")}, {Role: books.Difference, Amount: amount("10.00")}}
	if diff := cmp.Diff(want, e.Postings); diff != "" {
		t.Errorf("postings (-want +got):\n%s", diff)
	}
}

// TestWhatIsAddedToAMixedSumIsMixed adds in both orders.
func TestWhatIsAddedToAMixedSumIsMixed(t *testing.T) {
	usd := books.StatusSum{Count: 1, Sum: decimal.NewFromInt(5), Asset: "USD"}
	mixed := usd.Plus(books.StatusSum{Count: 1, Sum: decimal.NewFromInt(7), Asset: "EUR"})
	if !usd.Plus(mixed).IsMixed || !mixed.Plus(usd).IsMixed {
		t.Errorf("%+v, %+v", usd.Plus(mixed), mixed.Plus(usd))
	}
}

// TestAMessageIsNamedWhereItIsTheOnlyOne has transfers that several files asked for: nobody takes one of the files for all of them.
func TestAMessageIsNamedWhereItIsTheOnlyOne(t *testing.T) {
	for _, test := range []struct{ messages, want []string }{
		{[]string{"m-1", "m-1"}, []string{"m-1"}},
		{[]string{"m-1", "m-2"}, []string{"m-1", "m-2"}},
		{[]string{"m-1", ""}, []string{"", "m-1"}},
	} {
		a := archive{details: make(map[string]state.Detail)}
		for i, message := range test.messages {
			d := made(state.InDoubt)
			r := transfer.Request{
				Operation: transfer.Internal, RefID: fmt.Sprint("x-", i), FromProfileID: "a", ToProfileID: "b",
				Amount: transfer.MustAmount("10.00"), Asset: "USD",
			}
			if message != "" {
				r.Metadata = transfer.Metadata{{Key: "message_id", Value: message}}
			}
			d.RefID, d.Intent.Body = r.RefID, string(r.Body())
			a.details[d.RefID] = d
		}
		found, err := books.Read(t.Context(), a, books.Filter{}, books.ByPayment)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, found.MessageIDs); diff != "" {
			t.Error(diff)
		}
	}
}
