package config

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// period is a year, with what stands behind it of a month or a day, or the name of a month, in the name of a file.
var period = regexp.MustCompile(`(?i)20[0-9]{2}(?:[-_.]?(?:[0-9]{2}|q[1-4]|w[0-9]{2}))*|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b`)

// dated is what makes a ref_id another one in another month: a digit, or the name of a month.
var dated = regexp.MustCompile(`(?i)[0-9]|jan|feb|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec`)

// recurring is the name of a column that names somebody, who is paid again with the next file; a document is paid once.
var recurring = regexp.MustCompile(`(?i)employee|personal|person|staff|worker|mitarbeiter|payee|name|mail|supplier|vendor|seller|merchant|customer|kunde|landlord|tenant|creditor|contractor|beneficiary|empf|lieferant|profile|iban|account|desk|entity|department|member`)

// document is the name of a column of which each value is paid once.
var document = regexp.MustCompile(`(?i)invoice|rechnung|bill|order|payment|payout|reference|claim|expense`)

// warnOfPeriod warns of a ref_id that is made of people's keys alone where the name of their file has a month: each person would be paid
// with the first of these files, and with no later one.
func (r *transferReader) warnOfPeriod(t *transferBlock) {
	f := t.fields["ref_id"]
	if t.broken || t.data == nil || t.data.file == nil || f == nil || f.broken || f.Refs == nil || t.naming == nil {
		return
	}
	of := strings.Join(period.FindAllString(strings.ReplaceAll(path.Base(t.data.file.Name), "_", "-"), -1), "-")
	if of == "" {
		return
	}
	columns := f.Refs.Columns
	if f.Refs.Key {
		columns = append(slices.Clone(columns), t.data.file.Key)
	}
	for _, column := range columns {
		if header := t.data.file.HeaderOf(column); document.MatchString(column+header) || !recurring.MatchString(column+header) {
			return
		}
	}
	for _, n := range f.Refs.Nodes {
		if n.Root != "data" {
			return // it may have the month
		}
	}
	text := newNamingWriter(r.configured.scope, r.data).text(f.Expr, nil)
	if len(columns) == 0 || dated.MatchString(betweenReferences(text)) {
		return
	}
	if !syntax.IsOneTemplate(text) {
		text = `"${` + text + `}"`
	}
	at := strings.Index(text, "${")
	d := mistake.Warning(f.Expr.Range(), "ref_id has no month",
		"The file is %s, and the ref_id has nothing of %q: it is the same in each month. A ref_id is paid once, for ever, so the file of the next month would pay nobody again. Write the month into it, such as:\n\n  ref_id = %s",
		path.Base(t.data.file.Name), of, text[:at]+r.periodOf(t, of)+"-"+text[at:])
	d.Extra = &mistake.Origin{Block: t.address, Column: "ref_id", Reason: d.Summary}
	r.report(d)
}

// betweenReferences is the text of a template without its references.
func betweenReferences(text string) string {
	return regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(text, "")
}

// periodOf is how the month of a file is written in a template: by the variable that the name of the file has, or as it is.
func (r *transferReader) periodOf(t *transferBlock, written string) string {
	a := t.data.block.Arguments["file"]
	if a == nil || a.Refs == nil {
		return written
	}
	for _, n := range a.Refs.Nodes {
		if n.Root == "var" && n.Progress == eval.Known && syntax.IsText(n.Value) && strings.Contains(written, n.Value.AsString()) {
			return fmt.Sprintf("${var.%s}", n.Name)
		}
	}
	return written
}
