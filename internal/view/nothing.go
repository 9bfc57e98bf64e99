package view

import (
	"fmt"
	"strings"
	"time"

	"remit/planner"
)

// nothingToSend says why a plan has nothing to send. The sum is of what is declared: a person may have accepted another record.
func nothingToSend(plan *planner.Plan) string {
	none := plan.Count(planner.None)
	if rest := countsIdle(plan); len(rest) > 1 || len(rest) == 1 && none == 0 {
		return "Nothing to submit and nothing to resolve: " + strings.Join(rest, ", ") + "."
	}
	rule := madeOtherwise(plan) + newestRule(plan)
	total := inBrackets(Visible(planScreen(plan).sums(plan.Totals[planner.None])))
	switch none {
	case 0:
		return "Nothing is declared."
	case 1:
		return "The one declared transfer" + total + " is recorded." + rule
	}
	return fmt.Sprintf("All %d declared transfers%s are recorded.%s", none, total, rule)
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
		{planner.None, "recorded"},
	} {
		if count := plan.Count(of.action); count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count, of.phrase))
		}
	}
	return parts
}
