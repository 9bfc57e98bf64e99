package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/english"
)

// warnOfPeriod warns of a ref_id that has nothing of the month of its file, or has another month: people who are paid with one of these
// files are not paid with the next. Somebody who knows that it is right acknowledges it in the data block.
func (r *transferReader) warnOfPeriod(t *transferBlock) {
	f := t.fields["ref_id"]
	if t.broken || t.data == nil || t.data.file == nil || f == nil || f.broken || f.Refs == nil || t.naming == nil || t.data.acknowledged[refIDMonth] > 0 {
		return
	}
	text := newNamingWriter(r.configured.scope, r.data).text(f.Expr, nil)
	if !syntax.IsOneTemplate(text) {
		text = `"${` + text + `}"`
	}
	summary, detail := "ref_id has no month", r.noMonth(t, f, text)
	if detail == "" {
		summary, detail = "ref_id has another month", r.otherMonth(t, text)
	}
	if detail == "" {
		return
	}
	d := mistake.Warning(f.Expr.Range(), summary, "%s\n\nIf this is right, say so in %s:\n\n  %s", detail, t.data.address, t.data.acknowledging(map[string]int{refIDMonth: 1}))
	d.Extra = &mistake.Origin{Block: t.address, Column: "ref_id", Reason: d.Summary}
	r.report(d)
}

// warnOfAmount warns of a ref_id that is made of the columns of the amount: an amount that is corrected after the payment makes another
// ref_id, under which nothing is recorded, and is paid beside the first. It is no mistake: of some lists nothing else tells the rows apart.
func (r *transferReader) warnOfAmount(t *transferBlock) {
	id, amount := t.fields["ref_id"], t.fields["amount"]
	for _, f := range []*field{id, amount} {
		if t.broken || f == nil || f.broken || f.Refs == nil || !f.Refs.Each {
			return
		}
	}
	if t.data != nil && t.data.acknowledged[refIDAmount] > 0 {
		return
	}
	shared := sharedColumns(r.scope, t.block.Arguments["for_each"], t.data, columnsIn(id.Expr, ofEach), columnsIn(amount.Expr, ofEach))
	if shared == nil {
		return
	}
	remedy := "Make the ref_id of a text that stays as it is, such as the number of an invoice."
	if t.data != nil {
		remedy += fmt.Sprintf(" If nothing else tells the rows apart, say so in %s:\n\n  %s", t.data.address, t.data.acknowledging(map[string]int{refIDAmount: 1}))
	}
	d := mistake.Warning(id.Expr.Range(), "ref_id is made of the amount",
		"The ref_id is made of %s, as the amount is. An amount that is corrected after the payment makes a new ref_id, and all of it is paid beside the first. %s", english.List(shared), remedy)
	d.Extra = &mistake.Origin{Block: t.address, Column: "ref_id", Reason: d.Summary}
	r.report(d)
}

// noMonth says that a ref_id is made of people's keys alone where the name of their file has a month; "" of any other ref_id.
func (r *transferReader) noMonth(t *transferBlock, f *field, text string) string {
	name := path.Base(t.data.file.Name)
	of := strings.Join(period.FindAllString(strings.ReplaceAll(name, "_", "-"), -1), "-")
	columns := f.Refs.Columns
	if f.Refs.Key {
		columns = append(slices.Clone(columns), t.data.file.Key)
	}
	isOfSomebody := func(column string) bool {
		column += t.data.file.HeaderOf(column)
		return recurring.MatchString(column) && !document.MatchString(column)
	}
	isOfData := func(n *eval.Node) bool { return n.Root == "data" } // any other value may have the month
	if of == "" || len(columns) == 0 || !every(columns, isOfSomebody) || !every(f.Refs.Nodes, isOfData) || dated.MatchString(reference.ReplaceAllString(text, "")) {
		return ""
	}
	at, argument := strings.Index(text, "${"), "ref_id = "
	if isJSON(f.Expr.Range().Filename) {
		argument = `"ref_id": `
	}
	return fmt.Sprintf("The file is %s, and the ref_id has nothing of %q: it is the same in each month. A ref_id is paid once, for ever, so the file of the next month would pay nobody again. Write the month into it, such as:\n\n  %s%s",
		name, of, argument, text[:max(at, 0)]+r.periodOf(t, of)+"-"+text[max(at, 0):])
}

// otherMonth says that the month of a ref_id is none of its file; "" where they agree, or one of them has none.
func (r *transferReader) otherMonth(t *transferBlock, text string) string {
	named, remedy := "", "Write the month of the file into the ref_id."
	written := variableOf.ReplaceAllStringFunc(text, func(of string) string {
		name := variableOf.FindStringSubmatch(of)[1]
		n := r.configured.scope.Nodes["var"][name]
		if n == nil || n.Progress != eval.Known || !syntax.IsText(n.Value) || n.Sensitive {
			return ""
		}
		if monthOf.MatchString(n.Value.AsString()) {
			named = name
		}
		return n.Value.AsString()
	})
	in, of := monthOf.FindStringSubmatch(reference.ReplaceAllString(written, " ")), monthOf.FindStringSubmatch(path.Base(t.data.file.Name))
	if in == nil || of == nil || in[1] == of[1] && in[2] == of[2] {
		return ""
	}
	if named != "" {
		remedy = fmt.Sprintf("Give the variable the month of the file, and name the file by it:\n\n  --var=%s=%s-%s", named, of[1], of[2])
	}
	return fmt.Sprintf("The file %s is of %s-%s, and the ref_id of %s-%s. A ref_id is paid once, for ever: who was paid in that month is not paid with this file. %s",
		path.Base(t.data.file.Name), of[1], of[2], in[1], in[2], remedy)
}

func every[T any](all []T, is func(T) bool) bool {
	return !slices.ContainsFunc(all, func(one T) bool { return !is(one) })
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
