package cli_test

import (
	"strings"
	"testing"
	"time"

	"remit/internal/doubt"
)

// TestDocsDoubts holds what states.md says of doubts to what remit says of them.
func TestDocsDoubts(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	var table, said []string
	reasons := map[string][]string{} // by what an apply does
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
		table = append(table, "| "+because(d)+" | "+without+" | "+with+" |")
		if _, known := reasons[d.Plan()]; !known {
			said = append(said, d.Plan())
		}
		reasons[d.Plan()] = append(reasons[d.Plan()], because(d))
	}
	var list []string
	for _, plan := range said {
		list = append(list, "- "+plan+"\n  - "+strings.Join(reasons[plan], "\n  - "))
	}
	section := readDocument(t, "states.md").sections["What is said of a doubt"]
	for _, want := range []string{strings.Join(table, "\n"), strings.Join(list, "\n")} {
		if !strings.Contains(section, want) {
			t.Errorf("states.md, \"What is said of a doubt\", must have:\n%s", want)
		}
	}
}

// because is the trait that sets a doubt apart.
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
