package rows

import (
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
)

const workbookStylesMax = 1 << 17 // Excel keeps 65,490

// styles are the number formats of a workbook, each as a list of codes: those by which one program
// or another shows a cell. There is more than one where the workbook says two things. Of fonts they
// know whether a line goes through the text.
type styles struct {
	custom map[int][]string // codes, by the numbers that the workbook has for them
	cells  []int            // the number of the format of each style of cells
	marks  [][]string       // the codes that each style of a conditional format has; none where it leaves them
	fonts  []bool           // that are struck through
	struck map[int]bool     // styles of cells that have such a font
}

// readStyles reads the formats from the part that a relationship leads to. Without one every cell
// shows as General.
func (w *workbook) readStyles(relations []relation) error {
	w.styles.custom, w.styles.struck = map[int][]string{}, map[int]bool{}
	part, err := related(relations, "styles")
	if err != nil || part == "" {
		return err
	}
	content, err := w.pack.part(part)
	if err != nil {
		return err
	}
	errDamaged := errors.New("is damaged: its formats cannot be read")
	seen := map[string]bool{}
	err = eachElement(content, func(path string, element xml.StartElement) error {
		if !strings.Contains(path, "/") && (path != "styleSheet" || !isSheetSpace(element.Name.Space)) {
			return errDamaged
		}
		if strings.HasPrefix(path, "styleSheet/extLst/") {
			return nil
		}
		if strings.Contains(path, "{") && isSheetSpace(element.Name.Space) || element.Name.Local == "AlternateContent" {
			return errDamaged // one program reads it, and another does not
		}
		name := element.Name.Local
		if name == "numFmts" || name == "cellXfs" || name == "dxfs" {
			if seen[path] || path != "styleSheet/"+name {
				return errDamaged
			}
			seen[path] = true
		}
		if len(w.styles.cells)+len(w.styles.marks)+len(w.styles.fonts) > workbookStylesMax {
			return errDamaged
		}
		return w.styles.take(path, element)
	})
	if err != nil {
		return errDamaged
	}
	return nil
}

// take takes one element of the styles in.
func (s *styles) take(path string, element xml.StartElement) error {
	id, wrong := 0, error(nil)
	if text := attribute(element, "numFmtId"); text != "" {
		id, wrong = strconv.Atoi(text)
	}
	switch path {
	case "styleSheet/numFmts/numFmt":
		s.custom[id] = append(s.custom[id], formatCode(element))
	case "styleSheet/cellXfs/xf":
		if font, err := strconv.Atoi(attribute(element, "fontId")); err == nil && font >= 0 && font < len(s.fonts) && s.fonts[font] {
			s.struck[len(s.cells)] = true
		}
		s.cells = append(s.cells, id)
	case "styleSheet/fonts/font":
		s.fonts = append(s.fonts, false)
	case "styleSheet/fonts/font/strike":
		s.fonts[len(s.fonts)-1] = isStruck(element)
	case "styleSheet/dxfs/dxf":
		s.marks = append(s.marks, nil)
	case "styleSheet/dxfs/dxf/numFmt":
		last := len(s.marks) - 1
		s.marks[last] = append(s.marks[last], markCodes(element)...)
	default:
		return nil
	}
	return wrong
}

// isStruck says what an element strike of a font or of a run says: without a value it is true.
func isStruck(element xml.StartElement) bool {
	value := attribute(element, "val")
	return value == "" || isTrue(value)
}

// markCodes are those of the format in a conditional format: by its code, or by a number alone.
func markCodes(element xml.StartElement) []string {
	if attribute(element, "formatCode") != "" {
		return []string{formatCode(element)}
	}
	id, err := strconv.Atoi(attribute(element, "numFmtId"))
	if err != nil {
		return []string{unknownFormat}
	}
	return []string{builtInFormat(id)}
}

// formatCode is the code of a format, or [unknownFormat] where programs may read it differently.
func formatCode(element xml.StartElement) string {
	code := attribute(element, "formatCode")
	if code == "" || escapedCharacter.MatchString(code) {
		return unknownFormat
	}
	return code
}

// codes are those of a style of cells; it is false where there is no such style.
func (s *styles) codes(style int) ([]string, bool) {
	if len(s.cells) == 0 && len(s.custom) == 0 { // a workbook without formats
		return []string{""}, true
	}
	if style < 0 || style >= len(s.cells) {
		return nil, false
	}
	id := s.cells[style]
	codes := s.custom[id]
	switch {
	case id >= 164 && len(codes) == 0: // below are those that need no code
		return []string{""}, true
	case id < 164 && (len(codes) == 0 || builtInFormat(id) != unknownFormat):
		codes = append([]string{builtInFormat(id)}, codes...)
	}
	return codes, true
}

// formatsOf are the formats of a style of cells, and of one that applies where a cell has none.
func (w *workbook) formatsOf(codes []string) []*cellFormat {
	formats := make([]*cellFormat, len(codes))
	for i, code := range codes {
		f := w.formats[code]
		if f == nil {
			f = parseCellFormat(code)
			w.formats[code] = f
		}
		formats[i] = f
	}
	return formats
}
