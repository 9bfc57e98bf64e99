package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/shopspring/decimal"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"remit/config"
	"remit/config/functions"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

type hoverResult struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

// pointed is what a place of a text points at.
type pointed struct {
	blocks    []*hclsyntax.Block // the outermost first
	attribute *hclsyntax.Attribute
	traversal hcl.Traversal // with steps up to the one that is pointed at; nil for none
	function  string
	text      string    // a text without anything computed in it, that is pointed at
	isName    bool      // the name of the argument is pointed at
	isHeader  bool      // the header of the innermost block is
	at        hcl.Range // in the piece
	start     int       // of the piece
}

// kinds are the types of the blocks.
func (p pointed) kinds() []string {
	var kinds []string
	for _, b := range p.blocks {
		kinds = append(kinds, b.Type)
	}
	return kinds
}

// pointedAt finds what a byte of a text is in.
func pointedAt(o *outline, offset int) pointed {
	piece := o.at(offset)
	p := pointed{start: piece.start}
	at := offset - piece.start
	p.blocks = enclosing(piece.tree.body, at)
	if len(p.blocks) == 0 {
		return p
	}
	inner := p.blocks[len(p.blocks)-1]
	if header := inner.DefRange(); at <= header.End.Byte {
		p.isHeader, p.at = true, header
		return p
	}
	for _, a := range inner.Body.Attributes {
		if at < a.SrcRange.Start.Byte || at > a.SrcRange.End.Byte {
			continue
		}
		p.attribute = a
		if at <= a.NameRange.End.Byte {
			p.isName, p.at = true, a.NameRange
			return p
		}
		p.inValue(a.Expr, at)
	}
	return p
}

// inValue finds the reference, the function or the text of a value.
func (p *pointed) inValue(expr hclsyntax.Expression, at int) {
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		switch e := node.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			if r := e.SrcRange; at < r.Start.Byte || at > r.End.Byte {
				return nil
			}
			for i, step := range e.Traversal {
				if at <= stepRange(step).End.Byte || i == len(e.Traversal)-1 {
					p.traversal, p.at = e.Traversal[:i+1], stepRange(step)
					return nil
				}
			}
		case *hclsyntax.FunctionCallExpr:
			if r := e.NameRange; at >= r.Start.Byte && at <= r.End.Byte {
				p.function, p.at = e.Name, r
			}
		case *hclsyntax.TemplateExpr:
			if r := e.SrcRange; e.IsStringLiteral() && at >= r.Start.Byte && at <= r.End.Byte {
				if v, diags := e.Value(nil); !diags.HasErrors() {
					p.text, p.at = v.AsString(), r
				}
			}
		}
		return nil
	})
}

func stepRange(step hcl.Traverser) hcl.Range {
	switch step := step.(type) {
	case hcl.TraverseRoot:
		return step.SrcRange
	case hcl.TraverseAttr:
		r := step.SrcRange
		if r.End.Byte-r.Start.Byte > len(step.Name) { // with the dot
			r.Start.Byte = r.End.Byte - len(step.Name)
		}
		return r
	case hcl.TraverseIndex:
		return step.SrcRange
	}
	return hcl.Range{}
}

func (s *server) hover(ctx context.Context, p *placeParams) (any, error) {
	d := s.document(p.TextDocument.URI)
	if d == nil || !s.isActive(d.path) {
		return nil, nil
	}
	if !isNative(d.path) {
		return s.hoverData(d), nil
	}
	at := pointedAt(s.outline(d), d.offset(p.Position))
	text := s.about(ctx, d, at)
	if text == "" {
		return nil, nil
	}
	shown := d.span(at.start+at.at.Start.Byte, at.start+at.at.End.Byte)
	return hoverResult{markup{"markdown", text}, &shown}, nil
}

// about is the text for a place; "" where there is nothing to say.
func (s *server) about(ctx context.Context, d *document, at pointed) string {
	manual := manualOnce()
	switch {
	case at.isName:
		e, ok := manual.argument(at.kinds(), at.attribute.Name)
		if !ok && at.blocks[0].Type != "locals" {
			return ""
		}
		text := ""
		if ok {
			text = e.markdown(at.attribute.Name).Value
		} else {
			text = s.valueText(d, "local."+at.attribute.Name)
		}
		return joined(text, s.firstOf(d, at))
	case at.isHeader:
		kinds := at.kinds()
		about := manual.blocks[strings.Join(kinds, ".")]
		if about == "" {
			about = manual.blocks[kinds[len(kinds)-1]]
		}
		return joined(about, s.sumsText(ctx, d, at.blocks[0]))
	case at.function != "":
		f, ok := functions.Table(nil)[at.function]
		if !ok {
			return ""
		}
		return "```hcl\n" + signatureOf(at.function, f) + "\n```\n" + manual.functions[at.function].functionText()
	case at.traversal != nil:
		return s.referenceText(ctx, d, at)
	}
	return ""
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}

