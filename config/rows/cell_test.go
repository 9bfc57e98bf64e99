package rows_test

import (
	"strconv"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/config/rows"
)

// TestFormatsThatShowAnotherNumber holds values by which a cell shows another thing than it holds.
func TestFormatsThatShowAnotherNumber(t *testing.T) {
	for code, stored := range map[string]string{
		`"1"0`: "42", `\10.00`: "42", `0"000"`: "42", `[$1]0`: "42", `*10`: "42", `[=42]"100";0`: "42", `"2026-"0000`: "42", `#"."00`: "42", `0\,00`: "42", `10`: "42",
		`0"."00`: "12345", `0,`: "4711000", `;;;"landlord"`: "4711", `;;;`: "4711", `0[$.]00`: "12345", `0[$,]00`: "12345", `0"٣"`: "42", `0"３"`: "42", `0"²"`: "42",
		`(0.00)`: "42", `"-"0.00`: "42", `"−"0.00`: "42", `0"-"`: "42", `"[" 0 "]"`: "42", `0,.00`: "4711", `0.00,`: "4711", `[>=1000]0,;0`: "4711",
		`0"%"`: "42", `0\%`: "42", `0"‰"`: "42", `0"k"`: "42", `0" Mio."`: "42", `0" thousand"`: "42", `0"O"`: "42", `"l"0`: "42", `"|"0`: "42", `0"E3"`: "42", `0"x10"`: "42", `0" 000"`: "42",
		`"."00`: "42", "0\"\u202e\"": "42", "\"\u202e\"0": "42", "0\"\u0338\"": "42", `0`: "42.5", `0.00`: "343.3958333", `#,##0;#,##0`: "-42", `0.00E+00`: "1234.5", `# ?/?`: "0.5", `"E-"0`: "42",
		`[$-3000401]0`: "42", `[$-D07041E]0`: "42", `[NatNum1]0`: "42", `[DBNum1]0`: "42", `[foo]0`: "42", `EUR 0`: "42", `0.0.0`: "42", `[$-407]#,##0`: "12346", `[$-407]0.000`: "1.234", `#\,##0`: "4711",
		`[>=100]0;-0`: "42", `[>100]0`: "42", `[<100]0;[>=200]0.0`: "150", `[>=0]0;0`: "-42", `0;0;0;0;0`: "42", `"100"`: "42", `#`: "0", `0_`: "42", `0"`: "42", `[$-411]ggge"年"`: "46353",
		`yyyy-dd-mm`: "46353", `mm.dd.yyyy`: "46353", `mmm yyyy`: "46353", `hh:mm`: "46353.5", `bb-mm-dd`: "46353", `"Q4 "yyyy-mm-dd`: "46353", `dd/mm/yy`: "60000", `h:mm`: "0.35421", `[mm]:ss`: "0.5",
	} {
		if text, err := rows.CellNumber(code, stored); err == nil {
			t.Errorf("%s in the format %s is read as %s", stored, code, text)
		}
	}
}

// TestFormatsOfHonestWorkbooks holds formats that people use, and what they show.
func TestFormatsOfHonestWorkbooks(t *testing.T) {
	const lakhs = `[>=10000000]##\,##\,##\,##0.00;[>=100000]##\,##\,##0.00;##,##0.00`
	for name, test := range map[string]struct{ code, stored, want string }{
		"lakhs and crores":                  {lakhs, "12345678.5", "12345678.5"},
		"lakhs":                             {lakhs, "123456.75", "123456.75"},
		"thousands in India":                {lakhs, "4711.25", "4711.25"},
		"a unit with a digit":               {`0.00"€/m2"`, "42", "42"},
		"a unit with an exponent":           {`0.00" €/m²"`, "42", "42"},
		"a month":                           {`0.00" (Nov 2026)"`, "42.5", "42.5"},
		"a month before":                    {`"Nov 2026: "0.00`, "42.5", "42.5"},
		"accounting":                        {`_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-`, "42", "42"},
		"nothing, in accounting":            {`_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-`, "0", "0"},
		"a negative one in accounting":      {`_($* #,##0.00_);_($* \(#,##0.00\);_($* "-"??_);_(@_)`, "-42.5", "-42.5"},
		"a language":                        {`[$-409]#,##0.00`, "42", "42"},
		"a language with other separators":  {`[$-407]#,##0.00`, "4711.5", "4711.5"},
		"a color":                           {`[Color10]0.00`, "42", "42"},
		"a negative one in red":             {`#,##0.00;[Red]-#,##0.00`, "-42", "-42"},
		"a condition":                       {`[>=1000]0;0.00`, "42", "42"},
		"a currency of a language":          {`#,##0.00 [$€-407]`, "1234567.5", "1234567.5"},
		"a currency by its code":            {`[$USD-409] #,##0.00`, "42", "42"},
		"a currency with a point":           {`"Rs."#,##0.00`, "4711", "4711"},
		"a whole amount of Switzerland":     {`#'##0".-"`, "4711", "4711"},
		"sixteenths that are whole":         {`# ?/16`, "42", "42"},
		"an apostrophe":                     {`#\'##0.00`, "42", "42"},
		"room for a bracket":                {`0.00_)`, "42", "42"},
		"an euro of long ago":               {`[$€-x-euro2]0.00`, "42", "42"},
		"the format of texts":               {`@`, "42", "42"},
		"a rate":                            {`0.00%`, "0.125", "0.125"},
		"a padded one":                      {`00000`, "42", "00042"},
		"a padded one with letters":         {`"E-"0000`, "42", "E-0042"},
		"decimals as far as there are some": {`0.##`, "42.5", "42.5"},
		"a date of Germany":                 {`dd.mm.yyyy`, "46353", "2026-11-27"},
		"a long date":                       {`[$-F800]dddd\, mmmm dd\, yyyy`, "46353", "2026-11-27"},
		"a date with text for texts":        {`[$-409]d\-mmm\-yy;@`, "46353", "2026-11-27"},
		"a date of China":                   {`yyyy"年"m"月"d"日"`, "46353", "2026-11-27"},
		"a time in halves of a day":         {`h:mm AM/PM`, "0.75", "18:00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			if text, err := rows.CellNumber(test.code, test.stored); err != nil || text != test.want {
				t.Errorf("%s in the format %s is read as %q, %v", test.stored, test.code, text, err)
			}
		})
	}
}

// TestNumbersOfWorkbooksAreExact stores random decimals as every writer of workbooks does, as
// floats of 17 digits: each is read as it was.
func TestNumbersOfWorkbooksAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[1-9][0-9]{0,13}`).Draw(t, "digits")
		scale := rapid.IntRange(0, min(8, len(digits)+2)).Draw(t, "scale")
		want := decimal.RequireFromString(digits).Shift(int32(-scale))
		float, _ := want.Float64()
		stored := rapid.SampledFrom([]string{
			strconv.FormatFloat(float, 'g', 17, 64), strconv.FormatFloat(float, 'f', -1, 64), strconv.FormatFloat(float, 'E', 16, 64), strconv.FormatFloat(float, 'g', 15, 64),
		}).Draw(t, "stored")
		if got, err := rows.CellNumber("", stored); err != nil || got != want.String() {
			t.Errorf("%s stored as %s is read as %s, %v", want, stored, got, err)
		}
	})
}
