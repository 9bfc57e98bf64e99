package rows

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

// records reads one data file record by record, whatever its kind.
type records interface {
	// header names the fields of each record, in their order.
	header() header
	// read returns the next record, valid until the call after it. It is io.EOF at the end;
	// a record with mistakes has no fields, with diagnostics, and reading may go on.
	// Warnings come alone, or beside a record.
	read() (record, hcl.Diagnostics, error)
	// notes tell the author of the data block how the file was read,
	// up to here. They are no warnings.
	notes() []string
}

// header is what the fields of a file's records are called there.
type header struct {
	names []string
	place locator
	sheet string // where the file shows several
}

// record is what a file has for one row.
type record struct {
	fields []string
	line   int  // on which it begins; the row of a worksheet
	plain  bool // all fields are plain text
	place  locator
	// comment is the first field, where that begins as a comment does in files of other kinds; "" else.
	comment string
	exact   []bool // fields that are plain decimals, whatever number_format says of text; nil for none
}

// recordsLeftOut are those that skip_last leaves out, and those below the range, the first one of those that have text in the
// same fields.
type recordsLeftOut struct{ skipped, below []record }

// locator says where the fields of a record are.
type locator interface {
	// at is the range of the i-th field. Columns count characters, as HCL's do.
	at(i int) hcl.Range
	// whole is the range of the first line of the record.
	whole() hcl.Range
}

// besider is a locator of a record of which some fields have a text beside their numbers.
type besider interface {
	// beside is the text of the i-th field; "" for none.
	beside(i int) string
}

// Table is the rows of a data file as expressions see them: the columns that were picked,
// under the names that they were given, with the numbers that were declared as decimals.
type Table struct {
	Name      string
	Sheet     string // of a workbook that shows several; "" for any other file
	Columns   []string
	Unread    []string // columns of the file that are not picked
	KeyColumn int      // -1 where no column is the key
	from      records
	picked    []int           // the field of each column; nil where they are the same
	formats   []*NumberFormat // of each column, nil for text; nil without any
	text      []string        // of the current row, where it is not that of the record
	current   Row             // which the next one replaces
	serial    int             // of the current row
}

// newTable makes a table of the records of a file.
func newTable(f *File, from records) (*Table, hcl.Diagnostics) {
	h := from.header()
	t := &Table{Name: f.Name, Sheet: h.sheet, from: from}
	var diags hcl.Diagnostics
	if f.Columns == nil {
		t.Columns = h.names
		diags = h.check()
	} else {
		diags = t.pick(f, h)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	for name, format := range f.Formats {
		i := slices.Index(t.Columns, name)
		if i < 0 {
			diags = append(diags, f.unknownFormat(name, t.Columns))
			continue
		}
		if t.formats == nil {
			t.formats = make([]*NumberFormat, len(t.Columns))
		}
		t.formats[i] = format
	}
	t.KeyColumn = slices.Index(t.Columns, f.Key)
	return t, diags
}

// check refuses names that an expression could not tell apart, or a reviewer not see.
func (h header) check() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i, name := range h.names {
		first := slices.Index(h.names, name)
		switch {
		case name == "":
			diags = append(diags, mistake.New(h.place.at(i), "Column without a name",
				"Column %d of the header is empty. Name it, or say with columns which ones are read.", i+1))
		case transfer.CheckText(name) != nil:
			diags = append(diags, mistake.New(h.place.at(i), "Text cannot be seen as it is", "The name of column %d %s Say with columns which ones are read, and give that one another name:\n\n%s",
				i+1, mistake.Sentence(transfer.CheckText(name)), h.columnsOf()))
		case first < i:
			diags = append(diags, mistake.New(h.place.at(i), "Column is named twice",
				"Columns %d and %d are both named %q. Name them apart, or say with columns which ones are read.", first+1, i+1, name))
		}
	}
	return diags
}

// columnsOf is the argument columns for all names of the header, under names that can be seen.
func (h header) columnsOf() string {
	const most = 20
	var pairs []string
	for _, name := range h.names[:min(len(h.names), most)] {
		own := name
		if transfer.CheckText(name) != nil {
			words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
			own = strings.Join(words, "_")
		}
		isTwice := slices.Contains(h.names[slices.Index(h.names, name)+1:], name)
		if name != "" && own != "" && !isTwice {
			pairs = append(pairs, mistake.KeyHCL(own)+" = "+mistake.QuotedHCL(name))
		}
	}
	return "  columns = { " + strings.Join(pairs, ", ") + " }"
}

