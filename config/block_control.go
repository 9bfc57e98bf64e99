package config

import (
	"github.com/shopspring/decimal"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/transfer"
)

// controlRemedy says where a control total comes from.
const controlRemedy = "Take it from where the file came from, as a value or by --var:\n\n  count  = 118\n  totals = { USD = \"412850.22\" }"

// controlCountMax bounds the count of a control block.
const controlCountMax = 1_000_000_000

func controlKind() eval.Kind {
	return eval.Kind{Name: "control", Optional: []string{"count", "totals", "hash_total"}}
}

// tryControls reads the control blocks for a caller that compares a plan with them. It leaves them
// out, without a mistake, where they need a value that was not given here.
func tryControls(c *checker, batches []Batch, blocks map[string][]*eval.Block) {
	reported := c.diags
	c.diags = nil
	evaluateControls(c, batches, blocks)
	if c.diags.HasErrors() {
		for i := range batches {
			batches[i].Control = nil
		}
	}
	c.diags = reported
}

// evaluateControls reads the control blocks of batches. They see variables and locals only: a
// total that is computed from the rows that it controls would agree with whatever they are.
func evaluateControls(c *checker, batches []Batch, byName map[string][]*eval.Block) {
	for i := range batches {
		batch := &batches[i]
		blocks := byName[batch.Name]
		if len(blocks) > 1 {
			c.report(mistake.New(blocks[1].At, "Declared twice", "The control block of batch %q was already declared at %s.", batch.Name, mistake.At(blocks[0].At)))
		}
		if len(blocks) > 0 && !blocks[0].Incomplete {
			batch.Control = readControl(c, blocks[0])
		}
	}
}

func readControl(c *checker, b *eval.Block) *BatchControl {
	before := len(c.diags)
	r := c.narrowReader(b, false)
	for _, d := range c.diags[before:] {
		if d.Summary == "Reference is not allowed here" {
			d.Detail += " A total that is computed from the rows agrees with whatever they are. " + controlRemedy
		}
	}
	control := &BatchControl{Place: placeOf(b.At), Count: r.Whole("count", 0, controlCountMax, -1)}
	r.RefuseNull("count", "totals", "hash_total")
	control.Totals = controlTotals(r)
	if value, a, found := r.Value("hash_total"); found == eval.Present {
		if sum, ok := decimalSum(r, a, "hash_total", value); ok {
			control.HashTotal = &sum
		}
	}
	if len(b.Arguments) == 0 {
		r.Refuse(b.At, "Nothing to control", "A control block has count, totals or hash_total.")
	}
	c.report(r.Diags...)
	return control
}

// controlTotals reads sums by asset.
func controlTotals(r *eval.Reader) map[string]decimal.Decimal {
	value, a, found := r.Value("totals")
	if found != eval.Present {
		return nil
	}
	if ty := value.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		r.Refuse(a.Expr.Range(), "Not totals by asset", "totals has the sum of each asset, such as { USD = \"412850.22\" }, and is not %s.", mistake.Kind(ty))
		return nil
	}
	totals := map[string]decimal.Decimal{}
	for key, item := range value.Elements() {
		sum, ok := decimalSum(r, a, "totals."+key.AsString(), item)
		if !ok {
			continue
		}
		asset := transfer.AssetSpelled(key.AsString())
		if _, twice := totals[asset]; twice {
			r.Refuse(a.Expr.Range(), "One asset twice", "totals has %s in two spellings. Write one sum for it.", asset)
			return nil
		}
		totals[asset] = sum
	}
	return totals
}

// decimalSum reads a quoted decimal, which unlike an amount may be zero.
func decimalSum(r *eval.Reader, a *eval.Argument, name string, value cty.Value) (decimal.Decimal, bool) {
	refuse := func(detail string, args ...any) (decimal.Decimal, bool) {
		r.Refuse(a.Expr.Range(), "Not a quoted decimal", name+" "+detail, args...)
		return decimal.Zero, false
	}
	switch {
	case value.IsNull():
		return refuse("may not be null.")
	case value.Type() == cty.Number:
		return refuse("is a number, which is a binary float. Write it in quotation marks, such as \"412850.22\".")
	case value.Type() != cty.String:
		return refuse("must be a quoted decimal such as \"412850.22\", not %s.", mistake.Kind(value.Type()))
	}
	if ctx, ok, _ := r.Scope.Context(a.Refs); ok {
		r.Diags = append(r.Diags, checkDecimal(r.Scope, a.Expr, ctx)...)
	}
	if isNothing(value.AsString()) {
		return decimal.Zero, true
	}
	if plain, sign := transfer.PlainOfOtherSigns(value.AsString()); sign != "" {
		return refuse("%q: %s is not read; write %s", value.AsString(), sign, plain+".")
	}
	amount, err := transfer.ParseAmount(transfer.Ungrouped(value.AsString())) // it may be copied from a plan
	if err != nil {
		return refuse("%q: %s", value.AsString(), mistake.Sentence(err))
	}
	return amount.Decimal(), true
}
