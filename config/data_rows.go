package config

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/rows"
	"remit/config/syntax"
)

const (
	sourceHeaderBytes = 64 << 10 // what a snippet of a header needs
	contextEvery      = 1024     // rows between two looks at a context
)

// rows streams the rows that where lets through. A mistake or a warning is yielded with a nil
// row, and the stream goes on; the end of ctx ends it early with a mistake. A row is valid
// until the next one.
func (d *dataSource) rows(ctx context.Context) iter.Seq2[*row, hcl.Diagnostics] {
	return func(yield func(*row, hcl.Diagnostics) bool) {
		table, file, filter, diags := d.begin()
		if file != nil {
			defer func() { _ = file.Close() }()
		}
		if table == nil {
			yield(nil, diags)
			return
		}
		defer func() { d.notes = table.Notes() }()
		keys, current, known, left := newSeen(), &row{}, d.newKnown(), newRowsLeftOut(d)
		numbers, comments := &numbersSeen{all: keys}, &commentsSeen{source: d}
		compared := d.columnsCompared()
		taken, isAny := false, false // whether a row was accepted; whether the file has one
		isWhole := true              // without a mistake, which may hide a warning
		for n := 0; ; n++ {
			if n%contextEvery == 0 && ctx.Err() != nil {
				yield(nil, Interrupted())
				return
			}
			next, diags, err := table.Next()
			var accepted *row
			if next != nil {
				warnings := diags
				*current = row{Row: next, source: d}
				accepted, diags = d.accept(current, filter, keys)
				left.byWhere.Of++
				if accepted == nil && diags == nil {
					warnings = withoutRow(warnings)
					left.where(next)
				}
				warnings = append(append(warnings, d.warnOfLetters(current, compared)...), comments.row(next, accepted != nil)...)
				known.noteKey(current.Key(), warnings)
				if accepted != nil {
					left.accept(next)
					warnings = append(warnings, d.warnOfNumber(accepted, numbers)...)
				}
				if warnings = known.take(warnings); warnings != nil && !yield(nil, d.noted(warnings)) {
					return
				}
			} else {
				diags = known.take(append(diags, left.end(table, err)...))
			}
			taken = taken || accepted != nil || diags.HasErrors()
			isAny = isAny || next != nil || diags.HasErrors()
			isWhole = isWhole && !diags.HasErrors()
			if err != nil {
				diags = append(diags, known.rest()...)
				if isWhole {
					diags = append(diags, known.needless(func(name string) bool { return !isOfTransfers(name) })...)
				}
				d.readWarnings[1] = left.all(known.all())
				if !taken && !diags.HasErrors() {
					diags = append(diags, d.noRows(isAny))
				}
			}
			if (accepted != nil || diags != nil) && !yield(accepted, d.noted(diags)) || err != nil {
				return
			}
		}
	}
}

// begin opens the file and makes its filter ready. Where the rows can't be read, there is no table, and the mistakes say why.
func (d *dataSource) begin() (table *rows.Table, file io.Closer, filter *hcl.EvalContext, diags hcl.Diagnostics) {
	table, file, diags = d.sources.data.Open(d.file, d.format)
	if diags.HasErrors() {
		return nil, file, nil, d.noted(diags)
	}
	if !slices.Equal(table.Columns, d.columns) {
		return nil, file, nil, hcl.Diagnostics{mistake.New(d.block.At, "Data file changed", "%s was changed while it was read.", d.file.Name)}
	}
	filter, ok, diags := d.filter()
	if !ok {
		return nil, file, nil, append(diags, mistake.New(d.block.At, "Data cannot be read",
			"A mistake in what where refers to keeps the rows of %s from being read.", d.address))
	}
	return table, file, filter, nil
}

// noRows warns of a file that makes no transfer.
func (d *dataSource) noRows(isAny bool) *hcl.Diagnostic {
	if isAny {
		return mistake.Warning(d.file.At("where"), "No row is left", "where is false for each row of %s, so nothing is made of them. A comparison such as row.status == \"active\" heeds capitals and spaces.", d.file.Name)
	}
	return mistake.Warning(d.file.NamedAt, "File has no rows", "%s has a header, and no row below it, so nothing is made of it. Is it the whole file?", d.file.Name)
}

// Interrupted is the mistake of a stream of transfers that ended before it was whole.
func Interrupted() hcl.Diagnostics {
	return hcl.Diagnostics{mistake.Placeless("Interrupted", "Reading was interrupted before all transfers were read.")}
}

// noted gives alike mistakes of one file their origin and keeps what their snippets need.
func (d *dataSource) noted(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, diag := range diags {
		if diag.Subject != nil && diag.Subject.Filename == d.file.Name {
			d.sources.data.NeedSnippet(d.file.Name, diag.Subject.End.Byte)
		}
		switch from, isOrigin := diag.Extra.(*mistake.Origin); {
		case !isOrigin:
			diag.Extra = &mistake.Origin{Block: d.address, Inner: diag.Extra}
		case from.Block == "":
			from.Block = d.address
		}
	}
	return diags
}

