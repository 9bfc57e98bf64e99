package config

import (
	"context"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// rowsHeldMax is how many rows an expression may hold at once; a for_each streams any
// number.
const rowsHeldMax = 100_000

// dataSource is one data block: rows of a file, by key.
type dataSource struct {
	block   *block
	address string // data.csv.payroll
	sources *sources
	scope   *scope

	// What the arguments say; good once the node is known.
	file      string
	key       string
	keyColumn int
	delimiter rune
	columns   []string
	where     *argument
	// whereColumns are the columns that where names.
	whereColumns []int
}

// dataTypes are the types of data sources of this version.
func dataTypes() []string { return []string{"csv"} }

// dataTypesLater come with later versions.
func dataTypesLater() []string { return []string{"json", "pain001", "xlsx"} }

func dataKind() blockKind {
	return blockKind{
		name: "data", labels: []string{"type", "name"},
		required: []string{"file", "key"}, optional: []string{"where", "delimiter"},
		read: (*loader).readData,
	}
}

func (l *loader) readData(b *block) {
	switch kind := b.label(0); {
	case slices.Contains(dataTypes(), kind):
	case slices.Contains(dataTypesLater(), kind):
		l.report(notYet(kind, b.labelAt[0]))
		return
	default:
		l.report(mistake(b.labelAt[0], "Unknown type of data", "There are no data sources of type %q.%s", kind,
			didYouMean(kind, append(dataTypes(), dataTypesLater()...))))
		return
	}
	name := b.label(0) + "." + b.label(1)
	if !l.declareNamed(b, "data."+name) {
		return
	}
	d := &dataSource{block: b, address: "data." + name, sources: l.config.sources, scope: l.config.scope}
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

// prepare evaluates the arguments and reads the header of the file.
func (d *dataSource) prepare() (cty.Value, hcl.Diagnostics) {
	r := &reader{scope: d.scope, block: d.block}
	file, at := r.required("file")
	if file != "" && !filepath.IsLocal(file) {
		r.refuse(at.expr.Range(), "File is outside of the directory",
			"file %q must be in the directory of the configuration or below it.", file)
	}
	d.file = filepath.ToSlash(filepath.Clean(file))
	d.key, _ = r.required("key")
	d.delimiter = ','
	if text, a := r.delimiter(); text != "" {
		c, size := utf8.DecodeRuneInString(text)
		if size != len(text) || c == '"' || c == '\r' || c == '\n' || c == utf8.RuneError || c == 0 {
			r.refuse(a.expr.Range(), "Invalid delimiter", "delimiter must be one character, such as \";\" or \"\\t\", and no quotation mark.")
		}
		d.delimiter = c
	}
	if r.diags.HasErrors() {
		return cty.NilVal, r.diags
	}
	d.readHeader(r)
	return cty.NilVal, r.diags
}

// delimiter is the argument of that name; a tab is a control character and allowed here.
func (r *reader) delimiter() (string, *argument) {
	v, a, found := r.value("delimiter")
	if found != present {
		return "", a
	}
	if v.Type() != cty.String || v.AsString() == "" {
		r.refuse(a.expr.Range(), "Invalid delimiter", "delimiter must be one character, such as \";\" or \"\\t\".")
		return "", a
	}
	return v.AsString(), a
}

func (d *dataSource) readHeader(r *reader) {
	file, err := openBelow(d.sources.root, d.file)
	if err != nil {
		r.refuse(d.block.arguments["file"].expr.Range(), "Data file cannot be read", "%s: %s", d.file, sentence(err))
		return
	}
	defer func() { _ = file.Close() }()
	table, diags := newTable(file, d.file, d.delimiter)
	if diags.HasErrors() {
		d.sources.needData(d.file, sourceHeaderBytes)
		r.diags = append(r.diags, diags...)
		return
	}
	d.columns = table.columns
	d.keyColumn = slices.Index(d.columns, d.key)
	if d.keyColumn < 0 {
		hint := didYouMean(d.key, d.columns)
		if hint == "" {
			hint = " There are: " + listed(d.columns, 10) + "."
		}
		r.refuse(d.block.arguments["key"].expr.Range(), "Unknown column", "%s has no column %q.%s", d.file, d.key, hint)
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
	var all Mistakes
	for row, diags := range d.rows(context.Background()) {
		all.Add(diags)
		if row == nil {
			continue
		}
		if len(values) == rowsHeldMax {
			all.Add(hcl.Diagnostics{mistake(d.block.at, "Too many rows to hold",
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
