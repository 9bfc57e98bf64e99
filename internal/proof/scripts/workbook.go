//go:build unix

package scripts

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/xuri/excelize/v2"
)

// makeWorkbook is the script command
//
//	workbook FROM TO
//
// that makes an .xlsx file of lines: "sheet NAME", "CELL text", "CELL = number", "CELL = number
// as FORMAT", "CELL formula EXPRESSION" (without a result), "CELL strike" (through what it has),
// "CELL strike TEXT" (behind what it has), "merge A1:B2", "hide ROW", "hide
// COLUMN", "above A1:B2 NUMBER as FORMAT" (a conditional format), "styles NAME" (the part of the formats has that
// name, and for "" nothing leads to it).
func makeWorkbook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: workbook FROM TO")
	}
	file, name, styles := excelize.NewFile(), "Sheet1", "styles.xml"
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		word, value, _ := strings.Cut(rest, " ")
		var err error
		switch {
		case first == "sheet" && name == "Sheet1":
			name = rest
			err = file.SetSheetName("Sheet1", name)
		case first == "sheet":
			name = rest
			_, err = file.NewSheet(name)
		case first == "merge":
			from, to, _ := strings.Cut(rest, ":")
			err = file.MergeCell(name, from, to)
		case first == "styles":
			styles = strings.Trim(rest, `"`)
		case first == "above":
			cells, condition, _ := strings.Cut(rest, " ")
			number, format, _ := strings.Cut(condition, " as ")
			style, wrong := file.NewConditionalStyle(&excelize.Style{CustomNumFmt: &format})
			err = errors.Join(wrong, file.SetConditionalFormat(name, cells,
				[]excelize.ConditionalFormatOptions{{Type: "cell", Criteria: ">", Value: number, Format: &style}}))
		case first == "hide" && rest >= "A":
			err = file.SetColVisible(name, rest, false)
		case first == "hide":
			row, wrong := strconv.Atoi(rest)
			err = errors.Join(wrong, file.SetRowVisible(name, row, false))
		case word == "formula":
			err = file.SetCellFormula(name, first, value)
		case word == "strike":
			err = strike(file, name, first, value)
		case word == "=":
			number, format, isFormatted := strings.Cut(value, " as ")
			err = file.SetCellDefault(name, first, number)
			if isFormatted {
				style, wrong := file.NewStyle(&excelize.Style{CustomNumFmt: &format})
				err = errors.Join(err, wrong, file.SetCellStyle(name, first, first, style))
			}
		case first != "":
			err = file.SetCellStr(name, first, rest)
		}
		ts.Check(err)
	}
	var whole bytes.Buffer
	ts.Check(file.Write(&whole))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), withStyles(ts, whole.Bytes(), styles), 0o600))
}

// strike strikes a cell through, or appends a struck text to it.
func strike(file *excelize.File, sheet, cell, text string) error {
	line := &excelize.Font{Strike: true}
	if text != "" {
		before, err := file.GetCellValue(sheet, cell)
		return errors.Join(err, file.SetCellRichText(sheet, cell, []excelize.RichTextRun{{Text: before}, {Text: text, Font: line}}))
	}
	style, err := file.NewStyle(&excelize.Style{Font: line})
	return errors.Join(err, file.SetCellStyle(sheet, cell, cell, style))
}

// withStyles is a workbook whose part of the formats has a name; nothing leads to it for "".
func withStyles(ts *testscript.TestScript, workbook []byte, name string) []byte {
	archive, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	ts.Check(err)
	var whole bytes.Buffer
	w := zip.NewWriter(&whole)
	relation := regexp.MustCompile(`<Relationship [^>]*Target="(?:/xl/)?styles.xml"[^>]*>(?:</Relationship>)?`)
	for _, part := range archive.File {
		from, err := part.Open()
		ts.Check(err)
		content, err := io.ReadAll(from)
		ts.Check(err)
		partName := part.Name
		switch {
		case name != "" && partName == "xl/styles.xml":
			partName = "xl/" + name
		case name != "" && (partName == "[Content_Types].xml" || partName == "xl/_rels/workbook.xml.rels"):
			content = bytes.ReplaceAll(content, []byte("styles.xml"), []byte(name))
		case partName == "xl/_rels/workbook.xml.rels":
			content = relation.ReplaceAll(content, nil)
		}
		to, err := w.Create(partName)
		ts.Check(err)
		_, err = to.Write(content)
		ts.Check(err)
	}
	ts.Check(w.Close())
	return whole.Bytes()
}
