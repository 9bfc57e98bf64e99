package rows

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/shopspring/decimal"

	"remit/config/mistake"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

// controlTotals are the control totals that a file states, and what it has.
type controlTotals struct {
	element    string // that states them
	count      int
	sum        decimal.Decimal
	unsure     bool // an amount could not be read
	hasCount   bool // NbOfTxs is there
	countText  string
	countPlace textPlace
	hasSum     bool // CtrlSum is there
	sumText    string
	sumPlace   textPlace
}

func (c *controlTotals) add(amount string) {
	c.count++
	if !xmlDecimal.MatchString(amount) {
		c.unsure = true
		return
	}
	c.sum = c.sum.Add(decimalOf(amount))
}

// decimalOf is a decimal of XML Schema, which may end with its point.
func decimalOf(text string) decimal.Decimal {
	d, err := decimal.NewFromString(strings.TrimSuffix(strings.TrimPrefix(text, "+"), "."))
	if err != nil {
		panic("a decimal that was checked is none: " + err.Error())
	}
	return d
}

// plainDecimal is a decimal of XML Schema as an amount of a currency is written: without a plus, zeros
// before it, and zeros behind the decimals that the currency has.
func plainDecimal(text, currency string) string {
	text = strings.TrimPrefix(text, "+")
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, decimals, _ := strings.Cut(text, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if scale, ok := transfer.CurrencyScale(currency); ok && len(decimals) > scale {
		decimals = decimals[:scale] + strings.TrimRight(decimals[scale:], "0")
	}
	if decimals != "" {
		decimals = "." + decimals
	}
	return sign + whole + decimals
}

// check compares what a file states with what it has.
func (c *controlTotals) check(f *pain001File, isRequired bool) hcl.Diagnostics {
	var diags hcl.Diagnostics
	refuse := func(p textPlace, name, detail string, args ...any) {
		d := mistake.New(f.rangeOf(p), "Control total does not agree", name+" of the "+c.element+" "+detail+" Is the file whole, and as it was written?", args...)
		d.Extra = &mistake.Origin{Reason: c.element + name}
		diags = append(diags, d)
	}
	if isRequired && !c.hasCount {
		diags = append(diags, mistake.New(f.span(f.decoder.InputOffset(), 0), "Control total is missing",
			"The %s has no NbOfTxs, which says how many instructions the file has. It has %d.", c.element, c.count))
	}
	if c.hasCount {
		switch n, err := strconv.Atoi(c.countText); {
		case err != nil || n < 0:
			refuse(c.countPlace, "NbOfTxs", "is %q, and no number.", c.countText)
		case n > c.count:
			refuse(c.countPlace, "NbOfTxs", "says %d, and there %s: %d fewer.", n, areInstructions(c.count), n-c.count)
		case n < c.count:
			refuse(c.countPlace, "NbOfTxs", "says %d, and there %s: %d more.", n, areInstructions(c.count), c.count-n)
		}
	}
	switch {
	case !c.hasSum || c.unsure:
	case !xmlDecimal.MatchString(c.sumText):
		refuse(c.sumPlace, "CtrlSum", "is %q, and no decimal.", c.sumText)
	case !decimalOf(c.sumText).Equal(c.sum):
		refuse(c.sumPlace, "CtrlSum", "says %s, and the amounts add up to %s: the difference is %s.",
			c.sumText, transfer.Digits(c.sum), transfer.Digits(decimalOf(c.sumText).Sub(c.sum)))
	}
	return diags
}

func areInstructions(count int) string {
	if count == 1 {
		return "is 1 instruction"
	}
	return "are " + english.Plural(count, "instruction")
}
