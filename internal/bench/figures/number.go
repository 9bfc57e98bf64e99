package figures

import (
	"math"
	"strconv"
	"strings"
)

// significant rounds to three significant digits.
func significant(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		panic(err) // FormatFloat made it
	}
	return rounded
}

// number writes three significant digits without an exponent, thousands apart.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	v = significant(v)
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	text := strconv.FormatFloat(v, 'f', max(decimals, 0), 64)
	whole, fraction, isFraction := strings.Cut(text, ".")
	whole = thousands(whole)
	if isFraction {
		return whole + "." + fraction
	}
	return whole
}

// count writes a whole number, thousands apart.
func count(n int) string { return thousands(strconv.Itoa(n)) }

// thousands sets digits apart in groups of three.
func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// seconds writes a time with the unit in which it is read most easily.
func seconds(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 1:
		return number(v*1000) + " ms"
	default:
		return number(v) + " s"
	}
}
