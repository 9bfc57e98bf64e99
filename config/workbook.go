package config

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	workbookBytesMax    = 64 << 20  // of the file
	workbookUnzippedMax = 512 << 20 // of all its parts
	workbookPartsMax    = 10_000
	workbookTextsMax    = 16 << 20 // that cells share
	textsDepthMax       = 64
)

// workbook is an .xlsx file that was opened: its sheets, texts and formats. Its rows are read
// as a stream from the XML of a sheet.
type workbook struct {
	file    *excelize.File
	texts   []string // that cells share
	formats map[int]cellFormat
	targets map[string]string // the parts by the IDs that the workbook has for them
	is1904  bool              // days are counted from 1904
}

// sheet is one sheet of a workbook.
type sheet struct {
	name   string
	hidden bool
	part   string // its name in the package
}

// openWorkbook reads a workbook. An error says what the file is instead, to whoever made it.
func openWorkbook(file io.Reader) (*workbook, error) {
	content, err := readAtMost(file, workbookBytesMax)
	if err != nil {
		return nil, err
	}
	if err := checkPackage(content); err != nil {
		return nil, err
	}
	w := &workbook{formats: map[int]cellFormat{}}
	err = guarded(func() error {
		w.file, err = excelize.OpenReader(bytes.NewReader(content), excelize.Options{
			UnzipSizeLimit: workbookUnzippedMax, UnzipXMLSizeLimit: workbookUnzippedMax,
		})
		if err != nil {
			return err
		}
		props, err := w.file.GetWorkbookProps()
		w.is1904 = err == nil && props.Date1904 != nil && *props.Date1904
		return err
	})
	if err != nil {
		return nil, errors.New("is no whole workbook: a part of it is missing or damaged")
	}
	return w, w.readParts()
}

// guarded runs a call of the library. What makes it panic is a damaged file.
func guarded(call func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("is damaged")
		}
	}()
	return call()
}

// checkPackage refuses what is no workbook, or unpacks to more than memory is for.
func checkPackage(content []byte) error {
	switch {
	case bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0")):
		return errors.New("is a workbook of an old kind (.xls), or one with a password. Save it as .xlsx without a password")
	case !bytes.HasPrefix(content, []byte("PK")):
		return errors.New("is no workbook of the kind .xlsx. Text is read by data \"csv\"")
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return errors.New("is no whole workbook: it cannot be unpacked")
	}
	if len(archive.File) > workbookPartsMax {
		return fmt.Errorf("has more than %d parts", workbookPartsMax)
	}
	names := map[string]bool{}
	for _, part := range archive.File {
		name := strings.ToLower(strings.TrimPrefix(path.Clean(strings.ReplaceAll(part.Name, "\\", "/")), "/"))
		if names[name] {
			return fmt.Errorf("is damaged: it has the part %q twice", part.Name)
		}
		names[name] = true
	}
	switch {
	case names["xl/workbook.bin"]:
		return errors.New("is a binary workbook (.xlsb). Save it as .xlsx")
	case names["mimetype"] && names["content.xml"]:
		return errors.New("is an OpenDocument spreadsheet (.ods). Save it as .xlsx")
	}
	var size uint64
	for _, part := range archive.File {
		if part.UncompressedSize64 > workbookUnzippedMax {
			return fmt.Errorf("unpacks to more than %d MiB", workbookUnzippedMax>>20)
		}
		if size += part.UncompressedSize64; size > workbookUnzippedMax {
			return fmt.Errorf("unpacks to more than %d MiB", workbookUnzippedMax>>20)
		}
	}
	return nil
}

// sheets lists the sheets in their order.
func (w *workbook) sheets() ([]sheet, error) {
	if w.file.WorkBook == nil {
		return nil, errors.New("is no whole workbook: it has no sheets")
	}
	var sheets []sheet
	for _, s := range w.file.WorkBook.Sheets.Sheet {
		hidden := s.State != "" && s.State != "visible"
		sheets = append(sheets, sheet{name: s.Name, hidden: hidden, part: w.targets[s.ID]})
	}
	return sheets, nil
}

// relation says where a part of a package is that belongs to another one.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
}

