package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"

	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/files/confined"
)

// Kind is what the language says of one type of block.
type Kind struct {
	Name     string
	Labels   []string
	Required []string // arguments
	Optional []string
	Free     bool // arguments of any name, and no others
	Nested   []Kind
	Single   bool // at most one in a configuration
	Policy   bool // may be in a policy directory
	Shared   bool // may be in an included directory
}

// schema is the kind as HCL wants it.
func (k Kind) schema() *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range k.Required {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name, Required: true})
	}
	for _, name := range k.Optional {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, nested := range k.Nested {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: nested.Name, LabelNames: nested.Labels})
	}
	return schema
}

// Block is one block, its arguments as trees of the native syntax.
type Block struct {
	Kind       string
	Labels     []string
	LabelAt    []hcl.Range
	At         hcl.Range // the header
	End        int       // its last byte is before this one; 0 where it is not of the native syntax
	Arguments  map[string]*Argument
	InOrder    []*Argument // of a free kind, as written
	Blocks     []*Block
	Incomplete bool         // mistakes were found and reported
	Policy     *PolicyDir   // of the policy directory in which it is; nil elsewhere
	Included   *IncludedDir // of the included directory in which it is; nil elsewhere
}

// PolicyDir is a policy directory.
type PolicyDir struct {
	Name string // as it was given
	Root *confined.Directory
}

// IncludedDir is an included directory, and what expressions in it read files of.
type IncludedDir struct {
	Name      string // relative to the configuration's directory, with slashes
	Root      *confined.Directory
	Functions map[string]function.Function // those that read files read them below Root
}

// Argument is one setting of a block.
type Argument struct {
	Name   string
	NameAt hcl.Range
	Expr   hclsyntax.Expression
	Raw    hcl.Expression // as it was parsed
	Row    bool           // may refer to row
	Broken bool           // of a free kind: a mistake was reported, and there is no expr
	Refs   *References    // what it refers to; nil until it was resolved
	Within string         // the kind of its block
}

// Opener opens blocks of one kind; it makes their schema once.
type Opener struct {
	Kind   Kind
	meter  *meter.Meter // of the expressions
	schema *hcl.BodySchema
	nested map[string]*Opener
	known  map[string]bool // names of arguments
	words  mistake.BlockWords
}

// NewOpener returns an opener of blocks of one kind, whose expressions m meters.
func NewOpener(kind Kind, m *meter.Meter) *Opener {
	o := &Opener{Kind: kind, meter: m, schema: kind.schema(), nested: map[string]*Opener{}, known: map[string]bool{}}
	for _, attribute := range o.schema.Attributes {
		o.known[attribute.Name] = true
	}
	o.words = mistake.BlockWords{Kind: kind.Name, Arguments: slices.Concat(kind.Required, kind.Optional)}
	for _, nested := range kind.Nested {
		o.nested[nested.Name] = NewOpener(nested, m)
		if o.words.Within == nil {
			o.words.Within = map[string][]string{}
		}
		o.words.Within[nested.Name] = o.nested[nested.Name].words.Arguments
		o.words.Blocks = append(o.words.Blocks, nested.Name)
	}
	return o
}

// Open reads a block against its kind. An unknown or missing argument is a diagnostic, and the
// block then is incomplete; it has the readable part all the same.
func (o *Opener) Open(from *hcl.Block) (*Block, hcl.Diagnostics) {
	b := &Block{
		Kind: from.Type, Labels: from.Labels, LabelAt: from.LabelRanges, At: from.DefRange,
		Arguments: map[string]*Argument{},
	}
	native, isNative := from.Body.(*hclsyntax.Body)
	if isNative {
		b.End = native.SrcRange.End.Byte
	} else {
		b.At = from.Body.MissingItemRange()
		if n := len(from.LabelRanges); n > 0 {
			b.At = from.LabelRanges[n-1]
		}
	}
	var diags hcl.Diagnostics
	add := func(name string, nameAt hcl.Range, raw hcl.Expression) {
		expr, more := syntax.TreeOf(raw, o.meter)
		diags = append(diags, more...)
		switch {
		case !more.HasErrors():
			b.add(&Argument{Name: name, NameAt: nameAt, Expr: expr, Raw: raw})
		case o.Kind.Free: // it is declared all the same
			b.add(&Argument{Name: name, NameAt: nameAt, Broken: true})
		}
	}
	content := &hcl.BodyContent{}
	body, ok := o.onlyArguments(from.Body)
	switch {
	case ok:
		for name, attribute := range body.Attributes {
			add(name, attribute.NameRange, attribute.Expr)
		}
	case o.Kind.Free:
		content.Attributes, diags = from.Body.JustAttributes()
	default:
		content, diags = from.Body.Content(o.schema)
		explainTerraform(from.Body, o.known, diags)
		diags = o.words.Explain(diags)
	}
	for name, attribute := range content.Attributes {
		add(name, attribute.NameRange, attribute.Expr)
	}
	for _, inner := range content.Blocks {
		nested, more := o.nested[inner.Type].Open(inner)
		diags = append(diags, more...)
		b.Blocks = append(b.Blocks, nested)
	}
	slices.SortFunc(b.InOrder, func(x, y *Argument) int { return x.NameAt.Start.Byte - y.NameAt.Start.Byte })
	b.Incomplete = diags.HasErrors()
	return b, diags
}

// onlyArguments is a body that has the arguments of its kind and nothing else, in which HCL
// finds no mistake; false where it may be another.
func (o *Opener) onlyArguments(from hcl.Body) (*hclsyntax.Body, bool) {
	body, ok := from.(*hclsyntax.Body)
	if !ok || o.Kind.Free || len(body.Blocks) > 0 {
		return nil, false
	}
	for name := range body.Attributes {
		if !o.known[name] {
			return nil, false
		}
	}
	for _, name := range o.Kind.Required {
		if body.Attributes[name] == nil {
			return nil, false
		}
	}
	return body, true
}

func (b *Block) add(a *Argument) {
	a.Within = b.Kind
	b.Arguments[a.Name] = a
	b.InOrder = append(b.InOrder, a)
}

// Label returns the i-th label, or "" where a mistake left it out.
func (b *Block) Label(i int) string {
	if i < len(b.Labels) {
		return b.Labels[i]
	}
	return ""
}

// StandIn says which policy directory, or which included one, has b and the blocks in it.
func (b *Block) StandIn(d *PolicyDir, in *IncludedDir) {
	b.Policy, b.Included = d, in
	for _, nested := range b.Blocks {
		nested.StandIn(d, in)
	}
}

// Within is reach for the expressions of b: what of it the directory lets them see.
func (b *Block) Within(reach Reach) Reach {
	reach.Policy, reach.Included = b.Policy != nil, b.Included
	return reach
}

// All yields the arguments of b and of the blocks in it, as written.
func (b *Block) All() []*Argument {
	arguments := b.InOrder
	for _, nested := range b.Blocks {
		arguments = append(arguments, nested.All()...)
	}
	return arguments
}

// NestedOf returns the blocks of one kind in b.
func (b *Block) NestedOf(kind string) []*Block {
	var found []*Block
	for _, nested := range b.Blocks {
		if nested.Kind == kind {
			found = append(found, nested)
		}
	}
	return found
}
