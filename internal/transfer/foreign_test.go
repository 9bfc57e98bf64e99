package transfer_test

import (
	"testing"

	"remit/internal/transfer"
)

// TestForeignRecordsAreThoseOfOtherMoney holds records under the ref_id of a platform transfer of 8200.00 BTC from fp to tp.
func TestForeignRecordsAreThoseOfOtherMoney(t *testing.T) {
	tests := map[string]struct {
		of     func() transfer.Record
		change func(*transfer.Record)
		want   bool
	}{
		"the debit side":                        {debitOf, func(*transfer.Record) {}, false},
		"the credit side":                       {creditOf, func(*transfer.Record) {}, false},
		"a deposit":                             {creditOf, func(r *transfer.Record) { r.Type = "WIRE_DEPOSIT" }, true},
		"a deposit in small letters":            {creditOf, func(r *transfer.Record) { r.Type = "wire_deposit" }, true},
		"a withdrawal":                          {debitOf, func(r *transfer.Record) { r.Type = "WIRE_WITHDRAWAL" }, true},
		"a type that no document lists":         {debitOf, func(r *transfer.Record) { r.Type = "ACME_TRANSFER_DEBIT" }, false},
		"a debit of the other operation":        {debitOf, func(r *transfer.Record) { r.Type = "INTERNAL_TRANSFER_DEBIT" }, false},
		"a credit to the sender":                {creditOf, func(r *transfer.Record) { r.ProfileID, r.Amount = "fp", "0.01" }, true},
		"what came back to the sender":          {creditOf, func(r *transfer.Record) { r.ProfileID = "fp" }, false},
		"as much, by another type, to him":      {creditOf, func(r *transfer.Record) { r.ProfileID, r.Type = "fp", "ACME_RETURN" }, false},
		"a debit that says CREDIT":              {debitOf, func(r *transfer.Record) { r.Direction = transfer.Credit }, false},
		"a credit of another amount":            {creditOf, func(r *transfer.Record) { r.Amount = "0.01" }, false},
		"a credit to somebody else":             {creditOf, func(r *transfer.Record) { r.ProfileID = "x" }, false},
		"a credit of the other operation":       {creditOf, func(r *transfer.Record) { r.Type = "INTERNAL_TRANSFER_CREDIT" }, false},
		"another amount to somebody else":       {creditOf, func(r *transfer.Record) { r.ProfileID, r.Amount = "x", "0.01" }, true},
		"another amount by the other operation": {creditOf, func(r *transfer.Record) { r.Type, r.Amount = "INTERNAL_TRANSFER_CREDIT", "0.01" }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rec := test.of()
			test.change(&rec)
			if got := transfer.IsForeign(rent(), &rec, transfer.DefaultOperator); got != test.want {
				t.Errorf("it is foreign: %v", got)
			}
		})
	}
}

// TestForeignMoneyIsNoSecondPayment has a deposit, and a credit to the sender, beside both sides of a transfer.
func TestForeignMoneyIsNoSecondPayment(t *testing.T) {
	deposit, income := creditOf(), creditOf()
	deposit.ID, deposit.Type, deposit.GroupID = "w-1", "WIRE_DEPOSIT", ""
	income.ID, income.ProfileID, income.Amount, income.GroupID = "p-1", "fp", "0.01", "g-2"
	for name, other := range map[string]transfer.Record{"a deposit": deposit, "a transfer to the sender": income} {
		t.Run(name, func(t *testing.T) {
			finding := transfer.Examine(rent(), []transfer.Record{other, debitOf(), creditOf()}, transfer.DefaultOperator)
			if !finding.Agrees() || !finding.DestinationProven || finding.Credit.ID != "t-2" {
				t.Errorf("found %+v", finding.Differences)
			}
			alone := transfer.Examine(rent(), []transfer.Record{other}, transfer.DefaultOperator)
			if alone.Agrees() || len(alone.Differences) != 1 || !alone.Differences[0].IsForeign() {
				t.Errorf("alone: %+v", alone.Differences)
			}
		})
	}
}

// TestWhatCameBackIsNotPassedOver has the service list the whole sum as paid to the sender, beside both sides of the transfer.
func TestWhatCameBackIsNotPassedOver(t *testing.T) {
	back := creditOf()
	back.ID, back.ProfileID, back.GroupID = "p-1", "fp", "g-2"
	if finding := transfer.Examine(rent(), []transfer.Record{debitOf(), creditOf(), back}, transfer.DefaultOperator); finding.Agrees() {
		t.Error("they agree")
	}
}

// TestACreditToTheSenderOfOneGroupIsOfTheTransfer has the group_id link it to the debit side: then the service paid the wrong one.
func TestACreditToTheSenderOfOneGroupIsOfTheTransfer(t *testing.T) {
	credit := creditOf()
	credit.ProfileID = "fp"
	if finding := transfer.Examine(rent(), []transfer.Record{debitOf(), credit}, transfer.DefaultOperator); finding.Agrees() {
		t.Error("they agree")
	}
}
