package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"
	"github.com/xuri/nfp"
)

// numberDigits is how many digits of a number a spreadsheet keeps and computes with.
const numberDigits = 15

// cellFormat is what the number format of a cell says of what it shows.
type cellFormat struct {
	sections   []cellSection // for positive numbers, negative ones and zero, as far as there are any
	hidesText  bool          // text does not show
	writesText bool          // another text shows instead
	writes     string        // the format, where it writes digits or points of its own into what it shows
}

// cellSection is the part of a format for numbers of one sign.
type cellSection struct {
	// condition is an operator and the number that it compares with; "" for that of the place.
	condition string
	limit     float64
	general   bool
	date      bool // years, months or days
	time      bool // hours, minutes or seconds
	elapsed   bool // hours beyond a day
	digits    bool // shows digits at all
	decimals  int
	percent   bool
	scaled    bool // shows thousands or millions
	rough     bool // an exponent or a fraction
	// padded are the pieces of a format that pads with zeros and has no decimals, such as
	// "E-"0000: text, and how many digits.
	padded []padPiece
}

// padPiece is text, or a number of digits.
type padPiece struct {
	text   string
	digits int
}

// ownDigits are digits that a format writes whatever the number is: in quotation marks, after a
// backslash or a star, in a currency, or one that is no place for a digit.
var ownDigits = regexp.MustCompile(`^(?:[^"\\\[*_]|\\[^0-9]|[*_][^0-9]|_[0-9]|"[^"0-9]*"|\[[^$\]][^\]]*\]|\[\$[^\]\-0-9]*(?:-[^\]]*)?\])*?(?:[1-9]|\\[0-9]|\*[0-9]|"[^"0-9]*[0-9]|\[\$[^\]\-0-9]*[0-9])`)

// ownPoint is text between the digits that looks like a point: 12345 would show as 123.45.
var ownPoint = regexp.MustCompile(`[0#?](?:"[^"]*[.,][^"]*"|\\[.,])[0#?]`)

// fractionOf is a denominator, which is no digit of its own.
var fractionOf = regexp.MustCompile(`/ ?[0-9]+`)

// parseCellFormat reads a number format of a workbook; "" is General.
func parseCellFormat(code string) cellFormat {
	var f cellFormat
	if code == "" || strings.EqualFold(code, "General") {
		return f
	}
	parser := nfp.NumberFormatParser()
	for _, from := range parser.Parse(code) {
		if from.Type != nfp.TokenSectionText {
			f.sections = append(f.sections, newCellSection(from.Items))
			continue
		}
		isLiteral := func(t nfp.Token) bool { return t.TType == nfp.TokenTypeLiteral && t.TValue != "" }
		f.hidesText = !slices.ContainsFunc(from.Items, func(t nfp.Token) bool { return t.TType == nfp.TokenTypeTextPlaceHolder })
		f.writesText = slices.ContainsFunc(from.Items, isLiteral)
	}
	if ownDigits.MatchString(fractionOf.ReplaceAllString(code, "")) || ownPoint.MatchString(code) {
		f.writes = code
	}
	return f
}

func newCellSection(tokens []nfp.Token) cellSection {
	var s cellSection
	var pieces []padPiece
	afterPoint, atEnd, zeros, otherDigits := false, false, 0, false
	for _, token := range tokens {
		switch token.TType {
		case nfp.TokenTypeCondition:
			number := strings.TrimLeft(token.TValue, "<>=")
			s.condition = strings.TrimSuffix(token.TValue, number)
			s.limit, _ = strconv.ParseFloat(number, 64) // the parser takes numbers alone
		case nfp.TokenTypeGeneral:
			s.general = true
		case nfp.TokenTypeDateTimes:
			letters := strings.ToLower(token.TValue)
			s.date = s.date || strings.ContainsAny(letters, "ydeb")
			s.time = s.time || strings.ContainsAny(letters, "hs")
			s.date = s.date || strings.HasPrefix(letters, "mmm")
		case nfp.TokenTypeElapsedDateTimes:
			s.time, s.elapsed = true, true
		case nfp.TokenTypeZeroPlaceHolder, nfp.TokenTypeHashPlaceHolder, nfp.TokenTypeDigitalPlaceHolder:
			s.digits, atEnd = true, true
			s.scaled = false
			switch {
			case afterPoint:
				s.decimals += len(token.TValue)
			case token.TType == nfp.TokenTypeZeroPlaceHolder:
				zeros += len(token.TValue)
				pieces = append(pieces, padPiece{digits: len(token.TValue)})
			default:
				otherDigits = true
			}
		case nfp.TokenTypeThousandsSeparator:
			s.scaled = atEnd
			otherDigits = true
		case nfp.TokenTypeDecimalPoint:
			afterPoint = true
		case nfp.TokenTypePercent:
			s.percent = true
		case nfp.TokenTypeExponential, nfp.TokenTypeFraction:
			s.rough = true
		case nfp.TokenTypeLiteral:
			pieces = append(pieces, padPiece{text: token.TValue})
		}
	}
	if zeros > 1 && !otherDigits && !afterPoint && !s.percent && !s.rough && !s.date && !s.time {
		s.padded = pieces
	}
	return s
}

