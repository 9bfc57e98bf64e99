package transfer

import (
	"math"

	"github.com/shopspring/decimal"
)

// HashWeight is what the destination counts in a hash total: to_profile_id, to_identity_id and
// to_account_id are written one after another, and the code point of each character is
// multiplied by its position, from 1, and summed. One character that differs, and two
// neighbours that changed places, make another weight. A spreadsheet computes it of the ID in
// B2 as
//
//	=SUMPRODUCT(CODE(MID(B2,ROW(INDIRECT("1:"&LEN(B2))),1)),ROW(INDIRECT("1:"&LEN(B2))))
func (r *Request) HashWeight() int64 {
	return HashWeight(r.ToProfileID, r.ToIdentityID, r.ToAccountID)
}

// HashWeight is [Request.HashWeight] of a destination that is known by a record.
func HashWeight(profileID, identityID, accountID string) int64 {
	var weight, position int64
	for _, text := range [...]string{profileID, identityID, accountID} {
		for _, c := range text {
			position++
			weight += position * int64(c)
		}
	}
	return weight
}

// AddRequest counts one transfer, and its part of the hash total.
func (t *Totals) AddRequest(r *Request) { t.addRequest(r, 1) }

// RemoveRequest takes back one transfer that was counted by AddRequest.
func (t *Totals) RemoveRequest(r *Request) {
	t.addRequest(r, -1)
	if t.assets[r.Asset].count == 0 {
		delete(t.assets, r.Asset)
	}
}

func (t *Totals) addRequest(r *Request, sign int64) {
	t.add(r.Asset, r.Amount, int(sign))
	t.hash.count += int(sign)
	weight := r.HashWeight()
	if units, scale, ok := r.Amount.units(); ok && (weight == 0 || units <= math.MaxInt64/weight) {
		t.hash.add(sign*units*weight, scale)
		return
	}
	part := r.Amount.Decimal().Mul(decimal.NewFromInt(sign * weight))
	t.hash.base = t.hash.base.Add(part)
}

// AddWeighted counts one transfer by the numbers of its record, which may be of any sign, and its
// part of the hash total.
func (t *Totals) AddWeighted(asset string, amount decimal.Decimal, weight int64) {
	t.AddTotal(Total{asset, 1, amount})
	t.hash.count++
	t.hash.base = t.hash.base.Add(amount.Mul(decimal.NewFromInt(weight)))
}

// HashTotal is the sum, over all transfers whatever their asset, of the amount times the
// [Request.HashWeight]. It is false where a transfer was counted of which the destination is
// not known, by another method than AddRequest.
func (t Totals) HashTotal() (decimal.Decimal, bool) {
	return t.hash.exact(), t.hash.count == t.count
}

// RestoreHash says what the hash total of all that was counted is: it was saved with them.
func (t *Totals) RestoreHash(total decimal.Decimal) {
	t.hash = runningSum{count: t.count, base: total}
}
