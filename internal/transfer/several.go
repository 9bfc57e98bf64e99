package transfer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

const oneTransfer = "one transfer"

// several is the difference where records under one ref_id are of more than one transfer that did not fail: it was paid more than
// once, unless the service's operator says otherwise. It names how many they are, their sum, and the ids of their debit sides. Records of
// one group_id are one transfer, and foreign ones are none of it, see [IsForeign].
func several(req Request, records []Record, operator Operator) (Difference, bool) {
	newest := make(map[string]*Record)
	var ids []string
	for i := range records {
		rec := &records[i]
		if isCreditSide(req, *rec, operator) || IsForeign(req, rec, operator) {
			continue
		}
		before := newest[rec.ID]
		if before == nil {
			ids = append(ids, rec.ID)
		}
		if before == nil || rec.Version().Compare(before.Version()) > 0 {
			newest[rec.ID] = rec
		}
	}
	var made []*Record
	groups := make(map[string]bool)
	for _, id := range ids {
		rec := newest[id]
		if rec.Status != Failed && (rec.GroupID == "" || !groups[rec.GroupID]) {
			made = append(made, rec)
			groups[rec.GroupID] = true
		}
	}
	if len(made) < 2 {
		return Difference{}, false
	}
	text := fmt.Sprintf("%d transfers", len(made))
	if sum, ok := sumOf(made); ok {
		text += fmt.Sprintf(", %s %s in all", sum, made[0].Asset)
	}
	slices.SortFunc(made, func(a, b *Record) int { return strings.Compare(a.ID, b.ID) })
	const named = 3
	parts := make([]string, 0, named)
	for _, rec := range made[:min(len(made), named)] {
		parts = append(parts, "id "+rec.ID)
	}
	if more := len(made) - named; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return Difference{"id", oneTransfer, text + " (" + strings.Join(parts, ", ") + ")"}, true
}

// IsSeveral reports whether d says that the service has more than one transfer under the ref_id.
func (d Difference) IsSeveral() bool { return d.Field == "id" && d.Asked == oneTransfer }

// Told are differences as they are told: where the service has more than one transfer, without their single ids.
func Told(differences []Difference) []Difference {
	if !slices.ContainsFunc(differences, Difference.IsSeveral) {
		return differences
	}
	return slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return d.Field == "id" && !d.IsSeveral() })
}

// sumOf is what records of one asset moved together, with the decimals of the amounts; false where they have several assets.
func sumOf(records []*Record) (string, bool) {
	sum := decimal.Zero
	for _, rec := range records {
		amount, ok := ParseNumber(rec.Amount)
		if !ok || rec.Asset != records[0].Asset {
			return "", false
		}
		sum = sum.Add(amount)
	}
	return Digits(sum), true
}
