package reconcile

import (
	"maps"

	"remit/internal/transfer"
	"remit/state"
)

// isQuick reports whether a transfer surely matches, by its row alone: a request made up from
// its two records has the fingerprint of the one that was sent. Nearly all match, and reading
// their details would take most of the time. What is not surely so is compared field by field.
func (j *judge) isQuick(p *pair) bool {
	o := &j.options
	debit, credit := p.debit, p.credit
	if debit == nil || credit == nil || len(p.sides) != 2 || len(p.twice) > 0 || p.shared != "" || p.failed != "" || o.Batch != "" {
		return false
	}
	row := &p.row
	if row.Status != state.Recorded && row.Status != state.Adopted || row.RecordStatus != debit.Status || row.RecordStatus != credit.Status {
		return false
	}
	isOne := debit.Direction == transfer.Debit && credit.Direction == transfer.Credit && row.RecordID == debit.ID && row.GroupID == debit.GroupID && debit.GroupID == credit.GroupID &&
		isAbsentOr(debit.RefID, row.RefID) && isAbsentOr(credit.RefID, row.RefID) &&
		isAbsentOr(j.customer, debit.CustomerID)
	isEqual := areEqual(debit, credit) && isAbsentOr(debit.BalanceAsset, debit.Asset) && isAbsentOr(credit.BalanceAsset, debit.Asset)
	return isOne && isEqual && hasNoFee(debit) && hasNoFee(credit) && j.contains(debit.CreatedAt) && j.hasFingerprint(p)
}

// hasNoFee reports whether a record moved its amount and nothing else. What did, is compared with
// the total and the fee that are stored, which the row does not have.
func hasNoFee(s *Side) bool {
	return (s.Fee == "0" || transfer.SameNumber(s.Fee, "0")) && (s.Total == s.Amount || transfer.SameNumber(s.Total, s.Amount))
}

func isAbsentOr(text, want string) bool { return text == "" || text == want }

// hasFingerprint reports whether both records together ask for what was asked for.
func (j *judge) hasFingerprint(p *pair) bool {
	debit, credit := p.debit, p.credit
	amount, err := transfer.ParseAmount(debit.Amount)
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
