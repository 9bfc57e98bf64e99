package view_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
)

// TestWhatAReviewerMustSeeIsNotFolded has a block of twenty lines, of which the sixteenth stands out.
func TestWhatAReviewerMustSeeIsNotFolded(t *testing.T) {
	const at = 15
	for name, test := range map[string]struct {
		edit     func(*planner.Change)
		isListed bool
	}{
		"nothing":                    {func(*planner.Change) {}, false},
		"it is the largest":          {func(c *planner.Change) { c.Request.Amount = transfer.MustAmount("120.01") }, true},
		"it is the smallest":         {func(c *planner.Change) { c.Request.Amount = transfer.MustAmount("0.01") }, false},
		"it is the one of its asset": {func(c *planner.Change) { c.Request.Asset = "EUR" }, true},
		"it is in flight, and edited": {func(c *planner.Change) {
			c.Action, c.Reason, c.Differences = planner.Wait, "in flight in run r-1", []transfer.Difference{{Field: "amount", Asked: "115.00", Answered: "15"}}
		}, true},
		"it waits":               {func(c *planner.Change) { c.Action, c.Reason = planner.Wait, "in flight in run r-1" }, false},
		"it is of mixed scripts": {func(c *planner.Change) { c.Signals = []planner.Signal{{Kind: planner.MixedScripts, Detail: "x"}} }, true},
		"it pays somebody new":   {func(c *planner.Change) { c.Signals = []planner.Signal{{Kind: planner.FirstDestination, Detail: "x"}} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var f fixture
			for i := range 20 {
				refID := fmt.Sprintf("pay-%02d", i)
				f.Changes = append(f.Changes, planner.Change{
					Action: planner.Submit, RefID: refID, Address: fmt.Sprintf("transfer.internal.pay[%q]", refID), Place: "pay.hcl:2",
					Request: transfer.Request{
						Operation: transfer.Internal, RefID: refID, Asset: "USD", Amount: transfer.MustAmount(fmt.Sprintf("%d.00", 120-i)),
						FromProfileID: "treasury", ToProfileID: "to-" + refID,
					},
				})
			}
			test.edit(&f.Changes[at])
			text := string(planText(t, f.plan(), view.PlanOptions{}))
			if !strings.Contains(text, "pay-07") || strings.Contains(text, "pay-14") || strings.Contains(text, "pay-15") != test.isListed {
				t.Errorf("listed is to be %t:\n%s", test.isListed, text)
			}
		})
	}
}
