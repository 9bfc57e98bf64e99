package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"remit/planner"
	"remit/state"
)

// nothingToSend says why a plan has nothing to send. The sum is of what is declared: a person may have accepted another record.
func nothingToSend(plan *planner.Plan) string {
	none := plan.Count(planner.None)
	if plan.Count(planner.Conflict)+plan.Count(planner.Failed)+plan.Count(planner.Expired)+plan.Count(planner.Wait) > 0 {
		return "Nothing to submit and nothing to resolve: " + strings.Join(countsIdle(plan), ", ") + "."
	}
	rule := madeOtherwise(plan) + newestRule(plan)
	total := inBrackets(Visible(planScreen(plan).sums(plan.Totals[planner.None])))
	switch unverified := countUnverified(plan); {
	case none == 0:
		return "Nothing is declared."
	case none == 1 && unverified == 1:
		return "The one declared transfer" + total + " is unverified, and waits for a person." + rule
	case none == 1:
		return "The one declared transfer" + total + " is recorded." + rule
	case unverified == none:
		return fmt.Sprintf("All %d declared transfers%s are unverified, and wait for a person.%s", none, total, rule)
	case unverified > 0:
		return someUnverified(none, unverified, total) + rule
	}
	return fmt.Sprintf("All %d declared transfers%s are recorded.%s", none, total, rule)
}

// someUnverified says how many of several recorded transfers wait for a person.
func someUnverified(all, unverified int, total string) string {
	who, rest := "1 of %d declared transfers%s is unverified, and waits for a person.", fmt.Sprintf(" The other %d are recorded.", all-unverified)
	if unverified > 1 {
		who = strconv.Itoa(unverified) + " of %d declared transfers%s are unverified, and wait for a person."
	}
	if all-unverified == 1 {
		rest = " The other one is recorded."
	}
	return fmt.Sprintf(who, all, total) + rest
}

// countUnverified counts what a plan has under None for a person to look at.
func countUnverified(plan *planner.Plan) int {
	count := 0
	for i := range plan.Changes.Len() {
		if plan.Changes.Action(i) != planner.None { // an action alone costs little, of millions
			continue
		}
		if c := plan.Changes.At(i); c.Recorded != nil && c.Recorded.Status == state.Unverified {
			count++
		}
	}
	return count
}

// madeOtherwise names those that the service made otherwise than they are declared. It is "" where there are none.
func madeOtherwise(plan *planner.Plan) string {
	if len(plan.Otherwise) == 0 {
		return ""
	}
	return fmt.Sprintf(" The service made %s otherwise, and somebody accepted that: remit why says how.", Visible(some(plan.Otherwise, 0)))
}

// newestAge is how old the newest recorded transfer of a plan without changes is where the files may have been meant to pay again, as each
// month.
const newestAge = 20 * 24 * time.Hour

// newestRule says since when nothing new is declared, and how a payment is a new one: files of a new month whose ref_ids lack
// it look paid. It is "" where the newest is of these days.
func newestRule(plan *planner.Plan) string {
	if plan.Newest.IsZero() || plan.Header.Created.Sub(plan.Newest) < newestAge {
		return ""
	}
	return fmt.Sprintf(" The newest was sent on %s. A new payment needs a new ref_id, such as one with its month.", plan.Newest.Format(time.DateOnly))
}

// countsIdle are the actions, apart from undeclared ones, about which an apply does
// nothing.
func countsIdle(plan *planner.Plan) []string {
	var parts []string
	for _, of := range []struct {
		action planner.Action
		phrase string
	}{
		{planner.Conflict, "in conflict"},
		{planner.Failed, "failed"},
		{planner.Expired, "expired"},
		{planner.Wait, "to wait"},
	} {
		if count := plan.Count(of.action); count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count, of.phrase))
		}
	}
	unverified := countUnverified(plan)
	if unverified > 0 {
		parts = append(parts, fmt.Sprintf("%d unverified", unverified))
	}
	if recorded := plan.Count(planner.None) - unverified; recorded > 0 {
		parts = append(parts, fmt.Sprintf("%d recorded", recorded))
	}
	return parts
}
