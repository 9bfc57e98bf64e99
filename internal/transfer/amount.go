package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// amountLengthMax bounds the characters of an amount: enough for any asset, small enough
// to add up a million of them.
const amountLengthMax = 64

// Amount is a positive decimal number in plain notation. It keeps the digits as the author
// wrote them: "1200.5" and "1200.50" are Equal and print differently. The zero value is no
// amount.
type Amount struct{ text string }

// ParseAmount reads digits with an optional fraction, such as "1200.50". It refuses a sign,
// an exponent, grouping, surrounding space, needless leading zeros, zero itself, and more
// than 64 characters. The error says what to write.
func ParseAmount(text string) (Amount, error) {
	if err := checkPlain(text); err != nil {
		return Amount{}, err
	}
	if text[0] == '0' && strings.TrimLeft(text, "0.") == "" {
		return Amount{}, errors.New("an amount must be greater than zero")
	}
	return Amount{text}, nil
}

// MustAmount is ParseAmount for amounts in the program's own text; it panics on an error.
func MustAmount(text string) Amount {
	a, err := ParseAmount(text)
	if err != nil {
		panic(fmt.Sprintf("amount %q: %v", text, err))
	}
	return a
}

// String returns the author's digits.
func (a Amount) String() string { return a.text }

// Normal returns the shortest digits of the same number: "1200.50" becomes "1200.5".
func (a Amount) Normal() string { return normal(a.text) }

// IsZero reports whether a is the zero value, which is no amount.
func (a Amount) IsZero() bool { return a.text == "" }

// Equal reports whether a and b are the same number.
func (a Amount) Equal(b Amount) bool { return a.Normal() == b.Normal() }

// Cmp compares numerically: -1 where a is smaller than b, 0 where equal, 1 where greater.
func (a Amount) Cmp(b Amount) int {
	x, scaleX, okX := a.units()
	y, scaleY, okY := b.units()
	if okX && okY && scaleX == scaleY {
		return cmp.Compare(x, y)
	}
	return a.Decimal().Cmp(b.Decimal())
}

// Decimal returns the exact value; the zero Amount is 0.
func (a Amount) Decimal() decimal.Decimal {
	if a.text == "" {
		return decimal.Zero
	}
	if units, scale, ok := a.units(); ok {
		return decimal.New(units, -int32(scale))
	}
	return decimal.RequireFromString(a.text)
}

// units is the amount as a whole number and how many of its digits are decimals, as they
// are written; false where it may not fit.
func (a Amount) units() (units int64, scale int, ok bool) {
	const digitsMax = 18
	if len(a.text) > digitsMax+1 {
		return 0, 0, false
	}
	for i := range len(a.text) {
		if a.text[i] == '.' {
			scale = len(a.text) - 1 - i
			continue
		}
		units = 10*units + int64(a.text[i]-'0')
	}
	return units, scale, scale > 0 || len(a.text) <= digitsMax
}

// Scale counts the decimals that matter: 2 for "1.25" and "1.250", 0 for "10.00".
func (a Amount) Scale() int {
	_, fraction, _ := strings.Cut(a.Normal(), ".")
	return len(fraction)
}

// ScaleWritten counts the decimals that the author wrote: 3 for "1.250".
func (a Amount) ScaleWritten() int {
	_, fraction, _ := strings.Cut(a.text, ".")
	return len(fraction)
}

// SameNumber reports whether two decimals in plain notation are the same number, so that
// the service may answer "10.00000000" to "10". Text that is not such a decimal is the same
// as nothing, not even as itself.
func SameNumber(a, b string) bool {
	a, b = withZero(a), withZero(b)
	return checkPlainZeros(a) == nil && checkPlainZeros(b) == nil && normal(a) == normal(b)
}

// withZero writes the zero that services leave out before a point: ".50" becomes "0.50".
func withZero(text string) string {
	if sign, digits, ok := strings.Cut(text, "."); ok && (sign == "" || sign == "-") {
		return sign + "0." + digits
	}
	return text
}

// ParseRecorded reads the amount of a record. Unlike an author, a service may leave out the zero before
// the point and write zeros before the digits.
func ParseRecorded(text string) (Amount, error) {
	text = withZero(text)
	if checkPlainZeros(text) == nil {
		text = withoutLeadingZeros(text)
	}
	return ParseAmount(text)
}