// pick finds the columns that the argument columns names in the header, in the order of the file.
func (t *Table) pick(f *File, h header) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if d := wrongPicks(f, h); d != nil {
		return hcl.Diagnostics{d}
	}
	for _, pick := range f.Columns {
		i := slices.Index(h.names, pick.Header)
		switch {
		case i < 0:
			diags = append(diags, f.UnknownColumn(f.atPick(pick.Name), pick.Header, h.names))
			if f.delimiterHint(pick.Header, h.names) != "" {
				return diags // one cause keeps every column from being found
			}
		case slices.Contains(h.names[i+1:], pick.Header):
			again := i + 1 + slices.Index(h.names[i+1:], pick.Header)
			diags = append(diags, mistake.New(h.place.at(again), "Column is named twice",
				"Columns %d and %d are both named %q, and columns reads one of that name. Name them apart.", i+1, again+1, pick.Header))
		}
		t.picked = append(t.picked, i)
		t.Columns = append(t.Columns, pick.Name)
	}
	t.text = make([]string, len(t.Columns))
	for _, name := range h.names {
		if !f.isRead(name) && name != "" {
			t.Unread = append(t.Unread, name)
		}
	}
	return diags
}

// wrongPicks is the one mistake of an argument columns that has letters or numbers of columns in place of all
// headers; nil for any other.
func wrongPicks(f *File, h header) *hcl.Diagnostic {
	letter := regexp.MustCompile(`^(?:[A-Z]|\d{1,2})$`)
	var pairs []string
	for _, pick := range f.Columns {
		if slices.Contains(h.names, pick.Header) || !letter.MatchString(pick.Header) {
			return nil
		}
		place := int(pick.Header[0] - 'A')
		if number, err := strconv.Atoi(pick.Header); err == nil {
			place = number - 1
		}
		if place < 0 || place >= len(h.names) {
			return nil
		}
		pairs = append(pairs, mistake.KeyHCL(pick.Name)+" = "+mistake.QuotedHCL(h.names[place]))
	}
	if len(pairs) == 0 {
		return nil
	}
	return mistake.New(f.At("columns"), "Unknown column", "columns takes headers as %s has them, and no letters or numbers of columns. Write:\n\n  columns = { %s }", f.Name, strings.Join(pairs, ", "))
}

// headerElsewhere is the summary of what misplacedHeader says.
const headerElsewhere = "Header is another line"

// aroundMost is how many lines above and below a header are looked through for another one.
const aroundMost = 20

// around are the texts of the lines near the one that was read as the header.
type around struct {
	skipped int        // lines above it, which skip_first leaves out
	above   [][]string // the first of those
	below   [][]string
}

// misplacedHeader says on which line the header is where the first one is a title, or skip_first leaves the
// header out; "" where neither is so. A title has text in its first field alone, and a later line has more.
func misplacedHeader(names []string, near around, need string) string {
	has := func(fields []string) bool {
		return slices.ContainsFunc(fields, func(field string) bool { return NormalForm(field) == need })
	}
	for i, fields := range near.above {
		if has(fields) {
			return fmt.Sprintf("skip_first leaves out the header, which is on line %d: %s. Leave out the lines above it alone:\n\n  skip_first = %d",
				i+1, mistake.Listed(mistake.QuotedAll(fields), 4), i)
		}
	}
	filled := func(fields []string) int {
		return len(slices.DeleteFunc(slices.Clone(fields), func(field string) bool { return strings.TrimSpace(field) == "" }))
	}
	if otherDelimiter(names) != 0 || slices.ContainsFunc(names, isValue) {
		return ""
	}
	for i, fields := range near.below {
		if has(fields) || filled(names) == 1 && filled(fields) > 1 {
			return fmt.Sprintf("The first line is a title, and names no columns: %s. The header is %s further down. Leave out the lines above it:\n\n  skip_first = %d",
				mistake.Listed(mistake.QuotedAll(names), 3), english.Plural(i+1, "line"), near.skipped+i+1)
		}
	}
	return ""
}

