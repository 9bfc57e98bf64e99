package rows

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"remit/internal/text/lazyregexp"
)

// NumberFormat is how numbers are written in a column: the marks between groups of digits
// and before the decimals. It reads a text that fits it in exactly one way, and guesses nothing.
type NumberFormat struct {
	Example string // 1234.56 as the column would have it
	group   string // between groups; "" where there are none
	decimal string // "" where there are no decimals
	lakh    bool   // groups of two above the thousands
	before  string // a currency, which every number has
	after   string
}

// numberDigitsMax is how long a number may be.
const numberDigitsMax = 64

// numberExample matches the number 1234.56, or 1234.567 of a currency with three decimals, or 1234567.89 in lakhs and crores. Beside a currency they may be without decimals.
var numberExample = lazyregexp.New(`^(?:1([,. '’\x{00a0}\x{202f}]?)234(?:([.,])567?)?|12([,. ])34([,. ])567(?:([.,])89)?)$`)

// numberCurrency takes the text for a currency off an example, or off a number: a sign, a code, or words, such as kr, R$ and Rs.
var numberCurrency = lazyregexp.New(`^([\p{L}\p{Sc}](?:[\p{L}\p{M}\p{Sc}./ \x{00a0}\x{202f}]*[\p{L}\p{M}\p{Sc}./])?|)([ \x{00a0}\x{202f}]?)` +
	`(-?[0-9](?:.*[0-9])?)` +
	`([ \x{00a0}\x{202f}]?)([\p{L}\p{Sc}](?:[\p{L}\p{M}\p{Sc}./ \x{00a0}\x{202f}]*[\p{L}\p{M}\p{Sc}./])?|)$`)

// pointThousands matches a number whose point may be one of thousands.
var pointThousands = lazyregexp.New(`^-?[1-9][0-9]{0,2}\.[0-9]{3}$`)

var errNumberExample = errors.New(`is not 1234.56 as the column would have it, such as "1,234.56", "1.234,56", "1234,56", "1 234,56", "1'234.56", or "12,34,567.89" for lakhs, and with a currency such as "$1,234.56", "1 234,56 kr" or "1.234,56 €"`)

// ParseNumberFormat reads an example.
func ParseNumberFormat(example string) (*NumberFormat, error) {
	around := numberCurrency.FindStringSubmatch(example)
	if around == nil || around[1] == "" && around[2] != "" || around[5] == "" && around[4] != "" {
		return nil, errNumberExample
	}
	m := numberExample.FindStringSubmatch(around[3])
	if m == nil {
		return nil, errNumberExample
	}
	f := &NumberFormat{Example: example, group: m[1], decimal: m[2], before: sameSpace(around[1]), after: sameSpace(around[5])}
	if m[3] != "" {
		f.group, f.decimal, f.lakh = m[3], m[5], true
		if m[3] != m[4] {
			return nil, errNumberExample
		}
	}
	if f.group == f.decimal || f.decimal == "" && f.Currency() == "" {
		return nil, errNumberExample
	}
	if err := cmp.Or(checkCurrency(f.before, true), checkCurrency(f.after, false)); err != nil {
		return nil, err
	}
	return f, nil
}

// MayBeDecimals reports whether the example can be taken for a number with three decimals, such as ¥1,234, where it is one without any.
func (f *NumberFormat) MayBeDecimals() bool {
	return f.decimal == "" && !f.lakh && (f.group == "," || f.group == ".")
}

