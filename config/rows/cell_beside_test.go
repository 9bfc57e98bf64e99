package rows_test

import (
	"testing"

	"remit/config/rows"
)

func TestBesideNumber(t *testing.T) {
	accounting := rows.BuiltInFormat(44)
	for name, test := range map[string]struct {
		number string
		codes  []string
		want   string
	}{
		"nothing":                                {"12", []string{"#,##0.00"}, ""},
		"General":                                {"12", []string{""}, ""},
		"a quoted sign":                          {"12", []string{`"$"#,##0.00`}, "$"},
		"a sign of a language":                   {"12", []string{`[$€-407]\ #,##0.00`}, "€"},
		"a code":                                 {"12", []string{`#,##0.00\ [$GBP]`}, "GBP"},
		"a code, letter by letter":               {"12", []string{`0.00\ \G\B\P`}, "GBP"},
		"of Excel, for accounts":                 {"12", []string{`_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-`}, "€"},
		"the section of the number":              {"-12", []string{`0.00;0.00" out"`}, "out"},
		"a format of the reader's language":      {"12", []string{accounting}, ""},
		"such a one, and what the workbook says": {"12", []string{accounting, `0.00\ "€"`}, "€"},
		"a conditional format without one":       {"12", []string{`0.00\ "€"`, "0.00;[Red]-0.00"}, "€"},
		"a conditional format with another one":  {"12", []string{`0.00\ "€"`, `"$"0.00`}, ""},
		"a conditional format alone with one":    {"12", []string{"0.00", `"$"0.00`}, ""},
	} {
		if got := rows.BesideNumber(test.number, test.codes...); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