// fieldsHaving are the fields of a line of CSV, cut by the delimiter that makes need one of them.
func fieldsHaving(line, need string) []string {
	for _, delimiter := range delimiters() {
		reader := csv.NewReader(strings.NewReader(line))
		reader.Comma = delimiter
		fields, _ := reader.Read()
		if slices.ContainsFunc(fields, func(field string) bool { return NormalForm(field) == need }) {
			return fields
		}
	}
	return nil
}

// unknownFormat says that number_format names no column, or one by its name in the file.
func (f *File) unknownFormat(name string, columns []string) *hcl.Diagnostic {
	for _, column := range f.Columns {
		if column.Header == name {
			return mistake.New(f.At("number_format"), "Unknown column", "The argument columns calls the column %q %s here. Write:\n\n  number_format = { %s = %q }",
				name, column.Name, mistake.KeyHCL(column.Name), f.Formats[name].Example)
		}
	}
	return f.UnknownColumn(f.At("number_format"), name, columns)
}

// UnknownColumn says that a file has no column of a name, and which ones it has.
func (f *File) UnknownColumn(at hcl.Range, name string, columns []string) *hcl.Diagnostic {
	if allIn(columns, "'") {
		return mistake.New(at, "Unknown column", "%s has its fields in single quotation marks, and CSV has double ones, or none. Export it anew.", f.Name)
	}
	hint := mistake.DidYouMean(name, columns)
	if meant, found := strings.CutPrefix(hint, " Did you mean "); found && strings.Contains(meant, " ") {
		hint = " Did you mean:\n\n  " + strings.TrimSuffix(meant, "?") // on a line of its own, to be copied
	}
	if spaced := spacedColumns(name, columns); spaced != "" && len(f.Columns) == 0 {
		hint = " Its name in the file begins or ends with a space. Say how the columns are called here:\n\n  columns = " + spaced
	}
	if hint == "" {
		hint = " There are: " + mistake.Listed(mistake.QuotedAll(columns), 20) + "." + f.delimiterHint(name, columns)
	}
	return mistake.New(at, "Unknown column", "%s has no column %q.%s", f.Name, name, hint)
}

// allIn reports whether all names stand between two marks.
func allIn(names []string, mark string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		return len(name) < 2 || !strings.HasPrefix(name, mark) || !strings.HasSuffix(name, mark)
	})
}

// delimiterHint shows the delimiter that the one column of a header seems to have.
func (f *File) delimiterHint(need string, columns []string) string {
	if len(columns) == 0 {
		return ""
	}
	if delimiter := rareDelimiter(need, columns); delimiter != 0 {
		return " Its fields seem to be separated otherwise:\n\n  delimiter = " + delimiterText(delimiter)
	}
	if delimiter := otherDelimiter(columns); delimiter != 0 {
		if _, isSaid := f.Places["delimiter"]; !isSaid && delimiter == delimiters()[0] {
			return " Each line of the file seems to stand in quotation marks as a whole. Save it anew, with marks around single fields at most."
		}
		return " Its fields seem to be separated otherwise:\n\n  delimiter = " + delimiterText(delimiter)
	}
	switch {
	case strings.HasPrefix(strings.TrimSpace(columns[0]), "<"):
		return " This is a page of the web or XML, and no rows. Get the file again."
	case slices.ContainsFunc(columns, isValue):
		return " The first line has values, and no names of columns. Write their names in a line above it, such as:\n\n  employee,profile_id,net"
	}
	return ""
}

// isValue reports whether a text of a header is rather a value: an amount or an ID.
func isValue(text string) bool {
	_, err := transfer.ParseAmount(text)
	digits := strings.Count(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return 'x'
	}, text), "0")
	return err == nil || digits > 8
}

// Notes tell the author of the data block how the file was read, up to here. They are no warnings.
func (t *Table) Notes() []string { return t.from.notes() }

// Next returns the next row, valid until the call after it. It is io.EOF at the end; a row
// with mistakes is nil with diagnostics, and reading may go on.
func (t *Table) Next() (*Row, hcl.Diagnostics, error) {
	rec, diags, err := t.from.read()
	if rec.fields == nil {
		return nil, diags, err
	}
	t.serial++
	t.current = Row{
		Table: t, Fields: rec.fields, Line: rec.line, Serial: t.serial, Plain: rec.plain, Comment: rec.comment, place: rec.place, exact: rec.exact,
	}
	if t.text != nil || t.formats != nil {
		if more := t.rewrite(&t.current, rec.exact); more.HasErrors() {
			return nil, append(diags, more...), err
		}
	}
	return &t.current, diags, err
}

