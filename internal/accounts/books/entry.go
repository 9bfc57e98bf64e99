package books

import (
	"cmp"
	"fmt"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/state"
)

// newEntry makes the entry of one transfer of the records of its two sides; either may be nil.
func newEntry(d *state.Detail, debit, credit *transfer.Record) Entry {
	e := Entry{
		RefID: d.RefID, Status: d.Status, RecordStatus: d.RecordStatus,
		IntentSeq: d.IntentSeq, At: d.IntendedAt, Due: d.Intent.Due, RecordID: d.RecordID, GroupID: d.GroupID, RunID: d.RunID,
		Batch: d.Intent.Batch, Place: d.Intent.Place, Operation: d.Intent.Operation, Reverses: d.Intent.Reverses,
		Asset: d.Asset, Amount: d.Amount.Decimal(),
	}
	if d.Intent.Body != "" {
		if r, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), ""); err == nil {
			e.From, e.To, e.Metadata = r.FromProfileID, r.ToProfileID, r.Metadata
			e.ToIdentityID, e.ToAccountID = r.ToIdentityID, r.ToAccountID
			e.Asked = Movement{r.FromProfileID, r.ToProfileID, r.Asset, r.Amount.Decimal()}
		}
	}
	if e.At.IsZero() {
		e.At = d.SettledAt
	}
	if e.Cause = causeOf(d); e.Cause != "" {
		e.Reason = "The attempt has no outcome."
		if d.Outcome != nil && !d.Open() {
			e.Reason = d.Outcome.Reason
		}
		if e.Cause == CauseUnknown {
			e.Reason = "The service's own status is " + string(d.RecordStatus) + "."
		}
	}
	switch {
	case e.Cause == CauseListed: // there is none
	case e.Cause == CauseInDoubt: // the records do not say how much moved
	case e.Cause == CauseConflict:
		e.dateConflict(d)
	case debit == nil && credit == nil:
		e.unbookable(CauseUnreadable, "The state has no record of it that can be read.")
	default:
		e.book(debit, credit)
	}
	if text := doesNotAddUp(d, debit, credit); text != "" {
		e.unbookable(CauseUnreadable, text)
	}
	if !e.Booking().Booked() {
		e.Postings = nil
	}
	return e
}

// doesNotAddUp says which total of the records is not of their amount and fee, where no person has
// accepted that; "" where all are.
func doesNotAddUp(d *state.Detail, debit, credit *transfer.Record) string {
	var accepted []transfer.Difference
	if d.Status != state.Unverified && d.Outcome != nil {
		if accepted = d.Outcome.Differences; d.Outcome.Source == state.SourcePerson {
			return ""
		}
	}
	for _, r := range []*transfer.Record{debit, credit} {
		if r == nil {
			continue
		}
		for _, short := range transfer.BeyondAccepted(transfer.Shortcomings(*r), accepted) {
			if short.Field == "total" {
				return fmt.Sprintf("The total of the record is %s, where it must be %s.", cmp.Or(short.Answered, "missing"), short.Asked)
			}
		}
	}
	return ""
}

// causeOf is the cause by what the state says alone.
func causeOf(d *state.Detail) Cause {
	if d.Status.Made() && d.IsListed() {
		return CauseListed
	}
	switch d.Status {
	case state.InDoubt:
		return CauseInDoubt
	case state.Conflict:
		return CauseConflict
	case state.Refused:
		return CauseRefused
	case state.Unsent:
		return CauseUnsent
	case state.Tombstone:
		if d.RecordID == "" {
			return CauseNotMade
		}
	case state.Unverified:
		if d.RecordStatus != transfer.Failed {
			return CauseUnverified
		}
	case state.Recorded, state.Adopted:
	}
	switch {
	case d.RecordStatus == transfer.Completed:
		return ""
	case d.RecordStatus == transfer.Failed:
		return CauseFailed
	case d.RecordStatus != "" && !d.RecordStatus.Known() && d.Status != state.Tombstone: // a person has settled that
		return CauseUnknown
	}
	return CauseUnfinished
}

// dateConflict dates a conflict by the record that was answered, where that is earlier: a transfer that was
// imported belongs to no later time than its record.
func (e *Entry) dateConflict(d *state.Detail) {
	if d.Outcome == nil {
		return
	}
	for _, raw := range d.Outcome.Records {
		if r, err := transfer.ParseRecord(raw); err == nil && !r.CreatedAt.IsZero() && (e.At.IsZero() || r.CreatedAt.Before(e.At)) {
			e.At = r.CreatedAt
		}
	}
}

