package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/state"
)

// Describe names each difference: "answered amount 70.00, asked 80.00".
func Describe(differences []transfer.Difference) string {
	parts := make([]string, 0, len(differences))
	for _, d := range transfer.Told(differences) {
		switch {
		case d.IsSeveral():
			parts = append(parts, fmt.Sprintf("the service has %s under this ref_id: it was paid more than once, unless the service's operator says otherwise", d.Answered))
		case d.IsForeign():
			parts = append(parts, "the ref_id is that of a "+d.Answered)
		case d.IsOfCredit():
			parts = append(parts, fmt.Sprintf("the debit side is %s and the credit side %s", d.Asked, d.Answered))
		case d.IsReusedID():
			parts = append(parts, "the record names this ref_id itself, and its id is "+d.Answered)
		case d.Field == "status":
			parts = append(parts, fmt.Sprintf("its status is %s by one record and %s by another", d.Asked, d.Answered))
		default:
			parts = append(parts, fmt.Sprintf("answered %s %s, asked %s", d.Field, orElse(d.Answered, "nothing"), orElse(d.Asked, "nothing")))
		}
	}
	return strings.Join(parts, "; ")
}

// DescribeShort names each field of a record that is not as it must be: "its group_id is missing, where
// it must be one of its own". Of a debit side that FAILED alone it says how both ended.
func DescribeShort(shortcomings []transfer.Difference) string {
	parts := make([]string, len(shortcomings))
	for i, d := range shortcomings {
		if d.IsOfCredit() && d.Asked == string(transfer.Failed) {
			parts[i] = Describe(shortcomings[i : i+1])
			continue
		}
		parts[i] = fmt.Sprintf("its %s is %s, where it must be %s", d.Field, orElse(d.Answered, "missing"), d.Asked)
	}
	return strings.Join(parts, "; ")
}

// failure returns the service's words about a failed transfer, at most 2 KiB of them.
func failure(record transfer.Record) string {
	const most = 2048
	if n := len(record.StatusDetails); n == 0 || n > most {
		return ""
	}
	return ": " + string(record.StatusDetails)
}

// raws returns the records as they came, the deciding one first.
func raws(records []transfer.Record, deciding *transfer.Record) []json.RawMessage {
	list := make([]json.RawMessage, 0, len(records))
	if deciding != nil {
		list = append(list, deciding.Raw)
	}
	for i := range records {
		if deciding == nil || records[i].ID != deciding.ID {
			list = append(list, records[i].Raw)
		}
	}
	return list
}

// withRecord returns the found records, with the answered one if it is not among them, or has another status there.
func withRecord(found []transfer.Record, answered transfer.Record) []transfer.Record {
	if slices.ContainsFunc(found, func(r transfer.Record) bool { return r.ID == answered.ID && r.Status == answered.Status }) {
		return found
	}
	return append([]transfer.Record{answered}, found...)
}

// amountDifferences compares an amount and an asset with a request; "" agrees with everything.
func amountDifferences(request *transfer.Request, amount, asset string) []transfer.Difference {
	var list []transfer.Difference
	if amount != "" && !transfer.SameNumber(request.Amount.String(), amount) {
		list = append(list, transfer.Difference{Field: "amount", Asked: request.Amount.String(), Answered: amount})
	}
	if asset != "" && asset != request.Asset {
		list = append(list, transfer.Difference{Field: "asset", Asked: request.Asset, Answered: asset})
	}
	return list
}

func isDebit(r transfer.Record) bool { return r.Direction == transfer.Debit }

func isCredit(r transfer.Record) bool { return r.Direction == transfer.Credit }

// keptRecords are the records of the latest outcome, the deciding one first where there is
// one; none where there is no outcome.
func keptRecords(detail state.Detail) ([]transfer.Record, error) {
	if detail.Outcome == nil {
		return nil, nil
	}
	records := make([]transfer.Record, 0, len(detail.Outcome.Records))
	for _, raw := range detail.Outcome.Records {
		record, err := transfer.ParseRecord(raw)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// accepted is the record among those of a conflict that a person accepts: the stored one,
// which never leaves its ref_id, and else the debit side.
func accepted(records []transfer.Record, stored string) *transfer.Record {
	if r := transfer.Newest(records, func(r transfer.Record) bool { return r.ID == stored }); r != nil {
		return r
	}
	if r := transfer.Newest(records, isDebit); r != nil {
		return r
	}
	return &records[0]
}

// requestOf returns the request that both sides of one transfer came out of.
func requestOf(records []transfer.Record, operator transfer.Operator) (transfer.Request, bool) {
	var debit, credit *transfer.Record
	for i := range records {
		switch records[i].Direction {
		case transfer.Debit:
			debit = &records[i]
		case transfer.Credit:
			credit = &records[i]
		}
	}
	if debit == nil || credit == nil {
		return transfer.Request{}, false
	}
	request, ok := requestOfDebit(debit, operator)
	request.ToProfileID, request.ToIdentityID, request.ToAccountID = credit.ProfileID, credit.IdentityID, credit.AccountID
	if request.Operation == transfer.Platform {
		request.RecipientMetadata = transfer.NewMetadata(credit.Metadata)
	}
	return request, ok
}

// requestOfDebit returns the request of a debit side, without the destination.
func requestOfDebit(debit *transfer.Record, operator transfer.Operator) (transfer.Request, bool) {
	amount, err := transfer.ParseAmount(debit.Amount)
	if err != nil {
		return transfer.Request{}, false
	}
	request := transfer.Request{
		RefID: debit.RefID, Amount: amount, Asset: debit.Asset,
		FromProfileID: debit.ProfileID, FromIdentityID: debit.IdentityID, FromAccountID: debit.AccountID,
		Metadata: transfer.NewMetadata(debit.Metadata),
	}
	for _, operation := range transfer.Operations() {
		if debit.Type == operator.RecordType(operation, transfer.Debit) {
			request.Operation = operation
		}
	}
	return request, request.Operation != ""
}

// requestIn returns the request of an intent, or its ref_id alone if it can't be read.
func requestIn(e state.Intent) transfer.Request {
	request, err := transfer.ParseRequest(e.Operation, []byte(e.Body), "")
	if err != nil {
		return transfer.Request{RefID: e.RefID}
	}
	return request
}
