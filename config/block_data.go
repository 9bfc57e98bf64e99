package config

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/rows"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// rowsHeldMax is how many rows an expression may hold at once; a for_each streams any
// number.
const rowsHeldMax = 100_000

// dataSource is one data block: rows of a file, by key.
type dataSource struct {
	block   *eval.Block
	kind    dataKind
	address string // data.csv.payroll
	sources *sourceFiles
	scope   *eval.Scope

	override *DataFile // that is read in place of its file; nil for none

	// The arguments, once the node is known.
	file     *rows.File
	format   rows.Format
	skipLast int // rows at the end that are left out
	columns  []string
	sheet    string   // that is read, of a workbook that shows several; "" for any other file
	unread   []string // columns of the file that the argument columns leaves out
	where    *eval.Argument
	// whereColumns are the columns that where names.
	whereColumns []int
	without      map[string]int   // how many rows at the end have no text, by the column; nil before somebody asked
	compared     bool             // the first two rows of one key were compared
	notes        []string         // of how the file was read
	acknowledged map[string]int   // how many warnings are known, by their names
	leftOut      []leftOutRow     // the first ones
	payments     []payment        // of the transfers that may read the rows, where an argument leaves out rows at their end
	readWarnings [3][]ReadWarning // of the header, of the rows and of their transfers, whether or not they are known
	currencies   heldCurrencies
}

func dataBlockKind() eval.Kind {
	kind := eval.Kind{
		Name: "data", Labels: []string{"type", "name"},
		Required: []string{"file"}, Optional: []string{"key", "where", "acknowledge"},
	}
	for _, of := range dataKinds() {
		for _, name := range of.arguments {
			if !slices.Contains(kind.Optional, name) {
				kind.Optional = append(kind.Optional, name)
			}
		}
	}
	return kind
}

func readData(c *checker, s *sourceFiles, b *eval.Block) (*eval.Node, *dataSource) {
	switch kind := b.Label(0); {
	case slices.Contains(dataTypes(), kind):
	default:
		c.report(mistake.New(b.LabelAt[0], "Unknown type of data", "There are no data sources of type %q. The types are %s, each a file of the directory.%s", kind, strings.Join(dataTypes(), ", "),
			meantDataType(kind)))
		return nil, nil
	}
	name := b.Label(0) + "." + b.Label(1)
	if !c.declareNamed(b, "data."+name) {
		return nil, nil
	}
	d := &dataSource{block: b, address: "data." + name, file: &rows.File{}, sources: s, scope: c.scope}
	d.kind = dataKinds()[slices.Index(dataTypes(), b.Label(0))]
	checkDataArguments(c, d)
	if a, ok := b.Arguments["where"]; ok {
		d.where = a
		a.Row = true
	}
	n := &eval.Node{
		Root: "data", Name: name, At: b.At, Arguments: b.InOrder, Wide: true,
		Compute: d.prepare, Demand: d.hold,
	}
	if b.Incomplete {
		n.Progress = eval.Failed
	}
	c.scope.Add(n)
	return n, d
}

// checkDataArguments reports arguments that are not those of the block's type of data.
func checkDataArguments(c *checker, d *dataSource) {
	b := d.block
	for _, a := range b.InOrder {
		if !slices.Contains(DataArguments(d.kind.name), a.Name) {
			c.report(mistake.New(a.NameAt, "Unsupported argument", "A data source of type %q has no argument %q. It has: %s.",
				d.kind.name, a.Name, strings.Join(DataArguments(d.kind.name), ", ")))
			b.Incomplete = true
		}
	}
	if b.Arguments["key"] == nil && d.kind.key == "" && !b.Incomplete {
		c.report(mistake.New(b.At, "Missing required argument", "The argument \"key\" is required: it names the column by whose text a row is known."))
		b.Incomplete = true
	}
}

