package config

import (
	"github.com/shopspring/decimal"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/transfer"
)

// BatchControl is the control block of a batch: what all its declared transfers come to, as
// somebody says who knows it from elsewhere.
type BatchControl struct {
	Place     Place
	Count     int                        // -1 where the block does not say
	Totals    map[string]decimal.Decimal // by asset in one spelling, every one that occurs; nil where it does not say
	HashTotal *decimal.Decimal           // of [transfer.Totals.HashTotal]; nil where it does not say
}

// controlCountMax bounds the count of a control block.
const controlCountMax = 1_000_000_000

func controlKind() eval.Kind {
	return eval.Kind{Name: "control", Optional: []string{"count", "totals", "hash_total"}}
}

// tryControls reads the control blocks for whoever holds a plan against them. One whose values hang
// on what was not given here is left out, which is no mistake.
func (l *loader) tryControls() {
	reported := l.diags
	l.diags = nil
	l.evaluateControls()
	if l.diags.HasErrors() {
		for i := range l.config.Batches {
			l.config.Batches[i].Control = nil
		}
	}
	l.diags = reported
}

// evaluateControls reads the control blocks of batches. They see variables and locals only: a
// total that is computed from the rows that it controls would agree with whatever they are.
func (l *loader) evaluateControls() {
	for i := range l.config.Batches {
		batch := &l.config.Batches[i]
		blocks := l.batches[batch.Name].controls
		if len(blocks) > 1 {
			l.report(mistake.New(blocks[1].At, "Declared twice", "The control block of batch %q was already declared at %s.", batch.Name, mistake.At(blocks[0].At)))
		}
		if len(blocks) > 0 && !blocks[0].Incomplete {
			batch.Control = l.readControl(blocks[0])
		}
	}
}

func (l *loader) readControl(b *eval.Block) *BatchControl {
	r := l.narrowReader(b, false)
	c := &BatchControl{Place: placeOf(b.At), Count: r.Whole("count", 0, controlCountMax, -1)}
	c.Totals = l.controlTotals(r)
	if value, a, found := r.Value("hash_total"); found == eval.Present {
		if sum, ok := l.sum(r, a, "hash_total", value); ok {
			c.HashTotal = &sum
		}
	}
	if len(b.Arguments) == 0 {
		r.Refuse(b.At, "Nothing to control", "A control block has count, totals or hash_total.")
	}
	l.report(r.Diags...)
	return c
}

// controlTotals reads sums by asset.
func (l *loader) controlTotals(r *eval.Reader) map[string]decimal.Decimal {
	value, a, found := r.Value("totals")
	if found != eval.Present {
		return nil
	}
	if ty := value.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		r.Refuse(a.Expr.Range(), "Not totals by asset", "totals has the sum of each asset, such as { USD = \"412850.22\" }, and is not %s.", ty.FriendlyName())
		return nil
	}
	totals := map[string]decimal.Decimal{}
	for key, item := range value.Elements() {
		sum, ok := l.sum(r, a, "totals."+key.AsString(), item)
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

// sum reads a quoted decimal, which unlike an amount may be zero.
func (l *loader) sum(r *eval.Reader, a *eval.Argument, name string, value cty.Value) (decimal.Decimal, bool) {
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
		return refuse("must be a quoted decimal such as \"412850.22\", not %s.", value.Type().FriendlyName())
	}
	if ctx, ok, _ := l.config.scope.Context(a.Refs); ok {
		r.Diags = append(r.Diags, checkDecimal(l.config.scope, a.Expr, ctx)...)
	}
	if isNothing(value.AsString()) {
		return decimal.Zero, true
	}
	amount, err := transfer.ParseAmount(transfer.Ungrouped(value.AsString())) // it may be copied from a plan
	if err != nil {
		return refuse("%q: %s", value.AsString(), mistake.Sentence(err))
	}
	return amount.Decimal(), true
}
