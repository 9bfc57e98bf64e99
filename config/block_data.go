package config

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
	"remit/config/rows"
	"remit/internal/transfer"
)

// rowsHeldMax is how many rows an expression may hold at once; a for_each streams any
// number.
const rowsHeldMax = 100_000

// dataSource is one data block: rows of a file, by key.
type dataSource struct {
	block   *block
	kind    dataKind
	address string // data.csv.payroll
	sources *sources
	scope   *scope

	override *DataFile // that is read in place of its file; nil for none

	// The arguments, once the node is known.
	file     *rows.File
	format   rows.Format
	skipLast int // rows at the end that are left out
	columns  []string
	where    *argument
	// whereColumns are the columns that where names.
	whereColumns []int
	notes        []string // of how the file was read
}

// Note is what whoever wrote a data block may want to know of how its file was read, such as
// the delimiter that was found out. It is no warning.
type Note struct {
	Address string // of the data source, such as data.csv.payroll
	Text    string // a clause, with text of the file in it
}

// Notes are those of all data sources, in declaration order. They are complete once
// [Configuration.Transfers] came to its end.
func (c *Configuration) Notes() []Note {
	var notes []Note
	for _, n := range c.scope.inOrder {
		if n.data == nil {
			continue
		}
		for _, text := range n.data.notes {
			notes = append(notes, Note{n.data.address, text})
		}
	}
	return notes
}

func dataBlockKind() blockKind {
	kind := blockKind{
		name: "data", labels: []string{"type", "name"},
		required: []string{"file"}, optional: []string{"key", "where"},
		read: (*loader).readData,
	}
	for _, of := range dataKinds() {
		for _, name := range of.arguments {
			if !slices.Contains(kind.optional, name) {
				kind.optional = append(kind.optional, name)
			}
		}
	}
	return kind
}

func (l *loader) readData(b *block) {
	switch kind := b.label(0); {
	case slices.Contains(dataTypes(), kind):
	default:
		l.report(mistake.New(b.labelAt[0], "Unknown type of data", "There are no data sources of type %q.%s", kind,
			mistake.DidYouMean(kind, dataTypes())))
		return
	}
	name := b.label(0) + "." + b.label(1)
	if !l.declareNamed(b, "data."+name) {
		return
	}
	d := &dataSource{block: b, address: "data." + name, file: &rows.File{}, sources: l.config.sources, scope: l.config.scope}
	d.kind = dataKinds()[slices.Index(dataTypes(), b.label(0))]
	l.checkDataArguments(d)
	if a, ok := b.arguments["where"]; ok {
		d.where = a
		a.row = true
	}
	n := &node{
		root: "data", name: name, at: b.at, arguments: b.inOrder, data: d, wide: true,
		compute: d.prepare, demand: d.hold,
	}
	if b.incomplete {
		n.progress = failed
	}
	l.config.scope.add(n)
}

// checkDataArguments reports arguments that are not those of the block's type of data.
func (l *loader) checkDataArguments(d *dataSource) {
	b := d.block
	for _, a := range b.inOrder {
		if a.name != "file" && a.name != "key" && a.name != "where" && !slices.Contains(d.kind.arguments, a.name) {
			l.report(mistake.New(a.nameAt, "Unsupported argument", "A data source of type %q has no argument %q. It has: %s.",
				d.kind.name, a.name, strings.Join(append([]string{"file", "key", "where"}, d.kind.arguments...), ", ")))
			b.incomplete = true
		}
	}
	if b.arguments["key"] == nil && d.kind.key == "" && !b.incomplete {
		l.report(mistake.New(b.at, "Missing required argument", "The argument \"key\" is required: it names the column by whose text a row is known."))
		b.incomplete = true
	}
}