// markdown is an argument's row of the manual.
func (e entry) markdown(name string) *markup {
	if e.meaning == "" {
		return nil
	}
	text := fmt.Sprintf("`%s`: %s", name, e.types)
	if e.otherwise != "" {
		text += ", default " + e.otherwise
		if e.otherwise == "required" {
			text = fmt.Sprintf("`%s`: %s, required", name, e.types)
		}
	}
	return &markup{"markdown", text + "\n\n" + strings.ToUpper(e.meaning[:1]) + e.meaning[1:] + "\n\n```hcl\n" + name + " = " + e.example + "\n```"}
}

func (e entry) functionText() string {
	if e.meaning == "" {
		return ""
	}
	return e.meaning + "\n\n```hcl\n" + e.example + "\n```"
}

// signatureOf is a function with its parameters and their types.
func signatureOf(name string, f function.Function) string {
	return name + "(" + strings.Join(parametersOf(f), ", ") + ")"
}

func parametersOf(f function.Function) []string {
	var all []string
	for _, p := range f.Params() {
		all = append(all, p.Name+" "+p.Type.FriendlyNameForConstraint())
	}
	if p := f.VarParam(); p != nil {
		all = append(all, p.Name+" "+p.Type.FriendlyNameForConstraint()+"...")
	}
	return all
}

// valueBytesMax bounds a value that is shown.
const valueBytesMax = 2000

// valueText is the value of an expression, as it would be written; "" where it has none that may be shown.
func (s *server) valueText(d *document, expression string) string {
	snapshot, _ := s.snapshotOf(d.path)
	text := ""
	snapshot.with(func(c *config.Configuration) {
		value, diags := c.Eval(expression)
		switch {
		case diags.HasErrors():
		case value.ContainsMarked():
			text = "The value is sensitive, and is not shown."
		case !value.IsWhollyKnown() || value.Type().IsCapsuleType():
		default:
			written := strings.TrimSpace(string(hclwrite.Format(hclwrite.TokensForValue(value).Bytes())))
			if len(written) > valueBytesMax {
				written = strings.ToValidUTF8(written[:valueBytesMax], "") + " …"
			}
			text = "```hcl\n" + written + "\n```"
		}
	})
	return text
}

// referenceText is what a reference stands for.
func (s *server) referenceText(ctx context.Context, d *document, at pointed) string {
	t := at.traversal
	root, name, _ := addressOf(t)
	switch {
	case root == "each" || root == "row":
		return s.columnText(at)
	case name == "":
		return ""
	case root == "data":
		return s.dataText(ctx, d, "data."+name)
	case root == "transfer" || root == "calendar" || root == "window":
		return ""
	}
	var path []string
	for i, step := range t {
		text, ok := stepName(step)
		if r, isRoot := step.(hcl.TraverseRoot); isRoot {
			text, ok = r.Name, true
		}
		if !ok {
			return ""
		}
		if i > 0 && !hclsyntax.ValidIdentifier(text) {
			path[len(path)-1] += "[" + string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes()) + "]"
			continue
		}
		path = append(path, text)
	}
	expression := strings.Join(path, ".")
	return joined("`"+expression+"`", s.valueText(d, expression))
}

// columnText says which column each.value.NAME and row.NAME are.
func (s *server) columnText(at pointed) string {
	last, ok := stepName(at.traversal[len(at.traversal)-1])
	if !ok || len(at.traversal) < 2 {
		return ""
	}
	outer := at.blocks[0]
	if outer.Type == "data" && len(outer.Labels) == 2 {
		return fmt.Sprintf("The column `%s` of `data.%s.%s`.", last, outer.Labels[0], outer.Labels[1])
	}
	a := outer.Body.Attributes["for_each"]
	if a == nil {
		return ""
	}
	for _, t := range a.Expr.Variables() {
		if root, name, _ := addressOf(t); root == "data" {
			if len(at.traversal) == 2 {
				return fmt.Sprintf("The %s of a row of `data.%s`.", map[string]string{"key": "key", "value": "columns"}[last], name)
			}
			return fmt.Sprintf("The column `%s` of `data.%s`.", last, name)
		}
	}
	return ""
}

// firstOf says what the argument is in the first transfer of a block that makes several.
func (s *server) firstOf(d *document, at pointed) string {
	if at.attribute.Name != "ref_id" || at.blocks[0].Type != "transfer" {
		return ""
	}
	if f := s.factsOf(d, at.blocks[0]); f != nil {
		return "The first is `" + f.First + "`."
	}
	return ""
}

// factsOf are those of a transfer block in the first environment; nil where it has none.
func (s *server) factsOf(d *document, b *hclsyntax.Block) *config.BlockFacts {
	snapshot, _ := s.snapshotOf(d.path)
	return snapshot.factsOf(b)
}

// factsOf are nil where nothing is known of a block. A nil snapshot knows nothing.
func (s *snapshot) factsOf(b *hclsyntax.Block) *config.BlockFacts {
	if s == nil || len(s.checked) == 0 || len(b.Labels) < 2 {
		return nil
	}
	return s.checked[0].Facts[addressOfBlock(b)]
}