// relations are those of a part, by their targets from the root of the package.
func (w *workbook) relations(of string) ([]relation, error) {
	var list struct{ Relationship []relation }
	name := "_rels/.rels" // of the package
	if of != "" {
		name = path.Join(path.Dir(of), "_rels", path.Base(of)+".rels")
	}
	content := w.part(name)
	if err := xml.Unmarshal(content, &list); err != nil {
		return nil, errors.New("is no whole workbook: it does not say where its parts are")
	}
	for i, r := range list.Relationship {
		if target, isAbsolute := strings.CutPrefix(r.Target, "/"); isAbsolute {
			list.Relationship[i].Target = path.Clean(target)
		} else {
			list.Relationship[i].Target = path.Join(path.Dir(of), r.Target)
		}
	}
	return list.Relationship, nil
}

// targetOf is the part of a type, such as "styles": "" where there is none.
func targetOf(relations []relation, kind string) (string, error) {
	target := ""
	for _, r := range relations {
		if !strings.HasSuffix(r.Type, "/relationships/"+kind) {
			continue
		}
		if target != "" {
			return "", fmt.Errorf("is damaged: it has two parts that are its %s", kind)
		}
		target = r.Target
	}
	return target, nil
}

// readParts finds the parts of the package as a spreadsheet program does, by what relates them
// and not by their names: a part that nothing leads to is not what people see.
func (w *workbook) readParts() error {
	root, err := w.relations("")
	if err != nil {
		return err
	}
	main, err := targetOf(root, "officeDocument")
	if err != nil {
		return err
	}
	relations, err := w.relations(main)
	if err != nil || main == "" {
		return errors.New("is no whole workbook: it has no sheets")
	}
	w.targets = map[string]string{}
	for _, r := range relations {
		if w.targets[r.ID] != "" {
			return errors.New("is damaged: two of its parts have one ID")
		}
		w.targets[r.ID] = r.Target
	}
	styles, err := targetOf(relations, "styles")
	if err == nil && styles != "" && !strings.EqualFold(styles, "xl/styles.xml") {
		err = errors.New("has its formats in a place where no spreadsheet program has them. Open it in one, and save it")
	}
	if err != nil {
		return err
	}
	texts, err := targetOf(relations, "sharedStrings")
	if err != nil || texts == "" {
		return err
	}
	return w.readTexts(texts)
}

// part is the content of a part of the package, nil where there is none.
func (w *workbook) part(name string) []byte {
	content, _ := w.file.Pkg.Load(name)
	text, _ := content.([]byte)
	return text
}

// readTexts reads the texts that cells share.
func (w *workbook) readTexts(part string) error {
	content := w.part(part)
	if content == nil { // the library gives this part one name
		content = w.part("xl/sharedStrings.xml")
	}
	if len(content) == 0 {
		return nil // a cell that has a text there is damaged
	}
	errDamaged := errors.New("is damaged: its texts cannot be read")
	decoder := xml.NewDecoder(bytes.NewReader(content))
	var open []string
	var text strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || len(open) > textsDepthMax {
			return errDamaged
		}
		at := strings.Join(open, "/")
		isText := at == "sst/si/t" || at == "sst/si/r/t"
		switch t := token.(type) {
		case xml.StartElement:
			if isText || !isSheetSpace(t.Name.Space) && len(open) < 4 {
				return errDamaged
			}
			open = append(open, t.Name.Local)
		case xml.CharData:
			if isText {
				text.Write(t)
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

// format is that of a style of cells.
func (w *workbook) format(style int) cellFormat {
	if f, ok := w.formats[style]; ok {
		return f
	}
	f := parseCellFormat(w.formatCode(style))
	w.formats[style] = f
	return f
}

func (w *workbook) formatCode(style int) string {
	styles := w.file.Styles
	if styles == nil || styles.CellXfs == nil || style < 0 || style >= len(styles.CellXfs.Xf) {
		return ""
	}
	id := styles.CellXfs.Xf[style].NumFmtID
	if id == nil {
		return ""
	}
	if styles.NumFmts != nil {
		for _, f := range styles.NumFmts.NumFmt {
			if f.NumFmtID == *id {
				return f.FormatCode
			}
		}
	}
	return builtInFormat(*id)
}

// builtInFormat is a format that a workbook names by number alone (ECMA-376, part 1, 18.8.30,
// and what Excel has for the numbers that it leaves to languages: dates and times).
func builtInFormat(id int) string {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id >= 57 && id <= 58:
		return "yyyy-mm-dd"
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id >= 45 && id <= 47, id == 55 || id == 56:
		return "hh:mm:ss"
	case id == 22:
		return "yyyy-mm-dd hh:mm"
	}
	return map[int]string{
		1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
		37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 41: "#,##0", 42: "#,##0", 43: "#,##0.00", 44: "#,##0.00",
		48: "##0.0E+0", 49: "@",
	}[id]
}