// prepare evaluates the arguments and reads the header of the file.
func (d *dataSource) prepare() (cty.Value, hcl.Diagnostics) {
	r := &eval.Reader{Scope: d.scope, Block: d.block}
	name, at := d.namedFile(r)
	if name != "" && !filepath.IsLocal(name) {
		r.Refuse(at, "File is outside of the directory",
			"file %q must be in the directory of the configuration or below it.", name)
	}
	*d.file = rows.File{Name: filepath.ToSlash(filepath.Clean(name)), NamedAt: at, BlockAt: d.block.At, Places: map[string]hcl.Range{}}
	for _, a := range d.block.InOrder {
		d.file.Places[a.Name] = a.Expr.Range()
	}
	if a := d.block.Arguments["columns"]; a != nil {
		if object, ok := syntax.Unwrap(a.Expr).(*hclsyntax.ObjectConsExpr); ok {
			for _, item := range object.Items {
				d.file.Places["columns."+hcl.ExprAsKeyword(item.KeyExpr)] = item.ValueExpr.Range()
			}
		}
	}
	if d.file.Key, _ = r.Text("key"); d.file.Key == "" {
		d.file.Key = d.kind.key
		if a := d.block.Arguments["key"]; a != nil && d.file.Key == "" && !r.Diags.HasErrors() {
			r.Refuse(a.Expr.Range(), "Required argument is null", "key may not be null.")
		}
	}
	d.readPicks(r)
	d.readFormats(r)
	d.readAcknowledged(r)
	d.format = d.kind.format(d, r)
	if r.Diags.HasErrors() {
		return cty.NilVal, r.Diags
	}
	d.readHeader(r)
	return cty.NilVal, r.Diags
}

// readPicks reads the argument columns: which columns are read, and their names.
func (d *dataSource) readPicks(r *eval.Reader) {
	for name, header := range r.TextMap("columns") {
		if err := transfer.CheckText(name); err != nil || name == "" {
			r.Refuse(d.file.At("columns"), "Invalid name of a column", "A column has a name that can be seen, and %q is none.", name)
		}
		d.file.Columns = append(d.file.Columns, rows.Column{Name: name, Header: header})
	}
	slices.SortFunc(d.file.Columns, func(a, b rows.Column) int { return strings.Compare(a.Name, b.Name) })
	isKey := func(p rows.Column) bool { return p.Name == d.file.Key }
	own := renamed(d.file)[d.file.Key]
	switch {
	case d.file.Columns == nil, slices.ContainsFunc(d.file.Columns, isKey), r.Diags.HasErrors():
	case own != "" && !hclsyntax.ValidIdentifier(own): // which hardly anybody would choose
		r.Refuse(d.file.At("columns"), "Key is not read", "columns has names of the file on the left. Turn them round, such as:\n\n  columns = { %s = %s }", d.file.Key, mistake.QuotedHCL(own))
	case own != "":
		r.Refuse(d.file.At("key"), "Key is not read", "The argument columns calls the column %q %s here. Write:\n\n  key = %s", d.file.Key, own, mistake.QuotedHCL(own))
	default:
		r.Refuse(d.file.At("columns"), "Key is not read", "columns says which columns are read, and the key %q is not among them.", d.file.Key)
	}
}

// readFormats reads the argument number_format.
func (d *dataSource) readFormats(r *eval.Reader) {
	for column, example := range r.TextMap("number_format") {
		format, err := rows.ParseNumberFormat(example)
		if err != nil {
			r.Refuse(d.file.At("number_format"), "Invalid format of numbers", "%s: %q %s", column, example, mistake.Sentence(err))
			continue
		}
		if word := unclearBeside(format.Currency()); word != "" {
			r.Refuse(d.file.At("number_format"), "Invalid format of numbers", "%s: %q %s.", column, example, unclearCurrency(format.Currency(), word))
			continue
		}
		if format.MayBeDecimals() && !isWithoutDecimals(currenciesIn(format.Currency())) {
			r.Refuse(d.file.At("number_format"), "Invalid format of numbers", "%s: %q can be taken for a number with three decimals. Write 1234.56 as the column would have it, with its decimals: numbers without any are read too.", column, example)
			continue
		}
		if d.file.Formats == nil {
			d.file.Formats = map[string]*rows.NumberFormat{}
		}
		d.file.Formats[column] = format
	}
}

