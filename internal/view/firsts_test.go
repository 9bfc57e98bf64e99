package view_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"remit/internal/view"
	"remit/planner"
)

// newcomers is a plan of so many transfers, of which the ones with a mark go to a first-time destination; they have the
// smallest amounts.
func newcomers(count, firsts int) *planner.Plan {
	var p payments
	for n := range count {
		c := p.pay(treasury, landlord, strconv.Itoa(10_000+n), "USD")
		c.RefID = fmt.Sprintf("pay-%05d", n)
		if n < firsts {
			c.Signals = []planner.Signal{{Kind: planner.FirstDestination}}
		}
	}
	return p.plan()
}

// shownWithout is Markdown outside of what a reader has to open.
func shownWithoutOpening(text string) string {
	var shown strings.Builder
	for {
		before, rest, isFolded := strings.Cut(text, "<details>")
		shown.WriteString(before)
		if !isFolded {
			return shown.String()
		}
		_, text, _ = strings.Cut(rest, "</details>")
	}
}

// A redirected salary is one transfer to a first-time destination among many. An approver, who signs the text, and
// a reviewer of a pull request see its line, above that of larger ones.
func TestAReviewerOfManySeesWhoIsPaidForTheFirstTime(t *testing.T) {
	p := newcomers(260, 1)
	for face, text := range map[string]string{
		"text":     string(planText(t, p, view.PlanOptions{})),
		"Markdown": planMarkdown(t, p, view.PlanOptions{}),
	} {
		before, _, _ := strings.Cut(text, "Largest of")
		before = shownWithoutOpening(before)
		if !strings.Contains(before, "First-time destinations: 1 transfer\n") || !strings.Contains(before, "10,000.00 USD  pay-00000  -> ") {
			t.Errorf("%s does not list it above the largest ones:\n%s", face, before)
		}
	}
}

// Of many first-time destinations the largest are listed, and the rest has a count and a sum; each asset has its share.
func TestManyFirstTimeDestinationsAreSummedUp(t *testing.T) {
	p := newcomers(260, 50)
	text := string(planText(t, p, view.PlanOptions{Screen: view.Screen{Width: 120}}))
	if got := regexp.MustCompile(`(?m)^  10,0\d\d.00 USD`).FindAllString(text, -1); len(got) != 5+50 || !strings.Contains(text, "  and 45 others, USD 450,990.00\n\nLargest of") {
		t.Errorf("%d lines in the text:\n%s", len(got), text)
	}
	if text := planMarkdown(t, p, view.PlanOptions{}); !strings.Contains(text, "First-time destinations: 50 transfers, the largest of them\n  10,049.00 USD  pay-00049") || !strings.Contains(text, "  and 30 others, USD 300,435.00\n") {
		t.Errorf("Markdown:\n%s", text)
	}
	var two payments
	for n := range 260 {
		c := two.pay(treasury, landlord, strconv.Itoa(10_000+n), "USD")
		if n < 30 {
			c.Request.Asset = "EUR"
		}
		if n < 31 {
			c.Signals = []planner.Signal{{Kind: planner.FirstDestination}}
		}
	}
	for face, text := range map[string]string{
		"text":     string(planText(t, two.plan(), view.PlanOptions{})),
		"Markdown": planMarkdown(t, two.plan(), view.PlanOptions{}),
		"HTML":     planHTML(t, two.plan(), view.PlanOptions{}),
	} {
		_, text, _ = strings.Cut(text, "First-time destinations:")
		text, _, _ = strings.Cut(text, "others, EUR")
		if !strings.Contains(text, "10,030") {
			t.Errorf("in %s the first-time destinations of EUR leave no room for the one of USD:\n%s", face, text)
		}
	}
}

// A first plan pays nobody but first-time destinations. That is one sentence.
func TestAPlanThatPaysOnlyFirstTimeDestinationsSaysSo(t *testing.T) {
	p := newcomers(260, 260)
	for face, text := range map[string]string{
		"text":     string(planText(t, p, view.PlanOptions{})),
		"Markdown": planMarkdown(t, p, view.PlanOptions{}),
		"HTML":     planHTML(t, p, view.PlanOptions{}),
	} {
		if !strings.Contains(text, "Every transfer to submit pays a first-time destination.") || strings.Contains(text, "First-time destinations:") {
			t.Errorf("%s:\n%s", face, text)
		}
	}
}

// Where the first 40 lines have no room for all, all follow below.
func TestFirstTimeDestinationsLeaveRoomForTheBatches(t *testing.T) {
	text := string(planText(t, crowdedPlan(1000), view.PlanOptions{Screen: view.Screen{Width: 140}, Saved: true}))
	_, below, _ := strings.Cut(text, "To look at: ")
	if !strings.Contains(below, "\nFirst-time destinations: 126 transfers\n") {
		t.Errorf("they are not listed in\n%.9000s", below)
	}
}
