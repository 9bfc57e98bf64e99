package planner_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// control is a control block of the batch pay that says nothing.
func control(edit ...func(*config.BatchControl)) planner.Controls {
	c := config.BatchControl{Place: config.Place{File: "pay.hcl", Line: 3}, Count: -1}
	for _, e := range edit {
		e(&c)
	}
	return planner.Controls{Batches: []config.Batch{{Name: "pay", Control: &c}}}
}

func counted(n int) func(*config.BatchControl) { return func(c *config.BatchControl) { c.Count = n } }

func summed(totals map[string]decimal.Decimal) func(*config.BatchControl) {
	return func(c *config.BatchControl) { c.Totals = totals }
}

func TestControlTotals(t *testing.T) {
	usd := func(sum string) map[string]decimal.Decimal {
		return map[string]decimal.Decimal{"USD": decimal.RequireFromString(sum)}
	}
	pay := []config.Transfer{declare("a", inBatch("pay")), declare("b", inBatch("pay")), declare("c")} // 80.00 each
	var hash transfer.Totals
	for _, t := range pay[:2] {
		hash.AddRequest(&t.Request)
	}
	exact, _ := hash.HashTotal()
	hashed := func(sum decimal.Decimal) func(*config.BatchControl) {
		return func(c *config.BatchControl) { c.HashTotal = &sum }
	}
	tests := map[string]struct {
		controls planner.Controls
		recorded []state.Detail
		declared []config.Transfer
		want     string // the difference
	}{
		"all agree":                  {controls: control(counted(2), summed(usd("160")), hashed(exact))},
		"what is recorded counts":    {controls: control(counted(2), summed(usd("160"))), recorded: []state.Detail{record(pay[0], state.Recorded)}},
		"what is in doubt counts":    {controls: control(counted(2)), recorded: []state.Detail{record(pay[0], state.InDoubt)}},
		"the count":                  {controls: control(counted(3)), want: "count is 3 in the control block and 2 declared, 1 less"},
		"the sum":                    {controls: control(summed(usd("159.995"))), want: "USD is 159.995 in the control block and 160.000 declared, 0.005 more"},
		"an asset that is not named": {controls: control(summed(map[string]decimal.Decimal{})), want: "USD is 0.00 in the control block and 160.00 declared, 160.00 more"},
		"an asset that is not there": {
			controls: control(summed(map[string]decimal.Decimal{"EUR": decimal.NewFromInt(5), "USD": decimal.NewFromInt(160)})),
			want:     "EUR is 5.00 in the control block and 0.00 declared, 5.00 less",
		},
		"the hash total": {
			controls: control(hashed(exact.Add(decimal.NewFromInt(1)))),
			want:     fmt.Sprintf("hash total is %s in the control block and %s declared, 1.00 less", transfer.Grouped(exact.Add(decimal.NewFromInt(1)).StringFixed(2)), transfer.Grouped(exact.StringFixed(2))),
		},
		"no transfer at all": {
			controls: control(counted(2)), declared: pay[2:],
			want: "count is 2 in the control block and 0 declared, 2 less",
		},
		"none is meant": {controls: control(counted(0), summed(nil)), declared: pay[2:]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.declared == nil {
				test.declared = pay
			}
			p := plan(t, newMemory(test.recorded...), test.controls, test.declared...)
			got := ""
			if len(p.Obstacles) > 0 {
				_, got, _ = cutBetween(p.Obstacles[0].Detail, "declared: ", ". Is a file")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if test.want != "" && p.Obstacles[0].Kind != planner.ObstacleControl {
				t.Errorf("the obstacle is %q", p.Obstacles[0].Kind)
			}
		})
	}
}

// TestControlTotalsOfATarget holds that control totals are those of the files, and not those of the
// targets.
func TestControlTotalsOfATarget(t *testing.T) {
	controls := control(counted(2))
	controls.Targets = []string{"transfer.internal.a"}
	p := plan(t, newMemory(), controls, declare("a", inBatch("pay")), declare("b", inBatch("pay")))
	if !p.Applicable() || p.Count(planner.Submit) != 1 || p.Batches[0].Totals.Count() != 2 {
		t.Errorf("%d to submit, obstacles %v", p.Count(planner.Submit), p.Obstacles)
	}
}

// TestTotalsOfNothingAreNotNoTotals applies a plan where totals = {}, which allow no transfer, or a count were written into the control block
// since, or were taken out of it.
func TestTotalsOfNothingAreNotNoTotals(t *testing.T) {
	none := map[string]decimal.Decimal{}
	two := []config.Transfer{declare("a", inBatch("pay")), declare("b", inBatch("pay"))}
	for name, test := range map[string]struct {
		was, is  planner.Controls
		declared []config.Transfer
		want     bool // that they are the same
	}{
		"as it was":         {control(counted(2)), control(counted(2)), two, true},
		"a count more":      {control(), control(counted(2)), two, false},
		"another count":     {control(counted(2)), control(counted(3)), two, false},
		"a count taken out": {control(counted(2)), control(), two, false},
		"written":           {control(counted(2)), control(counted(2), summed(none)), two, false},
		"a count of none":   {control(counted(0)), control(counted(0)), []config.Transfer{declare("c")}, true},
		"none taken out":    {control(counted(0)), control(), []config.Transfer{declare("c")}, false},
		"taken out":         {control(counted(0), summed(none)), control(counted(0)), []config.Transfer{declare("c")}, false},
	} {
		p := plan(t, newMemory(), test.was, test.declared...)
		p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
		opened, err := planner.Open(bytes.NewReader(save(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		for of, p := range map[string]*planner.Plan{"in memory": p, "from a file": opened} {
			_, err := p.Recheck(t.Context(), newMemory(), test.is, now)
			if _, isChanged := errors.AsType[*planner.ControlBlockError](err); isChanged == test.want || err != nil && !isChanged {
				t.Errorf("%s, %s: %v", name, of, err)
			}
		}
	}
}

// cutBetween returns the text between two others.
func cutBetween(text, from, to string) (before, between, after string) {
	before, rest, _ := strings.Cut(text, from)
	between, after, _ = strings.Cut(rest, to)
	return before, between, after
}