// book takes over the fields of the records, and makes the postings of a booked entry.
func (e *Entry) book(debit, credit *transfer.Record) {
	deciding := debit
	if deciding == nil {
		deciding = credit
	}
	if !deciding.CreatedAt.IsZero() {
		e.At = deciding.CreatedAt
	}
	e.UpdatedAt, e.Asset = deciding.UpdatedAt, deciding.Asset
	e.creditDone = credit != nil && credit.Status == transfer.Completed
	if debit != nil {
		e.From = debit.ProfileID
	}
	if credit != nil {
		e.credited(credit)
	}
	e.BothSides = debit != nil && credit != nil
	sums, err := readSums(debit, credit)
	if err != nil {
		e.unbookable(CauseUnreadable, err.Error())
		return
	}
	of := sums.debit
	if debit == nil {
		of = sums.credit
	}
	e.Amount, e.Fee, e.Total = of.amount, of.fee, of.total
	if text := conversion(deciding, debit, credit); text != "" {
		e.unbookable(CauseConversion, text)
		return
	}
	if e.Booking().Booked() {
		e.Postings = sums.postings(e, debit != nil, credit)
	}
}

// credited takes over whom the record of the destination's side names.
func (e *Entry) credited(credit *transfer.Record) {
	if !transfer.IsSameParty(e.To, credit.ProfileID) {
		e.ToIdentityID, e.ToAccountID = "", ""
	}
	e.To = credit.ProfileID
	e.ToIdentityID = cmp.Or(credit.IdentityID, e.ToIdentityID)
	e.ToAccountID = cmp.Or(credit.AccountID, e.ToAccountID)
}

// unbookable keeps an entry out of the books that would be in them.
func (e *Entry) unbookable(cause Cause, reason string) {
	if e.Booking().Booked() {
		e.Cause, e.Reason = cause, reason
	}
}

// conversion says which assets the records have, if there are several; "" where there is one.
func conversion(deciding, debit, credit *transfer.Record) string {
	for _, r := range []*transfer.Record{debit, credit} {
		if r == nil {
			continue
		}
		for _, other := range []string{r.Asset, r.BalanceAsset} {
			if other != "" && other != deciding.Asset {
				return fmt.Sprintf("The record has amounts of %s and of %s, and does not say which is which.", deciding.Asset, other)
			}
		}
	}
	return ""
}

// sums are the numbers of one record.
type sums struct{ amount, fee, total decimal.Decimal }

// sidesSums are those of both sides; zero where there is no record of one.
type sidesSums struct{ debit, credit sums }

func readSums(debit, credit *transfer.Record) (s sidesSums, err error) {
	if debit != nil {
		if s.debit, err = sumsOf(debit); err != nil {
			return s, err
		}
	}
	if credit != nil {
		s.credit, err = sumsOf(credit)
	}
	return s, err
}

func sumsOf(r *transfer.Record) (sums, error) {
	var s sums
	for _, f := range []struct {
		name, text string
		into       *decimal.Decimal
	}{{"amount", r.Amount, &s.amount}, {"fee", r.Fee, &s.fee}, {"total", r.Total, &s.total}} {
		number, ok := transfer.ParseNumber(f.text)
		if !ok {
			return s, fmt.Errorf("The %s of the record is no plain decimal.", f.name) //nolint:staticcheck,revive // a sentence for people
		}
		*f.into = number
	}
	return s, nil
}

// postings book the balance changes as the records say: total is what the sender's balance
// lost, or the recipient's got, and fee is the difference between that and the amount. Where the
// sender's record is all there is, the recipient got the amount; where the recipient's is, the
// sender paid it. Where the recipient's record FAILED, the recipient got nothing, and all that the sender lost beside fees is a difference.
func (s *sidesSums) postings(e *Entry, hasDebit bool, credit *transfer.Record) []Posting {
	paid, got := s.debit.total, s.debit.amount
	if !hasDebit {
		paid = s.credit.amount
	}
	hasArrived := credit == nil || !hasDebit || credit.Status != transfer.Failed
	if credit != nil {
		got = s.credit.total
	}
	fees := s.debit.fee.Add(s.credit.fee)
	list := []Posting{{Sender, e.From, paid.Neg()}}
	if hasArrived {
		list = append(list, Posting{Recipient, e.To, got})
	} else {
		got = decimal.Zero
	}
	if !fees.IsZero() {
		list = append(list, Posting{Role: Fees, Amount: fees})
	}
	if difference := paid.Sub(got).Sub(fees); !difference.IsZero() {
		list = append(list, Posting{Role: Difference, Amount: difference})
	}
	return list
}
