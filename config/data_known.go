package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"remit/config/eval"
	"remit/config/mistake"
)

// warningNames are the names by which the argument acknowledge knows warnings of data files.
var warningNames = map[string]string{
	hiddenRow: "hidden_rows", "Column is hidden": "hidden_columns", "Sheet is hidden": "hidden_sheets",
	"Formula in a column": "formula_columns", "A full row is left out": "full_rows_left_out", "Rows below the range": "rows_below_range",
}

// hiddenRow is the summary of the warning that a row is read which the sheet does not show.
const hiddenRow = "Row is hidden"

// skippedRows is the name of the notes about rows that skip_last leaves out.
const skippedRows = "skipped_rows"

// readAcknowledged reads the argument acknowledge: how many warnings of each name are known.
func (d *dataSource) readAcknowledged(r *eval.Reader) {
	v, a, found := r.Value("acknowledge")
	if found != eval.Present {
		return
	}
	names := append(slices.Sorted(maps.Values(warningNames)), skippedRows)
	if ty := v.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		r.Refuse(a.Expr.Range(), "Not numbers by names", "acknowledge says how many warnings of each name are known, such as:\n\n  acknowledge = { hidden_rows = 1 }")
		return
	}
	d.acknowledged = map[string]int{}
	for name, value := range v.AsValueMap() {
		var n int
		switch {
		case !slices.Contains(names, name):
			r.Refuse(a.Expr.Range(), "Unknown warning", "acknowledge names %q, and the warnings are %s.%s", name, mistake.Listed(names, len(names)), mistake.DidYouMean(name, names))
		case value.IsNull() || value.Type() != cty.Number || gocty.FromCtyValue(value, &n) != nil || n < 1 || n > math.MaxInt32:
			r.Refuse(a.Expr.Range(), "Not a whole number in range", "%s is how many of these warnings are known: a whole number from 1 on, such as:\n\n  acknowledge = { %[1]s = 1 }", name)
		default:
			d.acknowledged[name] = n
		}
	}
}

// knownWarnings holds the warnings of one reading of a file that may be acknowledged, until their number is
// known. It keeps a bounded number of them.
type knownWarnings struct {
	source *dataSource
	held   map[string]*mistake.Set
	count  map[string]int
	lines  map[string][]int // the first few
	hidden []string         // keys of the first hidden rows
}

// hiddenMax is how many hidden rows are named in a line that leaves them out.
const hiddenMax = 5

func (d *dataSource) newKnown() *knownWarnings {
	return &knownWarnings{source: d, held: map[string]*mistake.Set{}, count: map[string]int{}, lines: map[string][]int{}}
}

// withoutHiddenRow leaves out the warning that a row is hidden: nobody misses a row of which nothing is made.
func withoutHiddenRow(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == hiddenRow })
}

// take holds those of the diagnostics that may be acknowledged, and returns the others.
func (k *knownWarnings) take(diags hcl.Diagnostics) hcl.Diagnostics {
	var others hcl.Diagnostics
	for _, d := range diags {
		name := warningNames[d.Summary]
		if name == "" || d.Severity != hcl.DiagWarning {
			others = append(others, d)
			continue
		}
		if k.held[name] == nil {
			k.held[name] = &mistake.Set{}
		}
		k.count[name]++
		if d.Subject.Filename == k.source.file.Name && len(k.lines[name]) < linesNamed {
			k.lines[name] = append(k.lines[name], d.Subject.Start.Line)
		}
		k.held[name].Add(k.source.noted(hcl.Diagnostics{d}))
	}
	return others
}

// noteHidden keeps the key of a row that the sheet hides.
func (k *knownWarnings) noteHidden(key string, diags hcl.Diagnostics) {
	isHidden := slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == hiddenRow })
	if isHidden && key != "" && len(k.hidden) < hiddenMax {
		k.hidden = append(k.hidden, strings.Clone(key))
	}
}

// leaveOutHidden says how the n hidden rows are left out; "" where they are too many to be named.
func (k *knownWarnings) leaveOutHidden(n int) string {
	if n != len(k.hidden) || k.source.where != nil {
		return ""
	}
	column := "row." + k.source.file.Key
	if !hclsyntax.ValidIdentifier(k.source.file.Key) {
		column = fmt.Sprintf("row[%s]", mistake.QuotedHCL(k.source.file.Key))
	}
	keys := make([]string, n)
	for i, key := range k.hidden {
		keys[i] = mistake.QuotedHCL(key)
	}
	condition := column + " != " + keys[0]
	if n > 1 {
		condition = fmt.Sprintf("!contains([%s], %s)", strings.Join(keys, ", "), column)
	}
	return "\n\nIf it should not be paid, leave it out:\n\n  where = " + condition
}

// rest are the warnings that are held and whose number is not the acknowledged one.
func (k *knownWarnings) rest() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(k.held)) {
		n, known := k.count[name], k.source.acknowledged[name]
		if n == known {
			continue
		}
		of := k.held[name].Diagnostics()
		last := of[len(of)-1]
		last.Detail += fmt.Sprintf("\n\nIf this is right, say so in %s:\n\n  acknowledge = { %s = %d }", k.source.address, name, n)
		if name == warningNames[hiddenRow] {
			last.Detail += k.leaveOutHidden(n)
		}
		if known > 0 {
			last.Detail += fmt.Sprintf("\n\nIt acknowledges %d now, and there are %d.", known, n)
		}
		diags = append(diags, of...)
	}
	return diags
}

// all counts the warnings that were taken, by their names.
func (k *knownWarnings) all() []ReadWarning {
	var all []ReadWarning
	for _, name := range slices.Sorted(maps.Keys(k.count)) {
		w := ReadWarning{File: k.source.file.Name, Name: name, Count: k.count[name], Lines: k.lines[name]}
		w.Acknowledged = w.Count == k.source.acknowledged[name]
		all = append(all, w)
	}
	return all
}

// unknownNotes are the notes on how the file was read, without those of rows left out whose number is
// acknowledged.
func (d *dataSource) unknownNotes() []string {
	isSkipped := func(note string) bool { return strings.HasPrefix(note, "skip_last leaves out ") }
	skipped := 0
	for _, note := range d.notes {
		if isSkipped(note) {
			skipped++
		}
	}
	if skipped == 0 || skipped != d.acknowledged[skippedRows] {
		return d.notes
	}
	return slices.DeleteFunc(slices.Clone(d.notes), isSkipped)
}
