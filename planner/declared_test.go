package planner_test

import (
	"errors"
	"slices"
	"testing"

	"remit/config"
	"remit/planner"
	"remit/state"
)

func TestAPlanIsHeldAgainstTheFiles(t *testing.T) {
	batches := []config.Batch{{Name: "pay", Control: &config.BatchControl{Count: 3}}}
	pay := inBatch("pay")
	m := newMemory(record(declare("a", pay), state.Recorded))
	honest := []config.Transfer{declare("a", pay), declare("b", pay), declare("c", pay)}
	made := plan(t, m, planner.Controls{Batches: batches, Targets: []string{"transfer.internal.b"}}, honest...)

	nine := func(t *config.Transfer) { amount("9")(&t.Request) }
	dated := func(t *config.Transfer) {
		t.Occurrence = &config.Occurrence{Schedule: "monthly", Due: now, CatchUp: 7 * day}
	}
	for name, test := range map[string]struct {
		files []config.Transfer
		refID string // of which the error is
		what  string
	}{
		"the files of the plan":                        {honest, "", ""},
		"one payment more":                             {append(slices.Clone(honest), declare("d")), "", ""},
		"the line's amount is another":                 {[]config.Transfer{honest[0], declare("b", pay, nine), honest[2]}, "b", "the amount"},
		"the line is not declared":                     {[]config.Transfer{honest[0], honest[2]}, "b", ""},
		"the line is of no batch":                      {[]config.Transfer{honest[0], declare("b"), honest[2]}, "b", "the batch"},
		"the line looks like others with a word":       {[]config.Transfer{honest[0], declare("b", pay, acceptOf("a")), honest[2]}, "b", "accept_duplicate_of"},
		"another window of look-alikes":                {[]config.Transfer{honest[0], declare("b", pay, window(7*day)), honest[2]}, "b", "duplicate_within"},
		"the line is of a date":                        {[]config.Transfer{honest[0], declare("b", pay, dated), honest[2]}, "b", "the date of the schedule"},
		"what is recorded and kept is not declared":    {honest[1:], "a", ""},
		"what was not targeted is not declared":        {honest[:2], "c", ""},
		"what was not targeted is declared as another": {[]config.Transfer{honest[0], honest[1], declare("c", pay, nine)}, "c", "the amount"},
	} {
		err := made.CompareDeclared(t.Context(), slices.Values(test.files), nil)
		other, isOther := errors.AsType[*planner.UndeclaredError](err)
		switch {
		case isOther != (test.refID != ""):
			t.Errorf("%s: the error is %v", name, err)
		case isOther && (other.RefID != test.refID || other.What != test.what):
			t.Errorf("%s: the error is about %q of %q, want %q of %q", name, other.What, other.RefID, test.what, test.refID)
		}
	}
}
