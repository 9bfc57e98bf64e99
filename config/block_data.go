package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
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

	// What the arguments say; good once the node is known.
	file      string
	fileAt    hcl.Range // where it is named
	key       string
	keyColumn int
	csv       csvOptions
	xlsx      xlsxOptions
	pointer   jsontext.Pointer         // to the rows of JSON
	picks     []pick                   // nil for all columns
	formats   map[string]*numberFormat // by column
	columns   []string
	where     *argument
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

// pick is a column that is read, and what the file calls it.
type pick struct{ name, header string }

// dataKind is a type of data: one kind of file.
type dataKind struct {
	name      string
	arguments []string // beside file, key and where
	key       string   // where none is named; "" where one must be
	// prepare reads the arguments of this kind alone; nil where there are none.
	prepare func(*dataSource, *reader)
	// open reads the header of a file.
	open func(*dataSource, *os.File) (records, hcl.Diagnostics)
}

// dataKinds are the types of data of this version.
func dataKinds() []dataKind {
	return []dataKind{csvKind(), xlsxKind(), jsonKind(), pain001Kind()}
}

// dataTypes are their names.
func dataTypes() []string {
	var names []string
	for _, kind := range dataKinds() {
		names = append(names, kind.name)
	}
	return names
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
	d := &dataSource{block: b, address: "data." + name, sources: l.config.sources, scope: l.config.scope}
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
	file, at := d.namedFile(r)
	d.fileAt = at
	if file != "" && !filepath.IsLocal(file) {
		r.refuse(at, "File is outside of the directory",
			"file %q must be in the directory of the configuration or below it.", file)
	}
	d.file = filepath.ToSlash(filepath.Clean(file))
	if d.key, _ = r.text("key"); d.key == "" {
		d.key = d.kind.key
		if a := d.block.arguments["key"]; a != nil && d.key == "" && !r.diags.HasErrors() {
			r.refuse(a.expr.Range(), "Required argument is null", "key may not be null.")
		}
	}
	d.readPicks(r)
	d.readFormats(r)
	if d.kind.prepare != nil {
		d.kind.prepare(d, r)
	}
	if r.diags.HasErrors() {
		return cty.NilVal, r.diags
	}
	d.readHeader(r)
	return cty.NilVal, r.diags
}

// readPicks reads the argument columns: what is read of each row, under which name.
func (d *dataSource) readPicks(r *reader) {
	for name, header := range r.textMap("columns") {
		if err := transfer.CheckText(name); err != nil || name == "" {
			r.refuse(d.block.arguments["columns"].expr.Range(), "Invalid name of a column", "A column has a name that can be seen, and %q is none.", name)
		}
		d.picks = append(d.picks, pick{name, header})
	}
	slices.SortFunc(d.picks, func(a, b pick) int { return strings.Compare(a.name, b.name) })
	if a := d.block.arguments["columns"]; a != nil && d.picks != nil && !d.hasPick(d.key) && !r.diags.HasErrors() {
		r.refuse(a.expr.Range(), "Key is not read", "columns says which columns are read, and the key %q is not among them.", d.key)
	}
}

func (d *dataSource) hasPick(name string) bool {
	return slices.ContainsFunc(d.picks, func(p pick) bool { return p.name == name })
}

// readFormats reads the argument number_format.
func (d *dataSource) readFormats(r *reader) {
	for column, example := range r.textMap("number_format") {
		format, err := parseNumberFormat(example)
		if err != nil {
			r.refuse(d.block.arguments["number_format"].expr.Range(), "Invalid format of numbers", "%s: %q %s", column, example, mistake.Sentence(err))
			continue
		}
		if d.formats == nil {
			d.formats = map[string]*numberFormat{}
		}
		d.formats[column] = format
	}
}

// headerOf is what the file calls a column.
func (d *dataSource) headerOf(column string) string {
	for _, p := range d.picks {
		if p.name == column {
			return p.header
		}
	}
	return column
}

func (d *dataSource) readHeader(r *reader) {
	table, file, diags := d.open()
	if file != nil {
		_ = file.Close()
	}
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		d.sources.needData(d.file, sourceHeaderBytes)
		return
	}
	d.columns, d.notes = table.columns, table.from.notes()
	d.keyColumn = slices.Index(d.columns, d.key)
	if d.keyColumn < 0 {
		at := d.block.at
		if a := d.block.arguments["key"]; a != nil {
			at = a.expr.Range()
		}
		r.diags = append(r.diags, unknownColumn(at, d.file, d.key, d.columns))
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
		values[row.key()] = row.value()
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
