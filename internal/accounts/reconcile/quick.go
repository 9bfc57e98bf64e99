package reconcile

import (
	"maps"

	"remit/internal/transfer"
	"remit/state"
)

// isQuick reports whether a transfer surely matches: a request made up from its two records has
// the fingerprint of the one that was sent, and the stored record is a copy of the debit. Nearly all match, and comparing them field by field would
// take most of the time. Any other transfer is compared in that way.
func (j *judge) isQuick(p *pair) bool {
	debit, credit := p.debit, p.credit
	if debit == nil || credit == nil || len(p.sides) != 2 || len(p.twice) > 0 || p.shared != "" || p.failed != "" || len(p.stored) != 1 {
		return false
	}
	row := &p.row
	if row.Status != state.Recorded && row.Status != state.Adopted || row.RecordStatus != debit.Status || row.RecordStatus != credit.Status {
		return false
	}
	isOne := debit.Direction == transfer.Debit && credit.Direction == transfer.Credit && row.RecordID == debit.ID && row.GroupID == debit.GroupID && debit.GroupID == credit.GroupID &&
		debit.ID != credit.ID && isAbsentOr(debit.RefID, row.RefID) && isAbsentOr(credit.RefID, row.RefID) &&
		isAbsentOr(j.customer, debit.CustomerID) && debit.CustomerID == credit.CustomerID
	isEqual := areEqual(debit, credit) && isAbsentOr(debit.BalanceAsset, debit.Asset) && isAbsentOr(credit.BalanceAsset, debit.Asset)
	return isOne && isEqual && isCopy(&p.stored[0], &debit.Record) && isPlain(&credit.Record, &debit.Record) && j.contains(debit.CreatedAt) && j.hasFingerprint(p)
}

// isCopy reports whether a stored record is surely another copy of one of the service.
func isCopy(stored, record *transfer.Record) bool {
	isOne := stored.ID == record.ID && stored.Direction == record.Direction && stored.Type == record.Type && stored.CustomerID == record.CustomerID &&
		stored.ProfileID == record.ProfileID && stored.Status == record.Status && stored.CreatedAt.Equal(record.CreatedAt)
	isEqual := stored.Asset == record.Asset && isSame(stored.Amount, record.Amount) && isSame(stored.Total, record.Total) && isSame(stored.Fee, record.Fee)
	return isOne && isEqual && agree(stored.BalanceAsset, record.BalanceAsset) && agree(stored.IdentityID, record.IdentityID) &&
		agree(stored.AccountID, record.AccountID) && agree(stored.RefID, record.RefID) && agree(stored.GroupID, record.GroupID) &&
		(len(stored.Metadata) == 0 || len(record.Metadata) == 0 || maps.Equal(stored.Metadata, record.Metadata))
}

// isPlain reports whether [compareUncopied] surely has nothing to say of a credit.
func isPlain(credit, debit *transfer.Record) bool {
	isTotal := credit.Total == "" || isSame(credit.Total, credit.Amount)
	return isTotal && isKnownFee(credit.Fee, debit.Fee, true) || repeats(credit, debit)
}

// agree reports whether two optional texts are the same, where both are there.
func agree(a, b string) bool { return b == "" || isAbsentOr(a, b) }

func isAbsentOr(text, want string) bool { return text == "" || text == want }

// hasFingerprint reports whether both records together agree with the request.
func (j *judge) hasFingerprint(p *pair) bool {
	debit, credit := p.debit, p.credit
	amount, err := transfer.ParseRecorded(debit.Amount)
	if err != nil || p.row.Fingerprint.IsZero() {
		return false
	}
	request := transfer.Request{
		RefID:         p.row.RefID,
		FromProfileID: debit.ProfileID, FromIdentityID: debit.IdentityID, FromAccountID: debit.AccountID,
		ToProfileID: credit.ProfileID, ToIdentityID: credit.IdentityID, ToAccountID: credit.AccountID,
		Amount: amount, Asset: debit.Asset, Metadata: transfer.NewMetadata(debit.Metadata),
	}
	switch o := j.options.Operator; {
	case debit.Type == o.RecordType(transfer.Internal, transfer.Debit) && credit.Type == o.RecordType(transfer.Internal, transfer.Credit):
		request.Operation = transfer.Internal
		if credit.Metadata != nil && !maps.Equal(credit.Metadata, debit.Metadata) {
			return false
		}
	case debit.Type == o.RecordType(transfer.Platform, transfer.Debit) && credit.Type == o.RecordType(transfer.Platform, transfer.Credit):
		request.Operation = transfer.Platform
		request.RecipientMetadata = transfer.NewMetadata(credit.Metadata)
	default:
		return false
	}
	if key := j.options.FingerprintKey; key != "" {
		echoed, ok := debit.Metadata[key]
		if !ok || echoed != p.row.Fingerprint.String() {
			return false
		}
		rest := maps.Clone(debit.Metadata)
		delete(rest, key)
		request.Metadata = transfer.NewMetadata(rest)
	}
	return request.Fingerprint() == p.row.Fingerprint
}
