package view_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
)

// edited are two plans: in the second each of so many transfers has other metadata, the first is in another batch, the
// last but one has another destination, and one was added to a known name with another account.
func edited(count int) *view.Against {
	plan := func(name, to string, more int) *planner.Plan {
		var p payments
		for n := range count + more {
			c := p.pay(treasury, landlord, strconv.Itoa(100+n), "USD")
			c.RefID = fmt.Sprintf("pay-%05d", n)
			c.Request.Metadata = transfer.Metadata{{Key: "name", Value: name}}
			if n == count-2 {
				c.Request.ToProfileID = to
			}
			if n == 0 {
				c.Batch = name
			}
			if n == count {
				c.Signals = []planner.Signal{{Kind: planner.OtherAccount}}
			}
		}
		return p.plan()
	}
	before := plan("Name", landlord, 0)
	return &view.Against{Delta: plan("Nome", seller, 30).Against(before, nil), File: "a.plan", All: "remit show --show=all"}
}

// Hundreds of changed names hide neither the one changed destination nor the lines that were added.
func TestCosmeticChangesHideNoChangedDestination(t *testing.T) {
	a := edited(1500)
	p, o := a.After, view.PlanOptions{Against: a}
	moreOfMarkdown := regexp.MustCompile(`\n  and (14\d\d) more: (14\d\d) metadata\.name\n`).FindStringSubmatch(planMarkdown(t, p, o))
	if moreOfMarkdown == nil || moreOfMarkdown[1] != moreOfMarkdown[2] {
		t.Errorf("Markdown does not count the rest: %q", moreOfMarkdown)
	}
	for face, test := range map[string]struct{ text, changed, byField, rest string }{
		"text":     {string(planText(t, p, o)), "Changed\n  pay-01498", "By field: 1 to_profile_id, 1 batch, 1500 metadata.name", "and 1298 more: 1298 metadata.name"},
		"Markdown": {planMarkdown(t, p, o), "Changed\n  pay-01498", "By field: 1 to_profile_id, 1 batch, 1500 metadata.name", " more: 14"},
		"HTML":     {planHTML(t, p, o), "<tr><th scope=\"row\">pay-01498</th>", "By field: 1 to_profile_id, 1 batch, 1500 metadata.name", "and 498 more: 498 metadata.name"},
	} {
		for _, want := range []string{test.changed, test.byField, test.rest, "pay-01500"} {
			if !strings.Contains(test.text, want) {
				t.Errorf("%s lacks %q:\n%.5000s", face, want, test.text)
			}
		}
		if at := strings.Index(test.text, "pay-01498"); at > strings.Index(test.text, "pay-00000") || at > strings.Index(test.text, "pay-01500") {
			t.Errorf("%s has other changes above the destination:\n%.5000s", face, test.text)
		}
	}
}

// More changes of money than a list has lines are counted by field.
func TestMoreChangesOfMoneyThanAListHoldsAreCounted(t *testing.T) {
	plan := func(amount int) *planner.Plan {
		var p payments
		for n := range 300 {
			p.pay(treasury, landlord, strconv.Itoa(amount+n), "USD")
		}
		return p.plan()
	}
	a := &view.Against{Delta: plan(1000).Against(plan(100), nil), File: "a.plan", All: "remit show --show=all"}
	text := string(planText(t, a.After, view.PlanOptions{Against: a}))
	if !strings.Contains(text, "\n  By field: 300 amount\n") || !strings.Contains(text, "\n  and 100 more: 100 amount\n") {
		t.Errorf("the text is\n%.3000s", text)
	}
	for _, p := range []*planner.Plan{crowdedPlan(3000)} {
		a := &view.Against{Delta: p.Against(plan(100), nil), File: "a.plan"}
		if text := planMarkdown(t, p, view.PlanOptions{Against: a}); len([]rune(text)) > 60_000 {
			t.Errorf("the Markdown has %d characters", len([]rune(text)))
		}
	}
}
