package books_test

import (
	"encoding/json"
	"strings"
	"testing"

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

// TestWhatIsAddedToAMixedSumIsMixed adds in both orders.
func TestWhatIsAddedToAMixedSumIsMixed(t *testing.T) {
	usd := books.StatusSum{Count: 1, Sum: decimal.NewFromInt(5), Asset: "USD"}
	mixed := usd.Plus(books.StatusSum{Count: 1, Sum: decimal.NewFromInt(7), Asset: "EUR"})
	if !usd.Plus(mixed).IsMixed || !mixed.Plus(usd).IsMixed {
		t.Errorf("%+v, %+v", usd.Plus(mixed), mixed.Plus(usd))
	}
}
