package config_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/internal/proof/suite"
)

// libreOffice is a workbook that LibreOffice 7.4 of Debian 12 made of libreoffice.fods:
//
//	soffice --headless --convert-to xlsx libreoffice.fods
func libreOffice(t *testing.T) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/libreoffice.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// rowsOf loads data "xlsx" "x" with arguments over a workbook, and returns its rows by key and
// their diagnostics.
func rowsOf(t *testing.T, workbook []byte, arguments ...string) (rows map[string]map[string]string, says []string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte("data \"xlsx\" \"x\" {\n  file = \"x.xlsx\"\n  "+strings.Join(arguments, "\n  ")+"\n}\n"))
	write(t, dir, "x.xlsx", workbook)
	c, diags := config.Load(dir, config.Options{})
	if !diags.HasErrors() {
		value, more := c.Eval("jsonencode(data.xlsx.x.rows)")
		diags = append(diags, more...)
		if !more.HasErrors() {
			if err := json.Unmarshal([]byte(value.AsString()), &rows); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, d := range diags {
		severity := map[hcl.DiagnosticSeverity]string{hcl.DiagError: "error", hcl.DiagWarning: "warning"}[d.Severity]
		says = append(says, fmt.Sprintf("%s %s: %s: %s", d.Subject, severity, d.Summary, d.Detail))
	}
	return rows, says
}

func TestWorkbookOfLibreOffice(t *testing.T) {
	columns := `columns = { "Employee No." = "Employee No.", Name = "Name", Profile = "Profile", Hired = "Hired", Gross = "Gross", Active = "Active", Start = "Start", Signed = "Signed" }`
	rows, says := rowsOf(t, libreOffice(t), `sheet = "Payroll"`, `key = "Employee No."`, `skip_first = 1`, `skip_last = 1`, columns)
	want := map[string]map[string]string{
		"00017": {"Employee No.": "00017", "Name": "Sørensen, Maja", "Profile": "37867177-f88c-45cc-b9b5-d786e7079609", "Hired": "2019-03-01", "Gross": "5886.85", "Active": "TRUE", "Start": "08:30:00", "Signed": "2026-11-20T16:45:00"},
		"00018": {"Employee No.": "00018", "Name": "Okafor & Söhne", "Profile": "fd51a06f-31aa-5402-9245-363ab611c818", "Hired": "1900-03-01", "Gross": "5697.15", "Active": "FALSE", "Start": "00:00:00", "Signed": "1999-12-31T23:59:00"},
		"01019": {"Employee No.": "01019", "Name": `"Quoted", <b>`, "Profile": "c2a1b0f9-8e7d-4c6b-b5a4-938271605f4e", "Hired": "2024-02-29", "Gross": "0.3", "Active": "TRUE", "Start": "23:59:00", "Signed": "2026-11-21T00:00:00"},
		"01020": {"Employee No.": "01020", "Name": "Text number", "Profile": "7b9f6a0e-5c53-4f0e-9a3e-1a2b3c4d5e6f", "Hired": "2026-11-27", "Gross": "12345678901.23", "Active": "TRUE", "Start": "12:00:00", "Signed": "2026-11-21T00:00:00"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		`x.xlsx:5,1-11 warning: Row is hidden: Row 5 is hidden in the sheet "Payroll", perhaps by a filter, and remit reads it all the same.` + acknowledge("hidden_rows", 1) +
			"\n\nIf it should not be paid, leave it out:\n\n  where = row[\"Employee No.\"] != \"00018\"",
		`x.xlsx:7,5-6 warning: Formula in a column: Cell E7 is a formula, and others of the column "Gross" may be. What is read is the result that the workbook was saved with.` + acknowledge("formula_columns", 1) +
			"\n\nWhere all warnings of this file are right:\n\n  acknowledge = { formula_columns = 1, hidden_rows = 1 }",
	}, says); diff != "" {
		t.Error(diff)
	}
	_, says = rowsOf(t, libreOffice(t), `sheet = "Payroll"`, `key = "Employee No."`, `skip_first = 1`, `skip_last = 1`)
	const round = "If what it shows is meant, round it in the workbook, with ROUND. If what it holds is meant, give it a format with more decimals, or leave its column out with columns."
	if diff := cmp.Diff([]string{
		`x.xlsx:4,6-7 warning: Formula in a column: Cell F4 is a formula, and others of the column "Net" may be. What is read is the result that the workbook was saved with.`,
		`x.xlsx:5,1-11 warning: Row is hidden: Row 5 is hidden in the sheet "Payroll", perhaps by a filter, and remit reads it all the same.` + acknowledge("hidden_rows", 1),
		`x.xlsx:5,7-8 error: Cell shows what it does not hold: Cell G5 of the sheet "Payroll" holds 0.0333, and its number format 0.0% shows "3.3%". ` + round,
		`x.xlsx:7,5-6 warning: Formula in a column: Cell E7 is a formula, and others of the column "Gross" may be. What is read is the result that the workbook was saved with.` + acknowledge("formula_columns", 2) +
			"\n\nWhere all warnings of this file are right:\n\n  acknowledge = { formula_columns = 2, hidden_rows = 1 }",
		`x.xlsx:8,6-7 error: Cell shows what it does not hold: Cell F8 of the sheet "Payroll" holds 1234567.891, and its number format #,##0.00 shows "1,234,567.89". ` + round,
	}, says); diff != "" {
		t.Error(diff)
	}
	_, says = rowsOf(t, libreOffice(t), `sheet = "Rates"`, `key = "Code"`)
	if diff := cmp.Diff([]string{`x.xlsx:3,2-3 error: Cell cannot be read: Cell B3 of the sheet "Rates" has the error #DIV/0!. Correct its formula, and save the workbook; a row of totals can be left out with skip_last.`}, says); diff != "" {
		t.Error(diff)
	}
	rows, says = rowsOf(t, libreOffice(t), `sheet = "Secret"`, `key = "Code"`)
	if len(rows) != 1 || len(says) != 1 || !strings.Contains(says[0], "warning: Sheet is hidden") {
		t.Errorf("a hidden sheet: %v, %v", rows, says)
	}
}

// madeOf is a workbook of one sheet, as XML, with styles by number: 1 "00000", 2 "#,##0.00",
// 3 a date, 4 a date and a time, 5 hours beyond a day, 6 thousands, 7 nothing at all, 8 and 9 digits of their own, 10 thousands from 1000 on,
// 11 an exponent, 12 another text.
func madeOf(t testing.TB, sheetXML string, is1904 bool) []byte {
	t.Helper()
	const head = `<?xml version="1.0" encoding="UTF-8"?>`
	const space = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for name, content := range map[string]string{
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
		"_rels/.rels":                `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":            fmt.Sprintf(`<workbook%s><workbookPr date1904="%t"/><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`, space, is1904),
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
		"xl/styles.xml": `<styleSheet` + space + `><numFmts count="6"><numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd hh:mm"/><numFmt numFmtId="166" formatCode="[h]:mm"/><numFmt numFmtId="167" formatCode="#,##0,"/><numFmt numFmtId="168" formatCode=";;;"/><numFmt numFmtId="169" formatCode="&quot;1&quot;0"/><numFmt numFmtId="170" formatCode="[$1]0"/><numFmt numFmtId="171" formatCode="[&gt;=1000]0,;0"/><numFmt numFmtId="172" formatCode="0;0;0;&quot;10.00&quot;"/></numFmts>` +
			`<cellXfs count="8"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="4"/><xf numFmtId="14"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/><xf numFmtId="168"/><xf numFmtId="169"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="11"/><xf numFmtId="172"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml": sheetXML,
	} {
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(head + content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// sheetOf is a sheet with a header (k, v) and one row, whose second cell is written out.
func sheetOf(cell string) string {
	return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c t="inlineStr"><is><t>k</t></is></c><c t="inlineStr"><is><r><t>v</t></r></is></c></row><row><c t="str"><v>1</v></c>` + cell + `</row></sheetData></worksheet>`
}

func TestCellsAreWhatIsMeant(t *testing.T) {
	for name, test := range map[string]struct {
		cell   string
		is1904 bool
		want   string // the text
		says   string
	}{
		"noise of a binary float":               {`<c><v>0.30000000000000004</v></c>`, false, "0.3", ""},
		"17 digits as Excel writes them":        {`<c s="2"><v>4120.8000000000002</v></c>`, false, "4120.8", ""},
		"noise of a sum":                        {`<c s="2"><v>412850.22000000003</v></c>`, false, "412850.22", ""},
		"noise below":                           {`<c s="2"><v>4120.799999999999</v></c>`, false, "4120.8", ""},
		"an exponent":                           {`<c><v>1.5E-3</v></c>`, false, "0.0015", ""},
		"a large one":                           {`<c><v>1E+14</v></c>`, false, "100000000000000", ""},
		"one whose 16th digit was dropped":      {`<c><v>1.23456789012345E+15</v></c>`, false, "", "more digits than the 15"},
		"digits of the format":                  {`<c s="8"><v>42</v></c>`, false, "", `number format "1"0 shows "142"`},
		"digits of a currency":                  {`<c s="9"><v>42</v></c>`, false, "", `shows "142"`},
		"one that a condition scales":           {`<c s="10"><v>5000</v></c>`, false, "", `holds 5000, and its number format [>=1000]0,;0 shows "5"`},
		"one that a condition leaves whole":     {`<c s="10"><v>500</v></c>`, false, "500", ""},
		"one with an exponent":                  {`<c s="11"><v>1234.5</v></c>`, false, "", "not every spreadsheet program shows that alike"},
		"text that its format replaces":         {`<c s="12" t="str"><v>99</v></c>`, false, "", `shows "10.00"`},
		"hexadecimal":                           {`<c><v>0x1p4</v></c>`, false, "", "no number"},
		"two values":                            {`<c><v>1</v><v>00</v></c>`, false, "", "damaged"},
		"elements within a value":               {`<c><v>1<x>5</x>00</v></c>`, false, "", "damaged"},
		"an element that nobody shows":          {`<x:c xmlns:x="x"><v>100</v></x:c>`, false, "", "damaged"},
		"an attribute that stands twice":        {`<c t="n" t="str"><v>1</v></c>`, false, "", "damaged"},
		"neither true nor false":                {`<c t="b"><v>2</v></c>`, false, "", "damaged"},
		"a character by its number":             {`<c t="str"><v>a_x005F_x0041__x0042_</v></c>`, false, "a_x0041_B", ""},
		"more digits than are shown":            {`<c s="2"><v>343.3958333</v></c>`, false, "", `shows "343.40". If what it shows is meant, round it`},
		"a negative one":                        {`<c s="2"><v>-12.5</v></c>`, false, "-12.5", ""},
		"an integer of 16 digits":               {`<c><v>1234567890123456</v></c>`, false, "", "more digits than the 15"},
		"zeros in front":                        {`<c s="1"><v>42</v></c>`, false, "00042", ""},
		"more digits than zeros":                {`<c s="1"><v>1234567</v></c>`, false, "1234567", ""},
		"thousands":                             {`<c s="6"><v>4120</v></c>`, false, "", `shows "4"`},
		"a number that does not show":           {`<c s="7"><v>5</v></c>`, false, "", "shows nothing"},
		"a date":                                {`<c s="3"><v>46353</v></c>`, false, "2026-11-27", ""},
		"the first date":                        {`<c s="3"><v>1</v></c>`, false, "", "no date"},
		"the day that was not":                  {`<c s="3"><v>60</v></c>`, false, "", "no date"},
		"the day after it":                      {`<c s="3"><v>61</v></c>`, false, "1900-03-01", ""},
		"a date of the system of 1904":          {`<c s="3"><v>44891</v></c>`, true, "2026-11-27", ""},
		"a date with a time that is hidden":     {`<c s="3"><v>46353.5</v></c>`, false, "", "shows less of it"},
		"a date and a time":                     {`<c s="4"><v>46353.6041666667</v></c>`, false, "2026-11-27T14:30:00", ""},
		"a date before all":                     {`<c s="3"><v>-1</v></c>`, false, "", "no date"},
		"a date after all":                      {`<c s="3"><v>2958466</v></c>`, false, "", "no date"},
		"hours beyond a day":                    {`<c s="5"><v>1.5</v></c>`, false, "36:00:00", ""},
		"a date as text":                        {`<c s="3" t="d"><v>2026-11-27</v></c>`, false, "2026-11-27", ""},
		"a date as text that shows as a number": {`<c t="d"><v>2026-11-27</v></c>`, false, "", "shows it as a number"},
		"a date that is none":                   {`<c s="3" t="d"><v>2026-02-30</v></c>`, false, "", "is no date"},
		"a style that is not there":             {`<c s="99"><v>1</v></c>`, false, "", "damaged"},
		"true as a number":                      {`<c s="2" t="b"><v>1</v></c>`, false, "", "not every spreadsheet program"},
		"true":                                  {`<c t="b"><v>1</v></c>`, false, "TRUE", ""},
		"false":                                 {`<c t="b"><v>0</v></c>`, false, "FALSE", ""},
		"an error":                              {`<c t="e"><v>#REF!</v></c>`, false, "", "Cell B2 of the sheet \"S\" has the error #REF!"},
		"a formula":                             {`<c><f>1+1</f><v>2</v></c>`, false, "2", "Cell B2 is a formula"},
		"a formula without a result":            {`<c><f>1+1</f></c>`, false, "", "formula without a result"},
		"a formula whose result is no text":     {`<c t="str"><f>""</f><v></v></c>`, false, "", ""},
		"a formula of which nothing is saved":   {`<c t="str"><f>""</f></c>`, false, "", "formula without a result"},
		"a text that is not there":              {`<c t="s"><v>7</v></c>`, false, "", "damaged"},
		"no number":                             {`<c><v>x</v></c>`, false, "", "no number"},
		"not a number":                          {`<c><v>NaN</v></c>`, false, "", "no number"},
		"a time of day":                         {`<c s="5"><v>0.25</v></c>`, false, "06:00:00", ""},
		"an empty cell":                         {`<c s="2"/>`, false, "", ""},
		"merged cells in other marks":           {`<c><v>5</v></c></row></sheetData><mergeCells><mergeCell ref='A2:B2'/></mergeCells><!--`, false, "", "is merged with others"},
	} {
		t.Run(name, func(t *testing.T) {
			sheet := sheetOf(test.cell)
			if strings.HasSuffix(test.cell, "<!--") {
				sheet = strings.Replace(sheet, "</row></sheetData></worksheet>", "--></worksheet>", 1)
				sheet = strings.Replace(sheet, "<!----></worksheet>", "</worksheet>", 1)
			}
			rows, says := rowsOf(t, madeOf(t, sheet, test.is1904), `key = "k"`)
			if got := rows["1"]["v"]; got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
			if said := strings.Join(says, "\n"); !strings.Contains(said, test.says) || test.says == "" && said != "" {
				t.Errorf("it says %q, want %q", said, test.says)
			}
		})
	}
}

// zipped is an archive with one more part.
func zipped(t *testing.T, archive []byte, name, content string) []byte {
	t.Helper()
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	if archive != nil {
		from, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range from.File {
			if err := w.Copy(part); err != nil {
				t.Fatal(err)
			}
		}
	}
	part, err := w.Create(name)
	if err == nil {
		_, err = part.Write([]byte(content))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestPartsAreThoseThatPeopleSee puts other relations and texts beside those of a workbook.
func TestPartsAreThoseThatPeopleSee(t *testing.T) {
	book := zipped(t, madeOf(t, sheetOf(`<c><v>5</v></c>`), false), "a/_rels/workbook.xml.rels",
		`<Relationships><Relationship Id="r1" Target="/xl/other.xml"/></Relationships>`)
	book = zipped(t, book, "xl/other.xml", sheetOf(`<c><v>999</v></c>`))
	rows, says := rowsOf(t, book, `key = "k"`)
	if got := rows["1"]["v"]; got != "5" || says != nil {
		t.Errorf("%q is read, %q is said", got, says)
	}
}

func TestFilesThatAreNoWorkbooks(t *testing.T) {
	suite.Slow(t)
	whole := madeOf(t, sheetOf(`<c><v>1</v></c>`), false)
	bomb := func() []byte {
		var file bytes.Buffer
		w := zip.NewWriter(&file)
		part, _ := w.Create("xl/worksheets/sheet1.xml")
		zeros := make([]byte, 1<<20)
		for range 600 {
			_, _ = part.Write(zeros)
		}
		_ = w.Close()
		return file.Bytes()
	}
	cut := strings.TrimSuffix(sheetOf(`<c><v>1</v></c>`), `</row></sheetData></worksheet>`)
	for name, test := range map[string]struct {
		content []byte
		says    string
	}{
		"text":                        {[]byte("k,v\n1,2\n"), `Text is read by data "csv"`},
		"nothing":                     {nil, "no workbook"},
		"an old workbook":             {[]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1old"), "without a password"},
		"a part of one":               {whole[:len(whole)/2], "no whole workbook"},
		"another archive":             {func() []byte { var b bytes.Buffer; _ = zip.NewWriter(&b).Close(); return b.Bytes() }(), "workbook"},
		"a part that is there twice":  {zipped(t, whole, "XL/worksheets/sheet1.xml", "<worksheet/>"), "twice"},
		"an OpenDocument spreadsheet": {zipped(t, zipped(t, nil, "mimetype", "x"), "content.xml", "x"), ".ods"},
		"a binary workbook":           {zipped(t, nil, "xl/workbook.bin", "x"), ".xlsb"},
		"one that unpacks to a lot":   {bomb(), "unpacks to more than 512 MiB"},
		"a sheet that is cut off":     {madeOf(t, cut, false), "damaged"},
		"rows that go back":           {madeOf(t, strings.Replace(sheetOf(""), "<row>", `<row r="1">`, 1), false), "damaged"},
		"cells that go back":          {madeOf(t, sheetOf(`<c r="A2"><v>1</v></c>`), false), "damaged"},
		"cells of another row":        {madeOf(t, sheetOf(`<c r="B7"><v>1</v></c>`), false), "damaged"},
		"a sheet that ends too early": {madeOf(t, strings.TrimSuffix(sheetOf(""), "</worksheet>"), false), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			if rows, says := rowsOf(t, test.content, `key = "k"`); rows != nil || !strings.Contains(strings.Join(says, "\n"), test.says) {
				t.Errorf("rows %v, says %q, want %q", rows, says, test.says)
			}
		})
	}
}

// FuzzXLSX reads any sheet in a workbook, or any bytes as one: nothing panics, and every
// declared transfer can be sent.
func FuzzXLSX(f *testing.F) {
	row := func(cells string) string {
		return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cols><col min="2" max="3" hidden="1"/></cols><sheetData><row r="1"><c t="str"><v>id</v></c><c t="str"><v>to</v></c><c t="str"><v>net</v></c><c t="str"><v>note</v></c></row><row hidden="1">` + cells + `</row></sheetData><mergeCells><mergeCell ref="A2:A3"/></mergeCells></worksheet>`
	}
	f.Add([]byte(row(`<c s="1"><v>7</v></c><c t="str"><v>B</v></c><c s="2"><f>1</f><v>1.5</v></c>`)), false, "", 0)
	f.Add([]byte(row(`<c s="3"><v>46353</v></c><c r="C2" t="e"><v>#N/A</v></c>`)), false, "A1:D9", 1)
	f.Add([]byte("PK\x03\x04"), true, "B:A", 0)
	f.Add(madeOf(f, row(`<c t="b"><v>1</v></c>`), true), true, "A1:D", 0)
	f.Fuzz(func(t *testing.T, content []byte, isWhole bool, cells string, last int) {
		if !isWhole {
			content = madeOf(t, string(content), false)
		}
		dir := t.TempDir()
		arguments := []string{fmt.Sprintf("skip_last = %d", last)}
		if cells != "" {
			arguments = append(arguments, fmt.Sprintf("range = %q", cells))
		}
		source := strings.NewReplacer(`"csv"`, `"xlsx"`, "data.csv", "data.xlsx", "pay.csv", "pay.xlsx").Replace(string(paid(arguments...)))
		write(t, dir, "main.hcl", []byte(source))
		write(t, dir, "pay.xlsx", content)
		sound(t, dir)
	})
}

// acknowledge is how a warning of x.xlsx says that it is known.
func acknowledge(name string, count int) string {
	return fmt.Sprintf("\n\nIf this is right, say so in data.xlsx.x:\n\n  acknowledge = { %s = %d }", name, count)
}