func addressOfBlock(b *hclsyntax.Block) string { return b.Type + "." + strings.Join(b.Labels, ".") }

// sumsText is what the transfers of a block come to, or what a data source has.
func (s *server) sumsText(ctx context.Context, d *document, b *hclsyntax.Block) string {
	switch {
	case b.Type == "data" && len(b.Labels) == 2:
		return s.dataText(ctx, d, addressOfBlock(b))
	case b.Type == "transfer":
		if f := s.factsOf(d, b); f != nil {
			return fmt.Sprintf("It makes %s. The first is `%s`.", summaryOf(f), f.First)
		}
	}
	return ""
}

// summaryOf counts and sums the transfers of a block.
func summaryOf(f *config.BlockFacts) string {
	var sums []string
	for total := range f.Totals.All() {
		sums = append(sums, total.Asset+" "+amountText(total.Asset, total.Sum))
	}
	return english.Plural(f.Totals.Count(), "transfer") + ", " + strings.Join(sums, ", ")
}

// amountText has the decimals of the currency, and a comma before each three digits.
func amountText(asset string, sum decimal.Decimal) string {
	scale, _ := transfer.CurrencyScale(asset)
	places := max(int(-sum.Exponent()), 0)
	return transfer.Grouped(sum.StringFixed(int32(max(scale, places)))) //nolint:gosec // a handful of digits
}

// dataText is what a data source has: its file, columns, rows and sums.
func (s *server) dataText(ctx context.Context, d *document, address string) string {
	snapshot, _ := s.snapshotOf(d.path)
	if snapshot == nil || len(snapshot.data[address].Columns) == 0 {
		return ""
	}
	of := snapshot.data[address]
	text := fmt.Sprintf("`%s`: the rows of `%s`, each with the columns `%s`.", address, of.File, strings.Join(of.Columns, "`, `"))
	snapshot.with(func(c *config.Configuration) {
		count, sums, ok := config.SumsOf(ctx, c, address)
		if !ok {
			return
		}
		text += "\n\nThere are " + english.Plural(count, "row") + "."
		for _, column := range of.Columns {
			if sum, isNumber := sums[column]; isNumber {
				text += fmt.Sprintf("\n- `%s` adds up to %s", column, transfer.Grouped(sum.String()))
			}
		}
	})
	return text
}

// hoverData says of a data file which blocks read it.
func (s *server) hoverData(d *document) any {
	readers := s.readersOf(d)
	if len(readers) == 0 {
		return nil
	}
	return hoverResult{Contents: markup{"markdown", filepath.Base(d.path) + " is read by `" + strings.Join(readers, "`, `") + "`."}}
}

// readersOf are the addresses of the blocks that read a data file: data sources, and the transfers that are made of them.
func (s *server) readersOf(d *document) []string {
	snapshot, directory := s.snapshotOf(d.path)
	if snapshot == nil {
		return nil
	}
	var all []string
	for address, of := range snapshot.data {
		if inDirectory(directory, of.File) == d.path {
			all = append(all, address)
		}
	}
	slices.Sort(all)
	direct := len(all)
	for _, from := range s.sources(filepath.Join(directory, "main.hcl")) {
		for _, c := range from.outline.chunks {
			for _, b := range c.tree.body.Blocks {
				a := b.Body.Attributes["for_each"]
				if b.Type != "transfer" || a == nil || len(b.Labels) < 2 {
					continue
				}
				for _, t := range a.Expr.Variables() {
					if root, name, _ := addressOf(t); root == "data" && slices.Contains(all[:direct], root+"."+name) {
						all = append(all, addressOfBlock(b))
					}
				}
			}
		}
	}
	return slices.Compact(all)
}

type signatureHelpResult struct {
	Signatures      []signature `json:"signatures"`
	ActiveSignature int         `json:"activeSignature"`
	ActiveParameter int         `json:"activeParameter"`
}

type signature struct {
	Label         string      `json:"label"`
	Documentation markup      `json:"documentation"`
	Parameters    []parameter `json:"parameters"`
}

type parameter struct {
	Label string `json:"label"`
}

func (s *server) signatureHelp(_ context.Context, p *placeParams) (any, error) {
	d := s.document(p.TextDocument.URI)
	if d == nil || !isNative(d.path) || !s.isActive(d.path) {
		return nil, nil
	}
	at := cursorAt(s.outline(d), d.offset(p.Position))
	if len(at.calls) == 0 {
		return nil, nil
	}
	inner := at.calls[len(at.calls)-1]
	f, ok := functions.Table(nil)[inner.name]
	if !ok {
		return nil, nil
	}
	one := signature{Label: signatureOf(inner.name, f), Documentation: markup{"markdown", manualOnce().functions[inner.name].functionText()}, Parameters: []parameter{}}
	for _, name := range parametersOf(f) {
		one.Parameters = append(one.Parameters, parameter{name})
	}
	return signatureHelpResult{Signatures: []signature{one}, ActiveParameter: min(inner.argument, max(len(one.Parameters)-1, 0))}, nil
}
