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
	distinct  bool     // rows of different keys have different ref_ids
	refID     template // nil where it is the same for every row, as for all below
	amount    template
	texts     []compiledText
	metadata  []compiledPair
	recipient []compiledPair
	scale     int             // decimals that amounts may have
	text      []byte          // of the last row, to be written over
	pairs     []transfer.Pair // made ahead; a part for each row
}

// pairsAtOnce is how many pairs of metadata are made at once.
const pairsAtOnce = 256

// scaleUnknown says that an asset differs from row to row.
const scaleUnknown = -1

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
	c := &compiled{block: t, like: like, scale: scaleUnknown}
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
	c.distinct = c.refID.distinct(t.data.keyColumn)
	if t.fields["asset"].constant {
		c.scale = t.config.assets.limit(like.Request.Asset)
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

// transfer makes the transfer of a row in out, or reports false. Its texts share memory with
// those of the same row, and its metadata with those of its neighbours: who keeps few of
// many rows copies them.
func (c *compiled) transfer(r *row, out *Transfer) bool {
	*out = c.like
	out.Place = Place{File: r.table.name, Line: r.line}
	request := &out.Request
	c.identify(r, out)
	if c.refID != nil && transfer.CheckRefID(request.RefID) != nil {
		return false
	}
	for i := range c.texts {
		text := c.texts[i].template.text(r)
		if text == "" || checkSent(text) != nil {
			return false
		}
		*c.texts[i].of(request) = text
	}
	if !c.readAmount(r, request) {
		return false
	}
	ok := true
	if c.metadata != nil {
		request.Metadata, ok = c.metadataOf(c.metadata, r)
	}
	if ok && c.recipient != nil {
		request.RecipientMetadata, ok = c.metadataOf(c.recipient, r)
	}
	toItself := request.FromProfileID == request.ToProfileID &&
		request.FromIdentityID == request.ToIdentityID && request.FromAccountID == request.ToAccountID
	return ok && !toItself
}

// identify sets the ref_id and the address, for most rows in one piece of memory.
func (c *compiled) identify(r *row, out *Transfer) {
	b := c.text[:0]
	if c.refID != nil {
		if !r.plain || !c.refID.plain() {
			out.Request.RefID = c.refID.text(r)
			out.Address = c.block.instanceAddress(r.key())
			return
		}
		for i := range c.refID {
			b = append(b, c.refID[i].text(r)...)
		}
	}
	size := len(b)
	c.text = c.block.appendAddress(b, r.key())
	both := string(c.text)
	out.Address = both[size:]
	if c.refID != nil {
		out.Request.RefID = both[:size]
	}
}

// readAmount sets the amount and checks its decimals.
func (c *compiled) readAmount(r *row, request *transfer.Request) bool {
	if c.amount != nil {
		amount, err := transfer.ParseAmount(c.amount.text(r))
		if err != nil {
			return false
		}
		request.Amount = amount
	}
	if c.scale != scaleUnknown {
		return request.Amount.ScaleWritten() <= c.scale
	}
	return c.block.config.assets.check(request.Amount, request.Asset) == ""
}

// metadataOf makes the pairs of one side in memory that is taken for many rows at once.
func (c *compiled) metadataOf(pairs []compiledPair, r *row) (transfer.Metadata, bool) {
	if cap(c.pairs)-len(c.pairs) < len(pairs) {
		c.pairs = make([]transfer.Pair, 0, max(pairsAtOnce, len(pairs)))
	}
	from := len(c.pairs)
	for i := range pairs {
		value := pairs[i].value.text(r)
		if tooLong(value) || transfer.CheckText(value) != nil {
			return nil, false
		}
		c.pairs = append(c.pairs, transfer.Pair{Key: pairs[i].key, Value: value})
	}
	return c.pairs[from:len(c.pairs):len(c.pairs)], true
}

// tooLong reports whether a value has more characters than the service takes.
func tooLong(text string) bool {
	return len(text) > transfer.TextLengthMax && utf8.RuneCountInString(text) > transfer.TextLengthMax
}

// plain reports whether plain text in all columns makes text in Unicode's normal form.
func (t template) plain() bool {
	return !slices.ContainsFunc(t, func(p piece) bool { return !transfer.Plain(p.literal) })
}

// distinct reports whether texts differ where the key does. What is plain, such as a letter,
// joins no mark that stands before it and is reordered with none.
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
	return r.text(p.column)
}

// normalForm is cty.NormalizeString, which takes its time over plain text as well.
func normalForm(text string) string {
	if transfer.Plain(text) {
		return text
	}
	return cty.NormalizeString(text)
}
