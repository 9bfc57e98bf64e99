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
	"remit/internal/text/english"
)

// warningNames are the names by which the argument acknowledge knows warnings of data files.
var warningNames = map[string]string{
	hiddenRow: "hidden_rows", struckRow: "struck_rows", "Column is hidden": "hidden_columns", "Sheet is hidden": "hidden_sheets",
	"Formula in a column": "formula_columns", fullRow: "full_rows_left_out", rowsBelowRange: "rows_below_range",
	oneNumber: "same_number_keys", otherHeader: otherCurrency, otherAmount: otherCurrency, otherColumn: otherCurrency,
	twoNames: twoNamesName, idsCountedUp: countedIDsName,
}

// hiddenRow is the summary of the warning that a row is read which the sheet does not show.
const hiddenRow = "Row is hidden"

// struckRow is the summary of the warning that a row is read of which text is struck through.
const struckRow = "Row is struck through"

// Summaries of the warnings that a row is left out which looks like a payment.
const (
	fullRow        = "A full row is left out"
	rowsBelowRange = "Rows below the range"
)

// Summaries of the warnings of transfers that the data source of their rows may acknowledge.
const (
	otherHeader    = "Currency of a column is another one"
	otherAmount    = "Currency of an amount is another one"
	otherColumn    = "Column says another currency"
	twoNames       = "Two names for one destination"
	idsCountedUp   = "IDs are counted up"
	otherCurrency  = "other_currency"
	twoNamesName   = "two_names"
	countedIDsName = "counted_ids"
)

// isOfTransfers reports whether a name is that of warnings of transfers: their number is known when all transfers were read.
func isOfTransfers(name string) bool {
	return slices.Contains([]string{otherCurrency, twoNamesName, countedIDsName}, name)
}

// refIDAmount is the name of the warning that a ref_id is made of the amount.
const refIDAmount = "ref_id_amount"

// refIDMonth is the name of the warning that a ref_id has no month, or another one than the file.
const refIDMonth = "ref_id_month"

// acknowledgesTransfers reports whether d acknowledges warnings of transfers, whose number is that of all transfers together.
func acknowledgesTransfers(d *dataSource) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(d.acknowledged)), isOfTransfers)
}

// readAcknowledged reads the argument acknowledge: how many warnings of each name are known.
func (d *dataSource) readAcknowledged(r *eval.Reader) {
	v, a, found := r.Value("acknowledge")
	if found != eval.Present {
		return
	}
	names := append(slices.Compact(slices.Sorted(maps.Values(warningNames))), refIDAmount, refIDMonth, SkippedRows)
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
	lines  map[string][]int    // the first few
	keys   map[string][]string // of the first rows that are hidden, and of those that are struck through
}

// keysMax is how many such rows are named in a line that leaves them out.
const keysMax = 5

func (d *dataSource) newKnown() *knownWarnings {
	return &knownWarnings{source: d, held: map[string]*mistake.Set{}, count: map[string]int{}, lines: map[string][]int{}, keys: map[string][]string{}}
}

// isOfRow reports whether a diagnostic is a warning that a row is read which is hidden or struck through.
func isOfRow(d *hcl.Diagnostic) bool { return d.Summary == hiddenRow || d.Summary == struckRow }

// withoutRow leaves out the warnings of a hidden or struck row: nobody misses a row of which nothing is made.
func withoutRow(diags hcl.Diagnostics) hcl.Diagnostics { return slices.DeleteFunc(diags, isOfRow) }

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

// noteKey keeps the key of a row that is hidden or struck through.
func (k *knownWarnings) noteKey(key string, diags hcl.Diagnostics) {
	for _, d := range diags {
		name := warningNames[d.Summary]
		if isOfRow(d) && key != "" && len(k.keys[name]) < keysMax {
			k.keys[name] = append(k.keys[name], strings.Clone(key))
		}
	}
}