// accept checks the key of a row and asks the filter. A row that the filter leaves out is
// nil without diagnostics; its key counts all the same.
func (d *dataSource) accept(r *row, filter *hcl.EvalContext, keys *seen) (*row, hcl.Diagnostics) {
	key := r.Key()
	if key == "" {
		if d.where != nil { // which may leave such a row out
			if isIn, ok := d.plainly(r, filter); ok && !isIn {
				return nil, nil
			}
		}
		return nil, hcl.Diagnostics{mistake.New(r.At(r.Table.KeyColumn), "Key is empty", "The column %q is the key and may not be empty.%s", d.file.Key, d.totalsHint(d.file.Key))}
	}
	if first, isNew := keys.add(key, uint32(min(r.Line, math.MaxUint32))); !isNew {
		if isRounded(key) {
			return nil, hcl.Diagnostics{mistake.New(r.At(r.Table.KeyColumn), "Key is not unique", "The key %q is %s. It is %s. %s", key, onLines(int(first), r.Line), roundedWhy, roundedRemedy)}
		}
		return nil, hcl.Diagnostics{mistake.New(r.At(r.Table.KeyColumn), "Key is not unique", "The key %q is %s.%s", key, onLines(int(first), r.Line), d.repeatedHint(r, int(first)))}
	}
	if d.where == nil {
		return r, nil
	}
	m := d.scope.Meter
	defer m.Resume(m.Begin(meter.RowStepsMax))
	if isIn, ok := d.plainly(r, filter); ok {
		if isIn {
			return r, nil
		}
		return nil, nil
	}
	whole := *filter // which a diagnostic may keep
	whole.Variables = map[string]cty.Value{"row": r.value()}
	value, diags := d.scope.Evaluate(d.where.Expr, d.where.Refs, &whole)
	value, _ = unmoved(value)
	switch {
	case diags.HasErrors():
	case value.ContainsMarked():
		diags = hcl.Diagnostics{eval.SensitiveHere(d.where.Expr.Range())}
	case value.IsNull() || value.Type() != cty.Bool:
		diags = hcl.Diagnostics{d.notBool(r, value)}
		return nil, diags
	case value.True():
		return r, nil
	}
	for _, diag := range diags {
		diag.Detail += " The row is " + mistake.At(r.Whole()) + "."
	}
	return nil, diags
}

// onLines names the two lines of something repeated.
func onLines(first, again int) string {
	if first == again {
		return fmt.Sprintf("twice on line %d", first)
	}
	return fmt.Sprintf("on line %d and on line %d", first, again)
}

// plainly evaluates where with the columns alone that it names. It is false where that has
// no result, and the whole row is needed to say why.
func (d *dataSource) plainly(r *row, filter *hcl.EvalContext) (isIn, ok bool) {
	filter.Variables = map[string]cty.Value{"row": r.object(d.whereColumns)}
	value, diags := d.where.Expr.Value(filter)
	if diags.HasErrors() || value.IsMarked() || !value.IsKnown() || value.IsNull() || value.Type() != cty.Bool {
		return false, false
	}
	return value.True(), true
}

// filter is what where is evaluated in, and nil where there is none.
func (d *dataSource) filter() (*hcl.EvalContext, bool, hcl.Diagnostics) {
	if d.where == nil {
		return nil, true, nil
	}
	ctx, ok, diags := d.scope.Context(d.where.Refs)
	if !ok {
		return nil, false, diags
	}
	return ctx.NewChild(), true, diags
}

// totalsHint says how a row of totals or notes is left out, which has no text in a column.
func (d *dataSource) totalsHint(column string) string {
	hint := " If this is a row of totals or of notes, leave it out of " + d.address
	last := d.lastWithout(column)
	if slices.Contains(d.kind.arguments, "skip_last") && last > 0 {
		hint += fmt.Sprintf(", by the one line for rows at the end, or the other for rows anywhere:\n\n  skip_last = %d", d.skipLast+last)
	} else {
		hint += ":\n"
	}
	return hint + fmt.Sprintf("\n  where     = %s%s != \"\"", d.beside(), mistake.ColumnOf("row", column))
}

// lastWithout counts the rows at the end of the file that have no text in a column, beside those that skip_last
// leaves out. It reads the file again, once for each column.
func (d *dataSource) lastWithout(column string) int {
	if n, known := d.without[column]; known {
		return n
	}
	n := 0
	if table, file, diags := d.sources.data.Open(d.file, d.format); file != nil {
		i := -1
		if !diags.HasErrors() {
			i = slices.Index(table.Columns, column)
		}
		for i >= 0 {
			next, _, err := table.Next()
			if next == nil || err != nil {
				break
			}
			if n++; strings.TrimSpace(next.Fields[i]) != "" {
				n = 0
			}
		}
		_ = file.Close() // only read
	}
	if d.without == nil {
		d.without = map[string]int{}
	}
	d.without[column] = n
	return n
}

// notBool refuses a where that is no bool for a row. A file has text, also for true and false.
func (d *dataSource) notBool(r *row, value cty.Value) *hcl.Diagnostic {
	const what = "where must be true or false for each row"
	if _, isLiteral := syntax.LiteralText(d.where.Expr); isLiteral {
		return mistake.New(d.where.Expr.Range(), "Not true or false", what+". A condition has no quotation marks around it, and a column is row and its name, such as:\n\n  where = row.status == \"active\"")
	}
	path := syntax.Traversal(d.where.Expr)
	if len(path) != 2 || value.IsNull() || !syntax.IsText(value) {
		return mistake.New(d.where.Expr.Range(), "Not true or false", what+". The row is %s.", mistake.At(r.Whole()))
	}
	for _, letters := range [][2]string{{"true", "false"}, {"TRUE", "FALSE"}, {"True", "False"}} {
		if slices.Contains(letters[:], value.AsString()) { // the remedy says true, whichever the row has: the other pays the wrong rows
			column, _ := eval.StepName(path[1], true)
			return mistake.New(d.where.Expr.Range(), "Not true or false", what+", and a column of a file is text. Compare it:\n\n  where = %s == %q",
				mistake.ColumnOf("row", column), letters[0])
		}
	}
	return mistake.New(d.where.Expr.Range(), "Not true or false", what+", and a column of a file is text. Compare it by ==. The row is %s.", mistake.At(r.Whole()))
}
