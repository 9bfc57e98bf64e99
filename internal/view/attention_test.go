package view_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"remit/internal/view"
	"remit/planner"
)

// marked is a plan of 300 transfers with a mark of one kind, the last of which has a telling one.
func marked() *planner.Plan {
	var p payments
	for n := range 300 {
		c := p.pay(treasury, landlord, strconv.Itoa(10_000-n), "USD")
		c.RefID = fmt.Sprintf("pay-%05d", n)
		c.Signals = []planner.Signal{{Kind: planner.UnusualForm}}
		switch n {
		case 298:
			c.Signals = []planner.Signal{{Kind: planner.AmountOutOfLine, Detail: "ten times the largest"}}
		case 299:
			c.Action, c.Never, c.Reason = planner.Wait, true, "its window never opens"
			c.Signals = nil
		}
	}
	return p.plan()
}

// Marks that mean little do not push the telling one out of the list: each kind has its share of it, and the rest
// is counted by kind.
func TestEveryKindOfSignalHasItsShareOfTheList(t *testing.T) {
	p := marked()
	for face, test := range map[string]struct{ text, end, more string }{
		"text":     {string(planText(t, p, view.PlanOptions{})), "\nLargest of 1 destination", "and 100 more: 100 in an unusual form"},
		"Markdown": {planMarkdown(t, p, view.PlanOptions{}), "</details>", "and 280 more: 280 in an unusual form"},
		"HTML":     {planHTML(t, p, view.PlanOptions{}), "</table>", "and 280 more: 280 in an unusual form"},
	} {
		if !strings.Contains(test.text, test.more) {
			t.Errorf("%s does not say %q:\n%.9000s", face, test.more, test.text)
		}
		_, list, _ := strings.Cut(test.text, "To look at: 300 transfers")
		list, _, _ = strings.Cut(list, test.end)
		for _, refID := range []string{"pay-00298", "pay-00299"} {
			if !strings.Contains(list, refID) {
				t.Errorf("%s does not list %s:\n%s", face, refID, list)
			}
		}
	}
}

// Bytes cut the list of the Markdown at its end, where the most common kind is.
func TestTheRarestKindIsListedFirst(t *testing.T) {
	text := planMarkdown(t, marked(), view.PlanOptions{})
	_, list, _ := strings.Cut(text, "To look at: 300 transfers")
	if at := strings.Index(list, "pay-00298"); at < 0 || at > strings.Index(list, "pay-00000") {
		t.Errorf("the list is\n%.4000s", list)
	}
}
