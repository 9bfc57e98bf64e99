package rows

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
)

// raggedDetail says how many fields a row has, where the header has another number of them, and why that may be.
func raggedDetail(fields []string, header int, delimiter rune) string {
	detail := fmt.Sprintf("The row has %s, the header %d.", english.Plural(len(fields), "field"), header)
	if len(fields) < header {
		return detail + " Is the file cut off here, or a sign between two fields missing? An empty field has its sign, too."
	}
	if !slices.ContainsFunc(fields[header:], func(field string) bool { return strings.TrimSpace(field) != "" }) {
		return fmt.Sprintf("%s What is too many is empty. Take the signs %q at the end of the row away, or export the file again.", detail, strings.Repeat(string(delimiter), len(fields)-header))
	}
	if number := splitNumber(fields); number != "" && delimiter == ',' {
		return fmt.Sprintf("%s The number %s has a decimal comma, and commas separate the fields. Export the file again with semicolons between the fields, or with its numbers in quotation marks.", detail, number)
	}
	return fmt.Sprintf("%s Quote text that contains %q.", detail, delimiter)
}

// openMark says which quotation marks do not match, and where, in a file of which lines are skipped.
func openMark(wrong *csv.ParseError, delimiter rune, skipped int) (detail string, line, column int) {
	switch {
	case wrong.StartLine != wrong.Line:
		return fmt.Sprintf("A quotation mark of this row is not closed, so that its field goes on until line %d. Close the mark where the field ends, and double each mark inside of it.", wrong.Line+skipped), wrong.StartLine + skipped, 1
	case errors.Is(wrong.Err, csv.ErrQuote):
		return fmt.Sprintf("A field of this row begins with a quotation mark that is not closed at the end of the field. Close it there, before %q or the end of the row, and double each mark inside of the field.", delimiter), wrong.StartLine + skipped, 1
	}
	return "A quotation mark stands inside of a field that does not begin with one. Quote the whole field, and double the mark.", wrong.Line + skipped, wrong.Column
}

var (
	wholePart   = lazyregexp.New(`^-?\d+$`)
	decimalPart = lazyregexp.New(`^\d{1,2}$`)
)

// splitNumber is a number with a decimal comma that was read as two fields; "" where there is none.
func splitNumber(fields []string) string {
	for i := 1; i < len(fields); i++ {
		if wholePart.MatchString(fields[i-1]) && decimalPart.MatchString(fields[i]) {
			return fields[i-1] + "," + fields[i]
		}
	}
	return ""
}
