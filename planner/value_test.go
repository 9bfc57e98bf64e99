package planner_test

import (
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestValue asks a plan, as expressions do, with two to submit, one in doubt, one recorded and
// one that waits.
func TestValue(t *testing.T) {
	metadata := func(c *config.Transfer) {
		c.Request.Metadata = transfer.NewMetadata(map[string]string{"employee": "E-1"})
	}
	doubtful := declare("doubt", func(c *config.Transfer) { amount("70")(&c.Request) })
	m := newMemory(record(declare("done"), state.Recorded), record(doubtful, state.InDoubt))
	p := plan(t, m, planner.Controls{},
		declare("a", inBatch("payroll"), metadata), declare("b", inBatch("payroll"), func(c *config.Transfer) { c.Request.Asset = "EUR" }),
		doubtful, declare("done"), declare("later", notBefore(now.Add(time.Hour))))
	value, err := p.Value(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := &hcl.EvalContext{
		Variables: map[string]cty.Value{"plan": value},
		Functions: map[string]function.Function{"length": stdlib.LengthFunc, "keys": stdlib.KeysFunc},
	}
	for _, expression := range []string{
		`plan.count == 3`,
		`plan.totals.USD == "150.00"`,
		`plan.totals["EUR"] == "80.00"`,
		`plan.actions.submit.count == 2`,
		`plan.actions.submit.totals.USD == "80.00"`,
		`plan.actions.resolve.count == 1`,
		`plan.actions.none.count == 1`,
		`plan.actions.wait.totals.USD == "80.00"`,
		`plan.actions.expired.count == 0 && length(plan.actions.expired.totals) == 0`,
		`plan.batches.payroll.count == 2`,
		`plan.batches.payroll.totals.EUR == "80.00"`,
		`length(plan.batches) == 1`,
		`length(plan.destinations) == 3`,
		`plan.destinations[plan.transfers.a.to_profile_id].totals.USD == "80.00"`,
		`plan.transfers.a.action == "submit"`,
		`plan.transfers.a.amount == "80.00"`,
		`plan.transfers.a.metadata.employee == "E-1"`,
		`plan.transfers.a.batch == "payroll"`,
		`plan.transfers.a.until == null`,
		`plan.transfers.doubt.action == "resolve" && plan.transfers.doubt.amount == "70"`,
		`plan.transfers.later.until == "2026-11-27T16:00:00Z"`,
		`length(plan.transfers) == 4`, // a recorded transfer that agrees is no line
		`plan.signals["first-time destination"] == 2`,
		`plan.applicable && length(plan.obstacles) == 0`,
		`plan.digest != ""`,
	} {
		expr, diags := hclsyntax.ParseExpression([]byte(expression), "test", hcl.InitialPos)
		got, more := expr.Value(ctx)
		if diags = append(diags, more...); diags.HasErrors() || !got.RawEquals(cty.True) {
			t.Errorf("%s is not true: %v", expression, diags)
		}
	}
}

func TestValueSaysWhatKeepsAPlanFromBeingApplied(t *testing.T) {
	p := plan(t, newMemory(record(declare("a"), state.Recorded)), planner.Controls{})
	value, err := p.Value(func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if value.GetAttr("applicable").True() || value.Type().HasAttribute("transfers") {
		t.Errorf("got %#v", value)
	}
	kind := value.GetAttr("obstacles").AsValueSlice()[0].GetAttr("kind").AsString()
	if kind != string(planner.ObstacleEmpty) {
		t.Errorf("the obstacle is %q", kind)
	}
}