// leaveOut says how the n rows of a warning are left out; "" where they are too many to be named, and for other warnings.
func (k *knownWarnings) leaveOut(name string, n int) string {
	if n != len(k.keys[name]) || k.source.where != nil && k.source.beside() == "" {
		return ""
	}
	column := "row." + k.source.file.Key
	if !hclsyntax.ValidIdentifier(k.source.file.Key) {
		column = fmt.Sprintf("row[%s]", mistake.QuotedHCL(k.source.file.Key))
	}
	keys := make([]string, n)
	for i, key := range k.keys[name] {
		keys[i] = mistake.QuotedHCL(key)
	}
	condition := column + " != " + keys[0]
	if n > 1 {
		condition = fmt.Sprintf("!contains([%s], %s)", strings.Join(keys, ", "), column)
	}
	return "\n\nIf it should not be paid, leave it out:\n\n  " + k.source.leaving(condition)
}

// rest are the warnings that are held and whose number is not the acknowledged one. The line that acknowledges them keeps those that
// are acknowledged already: it replaces the argument, which a block has once.
func (k *knownWarnings) rest() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(k.held)) {
		n, known := k.count[name], k.source.acknowledged[name]
		if n == known {
			continue
		}
		of := k.held[name].Diagnostics()
		last := of[len(of)-1]
		last.Detail += fmt.Sprintf("\n\nIf this is right, say so in %s:\n\n  %s", k.source.address, k.source.acknowledging(map[string]int{name: n}))
		last.Detail += k.leaveOut(name, n)
		if known > 0 {
			last.Detail += fmt.Sprintf("\n\nIt acknowledges %d now, and there are %d.", known, n)
		}
		diags = append(diags, of...)
	}
	if all := k.withOthers(); len(diags) > 0 && len(all) > 1 {
		lowest := slices.MaxFunc(diags, func(a, b *hcl.Diagnostic) int { return a.Subject.Start.Line - b.Subject.Start.Line })
		lowest.Detail += "\n\nWhere all warnings of this file are right:\n\n  " + k.source.acknowledging(all)
	}
	return diags
}

// withOthers are the numbers of these warnings and of those that the file has besides and that nobody acknowledged, by their names.
func (k *knownWarnings) withOthers() map[string]int {
	all := map[string]int{}
	names := slices.Collect(maps.Values(warningNames))
	for _, w := range slices.Concat(k.source.readWarnings[0], k.source.readWarnings[1]) {
		if slices.Contains(names, w.Name) {
			all[w.Name] = w.Count
		}
	}
	maps.Copy(all, k.count)
	maps.DeleteFunc(all, func(name string, n int) bool { return n == k.source.acknowledged[name] })
	return all
}

// acknowledging is the line that acknowledges these numbers of warnings beside those that are acknowledged.
func (d *dataSource) acknowledging(numbers map[string]int) string {
	all := maps.Clone(d.acknowledged)
	if all == nil {
		all = map[string]int{}
	}
	maps.Copy(all, numbers)
	pairs := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, fmt.Sprintf("%s = %d", name, all[name]))
	}
	return "acknowledge = { " + strings.Join(pairs, ", ") + " }"
}

// needless warns of warnings that are acknowledged and that the file does not have: such an acknowledgement would take a
// row that somebody hides later for one that was looked at. It is asked once all that makes warnings of these names was read.
func (k *knownWarnings) needless(isAsked func(name string) bool) hcl.Diagnostics {
	seen := map[string]bool{SkippedRows: true, refIDAmount: true, refIDMonth: true}
	for _, w := range k.source.readWarnings[0] {
		seen[w.Name] = true
	}
	var none []string
	for _, name := range slices.Sorted(maps.Keys(k.source.acknowledged)) {
		if isAsked(name) && !seen[name] && k.count[name] == 0 {
			none = append(none, name)
		}
	}
	if none == nil {
		return nil
	}
	return hcl.Diagnostics{mistake.Warning(k.source.file.At("acknowledge"), "Nothing to acknowledge",
		"acknowledge has %s, and %s has no such warning now. Leave that out: a later one would be taken for one that you looked at.", english.List(none), k.source.file.Name)}
}

// all counts the warnings that were taken, by their names.
func (k *knownWarnings) all() []ReadWarning {
	var all []ReadWarning
	for _, name := range slices.Sorted(maps.Keys(k.count)) {
		w := ReadWarning{File: k.source.file.Name, Sheet: k.source.sheet, Name: name, Count: k.count[name], Lines: k.lines[name]}
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
	if skipped == 0 || skipped != d.acknowledged[SkippedRows] {
		return d.notes
	}
	return slices.DeleteFunc(slices.Clone(d.notes), isSkipped)
}