// section is that for a number: the first whose condition holds, and one that shows nothing
// where none does.
func (f cellFormat) section(number float64) (cellSection, bool) {
	const most = 3
	defaults := [most + 1][]string{{}, {""}, {">=", ""}, {">", "<", ""}}[min(len(f.sections), most)]
	for i, s := range f.sections[:len(defaults)] {
		if s.condition == "" {
			s.condition = defaults[i] // with the limit 0
		}
		if s.holds(number) {
			return s, true
		}
	}
	return cellSection{}, len(f.sections) > 0
}

// holds says whether the section is for a number.
func (s cellSection) holds(number float64) bool {
	switch s.condition {
	case "<":
		return number < s.limit
	case "<=":
		return number <= s.limit
	case ">":
		return number > s.limit
	case ">=":
		return number >= s.limit
	case "=":
		return number == s.limit
	case "<>":
		return number != s.limit
	}
	return true
}

// cellText is what a cell that holds a number is as text.
type cellText struct {
	text    string
	decimal bool   // it is a plain decimal
	shown   string // what the cell shows instead, where that is less; "" where it shows it all
}

// xmlDouble is a double of XML Schema, but for what is no number.
var xmlDouble = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// number makes text of a number as it is stored in a workbook: a date as ISO 8601, an
// identifier as it is shown, anything else as the exact decimal that is meant.
func (f cellFormat) number(stored string, is1904 bool) (cellText, error) {
	number, err := strconv.ParseFloat(stored, 64)
	if err != nil || !xmlDouble.MatchString(stored) || math.IsInf(number, 0) || math.IsNaN(number) {
		return cellText{}, fmt.Errorf("%q is no number", stored)
	}
	if f.writes != "" {
		return cellText{}, fmt.Errorf("it holds %s, and its number format %s writes digits or points of its own into what it shows. Give the cell another format", stored, f.writes)
	}
	section, isFormatted := f.section(number)
	if section.date || section.time {
		text, err := dateText(number, section, is1904)
		return cellText{text: text}, err
	}
	exact, err := exactDecimal(stored, number)
	if err != nil {
		return cellText{}, err
	}
	if section.padded != nil && exact.IsInteger() && !exact.IsNegative() {
		return cellText{text: pad(exact.String(), section.padded)}, nil
	}
	c := cellText{text: exact.String(), decimal: true}
	if isFormatted && !section.general {
		c.shown = section.hides(exact)
	}
	return c, nil
}

// exactDecimal is the decimal that is meant by a number as it is stored: the shortest one
// that is the same number, without what 15 digits have no room for. That is noise of binary
// arithmetic, where no digit but zero stands before it.
func exactDecimal(stored string, number float64) (decimal.Decimal, error) {
	if math.Abs(number) >= 1e15 { // 10 to the power of numberDigits
		return decimal.Zero, fmt.Errorf("%s has more digits than the %d that a spreadsheet keeps of a number. Format the cell as text, and type it again", stored, numberDigits)
	}
	if number != 0 && math.Abs(number) < 1e-30 {
		return decimal.Zero, fmt.Errorf("%s is no number that is written out", stored)
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

// hides is what a cell shows of a number where that is less than the number; "" otherwise.
func (s cellSection) hides(exact decimal.Decimal) string {
	switch {
	case exact.IsZero():
		return ""
	case s.rough:
		return "it with an exponent or as a fraction"
	case !s.digits:
		return "no digits of it"
	case s.scaled:
		return "thousands of it"
	}
	if s.percent {
		exact = exact.Shift(2)
	}
	rounded := exact.Round(int32(s.decimals))
	if rounded.Equal(exact) {
		return ""
	}
	text := rounded.StringFixed(int32(s.decimals))
	if s.percent {
		text += "%"
	}
	return text
}

// pad puts the digits of a whole number into a format, from its end.
func pad(digits string, pieces []padPiece) string {
	out := ""
	for i := len(pieces) - 1; i >= 0; i-- {
		if pieces[i].digits == 0 {
			out = pieces[i].text + out
			continue
		}
		n := min(pieces[i].digits, len(digits))
		out = strings.Repeat("0", pieces[i].digits-n) + digits[len(digits)-n:] + out
		digits = digits[:len(digits)-n]
		if digits != "" && !hasDigits(pieces[:i]) { // the first place takes what is left
			out, digits = digits+out, ""
		}
	}
	return out
}

func hasDigits(pieces []padPiece) bool {
	for _, p := range pieces {
		if p.digits > 0 {
			return true
		}
	}
	return false
}

var errNoDate = errors.New("it is no date or time that each spreadsheet program would show alike")

// dateText is a number of days as ISO 8601: a date, a time of day, or both.
func dateText(days float64, s cellSection, is1904 bool) (string, error) {
	if s.elapsed {
		seconds := int64(math.Round(days * 24 * 60 * 60))
		if seconds < 0 {
			return "", errNoDate
		}
		return fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60), nil
	}
	const lastDay = 2958466        // after 9999-12-31
	const sure = 61                // from 1900-03-01 on: before, Excel has a day more than there was
	hasDate := s.date || days >= 1 // which a format of hours alone does not show
	if days < 0 || days >= lastDay || hasDate && !is1904 && days < sure {
		return "", errNoDate
	}
	t, err := excelize.ExcelDateToTime(days, is1904)
	if err != nil {
		return "", errNoDate
	}
	t = t.Round(time.Second)
	switch {
	case !hasDate:
		return t.Format("15:04:05"), nil
	case !s.time && t.Hour()+t.Minute()+t.Second() == 0:
		return t.Format("2006-01-02"), nil
	}
	return t.Format("2006-01-02T15:04:05"), nil
}