func (d *dataSource) readHeader(r *eval.Reader) {
	table, file, diags := d.sources.data.Open(d.file, d.format)
	if file != nil {
		_ = file.Close()
	}
	known := d.newKnown()
	r.Diags = append(append(r.Diags, known.take(diags)...), known.rest()...)
	d.readWarnings[0] = known.all()
	if diags.HasErrors() {
		d.sources.data.NeedSnippet(d.file.Name, sourceHeaderBytes)
		return
	}
	d.columns, d.unread, d.notes, d.sheet = table.Columns, table.Unread, table.Notes(), table.Sheet
	for i := range d.readWarnings[0] {
		d.readWarnings[0][i].Sheet = d.sheet
	}
	if table.KeyColumn < 0 {
		unknown := d.file.UnknownColumn(d.file.At("key"), d.file.Key, d.columns)
		if strings.Contains(unknown.Detail, " There are: ") && !strings.Contains(unknown.Detail, "\n") && len(d.columns) > 1 {
			unknown.Detail += " The key is the column by which a row is known, such as:\n\n  key = " + mistake.QuotedHCL(d.columns[0])
		}
		r.Diags = append(r.Diags, unknown)
		return
	}
	if d.where != nil { // resolved before the columns were known
		within := eval.WideReach()
		within.Row, within.Columns, within.Headers = true, d.columns, d.headers()
		_, diags := d.scope.Resolve(d.where.Expr, within)
		d.whereColumns = columnsNamed(d.where.Expr, d.columns, "row")
		_, never := comparisons(d.where.Expr)
		r.Diags = append(append(r.Diags, diags...), never...)
	}
}

// headers are the columns of the file that go by another name here, or by none.
func (d *dataSource) headers() map[string]string {
	headers := map[string]string{}
	for _, name := range d.unread {
		headers[name] = ""
	}
	for _, pick := range d.file.Columns {
		headers[pick.Header] = pick.Name
	}
	return headers
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
			all.Add(hcl.Diagnostics{mistake.New(d.block.At, "Too many rows to hold",
				"An expression needs all rows of %s at once, which may be %d. Narrow them down with where, or write %s.rows alone in for_each, where they are read one by one.",
				d.address, rowsHeldMax, d.address)})
			break
		}
		values[row.Key()] = row.value()
		if d.kind.name != "pain001" { // which has a column of currencies
			d.currencies.note(row.Row)
		}
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

// namedFile is the file that the data source reads, and where it is named.
func (d *dataSource) namedFile(r *eval.Reader) (string, hcl.Range) {
	file, a := r.Required("file")
	if d.override != nil {
		return d.override.File, d.override.At
	}
	if a == nil {
		return "", d.block.At
	}
	return file, a.Expr.Range()
}

// renamed are the columns that the argument columns calls otherwise than the file, by their names in the file.
func renamed(f *rows.File) map[string]string {
	names := map[string]string{}
	for _, column := range f.Columns {
		names[column.Header] = column.Name
	}
	return names
}

// otherDataTypes are words for kinds of files, with the types that read them.
var otherDataTypes = map[string]string{
	"excel": "xlsx", "xls": "xlsx", "xlsm": "xlsx", "workbook": "xlsx", "spreadsheet": "xlsx", "sheet": "xlsx", "tsv": "csv", "txt": "csv", "text": "csv", "file": "csv",
	"jsonl": "json", "ndjson": "json", "xml": "pain001", "sepa": "pain001", "pain.001": "pain001", "iso20022": "pain001",
}

// meantDataType says which type of data source a word may mean.
func meantDataType(kind string) string {
	if lower := strings.ToLower(kind); lower == "yaml" || lower == "yml" || lower == "toml" {
		return " Save the file as JSON, for data \"json\", or as CSV."
	}
	if meant := otherDataTypes[strings.ToLower(kind)]; meant != "" {
		return fmt.Sprintf(" Did you mean %q?", meant)
	}
	return mistake.DidYouMean(kind, dataTypes())
}