// FittingNumberFormats are examples of the formats that a text fits which is no plain decimal.
func FittingNumberFormats(text string) []string {
	m := numberCurrency.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[1] == "" && m[5] == "" && !strings.ContainsAny(text, ",'’ \u00a0\u202f") && strings.Count(text, ".") < 2 {
		return nil
	}
	var fitting []string
	examples := []string{"1,234.56", "1.234,56", "1 234,56", "1'234.56", "12,34,567.89"}
	if m[1]+m[5] != "" && !strings.ContainsAny(m[3], ",'’ \u00a0\u202f") && strings.Count(m[3], ".") < 2 {
		examples = examples[:1] // a plain decimal and a currency
		if pointThousands.MatchString(m[3]) {
			examples = []string{"1,234.56", "1.234,56"}
		}
	}
	for _, example := range examples {
		f, err := ParseNumberFormat(sameSpace(m[1] + m[2] + example + m[4] + m[5]))
		if err != nil {
			return nil // two currencies, or none where a space is
		}
		if _, err := f.read(text); err == nil && (!f.lakh || len(fitting) == 0) {
			fitting = append(fitting, f.Example)
		}
	}
	return fitting
}

// Currency is what every number has beside it in the format, such as a sign or a code; "" for none.
func (f *NumberFormat) Currency() string { return strings.TrimSpace(f.before + " " + f.after) }

// Plain is a number that is written in the format as a plain decimal.
func (f *NumberFormat) Plain(text string) (string, error) { return f.read(text) }

// read returns a number as a plain decimal. Space at its ends is left out.
func (f *NumberFormat) read(text string) (string, error) {
	number := sameSpace(NormalForm(text))
	if strings.ContainsAny(f.group, "'’") {
		number = strings.ReplaceAll(number, "’", "'")
	}
	number = strings.Trim(number, " ")
	number, isNegative := strings.CutPrefix(number, "-")
	number, hasBefore := strings.CutPrefix(number, f.before)
	number, hasAfter := strings.CutSuffix(number, f.after)
	if f.Currency() != "" {
		number = strings.Trim(number, " ")
	}
	if !isNegative && f.before != "" {
		number, isNegative = strings.CutPrefix(number, "-")
	}
	whole, decimals, hasDecimals := number, "", false
	if f.decimal != "" {
		whole, decimals, hasDecimals = strings.Cut(number, f.decimal)
	}
	digits, ok := f.ungrouped(whole)
	switch {
	case len(number) > numberDigitsMax:
		return "", fmt.Errorf("is longer than %d characters", numberDigitsMax)
	case !ok, !hasBefore, !hasAfter, hasDecimals && !areDigits(decimals), len(digits) > 1 && digits[0] == '0':
		return "", fmt.Errorf("is not written like %s, which number_format says: %s. Write all numbers of a column in one way", f.Example, f.words())
	}
	if hasDecimals {
		digits += "." + decimals
	}
	if isNegative {
		digits = "-" + digits
	}
	return digits, nil
}

// ungrouped joins the groups of digits before the decimals. Digits without groups are right.
func (f *NumberFormat) ungrouped(whole string) (string, bool) {
	group := strings.ReplaceAll(sameSpace(f.group), "’", "'")
	if group == "" || !strings.Contains(whole, group) {
		return whole, areDigits(whole)
	}
	groups := strings.Split(whole, group)
	for i, digits := range groups {
		size := 3
		if f.lakh && i < len(groups)-1 {
			size = 2
		}
		if !areDigits(digits) || len(digits) > size || i > 0 && len(digits) < size {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// words say what a number may look like.
func (f *NumberFormat) words() string {
	names := map[string]string{",": "a comma", ".": "a point", "'": "an apostrophe", "’": "an apostrophe", "": "nothing"}
	group := names[f.group]
	if group == "" && f.group != "" {
		group = "a space"
	}
	currency := ""
	if f.Currency() != "" {
		currency = ", and " + f.Currency()
	}
	if f.decimal == "" {
		return fmt.Sprintf("digits, with %s between groups and no decimals%s", group, currency)
	}
	return fmt.Sprintf("digits, with %s between groups and %s before decimals%s", group, names[f.decimal], currency)
}

// sameSpace makes spaces that do not break lines plain ones.
func sameSpace(text string) string {
	return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(text)
}

func areDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
