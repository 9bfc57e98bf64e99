package rows

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/english"
)

// oneLineEnd turns the ends of lines that editors and browsers know into those of a file.
var oneLineEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// mayHaveLines reports whether a field may have an end of a line, by bytes that each of them begins with.
func mayHaveLines(field string) bool {
	for i := range len(field) {
		switch b := field[i]; {
		case b >= '\n' && b <= '\r', b == '\u0085'>>6|0xc0, b == '\u2028'>>12|0xe0:
			return true
		}
	}
	return false
}

// checkLines refuses a field of several lines in which rows may be hidden: a quotation mark that
// someone left open reaches up to the next one, and the lines between are no rows then. The text
// before the first end of a line would have been the end of a row, and that after the last one the
// beginning of another.
func (r *csvRecord) checkLines() hcl.Diagnostics {
	last := len(r.file.names.names) - 1
	for i, field := range r.fields {
		if last < 1 || i > last || !strings.ContainsRune(field, r.file.options.Delimiter) { // as in most fields: it has no two cells
			continue
		}
		if !mayHaveLines(field) { // as of most that have
			continue
		}
		field = oneLineEnd.Replace(field)
		first, rest, several := strings.Cut(field, "\n")
		if !several {
			continue
		}
		delimiter := string(r.file.options.Delimiter)
		end := rest[strings.LastIndexByte(rest, '\n')+1:]
		if strings.Count(first, delimiter) >= last-i && strings.Count(end, delimiter) >= i {
			return hcl.Diagnostics{mistake.New(r.at(i), "Rows in quotation marks",
				"A field in quotation marks begins here, has %s, and reads like rows of this file: they would be left out. Close the mark where its field ends, or write the text of the field in one line.",
				english.Plural(strings.Count(field, "\n")+1, "line"))}
		}
	}
	return nil
}
