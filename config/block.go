package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/meter"
	"remit/config/syntax"
)

// blockKind is what the language says of one type of block. Every block has a file of its
// own that makes its kind, and one line in [blockKinds].
type blockKind struct {
	name     string
	labels   []string
	required []string // arguments
	optional []string
	free     bool // arguments of any name, and no others
	nested   []blockKind
	single   bool // at most one in a configuration
	policy   bool // may stand in a policy directory
	// read takes a block of this kind in; nil for nested kinds, which their parent reads.
	read func(*loader, *block)
}

// blockKinds lists the blocks of the language, as design section 4 orders them.
func blockKinds() []blockKind {
	return []blockKind{
		remitKind(), stateKind(), serviceKind(), sandboxKind(), variableKind(), localsKind(),
		profileKind(), assetKind(), limitKind(), policyKind(), dataBlockKind(), transferKind(), batchKind(), approvalKind(),
		calendarKind(), scheduleKind(), windowKind(),
	}
}

// schema is the kind as HCL wants it.
func (k blockKind) schema() *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range k.required {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name, Required: true})
	}
	for _, name := range k.optional {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, nested := range k.nested {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: nested.name, LabelNames: nested.labels})
	}
	return schema
}

// block is one block, its arguments as trees of the native syntax.
type block struct {
	kind       string
	labels     []string
	labelAt    []hcl.Range
	at         hcl.Range // the header
	arguments  map[string]*argument
	inOrder    []*argument // of a free kind, as written
	blocks     []*block
	incomplete bool       // mistakes were found and reported
	policy     *policyDir // in which it stands; nil in the configuration
}

// argument is one setting of a block.
type argument struct {
	name   string
	nameAt hcl.Range
	expr   hclsyntax.Expression
	raw    hcl.Expression // as it was parsed
	row    bool           // may refer to row
	broken bool           // of a free kind: a mistake was reported, and there is no expr
	refs   *references    // what it refers to; nil until it was resolved
	within string         // the kind of its block
}

// opener opens blocks of one kind; it makes their schema once.
type opener struct {
	kind   blockKind
	meter  *meter.Meter // of the expressions
	schema *hcl.BodySchema
	nested map[string]*opener
	known  map[string]bool // names of arguments
}

func newOpener(kind blockKind, m *meter.Meter) *opener {
	o := &opener{kind: kind, meter: m, schema: kind.schema(), nested: map[string]*opener{}, known: map[string]bool{}}
	for _, attribute := range o.schema.Attributes {
		o.known[attribute.Name] = true
	}
	for _, nested := range kind.nested {
		o.nested[nested.name] = newOpener(nested, m)
	}
	return o
}

// open reads a block against its kind. What is unknown or missing is a diagnostic, and the
// block then is incomplete; what could be read is in it all the same.
func (o *opener) open(from *hcl.Block) (*block, hcl.Diagnostics) {
	b := &block{
		kind: from.Type, labels: from.Labels, labelAt: from.LabelRanges, at: from.DefRange,
		arguments: map[string]*argument{},
	}
	if _, isNative := from.Body.(*hclsyntax.Body); !isNative {
		b.at = from.Body.MissingItemRange()
		if n := len(from.LabelRanges); n > 0 {
			b.at = from.LabelRanges[n-1]
		}
	}
	var diags hcl.Diagnostics
	add := func(name string, nameAt hcl.Range, raw hcl.Expression) {
		expr, more := syntax.TreeOf(raw, o.meter)
		diags = append(diags, more...)
		switch {
		case !more.HasErrors():
			b.add(&argument{name: name, nameAt: nameAt, expr: expr, raw: raw})
		case o.kind.free: // it is declared all the same
			b.add(&argument{name: name, nameAt: nameAt, broken: true})
		}
	}
	content := &hcl.BodyContent{}
	body, ok := o.onlyArguments(from.Body)
	switch {
	case ok:
		for name, attribute := range body.Attributes {
			add(name, attribute.NameRange, attribute.Expr)
		}
	case o.kind.free:
		content.Attributes, diags = from.Body.JustAttributes()
	default:
		content, diags = from.Body.Content(o.schema)
	}
	for name, attribute := range content.Attributes {
		add(name, attribute.NameRange, attribute.Expr)
	}
	for _, inner := range content.Blocks {
		nested, more := o.nested[inner.Type].open(inner)
		diags = append(diags, more...)
		b.blocks = append(b.blocks, nested)
	}
	slices.SortFunc(b.inOrder, func(x, y *argument) int { return x.nameAt.Start.Byte - y.nameAt.Start.Byte })
	b.incomplete = diags.HasErrors()
	return b, diags
}

// onlyArguments is a body that has the arguments of its kind and nothing else, in which HCL
// finds no mistake; false where it may be another.
func (o *opener) onlyArguments(from hcl.Body) (*hclsyntax.Body, bool) {
	body, ok := from.(*hclsyntax.Body)
	if !ok || o.kind.free || len(body.Blocks) > 0 {
		return nil, false
	}
	for name := range body.Attributes {
		if !o.known[name] {
			return nil, false
		}
	}
	for _, name := range o.kind.required {
		if body.Attributes[name] == nil {
			return nil, false
		}
	}
	return body, true
}

func (b *block) add(a *argument) {
	a.within = b.kind
	b.arguments[a.name] = a
	b.inOrder = append(b.inOrder, a)
}

// label returns the i-th label, or "" where a mistake left it out.
func (b *block) label(i int) string {
	if i < len(b.labels) {
		return b.labels[i]
	}
	return ""
}

// standIn says in which policy directory b and the blocks in it stand.
func (b *block) standIn(d *policyDir) {
	b.policy = d
	for _, nested := range b.blocks {
		nested.standIn(d)
	}
}

// all yields the arguments of b and of the blocks in it, as written.
func (b *block) all() []*argument {
	arguments := b.inOrder
	for _, nested := range b.blocks {
		arguments = append(arguments, nested.all()...)
	}
	return arguments
}

// nestedOf returns the blocks of one kind in b.
func (b *block) nestedOf(kind string) []*block {
	var found []*block
	for _, nested := range b.blocks {
		if nested.kind == kind {
			found = append(found, nested)
		}
	}
	return found
}