// prepare evaluates the arguments and reads the header of the file.
func (d *dataSource) prepare() (cty.Value, hcl.Diagnostics) {
	r := &reader{scope: d.scope, block: d.block}
	name, at := d.namedFile(r)
	if name != "" && !filepath.IsLocal(name) {
		r.refuse(at, "File is outside of the directory",
			"file %q must be in the directory of the configuration or below it.", name)
	}
	*d.file = rows.File{Name: filepath.ToSlash(filepath.Clean(name)), NamedAt: at, BlockAt: d.block.at, Places: map[string]hcl.Range{}}
	for _, a := range d.block.inOrder {
		d.file.Places[a.name] = a.expr.Range()
	}
	if d.file.Key, _ = r.text("key"); d.file.Key == "" {
		d.file.Key = d.kind.key
		if a := d.block.arguments["key"]; a != nil && d.file.Key == "" && !r.diags.HasErrors() {
			r.refuse(a.expr.Range(), "Required argument is null", "key may not be null.")
		}
	}
	d.readPicks(r)
	d.readFormats(r)
	d.format = d.kind.format(d, r)
	if r.diags.HasErrors() {
		return cty.NilVal, r.diags
	}
	d.readHeader(r)
	return cty.NilVal, r.diags
}

// readPicks reads the argument columns: which columns are read, and their names.
func (d *dataSource) readPicks(r *reader) {
	for name, header := range r.textMap("columns") {
		if err := transfer.CheckText(name); err != nil || name == "" {
			r.refuse(d.file.At("columns"), "Invalid name of a column", "A column has a name that can be seen, and %q is none.", name)
		}
		d.file.Columns = append(d.file.Columns, rows.Column{Name: name, Header: header})
	}
	slices.SortFunc(d.file.Columns, func(a, b rows.Column) int { return strings.Compare(a.Name, b.Name) })
	isKey := func(p rows.Column) bool { return p.Name == d.file.Key }
	if d.file.Columns != nil && !slices.ContainsFunc(d.file.Columns, isKey) && !r.diags.HasErrors() {
		r.refuse(d.file.At("columns"), "Key is not read", "columns says which columns are read, and the key %q is not among them.", d.file.Key)
	}
}

// readFormats reads the argument number_format.
func (d *dataSource) readFormats(r *reader) {
	for column, example := range r.textMap("number_format") {
		format, err := rows.ParseNumberFormat(example)
		if err != nil {
			r.refuse(d.file.At("number_format"), "Invalid format of numbers", "%s: %q %s", column, example, mistake.Sentence(err))
			continue
		}
		if d.file.Formats == nil {
			d.file.Formats = map[string]*rows.NumberFormat{}
		}
		d.file.Formats[column] = format
	}
}

func (d *dataSource) readHeader(r *reader) {
	table, file, diags := d.sources.data.Open(d.file, d.format)
	if file != nil {
		_ = file.Close()
	}
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		d.sources.data.NeedSnippet(d.file.Name, sourceHeaderBytes)
		return
	}
	d.columns, d.notes = table.Columns, table.Notes()
	if table.KeyColumn < 0 {
		r.diags = append(r.diags, rows.UnknownColumn(d.file.At("key"), d.file.Name, d.file.Key, d.columns))
		return
	}
	if d.where != nil { // resolved before the columns were known
		within := wideReach()
		within.row, within.columns = true, d.columns
		_, diags := d.scope.resolve(d.where.expr, within)
		d.whereColumns = columnsNamed(d.where.expr, d.columns, "row")
		r.diags = append(r.diags, diags...)
	}
}

// hold reads all rows for an expression that needs them at once.
func (d *dataSource) hold() (cty.Value, hcl.Diagnostics) {
	values := map[string]cty.Value{}
	var all mistake.Set
	for row, diags := range d.rows(context.Background()) {
		all.Add(diags)
		if row == nil {
			continue
		}
		if len(values) == rowsHeldMax {
			all.Add(hcl.Diagnostics{mistake.New(d.block.at, "Too many rows to hold",
				"An expression needs all rows of %s at once, which may be %d. Narrow them down with where, or write %s.rows alone in for_each, where they are read one by one.",
				d.address, rowsHeldMax, d.address)})
			break
		}
		values[row.Key()] = row.value()
	}
	rows := cty.MapValEmpty(cty.Object(d.rowType()))
	if len(values) > 0 {
		rows = cty.MapVal(values)
	}
	return cty.ObjectVal(map[string]cty.Value{"rows": rows}), all.Diagnostics()
}

func (d *dataSource) rowType() map[string]cty.Type {
	types := map[string]cty.Type{}
	for _, column := range d.columns {
		types[column] = cty.String
	}
	return types
}
