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

	"remit/config/eval"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// compiled makes transfers of data rows without evaluating all of a block for each row. It copies
// constants and columns, and evaluates only expressions that compute with a column. Its invariant:
// where it makes a transfer, transferBlock.evaluate makes the same one. Of a row that may have a
// mistake it makes none, and evaluate says why.
type compiled struct {
	block     *transferBlock
	elements  *elementRows // nil where for_each is data
	like      Transfer     // the constants
	distinct  bool         // rows of different keys have different ref_ids
	refID     template     // nil where it is the same for every row, as for all below
	amount    template
	texts     []compiledText
	metadata  []compiledPair
	recipient []compiledPair
	// displayName is text as well, and is not sent.
	displayName template
	// conditions are the preconditions that differ from row to row.
	conditions template
	scale      int             // decimals that amounts may have
	text       []byte          // of the last row, to be written over
	pairs      []transfer.Pair // made ahead; a part for each row
}

// pairsAtOnce is how many pairs of metadata are made at once.
const pairsAtOnce = 256

// scaleUnknown says that an asset differs from row to row.
const scaleUnknown = -1

type compiledText struct {
	template template
	optional bool // null means that it is absent
	field    transfer.Field
}

type compiledPair struct {
	key   string
	value template
}

// compiledTexts are the arguments of a transfer block that are text of a request, with their fields.
func compiledTexts() map[string]transfer.Field {
	texts := make(map[string]transfer.Field)
	for f := range transfer.FieldCount {
		if f.Side() != transfer.NoSide || f.Name() == "asset" {
			texts[f.Name()] = f
		}
	}
	return texts
}

// newCompiled compiles a block with for_each, after an instance of it was evaluated to like.
// It is nil where an argument that differs from row to row is not text of a request,
// and where for_each is made of the dates of a schedule.
func newCompiled(t *transferBlock, in instance, like Transfer) *compiled {
	if len(t.dates) > 0 {
		return nil // each is made for a date of its own
	}
	c := &compiled{block: t, like: like, scale: scaleUnknown}
	p := compiler{block: t, each: newEachRow(t)}
	if in.row != nil {
		p.columns, p.key = in.row.Table.Columns, in.row.Table.KeyColumn
	} else {
		c.elements = newElementRows(t, in.element)
		if c.elements == nil {
			return nil
		}
		p.columns = c.elements.table.Columns
		p.key = len(p.columns)
	}
	for _, precondition := range t.preconditions {
		switch f := precondition.condition; {
		case f.constant:
		case f.secret || f.broken:
			return nil
		default:
			c.conditions = append(c.conditions, p.general(f.Expr, false)...)
		}
	}
	for name, f := range t.fields {
		if f.constant {
			continue
		}
		if f.secret || f.broken || !p.field(c, name, f) {
			return nil
		}
	}
	c.distinct = c.refID.distinct(p.key)
	if t.fields["asset"].constant {
		c.scale = t.configured.assets.limit(like.Request.Asset)
	}
	return c
}

// compiler turns expressions into templates.
type compiler struct {
	block   *transferBlock
	columns []string
	key     int // index of the key's column
	each    *eachRow
	// staysPut says that an occurrence's moving parts may not flow in: where they do, evaluate
	// says why.
	staysPut bool
}

// field compiles an argument, or reports false.
func (p *compiler) field(c *compiled, name string, f *field) (ok bool) {
	p.staysPut = name == "ref_id"
	switch of, isText := compiledTexts()[name]; {
	case name == "ref_id":
		c.refID = p.template(f.Expr, false)
	case name == "amount":
		c.amount = p.template(f.Expr, false)
	case name == "metadata":
		c.metadata, ok = p.pairs(f.Expr)
		return ok
	case name == "recipient_metadata" && p.block.operation == transfer.Platform:
		c.recipient, ok = p.pairs(f.Expr)
		return ok
	case name == "display_name":
		c.displayName = p.template(f.Expr, false)
	case isText:
		optional := strings.HasSuffix(name, "_identity_id") || strings.HasSuffix(name, "_account_id")
		c.texts = append(c.texts, compiledText{p.template(f.Expr, false), optional, of})
	default:
		return false
	}
	return true
}

// template compiles an expression that is text for every row. In a template, a value of
// another type becomes text.
func (p *compiler) template(expr hclsyntax.Expression, inTemplate bool) template {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.TemplateExpr:
		var all template
		for _, part := range e.Parts {
			all = append(all, p.template(part, true)...)
		}
		if len(all) > 0 {
			return all
		}
	case *hclsyntax.ScopeTraversalExpr:
		if e.Traversal.RootName() == "each" {
			if column := p.column(e.Traversal); column >= 0 {
				return template{{column: column}}
			}
		}
	}
	if all, ok := p.constant(expr, inTemplate); ok {
		return all
	}
	return p.general(expr, inTemplate)
}

func (p *compiler) general(expr hclsyntax.Expression, inTemplate bool) template {
	p.each.columns = append(p.each.columns, columnsNamed(expr, p.columns, "each", "value")...)
	p.each.columns = slices.Compact(slices.Sorted(slices.Values(p.each.columns)))
	return template{{column: -1, general: &general{expr, p.each, inTemplate, p.staysPut}}}
}

