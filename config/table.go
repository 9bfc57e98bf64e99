package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
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
	// notes are what whoever wrote the data block may want to know of how the file was read,
	// up to here. They are no warnings.
	notes() []string
}

// header is what the fields of a file's records are called there.
type header struct {
	names []string
	place spot
}

// record is what a file has for one row.
type record struct {
	fields []string
	line   int  // on which it begins; the row of a worksheet
	plain  bool // all fields are plain text
	place  spot
	exact  []bool // fields that are plain decimals, whatever number_format says of text; nil for none
}

// spot says where the fields of a record stand.
type spot interface {
	// at is the range of the i-th field. Columns count characters, as HCL's do.
	at(i int) hcl.Range
	// whole is the range of the first line of the record.
	whole() hcl.Range
}

// table is the rows of a data file as expressions see them: the columns that were picked,
// under the names that they were given, with the numbers that were declared as decimals.
type table struct {
	name    string
	columns []string
	from    records
	picked  []int           // the field of each column; nil where they are the same
	formats []*numberFormat // of each column, nil for text; nil without any
	text    []string        // of the current row, where it is not that of the record
	current row             // which the next one replaces
	serial  int             // of the current row
}

// newTable makes a table of the records of a file.
func newTable(d *dataSource, from records) (*table, hcl.Diagnostics) {
	t := &table{name: d.file, from: from}
	h := from.header()
	var diags hcl.Diagnostics
	if d.picks == nil {
		t.columns = h.names
		diags = h.check()
	} else {
		diags = t.pick(d, h)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	for name, format := range d.formats {
		i := slices.Index(t.columns, name)
		if i < 0 {
			diags = append(diags, unknownColumn(d.block.arguments["number_format"].expr.Range(), d.file, name, t.columns))
			continue
		}
		if t.formats == nil {
			t.formats = make([]*numberFormat, len(t.columns))
		}
		t.formats[i] = format
	}
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
		if name != "" && own != "" {
			pairs = append(pairs, mistake.KeyHCL(own)+" = "+mistake.QuotedHCL(name))
		}
	}
	return "  columns = { " + strings.Join(pairs, ", ") + " }"
}

// pick finds the columns that the argument columns names in the header, in the order of the file.
func (t *table) pick(d *dataSource, h header) hcl.Diagnostics {
	var diags hcl.Diagnostics
	at := d.block.arguments["columns"].expr.Range()
	for _, pick := range d.picks {
		i := slices.Index(h.names, pick.header)
		switch {
		case i < 0:
			diags = append(diags, unknownColumn(at, d.file, pick.header, h.names))
		case slices.Contains(h.names[i+1:], pick.header):
			again := i + 1 + slices.Index(h.names[i+1:], pick.header)
			diags = append(diags, mistake.New(h.place.at(again), "Column is named twice",
				"Columns %d and %d are both named %q, and columns reads one of that name. Name them apart.", i+1, again+1, pick.header))
		}
		t.picked = append(t.picked, i)
		t.columns = append(t.columns, pick.name)
	}
	t.text = make([]string, len(t.columns))
	return diags
}

// unknownColumn says that a file has no column of a name, and which ones it has.
func unknownColumn(at hcl.Range, file, name string, columns []string) *hcl.Diagnostic {
	hint := mistake.DidYouMean(name, columns)
	if hint == "" {
		hint = " There are: " + mistake.Listed(mistake.QuotedAll(columns), 20) + "."
	}
	return mistake.New(at, "Unknown column", "%s has no column %q.%s", file, name, hint)
}

// next returns the next row, valid until the call after it. It is io.EOF at the end; a row
// with mistakes is nil with diagnostics, and reading may go on.
func (t *table) next() (*row, hcl.Diagnostics, error) {
	rec, diags, err := t.from.read()
	if rec.fields == nil {
		return nil, diags, err
	}
	t.serial++
	t.current = row{
		table: t, fields: rec.fields, line: rec.line, serial: t.serial, plain: rec.plain, place: rec.place,
	}
	if t.text != nil || t.formats != nil {
		if more := t.rewrite(&t.current, rec.exact); more.HasErrors() {
			return nil, append(diags, more...), err
		}
	}
	return &t.current, diags, err
}

// rewrite gives a row the fields that were picked, and its numbers as decimals.
func (t *table) rewrite(r *row, exact []bool) hcl.Diagnostics {
	if t.text == nil {
		t.text = make([]string, len(t.columns))
	}
	for i := range t.columns {
		t.text[i] = r.fields[t.field(i)]
	}
	r.fields = t.text
	var diags hcl.Diagnostics
	for i, format := range t.formats {
		if format == nil || r.fields[i] == "" || exact != nil && exact[t.field(i)] {
			continue
		}
		decimal, err := format.read(r.fields[i])
		if err != nil {
			d := mistake.New(r.at(i), "Number is not in its format", "%s %q %s", t.columns[i], r.fields[i], mistake.Sentence(err))
			d.Extra = &mistake.Origin{Column: t.columns[i]}
			diags = append(diags, d)
			continue
		}
		r.fields[i] = decimal
	}
	return diags
}

// field is where a column stands in a record.
func (t *table) field(column int) int {
	if t.picked == nil {
		return column
	}
	return t.picked[column]
}

// row is one row of a table.
type row struct {
	table  *table
	source *dataSource
	fields []string
	line   int  // on which it begins
	serial int  // different from that of its neighbours
	plain  bool // all fields are plain text, which is in Unicode's normal form
	place  spot
	cached cty.Value
}

// key is the text of the column that is the key.
func (r *row) key() string { return r.text(r.source.keyColumn) }

// text is that of a column in Unicode's normal form, as every string of the language is.
func (r *row) text(column int) string {
	if r.plain {
		return r.fields[column]
	}
	return normalForm(r.fields[column])
}

// value is the row as an object of strings.
func (r *row) value() cty.Value {
	if r.cached == cty.NilVal {
		values := make(map[string]cty.Value, len(r.fields))
		for i, column := range r.table.columns {
			values[column] = cty.StringVal(r.fields[i])
		}
		r.cached = cty.ObjectVal(values)
	}
	return r.cached
}

// object is the row as an object of some of its columns.
func (r *row) object(columns []int) cty.Value {
	values := make(map[string]cty.Value, len(columns))
	for _, i := range columns {
		values[r.table.columns[i]] = cty.StringVal(r.fields[i])
	}
	return cty.ObjectVal(values)
}

// whole is the range of the first line of the row.
func (r *row) whole() hcl.Range { return r.place.whole() }

// at is the range of a column's text.
func (r *row) at(column int) hcl.Range { return r.place.at(r.table.field(column)) }

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
func noteLeftOut(fields []string, place spot) string {
	const length = 80
	isEmpty := func(field string) bool { return field == "" }
	text := strings.Join(slices.DeleteFunc(slices.Clone(fields), isEmpty), " | ")
	if cut := []rune(text); len(cut) > length {
		text = string(cut[:length]) + "…"
	}
	return fmt.Sprintf("skip_last leaves out %s: %s", mistake.At(place.whole()), text)
}

// leftOut warns of a row at the end that is left out and could be one like those above: a row
// of totals has no text in most of the columns that are needed.
func leftOut(fields []string, needed []bool, place spot) hcl.Diagnostics {
	if len(fields) < len(needed) {
		return nil
	}
	for i, isNeeded := range needed {
		if isNeeded && fields[i] == "" {
			return nil
		}
	}
	return hcl.Diagnostics{mistake.Warning(place.whole(), "A full row is left out",
		"skip_last leaves out this row, and it has text in every column that is read, as a row to be paid has. Is it a row of totals?")}
}