// ParseNumber reads a decimal in plain notation that may have a minus sign, such as a fee of a
// record, which may be given back. It is false for all other text: for an exponent, of which the
// digits could take any memory, and for more characters than an [Amount] may have.
func ParseNumber(text string) (decimal.Decimal, bool) {
	text = withZero(text)
	if checkPlainZeros(strings.TrimPrefix(text, "-")) != nil {
		return decimal.Decimal{}, false
	}
	number, err := decimal.NewFromString(text)
	return number, err == nil
}

// checkPlain is checkPlainZeros without leading zeros: what an author may write.
func checkPlain(text string) error {
	if err := checkPlainZeros(text); err != nil {
		return err
	}
	if len(text) > 1 && text[0] == '0' && text[1] != '.' {
		return fmt.Errorf("leading zeros are not allowed; write %q", withoutLeadingZeros(text))
	}
	return nil
}

func checkPlainZeros(text string) error {
	switch {
	case text == "":
		return errors.New("is empty; write digits such as \"1200.50\"")
	case text[0] == '-' || text[0] == '+':
		return errors.New("a sign is not allowed; the direction is said by from and to")
	case isAccountants(text):
		return errors.New("is a negative number as accountants write it; an amount has no sign, and its direction is said by from and to")
	}
	point := -1
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
		case c == '.' && point < 0:
			point = i
		case (c == 'e' || c == 'E') && i > 0 && i < len(text)-1:
			return errors.New("an exponent is not allowed; write all digits")
		case c == ',' || c == '_' || c == '\'':
			return separatorError(text, i)
		case c == ' ' || c == '\t':
			return errors.New("space is not allowed; write digits such as \"1200.50\"")
		case c >= utf8.RuneSelf && hasOtherSpace(text):
			return errors.New("has a space of another kind, which spreadsheets write between thousands; write digits such as \"1200.50\"")
		case (c == '\n' || c == '\r') && i > 0:
			return errors.New("a line break is not allowed; write digits such as \"1200.50\"")
		case c >= utf8.RuneSelf && hasOtherDigit(text):
			return errors.New("has digits of another script or width; write the digits 0 to 9, such as \"1200.50\"")
		default:
			return errors.New("is not a decimal; write digits such as \"1200.50\"")
		}
	}
	if point == 0 || point == len(text)-1 {
		return errors.New("digits are needed on both sides of the point")
	}
	if len(text) > amountLengthMax {
		return fmt.Errorf("has %d characters, more than %d", len(text), amountLengthMax)
	}
	return nil
}

// hasOtherSpace reports whether a text of digits has a space of another kind, such as the one that no line breaks at.
func hasOtherSpace(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsSpace(r) })
}

// hasOtherDigit reports whether a text has a digit that is none of 0 to 9.
func hasOtherDigit(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) })
}

// isAccountants reports whether a text is a negative number with its sign behind it or in parentheses.
func isAccountants(text string) bool {
	inner, isNegative := strings.CutSuffix(text, "-")
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		inner, isNegative = text[1:len(text)-1], true
	}
	return isNegative && inner != "" && strings.Trim(inner, "0123456789.,' ") == "" && !strings.HasSuffix(inner, ".") // 1200.- is whole
}

// separatorError names the mistake of a comma or a sign between digits, which is at the i-th byte. A
// single comma that groups of three digits do not follow is a decimal one.
func separatorError(text string, i int) error {
	const groupLength = 3
	decimals := text[i+1:]
	isDecimalComma := text[i] == ',' && decimals != "" && len(decimals) != groupLength &&
		!strings.ContainsFunc(decimals, func(r rune) bool { return r < '0' || r > '9' })
	switch {
	case isDecimalComma && strings.Contains(text[:i], "."):
		return errors.New("neither grouping nor a decimal comma is allowed; write digits with a point, such as \"1200.50\"")
	case isDecimalComma:
		return errors.New("a decimal comma is not allowed; write a point, such as \"1200.50\"")
	}
	return errors.New("grouping is not allowed; write digits with a point, such as \"1200.50\"")
}

// normal drops zeros that say nothing, from text that checkPlainZeros accepts.
func normal(text string) string {
	if strings.IndexByte(text, '.') >= 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if text != "" && text[0] != '0' {
		return text
	}
	return withoutLeadingZeros(text)
}

func withoutLeadingZeros(text string) string {
	trimmed := strings.TrimLeft(text, "0")
	if trimmed == "" || trimmed[0] == '.' {
		return "0" + trimmed
	}
	return trimmed
}

// MarshalText returns the author's digits.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.text), nil }

// UnmarshalText reads what MarshalText returned; no digits are the zero value.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*a = Amount{}
		return nil
	}
	*a, err = ParseAmount(string(text))
	return err
}
