package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"remit/config/eval"
	"remit/config/rows"
	"remit/internal/transfer"
)

// template is text that is put together of literals and columns.
type template []piece

// piece is a literal, the column with that index, or an expression.
type piece struct {
	literal string
	column  int // -1 for anything else
	general *general
}

// general is an expression that is evaluated for each row. A result that is no text is made
// one in a template, and otherwise is no text of a request.
type general struct {
	expr       hclsyntax.Expression
	each       *eachRow
	inTemplate bool
	staysPut   bool // see compiler
}

// plain reports whether plain text in all columns makes text in Unicode's normal form.
func (t template) plain() bool {
	return !slices.ContainsFunc(t, func(p piece) bool { return p.general != nil || !transfer.Plain(p.literal) })
}

// distinct reports whether texts differ where the key does. A plain character, such as a letter,
// joins no mark before it and is reordered with none.
func (t template) distinct(key int) bool {
	columns := 0
	for i := range t {
		if t[i].column >= 0 {
			columns++
		}
	}
	return columns == 1 && t.plain() && slices.ContainsFunc(t, func(p piece) bool { return p.column == key })
}

// text puts a template together, in Unicode's normal form as every string of the language.
// It is nothing where the text is null.
func (t template) text(r *row) (string, eval.Finding) {
	if len(t) == 1 {
		return t[0].text(r)
	}
	var b strings.Builder
	for i := range t {
		text, found := t[i].text(r)
		if found != eval.Present {
			return "", eval.Wrong
		}
		b.WriteString(text)
	}
	return rows.NormalForm(b.String()), eval.Present
}

func (p *piece) text(r *row) (string, eval.Finding) {
	switch {
	case p.column >= 0:
		return r.Text(p.column), eval.Present
	case p.general != nil:
		return p.general.text(r)
	}
	return p.literal, eval.Present
}

func (g *general) text(r *row) (string, eval.Finding) {
	value, ok := g.value(r)
	if ok && value.IsNull() && !g.inTemplate {
		return "", eval.Absent
	}
	if ok && g.inTemplate && !value.IsNull() {
		converted, err := convert.Convert(value, cty.String)
		value, ok = converted, err == nil
	}
	if !ok || value.IsNull() || value.Type() != cty.String {
		return "", eval.Wrong
	}
	return value.AsString(), eval.Present
}

// value evaluates the expression; false where there is a mistake in it, or a secret.
func (g *general) value(r *row) (cty.Value, bool) {
	value, diags := g.expr.Value(g.each.context(r))
	if !g.staysPut {
		value, _ = unmoved(value)
	}
	return value, !diags.HasErrors() && value.IsWhollyKnown() && !value.ContainsMarked()
}

// eachRow is what expressions name by each, made at most once for a row.
type eachRow struct {
	ctx     *hcl.EvalContext
	columns []int // that they name
	serial  int   // of the row that it is made of; 0 before the first
}

func newEachRow(t *transferBlock) *eachRow {
	e := &eachRow{ctx: t.ctx.NewChild()}
	e.ctx.Variables = map[string]cty.Value{}
	return e
}

// context is valid until it is asked for another row.
func (e *eachRow) context(r *row) *hcl.EvalContext {
	if e.serial != r.Serial {
		e.serial = r.Serial
		e.ctx.Variables["each"] = cty.ObjectVal(map[string]cty.Value{
			"key": cty.StringVal(r.Key()), "value": r.object(e.columns),
		})
	}
	return e.ctx
}