// column is the column that each.key or each.value.NAME reads, -1 for anything else.
func (p *compiler) column(path hcl.Traversal) int {
	name, ok := eval.StepName(path[1], false)
	switch {
	case ok && name == "key" && len(path) == 2:
		return p.key
	case ok && name == "value" && len(path) == 3:
		if column, ok := eval.StepName(path[2], true); ok {
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
	if !p.staysPut {
		value, _ = unmoved(value)
	}
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

// pairs compiles an object that is written out, with keys that are the same for every row
// and right whichever values are null.
func (p *compiler) pairs(expr hclsyntax.Expression) ([]compiledPair, bool) {
	object, ok := syntax.Unwrap(expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil, false
	}
	var pairs []compiledPair
	for _, item := range object.Items {
		key, ok := p.constant(item.KeyExpr, false)
		if !ok {
			return nil, false
		}
		if transfer.CheckPair(key[0].literal, "") != nil || key[0].literal == p.block.configured.fingerprintKey {
			return nil, false
		}
		pairs = append(pairs, compiledPair{key[0].literal, p.template(item.ValueExpr, false)})
	}
	slices.SortFunc(pairs, func(a, b compiledPair) int { return cmp.Compare(a.key, b.key) })
	twice := func(a, b compiledPair) bool { return a.key == b.key }
	isDistinct := len(slices.CompactFunc(slices.Clone(pairs), twice)) == len(pairs)
	most := transfer.MetadataPairsMax
	if p.block.configured.fingerprintKey != "" {
		most--
	}
	return pairs, isDistinct && len(pairs) <= most
}

// row is what an instance is made of; nil where it is not like the first.
func (c *compiled) row(in instance) *row {
	if c.elements != nil {
		return c.elements.row(in.element)
	}
	return in.row
}

// transfer makes the transfer of a row in out, or reports false. Its texts share memory with
// those of the same row, and its metadata with those of its neighbours: who keeps few of
// many rows copies them.
func (c *compiled) transfer(r *row, element *element, out *Transfer) bool {
	*out = c.like
	out.Place = Place{File: r.Table.Name, Sheet: r.Table.Sheet, Line: r.Line}
	request := &out.Request
	c.identify(r, out)
	if element != nil {
		out.Naming = c.block.nameOf(false, element)
	}
	if c.refID != nil && transfer.CheckDeclaredRefID(request.RefID) != nil {
		return false
	}
	for i := range c.texts {
		text, found := c.texts[i].template.text(r)
		isAbsent := found == eval.Absent && c.texts[i].optional
		if !isAbsent && (found != eval.Present || text == "" || transfer.CheckSent(text) != nil) {
			return false
		}
		request.SetText(c.texts[i].field, text)
	}
	if !c.readAmount(r, request) || !c.meetsConditions(r) {
		return false
	}
	if c.displayName != nil {
		text, found := c.displayName.text(r)
		if found != eval.Present || text == "" || transfer.CheckSent(text) != nil || transfer.CheckDisplayName(text) != nil {
			return false
		}
		out.DisplayName = text
	}
	ok := true
	if c.metadata != nil {
		request.Metadata, ok = c.metadataOf(c.metadata, r)
	}
	if ok && c.recipient != nil {
		request.RecipientMetadata, ok = c.metadataOf(c.recipient, r)
	}
	return ok && !request.GoesToItself()
}

// identify sets the ref_id and the address, for most rows in one piece of memory.
func (c *compiled) identify(r *row, out *Transfer) {
	b := c.text[:0]
	if c.refID != nil {
		if !r.Plain || !c.refID.plain() {
			out.Request.RefID, _ = c.refID.text(r) // no ref_id is empty
			out.Address = c.block.instanceAddress(r.Key())
			return
		}
		for i := range c.refID {
			text, _ := c.refID[i].text(r)
			b = append(b, text...)
		}
	}
	size := len(b)
	c.text = c.block.appendAddress(b, r.Key())
	both := string(c.text)
	out.Address = both[size:]
	if c.refID != nil {
		out.Request.RefID = both[:size]
	}
}

// readAmount sets the amount and checks its decimals.
func (c *compiled) readAmount(r *row, request *transfer.Request) bool {
	if c.amount != nil {
		text, found := c.amount.text(r)
		amount, err := transfer.ParseAmount(text)
		if found != eval.Present || err != nil {
			return false
		}
		request.Amount = amount
	}
	if c.scale != scaleUnknown {
		return request.Amount.ScaleWritten() <= c.scale
	}
	return c.block.configured.assets.check(request.Amount, request.Asset) == ""
}

// metadataOf makes the pairs of one side in memory that is taken for many rows at once.
func (c *compiled) metadataOf(pairs []compiledPair, r *row) (transfer.Metadata, bool) {
	if cap(c.pairs)-len(c.pairs) < len(pairs) {
		c.pairs = make([]transfer.Pair, 0, max(pairsAtOnce, len(pairs)))
	}
	from := len(c.pairs)
	for i := range pairs {
		value, found := pairs[i].value.text(r)
		if found == eval.Absent {
			continue
		}
		if found == eval.Wrong || tooLong(value) || transfer.CheckText(value) != nil {
			return nil, false
		}
		c.pairs = append(c.pairs, transfer.Pair{Key: pairs[i].key, Value: value})
	}
	if len(c.pairs) == from {
		return nil, true
	}
	return c.pairs[from:len(c.pairs):len(c.pairs)], true
}

// meetsConditions reports whether all preconditions are plainly true.
func (c *compiled) meetsConditions(r *row) bool {
	for i := range c.conditions {
		if value, ok := c.conditions[i].general.value(r); !ok || value.IsNull() || value.Type() != cty.Bool || value.False() {
			return false
		}
	}
	return true
}

// tooLong reports whether a value has more characters than the service takes.
func tooLong(text string) bool {
	return len(text) > transfer.TextLengthMax && utf8.RuneCountInString(text) > transfer.TextLengthMax
}
