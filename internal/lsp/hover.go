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

	"remit/config"
	"remit/config/functions"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

type hoverResult struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

// hovers say what a place of a text means.
type hovers struct{ sources *sources }

func (f hovers) hover(ctx context.Context, p *placeParams) (any, error) {
	d := f.sources.documents.at(p.TextDocument.URI)
	if d == nil || !f.sources.checks.isActive(d.path) {
		return nil, nil
	}
	if !isNative(d.path) {
		return f.hoverData(d), nil
	}
	at := pointedAt(f.sources.outline(d), d.offset(p.Position))
	text := f.about(ctx, d, at)
	if text == "" {
		return nil, nil
	}
	shown := d.span(at.start+at.at.Start.Byte, at.start+at.at.End.Byte)
	return hoverResult{markup{"markdown", text}, &shown}, nil
}

// about is the text for a place; "" where there is nothing to say.
func (f hovers) about(ctx context.Context, d *document, at pointed) string {
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
			text = f.valueText(d, "local."+at.attribute.Name)
		}
		return joined(text, f.firstOf(d, at))
	case at.isHeader:
		kinds := at.kinds()
		about := manual.blocks[strings.Join(kinds, ".")]
		if about == "" {
			about = manual.blocks[kinds[len(kinds)-1]]
		}
		return joined(about, f.sumsText(ctx, d, at.blocks[0]))
	case at.function != "":
		f, ok := functions.Table(nil)[at.function]
		if !ok {
			return ""
		}
		return "```hcl\n" + signatureOf(at.function, f) + "\n```\n" + manual.functions[at.function].functionText()
	case at.traversal != nil:
		return f.referenceText(ctx, d, at)
	}
	return ""
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}

// valueBytesMax bounds a value that is shown.
const valueBytesMax = 2000

// valueText is the value of an expression, as it would be written; "" where it has none that may be shown.
func (f hovers) valueText(d *document, expression string) string {
	snapshot, _ := f.sources.checks.snapshotOf(d.path)
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
func (f hovers) referenceText(ctx context.Context, d *document, at pointed) string {
	t := at.traversal
	root, name, _ := addressOf(t)
	switch {
	case root == "each" || root == "row":
		return f.columnText(at)
	case name == "":
		return ""
	case root == "data":
		return f.dataText(ctx, d, "data."+name)
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
	return joined("`"+expression+"`", f.valueText(d, expression))
}

// columnText says which column each.value.NAME and row.NAME are.
func (f hovers) columnText(at pointed) string {
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
func (f hovers) firstOf(d *document, at pointed) string {
	if at.attribute.Name != "ref_id" || at.blocks[0].Type != "transfer" {
		return ""
	}
	snapshot, _ := f.sources.checks.snapshotOf(d.path)
	if facts := snapshot.factsOf(at.blocks[0]); facts != nil {
		return "The first is `" + facts.First + "`."
	}
	return ""
}

// sumsText is what the transfers of a block come to, or what a data source has.
func (f hovers) sumsText(ctx context.Context, d *document, b *hclsyntax.Block) string {
	switch {
	case b.Type == "data" && len(b.Labels) == 2:
		return f.dataText(ctx, d, addressOfBlock(b))
	case b.Type == "transfer":
		snapshot, _ := f.sources.checks.snapshotOf(d.path)
		if facts := snapshot.factsOf(b); facts != nil {
			return fmt.Sprintf("It makes %s. The first is `%s`.", summaryOf(facts), facts.First)
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
func (f hovers) dataText(ctx context.Context, d *document, address string) string {
	snapshot, _ := f.sources.checks.snapshotOf(d.path)
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
func (f hovers) hoverData(d *document) any {
	readers := f.sources.readersOf(d)
	if len(readers) == 0 {
		return nil
	}
	return hoverResult{Contents: markup{"markdown", filepath.Base(d.path) + " is read by `" + strings.Join(readers, "`, `") + "`."}}
}
