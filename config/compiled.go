package config

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"remit/internal/transfer"
)

// compiled makes transfers of data rows without evaluating an expression for each: what
// differs from row to row is read from columns. Its invariant: where it makes a transfer,
// transferBlock.evaluate makes the same one; of any row that is not plainly right it makes
// none, and evaluate says why.
type compiled struct {
	block     *transferBlock
	like      Transfer // what is the same for every row
	refID     template // nil where it is the same for every row, as for all below
	amount    template
	texts     []compiledText
	metadata  []compiledPair
	recipient []compiledPair
}

// template is text that is put together of literals and columns.
type template []piece

// piece is a literal, or the column with that index.
type piece struct {
	literal string
	column  int // -1 for a literal
}

type compiledText struct {
	template template
	of       func(*transfer.Request) *string
}

type compiledPair struct {
	key   string
	value template
}

// compiledTexts are the arguments of a transfer block that are text of a request.
func compiledTexts() map[string]func(*transfer.Request) *string {
	return map[string]func(*transfer.Request) *string{
		"from_profile_id":  func(r *transfer.Request) *string { return &r.FromProfileID },
		"from_identity_id": func(r *transfer.Request) *string { return &r.FromIdentityID },
		"from_account_id":  func(r *transfer.Request) *string { return &r.FromAccountID },
		"to_profile_id":    func(r *transfer.Request) *string { return &r.ToProfileID },
		"to_identity_id":   func(r *transfer.Request) *string { return &r.ToIdentityID },
		"to_account_id":    func(r *transfer.Request) *string { return &r.ToAccountID },
		"asset":            func(r *transfer.Request) *string { return &r.Asset },
	}
}

// newCompiled compiles a block whose for_each is data, after a row of it was evaluated to
// like. It is nil where an argument that differs from row to row is more than a template.
func newCompiled(t *transferBlock, columns []string, like Transfer) *compiled {
	c := &compiled{block: t, like: like}
	p := compiler{block: t, columns: columns}
	texts := compiledTexts()
	for _, precondition := range t.preconditions {
		if !precondition.condition.constant {
			return nil
		}
	}
	for name, f := range t.fields {
		if f.constant {
			continue
		}
		ok := !f.secret && !f.broken
		switch of := texts[name]; {
		case !ok:
		case name == "ref_id":
			c.refID, ok = p.template(f.expr, false)
		case name == "amount":
			c.amount, ok = p.template(f.expr, false)
		case name == "metadata":
			c.metadata, ok = p.pairs(f.expr)
		case name == "recipient_metadata" && t.operation == transfer.Platform:
			c.recipient, ok = p.pairs(f.expr)
		case of != nil:
			var text template
			text, ok = p.template(f.expr, false)
			c.texts = append(c.texts, compiledText{text, of})
		default:
			ok = false
		}
		if !ok {
			return nil
		}
	}
	return c
}

// compiler turns expressions into templates.
type compiler struct {
	block   *transferBlock
	columns []string
}

// template compiles an expression that is text for every row. In a template, a constant of
// another type becomes text.
func (p *compiler) template(expr hclsyntax.Expression, inTemplate bool) (template, bool) {
	switch e := unwrap(expr).(type) {
	case *hclsyntax.TemplateExpr:
		var all template
		for _, part := range e.Parts {
			some, ok := p.template(part, true)
			if !ok {
				return nil, false
			}
			all = append(all, some...)
		}
		return all, len(all) > 0
	case *hclsyntax.ScopeTraversalExpr:
		if e.Traversal.RootName() == "each" {
			column := p.column(e.Traversal)
			return template{{column: column}}, column >= 0
		}
		return p.constant(e, inTemplate)
	default:
		return p.constant(e, inTemplate)
	}
}

// column is the column that each.key or each.value.NAME reads, -1 for anything else.
func (p *compiler) column(path hcl.Traversal) int {
	name, ok := stepName(path[1], false)
	switch {
	case ok && name == "key" && len(path) == 2:
		return p.block.data.keyColumn
	case ok && name == "value" && len(path) == 3:
		if column, ok := stepName(path[2], true); ok {
			return slices.Index(p.columns, cty.NormalizeString(column))
		}
	}
	return -1
}

