package view

import (
	"fmt"
	"slices"
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
	switch waiting := waitingOf(plan); {
	case none == 0:
		return "Nothing is declared."
	case len(waiting) > 0:
		return someWaiting(none, total, waiting) + rule
	case none == 1:
		return "The one declared transfer" + total + " is recorded." + rule
	}
	return fmt.Sprintf("All %d declared transfers%s are recorded.%s", none, total, rule)
}

// waitingFor is a reason why recorded transfers without a change wait for a person.
type waitingFor struct {
	count     int
	one, many string // the words for one of them, and for several
	phrase    string // of any number
}

func (w waitingFor) says() string {
	if w.count == 1 {
		return w.one
	}
	return w.many
}

// waitingOf are the reasons that there are.
func waitingOf(plan *planner.Plan) []waitingFor {
	return slices.DeleteFunc([]waitingFor{
		{countUnverified(plan), "is unverified", "are unverified", "unverified"},
		{plan.UnknownRecorded, "has a status at the service that remit does not know", "have a status at the service that remit does not know", "of an unknown status"},
	}, func(w waitingFor) bool { return w.count == 0 })
}

// someWaiting says how many of the recorded transfers wait for a person, and why.
func someWaiting(all int, total string, waiting []waitingFor) string {
	var said []string
	rest := all
	for i, w := range waiting {
		who := strconv.Itoa(w.count)
		switch {
		case i > 0:
		case all == 1:
			who = "The one declared transfer" + total
		case w.count == all:
			who = fmt.Sprintf("All %d declared transfers%s", all, total)
		default:
			who = fmt.Sprintf("%d of %d declared transfers%s", w.count, all, total)
		}
		rest -= w.count
		said = append(said, who+" "+w.says())
	}
	text := strings.Join(said, ", and ") + ", and waits for a person."
	if all-rest > 1 {
		text = strings.Join(said, ", and ") + ", and wait for a person."
	}
	switch rest {
	case 0:
		return text
	case 1:
		return text + " The other one is recorded."
	}
	return fmt.Sprintf("%s The other %d are recorded.", text, rest)
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
	recorded := plan.Count(planner.None)
	for _, w := range waitingOf(plan) {
		recorded -= w.count
		parts = append(parts, fmt.Sprintf("%d %s", w.count, w.phrase))
	}
	if recorded > 0 {
		parts = append(parts, fmt.Sprintf("%d recorded", recorded))
	}
	return parts
}
