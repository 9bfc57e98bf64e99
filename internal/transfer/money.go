package transfer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// shownScaleMax bounds the zeros that a scale may add: no asset is known to have more decimals.
const shownScaleMax = 38

// Scales are how many decimals assets have, by code in one spelling ([AssetSpelled]), as asset
// blocks say. A currency of ISO 4217 that is not named has the decimals of the standard. nil
// names none.
type Scales map[string]int

// Of is how many decimals an asset has; false where nothing says so.
func (s Scales) Of(asset string) (int, bool) {
	one := AssetSpelled(asset)
	if scale, ok := s[one]; ok {
		return scale, true
	}
	return CurrencyScale(one)
}

// Shown writes an amount or a sum for a person: its digits in groups of three, filled up with
// zeros to the decimals of its asset. Decimals beyond these are shown as they are: nothing is
// rounded away. Text that is not a number in plain notation, such as what a service wrote, comes
// back unchanged.
func (s Scales) Shown(number, asset string) string {
	if !isPlainNumber(number) {
		return number
	}
	grouped := Grouped(number)
	scale, _ := s.Of(asset)
	_, fraction, hasPoint := strings.Cut(number, ".")
	missing := min(scale, shownScaleMax) - len(fraction)
	if missing <= 0 {
		return grouped
	}
	if !hasPoint {
		grouped += "."
	}
	return grouped + strings.Repeat("0", missing)
}

// ShownSum is [Scales.Shown] of an exact sum.
func (s Scales) ShownSum(sum decimal.Decimal, asset string) string {
	return s.Shown(Digits(sum), asset)
}

// Plain is [Scales.ShownSum] without groups, for programs of accountants.
func (s Scales) Plain(sum decimal.Decimal, asset string) string {
	scale, _ := s.Of(asset)
	return sum.StringFixed(int32(max(min(scale, shownScaleMax), -int(sum.Exponent()), 0)))
}

// Grouped writes a number in plain notation, which may have a minus sign, with a comma before
// each three digits left of its point. Other text comes back unchanged.
func Grouped(number string) string {
	if !isPlainNumber(number) {
		return number
	}
	end := strings.IndexByte(number, '.')
	if end < 0 {
		end = len(number)
	}
	start := 0
	if number[0] == '-' {
		start = 1
	}
	const size = 3
	if end-start <= size {
		return number
	}
	b := make([]byte, 0, len(number)+(end-start)/size)
	for i := range len(number) {
		if i > start && i < end && (end-i)%size == 0 {
			b = append(b, ',')
		}
		b = append(b, number[i])
	}
	return string(b)
}

// Ungrouped is a number as a person may type it: plain, or with a comma before each three digits
// left of its point, as [Grouped] writes it. Commas elsewhere make it no number, and come back
// unchanged.
func Ungrouped(typed string) string {
	plain := strings.ReplaceAll(typed, ",", "")
	if Grouped(plain) == typed {
		return plain
	}
	return typed
}

// PlainOfOtherSigns reports which sign of a number makes it one of another country, such as the decimal comma of
// 11.580,78 or the apostrophe of 11'580.78, and writes it plainly, as 11580.78. The sign is "" where there is none,
// or where the number can't be read in one way alone. One such as 11,580 is grouped, as [Ungrouped] reads it.
func PlainOfOtherSigns(typed string) (plain, sign string) {
	whole, fraction, hasComma := strings.Cut(typed, ",")
	point, sign := "", ""
	switch {
	case Ungrouped(typed) != typed:
		return "", ""
	case hasComma:
		point, sign = ".", "a decimal comma"
	default:
		if whole, fraction, _ = strings.Cut(typed, "."); len(whole) < len(typed) {
			point = "."
		}
	}
	for _, group := range []string{".", " ", "'", "’", "\u00a0", "\u202f"} {
		if !strings.Contains(whole, group) {
			continue
		}
		whole = Ungrouped(strings.ReplaceAll(whole, group, ","))
		if !hasComma {
			sign = map[bool]string{true: "an apostrophe", false: "a space"}[strings.ContainsAny(group, "'’")] + " between digits"
		}
		break
	}
	plain = whole + point + fraction
	if sign == "" || strings.ContainsAny(whole, ".-") || !isPlainNumber(plain) {
		return "", ""
	}
	return plain, sign
}

// isPlainNumber reports whether text is digits with an optional minus sign and fraction.
func isPlainNumber(text string) bool {
	text = strings.TrimPrefix(text, "-")
	point := -1
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
		case c == '.' && point < 0:
			point = i
		default:
			return false
		}
	}
	return text != "" && point != 0 && point != len(text)-1
}

// writtenScale is an asset in the JSON of [Scales].
type writtenScale struct {
	Asset string `json:"asset"`
	Scale int    `json:"scale"`
}

// MarshalJSON writes a list in the order of the codes: a code is a value, and never the name of a
// field.
func (s Scales) MarshalJSON() ([]byte, error) {
	list := make([]writtenScale, 0, len(s))
	for _, asset := range slices.Sorted(maps.Keys(s)) {
		list = append(list, writtenScale{asset, s[asset]})
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Scales) UnmarshalJSON(text []byte) error {
	var list []writtenScale
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*s = make(Scales, len(list))
	for _, of := range list {
		(*s)[of.Asset] = of.Scale
	}
	return nil
}
