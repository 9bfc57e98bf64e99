package reconcile

import (
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
)

// copyOf is where the stored copy of a record is; -1 for none.
func copyOf(stored []transfer.Record, record *transfer.Record) int {
	return slices.IndexFunc(stored, func(s transfer.Record) bool { return s.ID == record.ID && s.Direction == record.Direction })
}

// sameMoment is how far apart two written forms of one time are, less than that: some services
// write a time with fewer decimals in a list.
const sameMoment = time.Second

// compareCopy compares a record with the copy of it that is stored: in what no later copy changes, in when it was made,
// and in what it took from the balance, or added to it. Total and fee may be final only with the status, so
// those of a record with another status than the stored one are not compared.
func compareCopy(stored []transfer.Record, record transfer.Record) []transfer.Difference {
	at := copyOf(stored, &record)
	if at < 0 {
		return nil
	}
	s := &stored[at]
	differences := transfer.CompareCopies(*s, record)
	if len(s.Metadata) == 0 { // it echoed none, so it says nothing of any
		differences = slices.DeleteFunc(differences, func(d transfer.Difference) bool { return strings.HasPrefix(d.Field, "metadata.") })
	}
	if s.CreatedAt.Sub(record.CreatedAt).Abs() >= sameMoment {
		differences = append(differences, transfer.Difference{Field: "created_at", Asked: timeText(s.CreatedAt), Answered: timeText(record.CreatedAt)})
	}
	if s.Status != record.Status {
		return differences
	}
	for _, field := range []struct{ name, asked, answered string }{{"total", s.Total, record.Total}, {"fee", s.Fee, record.Fee}} {
		if !isSame(field.asked, field.answered) {
			differences = append(differences, transfer.Difference{Field: field.name, Asked: field.asked, Answered: field.answered})
		}
	}
	return differences
}

// addCopied adds the differences from the stored copy to those from the request. Where both name a field, it is
// told once: by the copy where that has another value than was asked for, since the books have the copy's.
func addCopied(differences, copied []transfer.Difference, accepted []transfer.Difference) []transfer.Difference {
	for _, d := range copied {
		isField := func(other transfer.Difference) bool { return other.Field == d.Field }
		at := slices.IndexFunc(differences, isField)
		switch {
		case at < 0:
			differences = append(differences, d)
		case slices.ContainsFunc(accepted, isField):
			differences[at] = d
		}
	}
	return differences
}

// compareUncopied compares a record of a side of which the state has none with what the books take it for: its total is
// its amount, or the booked one, and it has no fee; or both are those of the other side once more, which they have. Of
// a transfer without any record they have nothing, so only a total is told that its amount and fee do not make.
func compareUncopied(stored []transfer.Record, booked string, record *transfer.Record) []transfer.Difference {
	if hasSide(stored, record.Direction) || record.Status == transfer.Failed || len(stored) > 0 && repeats(record, &stored[0]) {
		return nil
	}
	var differences []transfer.Difference
	isTotal := record.Total == "" || isSame(record.Total, record.Amount) || isSame(record.Total, booked)
	if !isTotal && (len(stored) > 0 || !transfer.AddsUp(*record)) {
		differences = append(differences, transfer.Difference{Field: "total", Asked: record.Amount, Answered: record.Total})
	}
	if len(stored) > 0 && !isKnownFee(record.Fee, stored[0].Fee, isTotal) {
		differences = append(differences, transfer.Difference{Field: "fee", Asked: "0", Answered: record.Fee})
	}
	return differences
}

// hasSide reports whether a record of that side is stored.
func hasSide(stored []transfer.Record, side transfer.Direction) bool {
	return slices.ContainsFunc(stored, func(s transfer.Record) bool { return s.Direction == side })
}

// repeats reports whether a record says the fee and the total of the other side once more, as some services write both.
func repeats(record, other *transfer.Record) bool {
	return isSame(record.Fee, other.Fee) && isSame(record.Total, other.Total)
}

// isKnownFee reports whether a fee is none, or is that of the other side once more and took nothing from this one.
func isKnownFee(fee, ofOther string, isTotal bool) bool {
	return fee == "" || isSame(fee, "0") || isTotal && isSame(fee, ofOther)
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// compareStored compares a record with the stored one of the same side, of a transfer that was
// imported without its request. There is nothing to compare where that side is not stored.
func compareStored(stored []transfer.Record, record transfer.Record) []transfer.Difference {
	at := slices.IndexFunc(stored, func(s transfer.Record) bool { return s.ID == record.ID })
	if at < 0 {
		at = slices.IndexFunc(stored, func(s transfer.Record) bool { return s.Direction == record.Direction })
	}
	if at < 0 {
		return nil
	}
	s := stored[at]
	var differences []transfer.Difference
	differ := func(field, asked, answered string) {
		if asked != answered {
			differences = append(differences, transfer.Difference{Field: field, Asked: asked, Answered: answered})
		}
	}
	differParty := func(field, asked, answered string) {
		if !transfer.IsSameParty(asked, answered) {
			differ(field, asked, answered)
		}
	}
	differParty("profile_id", s.ProfileID, record.ProfileID)
	if !isSame(s.Amount, record.Amount) {
		differ("amount", s.Amount, record.Amount)
	}
	differ("asset", s.Asset, record.Asset)
	differ("direction", string(s.Direction), string(record.Direction))
	differ("type", string(s.Type), string(record.Type))
	for _, field := range []struct{ name, asked, answered string }{
		{"identity_id", s.IdentityID, record.IdentityID},
		{"account_id", s.AccountID, record.AccountID},
	} {
		if field.asked != "" && field.answered != "" {
			differParty(field.name, field.asked, field.answered)
		}
	}
	for _, field := range []struct{ name, asked, answered string }{
		{"balance_asset", s.BalanceAsset, record.BalanceAsset},
		{"ref_id", s.RefID, record.RefID},
	} {
		if field.asked != "" && field.answered != "" {
			differ(field.name, field.asked, field.answered)
		}
	}
	return differences
}
