package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/doubt"
)

// TestDocsDoubts holds what states.md says of doubts to what remit says of them.
func TestDocsDoubts(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	var want [][]string
	for _, d := range []doubt.Doubt{
		{},
		{Answer: doubt.AnswerKnown},
		{Answer: doubt.AnswerRefused},
		{Hold: doubt.OnDoubt()},
		{Hold: doubt.Undeclared()},
		{Hold: doubt.Differs()},
		{Hold: doubt.Expired(noon)},
		{Hold: doubt.ReplayWindowPassed()},
		{Hold: doubt.Made()},
		{Hold: doubt.NotDue(noon)},
		{Hold: doubt.DependsOn("fee")},
	} {
		d.RefID = "rent"
		without := quoted(d.Next())
		d.CanLookUp = true
		with := quoted(d.Next())
		d.CanLookUp = false
		want = append(want, []string{because(d), d.Plan(), without, with})
	}
	got := tableRows(readDocument(t, "states.md").sections["What is said of a doubt"])
	if diff := cmp.Diff(want, got); diff != "" {
		var table []string
		for _, row := range want {
			table = append(table, "| "+strings.Join(row, " | ")+" |")
		}
		t.Errorf("states.md says something else of doubts (-remit +states.md):\n%s\nThe table is:\n%s", diff, strings.Join(table, "\n"))
	}
}

// because is what sets a doubt apart.
func because(d doubt.Doubt) string {
	switch d.Answer {
	case doubt.AnswerKnown:
		return "The service says that it knows the ref_id, and shows no record."
	case doubt.AnswerRefused:
		return "It was refused when it was sent again."
	case doubt.AnswerNone:
	}
	if d.Hold.Holds() {
		return d.Hold.Text()
	}
	return "Nothing holds it."
}
