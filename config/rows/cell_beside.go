package rows

import (
	"slices"

	"github.com/shopspring/decimal"
)

// besideNumber is the text that a cell shows beside a plain decimal, such as a currency: that of the first of its formats, where no
// other one has another text. A format of the reader's language says nothing.
func besideNumber(formats []*cellFormat, number string) string {
	shown := ""
	for _, f := range formats {
		if f.ofReader {
			continue
		}
		text := f.beside(number)
		switch {
		case shown == "" && text == "":
			return ""
		case shown == "":
			shown = text
		case text != "" && text != shown:
			return ""
		}
	}
	return shown
}

// beside is the text that the format writes beside a plain decimal.
func (f *cellFormat) beside(number string) string {
	if !slices.ContainsFunc(f.sections, func(s cellSection) bool { return s.beside != "" }) {
		return ""
	}
	if s, _ := f.section(decimal.RequireFromString(number)); s != nil {
		return s.beside
	}
	return ""
}