func (p *compiler) constant(expr hclsyntax.Expression, inTemplate bool) (template, bool) {
	for _, path := range expr.Variables() {
		if path.RootName() == "each" {
			return nil, false
		}
	}
	value, diags := expr.Value(p.block.ctx)
	if diags.HasErrors() || value.ContainsMarked() || !value.IsWhollyKnown() || value.IsNull() {
		return nil, false
	}
	if inTemplate {
		text, err := convert.Convert(value, cty.String)
		if err != nil {
			return nil, false
		}
		value = text
	}
	if value.Type() != cty.String {
		return nil, false
	}
	return template{{literal: value.AsString(), column: -1}}, true
}

// pairs compiles an object that is written out, with keys that are the same for every row.
func (p *compiler) pairs(expr hclsyntax.Expression) ([]compiledPair, bool) {
	object, ok := unwrap(expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil, false
	}
	var pairs []compiledPair
	for _, item := range object.Items {
		key, ok := p.constant(item.KeyExpr, false)
		if !ok {
			return nil, false
		}
		value, ok := p.template(item.ValueExpr, false)
		if !ok {
			return nil, false
		}
		pairs = append(pairs, compiledPair{key[0].literal, value})
	}
	slices.SortFunc(pairs, func(a, b compiledPair) int { return cmp.Compare(a.key, b.key) })
	twice := func(a, b compiledPair) bool { return a.key == b.key }
	return pairs, len(slices.CompactFunc(slices.Clone(pairs), twice)) == len(pairs)
}

// transfer makes the transfer of a row, or reports false.
func (c *compiled) transfer(r *row) (Transfer, bool) {
	out := c.like
	out.Place = Place{File: r.table.name, Line: r.line}
	out.Address = c.block.instanceAddress(r.key())
	request := &out.Request
	if c.refID != nil {
		request.RefID = c.refID.text(r)
		if transfer.CheckRefID(request.RefID) != nil {
			return Transfer{}, false
		}
	}
	for i := range c.texts {
		text := c.texts[i].template.text(r)
		if text == "" || checkSent(text) != nil {
			return Transfer{}, false
		}
		*c.texts[i].of(request) = text
	}
	if c.amount != nil {
		amount, err := transfer.ParseAmount(c.amount.text(r))
		if err != nil {
			return Transfer{}, false
		}
		request.Amount = amount
	}
	ok := c.block.config.assets.check(request.Amount, request.Asset) == ""
	if c.metadata != nil {
		request.Metadata, ok = metadataOf(c.metadata, r, ok)
	}
	if c.recipient != nil {
		request.RecipientMetadata, ok = metadataOf(c.recipient, r, ok)
	}
	toItself := request.FromProfileID == request.ToProfileID &&
		request.FromIdentityID == request.ToIdentityID && request.FromAccountID == request.ToAccountID
	if !ok || toItself {
		return Transfer{}, false
	}
	return out, true
}

func metadataOf(pairs []compiledPair, r *row, ok bool) (transfer.Metadata, bool) {
	metadata := make(transfer.Metadata, len(pairs))
	for i := range pairs {
		value := pairs[i].value.text(r)
		metadata[i] = transfer.Pair{Key: pairs[i].key, Value: value}
		ok = ok && utf8.RuneCountInString(value) <= transfer.TextLengthMax && transfer.CheckText(value) == nil
	}
	return metadata, ok
}

// text puts a template together, in Unicode's normal form as every string of the language.
func (t template) text(r *row) string {
	if len(t) == 1 {
		return t[0].text(r)
	}
	var b strings.Builder
	size := 0
	for i := range t {
		size += len(t[i].text(r))
	}
	b.Grow(size)
	for i := range t {
		b.WriteString(t[i].text(r))
	}
	return normalForm(b.String())
}

func (p *piece) text(r *row) string {
	if p.column < 0 {
		return p.literal
	}
	return normalForm(r.fields[p.column])
}

// normalForm is cty.NormalizeString, which takes its time over plain text as well.
func normalForm(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return cty.NormalizeString(text)
		}
	}
	return text
}
