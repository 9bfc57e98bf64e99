package view

import (
	"fmt"

	"remit/internal/text/english"
	"remit/planner"
	"remit/state"
)

// begunText tells of the earlier runs of a saved plan. Its actions and totals are as they were reviewed, and by these alone
// a reader would take a payment for one to come that was made. A face shows the run's ID as it does text from elsewhere.
// The text is "" for a plan that no run began.
func begunText(plan *planner.Plan, show func(string) string) string {
	b := plan.Begun
	if b == nil {
		return ""
	}
	text := "Begun in run " + show(takeStart(Visible(b.RunIDs[0]), 8))
	if more := len(b.RunIDs) - 1; more > 0 {
		text += fmt.Sprintf(" and %s after it", english.Plural(more, "run"))
	}
	if b.Alive {
		text += ", which goes on"
	}
	var parts []string
	for _, of := range b.Lines {
		parts = append(parts, fmt.Sprintf("%d %s", of.Count, nowWord(of.Status)))
	}
	if len(parts) == 0 {
		return text + ": nothing of it was sent."
	}
	return text + ": " + english.List(parts) + "."
}

// begunAdvice says how an apply goes on.
func begunAdvice(plan *planner.Plan) string {
	if plan.Begun == nil || len(plan.Begun.Lines) == 0 {
		return ""
	}
	if plan.Begun.Lines[0].Status == state.InDoubt {
		return " Doubts may have been paid: an apply goes on with them, and sends nothing again that the runs finished."
	}
	return " An apply sends nothing again that the runs finished."
}

// nowWord is the status of a line that an earlier run of its plan began.
func nowWord(s state.Status) string {
	switch s {
	case state.Conflict:
		return "in conflict"
	case state.Tombstone:
		return "settled as not made"
	case state.Unsent, state.InDoubt, state.Recorded, state.Adopted, state.Unverified, state.Refused:
	}
	return s.String()
}

// nowNote marks such a line; it has no text for any other.
func nowNote(c *planner.Change) span {
	switch {
	case c.Now == 0:
		return span{}
	case c.Now == state.InDoubt:
		return span{"begun before, and in doubt: it may have been paid", toneDoubt}
	}
	return span{"begun before, and " + nowWord(c.Now), toneDim}
}
