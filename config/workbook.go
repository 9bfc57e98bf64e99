package config

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	workbookBytesMax    = 64 << 20  // of the file
	workbookUnzippedMax = 512 << 20 // of all its parts
	workbookPartsMax    = 10_000
)

// workbook is an .xlsx file that was opened: its sheets, texts and formats. Its rows are read
// as a stream from the XML of a sheet.
type workbook struct {
	file    *excelize.File
	texts   []string // that cells share
	formats map[int]cellFormat
	is1904  bool // days are counted from 1904
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
	return w, w.readTexts()
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
	targets, err := w.targets()
	if err != nil {
		return nil, err
	}
	var sheets []sheet
	for _, s := range w.file.WorkBook.Sheets.Sheet {
		hidden := s.State != "" && s.State != "visible"
		sheets = append(sheets, sheet{name: s.Name, hidden: hidden, part: targets[s.ID]})
	}
	return sheets, nil
}

// targets are the parts of the package by the IDs that the workbook has for them.
func (w *workbook) targets() (map[string]string, error) {
	var names []string
	w.file.Pkg.Range(func(name, _ any) bool {
		if text := name.(string); path.Base(path.Dir(text)) == "_rels" && strings.HasPrefix(path.Base(text), "workbook") {
			names = append(names, text)
		}
		return true
	})
	if len(names) == 0 || w.file.WorkBook == nil {
		return nil, errors.New("is no whole workbook: it has no sheets")
	}
	slices.Sort(names)
	var list struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		}
	}
	if err := xml.Unmarshal(w.part(names[0]), &list); err != nil {
		return nil, errors.New("is damaged: it does not say where its sheets are")
	}
	targets := map[string]string{}
	below := path.Dir(path.Dir(names[0]))
	for _, r := range list.Relationship {
		target := strings.TrimPrefix(r.Target, "/")
		if !strings.HasPrefix(r.Target, "/") {
			target = path.Join(below, r.Target)
		}
		targets[r.ID] = target
	}
	return targets, nil
}

// part is the content of a part of the package, nil where there is none.
func (w *workbook) part(name string) []byte {
	content, _ := w.file.Pkg.Load(name)
	text, _ := content.([]byte)
	return text
}

// readTexts has the library read the texts that cells share. It does so when it reads a row.
func (w *workbook) readTexts() error {
	return guarded(func() error {
		names := w.file.GetSheetList()
		if len(names) == 0 || len(w.part("xl/sharedStrings.xml")) == 0 {
			return nil
		}
		rows, err := w.file.Rows(names[0])
		if err != nil {
			return nil // a sheet of charts: another one says what is wrong
		}
		rows.Next()
		if _, err := rows.Columns(); err != nil {
			return errors.New("is damaged: its texts cannot be read")
		}
		if w.file.SharedStrings != nil {
			w.texts = make([]string, len(w.file.SharedStrings.SI))
			for i := range w.file.SharedStrings.SI {
				w.texts[i] = w.file.SharedStrings.SI[i].String()
			}
		}
		return rows.Close()
	})
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
