package view

import (
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/text/english"
	"remit/internal/transfer"
)

// point aligns numbers at their decimal points.
type point struct{ whole, fraction int }

// places is how many decimals a number is written with.
func places(number string) int {
	_, fraction, _ := strings.Cut(number, ".")
	return len(fraction)
}

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

// sum is the exact number for programs, with as many decimals as its most precise part was
// written with. People are shown [Screen.money].
func sum(d decimal.Decimal) string { return transfer.Digits(d) }

// money is an exact sum of an asset for a person: "412,850.22".
func (s Screen) money(d decimal.Decimal, asset string) string { return s.Scales.ShownSum(d, asset) }

// amount is [Screen.money] of an amount; of the zero Amount it is "".
func (s Screen) amount(a transfer.Amount, asset string) string {
	return s.Scales.Shown(a.String(), asset)
}

// sums is a total per asset in one phrase: "USD 412,850.22, BTC 0.5".
func (s Screen) sums(t *transfer.Totals) string { return sumsAs(t, s.money) }

func sumsAs(t *transfer.Totals, number func(d decimal.Decimal, asset string) string) string {
	if t == nil {
		return ""
	}
	var parts []string
	for total := range t.All() {
		parts = append(parts, total.Asset+" "+number(total.Sum, total.Asset))
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

// hashTotalShown is [hashTotal] for a person.
func hashTotalShown(t *transfer.Totals) string { return transfer.Grouped(hashTotal(t)) }

// hashTotal is that of totals for programs; "" where it is not known.
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
func (s Screen) controlText(t *transfer.Totals) string {
	text := english.Plural(t.Count(), "transfer")
	if sums := s.sums(t); sums != "" {
		text += ", " + sums
	}
	if hash := hashTotalShown(t); hash != "" {
		text += ", hash total " + hash
	}
	return text
}
