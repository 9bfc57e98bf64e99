package rows

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"remit/internal/files/confined"
)

const (
	workbookTextsMax  = 16 << 20 // that cells share
	workbookSheetsMax = 10_000
)

// workbook is an .xlsx file that was opened: its sheets, texts and formats. Its rows are read
// as a stream from the XML of a sheet. Its parts are those that relationships lead to, from the
// package on, as for every spreadsheet program: a part that nothing leads to is not what people see.
type workbook struct {
	pack    *workbookPackage
	list    []sheet
	texts   []string     // that cells share
	struck  map[int]bool // those of which a part is struck through
	styles  styles
	formats map[string]*cellFormat // by their codes
	is1904  bool                   // days are counted from 1904
}

// sheet is one sheet of a workbook.
type sheet struct {
	name   string
	hidden bool
	part   string // its name in the package; "" where it has no cells, as a chart
}

// openWorkbook reads a workbook. An error tells the author of the file what it is instead.
func openWorkbook(file io.Reader) (*workbook, error) {
	content, err := confined.ReadAtMost(file, workbookBytesMax)
	if err != nil {
		return nil, err
	}
	w := &workbook{struck: map[int]bool{}, formats: map[string]*cellFormat{}}
	if w.pack, err = openPackage(content); err != nil {
		return nil, err
	}
	root, err := w.pack.relations("")
	if err != nil {
		return nil, err
	}
	main, err := related(root, "officeDocument")
	if err != nil {
		return nil, err
	}
	if main == "" {
		return nil, errors.New("is no whole workbook: it has no sheets")
	}
	relations, err := w.pack.relations(main)
	if err != nil {
		return nil, err
	}
	if err := w.readMain(main, relations); err != nil {
		return nil, err
	}
	if err := w.readStyles(relations); err != nil {
		return nil, err
	}
	return w, w.readTexts(relations)
}

// isRelationSpace says whether an attribute is the ID of a relationship.
func isRelationSpace(space string) bool {
	return space == "http://schemas.openxmlformats.org/officeDocument/2006/relationships" || space == "http://purl.oclc.org/ooxml/officeDocument/relationships"
}

// readMain reads the list of sheets, and from when days are counted.
func (w *workbook) readMain(main string, relations []relation) error {
	content, err := w.pack.part(main)
	if err != nil {
		return err
	}
	targets := map[string]relation{}
	for _, r := range relations {
		if _, isTwice := targets[r.id]; isTwice {
			return errors.New("is damaged: two of its parts have one ID")
		}
		targets[r.id] = r
	}
	seen := map[string]bool{} // elements that may occur once
	return eachElement(content, func(path string, element xml.StartElement) error {
		if !strings.Contains(path, "/") && (path != "workbook" || !isSheetSpace(element.Name.Space)) {
			return errPartDamaged
		}
		if !isSheetSpace(element.Name.Space) {
			return nil
		}
		switch name := element.Name.Local; {
		case name == "workbookPr" || name == "sheets":
			if path != "workbook/"+name || seen[name] {
				return errPartDamaged
			}
			seen[name] = true
			w.is1904 = w.is1904 || isTrue(attribute(element, "date1904"))
		case name == "sheet" && strings.HasPrefix(path, "workbook/sheets"):
			if path != "workbook/sheets/sheet" || len(w.list) == workbookSheetsMax {
				return errPartDamaged
			}
			w.list = append(w.list, listedSheet(element, targets))
		}
		return nil
	})
}

func listedSheet(element xml.StartElement, targets map[string]relation) sheet {
	state := attribute(element, "state")
	s := sheet{name: attribute(element, "name"), hidden: state != "" && state != "visible"}
	for _, a := range element.Attr {
		if r := targets[a.Value]; a.Name.Local == "id" && isRelationSpace(a.Name.Space) && r.kind == "worksheet" {
			s.part = r.target
		}
	}
	return s
}

// readTexts reads the texts that cells share.
func (w *workbook) readTexts(relations []relation) error {
	part, err := related(relations, "sharedStrings")
	if err != nil || part == "" {
		return err // without it, a cell that has a text there is damaged
	}
	content, err := w.pack.part(part)
	if err != nil {
		return err
	}
	return w.readTextsOf(newPartDecoder(bytes.NewReader(content)))
}

func (w *workbook) readTextsOf(decoder *partDecoder) error {
	errDamaged := errors.New("is damaged: its texts cannot be read")
	var open []string
	var text strings.Builder
	isRunStruck := false
	for roots := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errDamaged
		}
		at := strings.Join(open, "/")
		isText := at == "sst/si/t" || at == "sst/si/r/t"
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) == 0 {
				roots++
			}
			if isText || roots > 1 || !isSheetSpace(t.Name.Space) && len(open) < 4 {
				return errDamaged
			}
			switch {
			case at == "sst/si" && t.Name.Local == "r":
				isRunStruck = false
			case at == "sst/si/r/rPr" && t.Name.Local == "strike":
				isRunStruck = isStruck(t)
			}
			open = append(open, t.Name.Local)
		case xml.CharData:
			if isText {
				text.Write(t)
			}
			if isRunStruck && at == "sst/si/r/t" && len(bytes.TrimSpace(t)) > 0 {
				w.struck[len(w.texts)] = true
			}
		case xml.EndElement:
			if at == "sst/si" {
				if len(w.texts) == workbookTextsMax {
					return fmt.Errorf("has more than %d texts", workbookTextsMax)
				}
				w.texts = append(w.texts, unescaped(text.String()))
				text.Reset()
			}
			open = open[:len(open)-1]
		}
	}
}
