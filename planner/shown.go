package planner

import (
	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// shownAmount is an amount in a sentence for a person. It has the decimals of ISO 4217 also
// where an asset block says otherwise: a sentence of a saved plan is made again without one.
func shownAmount(a transfer.Amount, asset string) string {
	return transfer.Scales(nil).Shown(a.String(), asset)
}

// shownSum is shownAmount of a sum.
func shownSum(sum decimal.Decimal, asset string) string {
	return transfer.Scales(nil).ShownSum(sum, asset)
}