// rewrite gives a row the fields that were picked, and its numbers as decimals.
func (t *Table) rewrite(r *Row, exact []bool) hcl.Diagnostics {
	if t.text == nil {
		t.text = make([]string, len(t.Columns))
	}
	for i := range t.Columns {
		t.text[i] = r.Fields[t.field(i)]
	}
	r.Fields = t.text
	var diags hcl.Diagnostics
	for i, format := range t.formats {
		if format == nil || r.Fields[i] == "" || exact != nil && exact[t.field(i)] {
			continue
		}
		decimal, err := format.read(r.Fields[i])
		if err != nil {
			d := mistake.New(r.At(i), "Number is not in its format", "%s %q %s", t.Columns[i], r.Fields[i], mistake.Sentence(err))
			d.Extra = &mistake.Origin{Column: t.Columns[i]}
			diags = append(diags, d)
			continue
		}
		r.Fields[i] = decimal
	}
	return diags
}

// field is the place of a column in a record.
func (t *Table) field(column int) int {
	if t.picked == nil {
		return column
	}
	return t.picked[column]
}

// Row is one row of a table.
type Row struct {
	Table  *Table
	Fields []string
	Line   int  // on which it begins
	Serial int  // different from that of its neighbours
	Plain  bool // all fields are plain text, which is in Unicode's normal form
	// Comment is the first field of a row of CSV, also of a column that is not read, where that begins as a comment does in
	// files of other kinds; "" else.
	Comment string
	place   locator
	exact   []bool // of the record
}

// Key is the text of the column that is the key.
func (r *Row) Key() string { return r.Text(r.Table.KeyColumn) }

// Text is that of a column in Unicode's normal form, as every string of the language is.
func (r *Row) Text(column int) string {
	if r.Plain {
		return r.Fields[column]
	}
	return NormalForm(r.Fields[column])
}

// Beside is the text that the file has beside the number of a column and that is no part of it, such as the sign or the code of a
// currency: in the format of a cell, in number_format, or with an amount of pain.001. It is "" where there is none.
func (r *Row) Beside(column int) string {
	field := r.Table.field(column)
	if of, ok := r.place.(besider); ok {
		if text := of.beside(field); text != "" {
			return text
		}
	}
	if r.Table.formats == nil || r.Table.formats[column] == nil || r.exact != nil && r.exact[field] {
		return ""
	}
	return r.Table.formats[column].Currency()
}

// Whole is the range of the first line of the row.
func (r *Row) Whole() hcl.Range { return r.place.whole() }

// FirstColumn is the column of the first field; "" where that is not read.
func (r *Row) FirstColumn() string {
	for i, name := range r.Table.Columns {
		if r.Table.field(i) == 0 {
			return name
		}
	}
	return ""
}

// Cell is the name of a column's cell, such as A4; "" where the file is no workbook.
func (r *Row) Cell(column int) string {
	if of, ok := r.place.(*xlsxRecord); ok {
		return cellName(of.file.sheetColumns[r.Table.field(column)], of.row)
	}
	return ""
}

// At is the range of a column's text.
func (r *Row) At(column int) hcl.Range { return r.place.at(r.Table.field(column)) }

// hasNoText reports whether a record has no text at all.
func hasNoText(fields []string) bool {
	return !slices.ContainsFunc(fields, func(field string) bool { return field != "" })
}

// arePlain reports whether all fields are plain text.
func arePlain(fields []string) bool {
	for _, field := range fields {
		if !transfer.Plain(field) {
			return false
		}
	}
	return true
}

// wider is how many bytes a text has that are no characters of their own.
func wider(text string) int { return len(text) - utf8.RuneCountInString(text) }

// noteLeftOut says which row is left out.
func noteLeftOut(fields []string, place locator) string {
	const length = 80
	isEmpty := func(field string) bool { return field == "" }
	text := strings.Join(slices.DeleteFunc(slices.Clone(fields), isEmpty), " | ")
	if cut := []rune(text); len(cut) > length {
		text = string(cut[:length]) + "…"
	}
	return fmt.Sprintf("skip_last leaves out %s: %s", mistake.At(place.whole()), text)
}
