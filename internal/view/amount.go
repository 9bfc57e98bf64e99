package view

import (
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// point aligns numbers at their decimal points.
type point struct{ whole, fraction int }

func (p *point) fit(number string) {
	whole, fraction, cut := strings.Cut(number, ".")
	p.whole = max(p.whole, len(whole))
	if cut {
		p.fraction = max(p.fraction, 1+len(fraction))
	}
}

func (p point) width() int { return p.whole + p.fraction }

func (p point) align(number string) string {
	whole, fraction, cut := strings.Cut(number, ".")
	if cut {
		fraction = "." + fraction
	}
	return strings.Repeat(" ", max(0, p.whole-len(whole))) + whole +
		fraction + strings.Repeat(" ", max(0, p.fraction-len(fraction)))
}

// sum is the exact number, with as many decimals as its most precise part was written with.
func sum(d decimal.Decimal) string { return transfer.Digits(d) }

// sums is a total per asset in one phrase: "USD 412850.22, BTC 0.5".
func sums(t *transfer.Totals) string {
	if t == nil {
		return ""
	}
	var parts []string
	for total := range t.All() {
		parts = append(parts, total.Asset+" "+sum(total.Sum))
	}
	return strings.Join(parts, ", ")
}

// inBrackets is " (text)", or nothing.
func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// hashTotal is that of totals; "" where it is not known.
func hashTotal(t *transfer.Totals) string {
	if t == nil {
		return ""
	}
	hash, ok := t.HashTotal()
	if !ok {
		return ""
	}
	return sum(hash)
}

// controlText are three control totals in words.
func controlText(t *transfer.Totals) string {
	text := plural(t.Count(), "transfer")
	if sums := sums(t); sums != "" {
		text += ", " + sums
	}
	if hash := hashTotal(t); hash != "" {
		text += ", hash total " + hash
	}
	return text
}
