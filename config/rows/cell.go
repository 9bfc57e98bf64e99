package rows

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/text/lazyregexp"
)

// numberDigits is how many digits of a number a spreadsheet keeps and computes with.
const numberDigits = 15

// cellText is what a cell is as text.
type cellText struct {
	text    string
	decimal bool // it is a plain decimal
}

// shownError says that a cell shows another thing than it holds.
type shownError struct {
	code   string // the number format
	says   string
	remedy string
}

func (e *shownError) Error() string { return e.says + ". " + e.remedy }

const otherFormat = "Give the cell another format, or leave its column out with columns"

// notShown is the mistake of a format by which a cell shows something else. shows is "" for
// nothing.
func (f *cellFormat) notShown(holds, shows string) *shownError {
	if shows = strconv.Quote(shows); shows == `""` {
		shows = "nothing"
	}
	return &shownError{f.code, fmt.Sprintf("holds %s, and its number format %s shows %s", holds, f.code, shows), otherFormat}
}

// notAlike is the mistake of a format that programs show in more than one way.
func (f *cellFormat) notAlike(holds string) error {
	if f.code == unknownFormat {
		return &shownError{f.code, fmt.Sprintf("holds %s, and has a number format that not every spreadsheet program knows", holds), otherFormat}
	}
	return &shownError{f.code, fmt.Sprintf("holds %s, and not every spreadsheet program shows that alike by its number format %s", holds, f.code), otherFormat}
}

// xmlDouble is a double of XML Schema, but for NaN and infinity.
var xmlDouble = lazyregexp.New(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// cellNumber makes text of a number as it is stored in a workbook: a date as ISO 8601, an
// identifier as it is shown, anything else as the exact decimal that is meant. It is an error
// where one of the formats by which programs show it shows another thing.
func cellNumber(formats []*cellFormat, stored string, is1904 bool) (cellText, error) {
	number, err := strconv.ParseFloat(stored, 64)
	if err != nil || !xmlDouble.MatchString(stored) || math.IsInf(number, 0) || math.IsNaN(number) {
		return cellText{}, fmt.Errorf("cannot be read: %q is no number", stored)
	}
	first := cellText{}
	for i, f := range formats {
		c, err := f.number(stored, number, is1904)
		if err != nil {
			return cellText{}, err
		}
		if i > 0 && c != first {
			return cellText{}, f.notShown(first.text, c.text)
		}
		first = c
	}
	return first, nil
}

// number is what a number means in a cell of the format.
func (f *cellFormat) number(stored string, number float64, is1904 bool) (cellText, error) {
	exact, inexact := exactDecimal(stored, number)
	switch {
	case f.unknown:
		return cellText{}, f.notAlike(stored)
	case len(f.sections) == 0 && (f.text == nil || f.isPlainText()):
		return cellText{text: exact.String(), decimal: true}, inexact
	}
	s, unsigned := f.section(exact)
	switch {
	case s == nil:
		return cellText{}, f.notAlike(stored)
	case s.date:
		text, err := f.date(number, s, is1904)
		return cellText{text: text}, err
	case inexact != nil:
		return cellText{}, inexact
	}
	n, ok := s.show(exact, unsigned)
	if !ok {
		return cellText{}, f.notAlike(exact.String())
	}
	if text, ok := s.identifier(exact, n); ok {
		return cellText{text: text}, nil
	}
	if !n.means(exact) {
		err := f.notShown(exact.String(), n.text())
		if value, ok := n.value(); ok && n.middle != "" && !value.Equal(exact.Abs()) && value.Sub(exact.Abs()).Abs().LessThan(decimal.New(1, 0)) {
			err.remedy = "If what it shows is meant, round it in the workbook, with ROUND. If what it holds is meant, give it a format with more decimals, or leave its column out with columns"
		}
		return cellText{}, err
	}
	return cellText{text: exact.String(), decimal: true}, nil
}

// isPlainText says whether the format is that of texts, by which a number shows as it is.
func (f *cellFormat) isPlainText() bool { return f.code == "@" }

// checkTextShown looks at a text in a cell of the formats. It is an error where it shows otherwise than it is.
func checkTextShown(formats []*cellFormat, text string) error {
	for _, f := range formats {
		if f.unknown && strings.ContainsAny(f.code, "@;") {
			return f.notAlike(strconv.Quote(text))
		}
		if shown := f.shownText(text); strings.TrimSpace(shown) != strings.TrimSpace(text) {
			return f.notShown(strconv.Quote(text), strings.TrimSpace(shown))
		}
	}
	return nil
}

// checkTruthShown looks whether a cell shows its truth value as that: by a format of numbers some programs
// show 1 or 0.
func checkTruthShown(formats []*cellFormat, truth bool) error {
	text, number := "FALSE", decimal.Zero
	if truth {
		text, number = "TRUE", decimal.New(1, 0)
	}
	for _, f := range formats {
		if !f.unknown && len(f.sections) == 0 && f.text == nil {
			continue
		}
		var n shownNumber
		ok := false
		if !f.unknown {
			if s, unsigned := f.section(number); s != nil && !s.date {
				n, ok = s.show(number, unsigned)
			}
		}
		if !ok || n.text() != text {
			return f.notAlike(text)
		}
	}
	return nil
}

// exactDecimal is the decimal that is meant by a number as it is stored: the shortest one
// that is the same number, without what 15 digits have no room for. That is noise of binary
// arithmetic, where all digits before it are zeros.
func exactDecimal(stored string, number float64) (decimal.Decimal, error) {
	if math.Abs(number) >= 1e15 { // 10 to the power of numberDigits
		return decimal.Zero, fmt.Errorf("cannot be read: %s has more digits than the %d that a spreadsheet keeps of a number. Format the cell as text, and type it again", stored, numberDigits)
	}
	if number != 0 && math.Abs(number) < 1e-30 {
		return decimal.Zero, fmt.Errorf("cannot be read: %s is no number that is written out", stored)
	}
	exact := decimal.RequireFromString(strconv.FormatFloat(number, 'e', -1, 64))
	short := decimal.RequireFromString(strconv.FormatFloat(number, 'e', numberDigits-1, 64))
	if short.NumDigits()-trailingZeros(short) < numberDigits-1 {
		return plain(short), nil
	}
	return plain(exact), nil
}

// trailingZeros counts the zeros at the end of the digits.
func trailingZeros(d decimal.Decimal) int {
	digits := strings.TrimLeft(d.Coefficient().String(), "-")
	return len(digits) - len(strings.TrimRight(digits, "0"))
}

// plain leaves zeros at the end of the decimals out.
func plain(d decimal.Decimal) decimal.Decimal { return decimal.RequireFromString(d.String()) }
