package planner_test

import (
	"testing"

	"remit/planner"
	"remit/state"
)

// TestWhatMayHaveBeenMadeCountsThoughForgotten: versions up to 0.1.0 forgot doubts and conflicts. The
// journal says so, and the same movement is a look-alike of it.
func TestWhatMayHaveBeenMadeCountsThoughForgotten(t *testing.T) {
	intent := state.Intent{RefID: "old", RunID: "run-0"}
	says := func(status state.Status) state.Entry {
		return state.Outcome{RefID: "old", RunID: "run-0", Status: status, Source: state.SourceAnswer}
	}
	tests := map[string]struct {
		command string
		events  []state.Entry
		counts  bool
	}{
		"a doubt without an answer":    {"remit state forget", []state.Entry{intent}, true},
		"a doubt":                      {"remit state forget", []state.Entry{intent, says(state.InDoubt)}, true},
		"a conflict":                   {"remit state forget", []state.Entry{intent, says(state.Conflict)}, true},
		"a doubt, refused sent again":  {"remit state forget", []state.Entry{intent, says(state.InDoubt), intent, says(state.Refused)}, true},
		"a refusal":                    {"remit state forget", []state.Entry{intent, says(state.Refused)}, false},
		"a refusal, refused once more": {"remit state forget", []state.Entry{intent, says(state.Refused), intent, says(state.Refused)}, false},
		"unsent":                       {"remit state forget", []state.Entry{intent, says(state.Unsent)}, false},
		"a doubt, said not to be made": {"remit resolve", []state.Entry{intent, says(state.InDoubt)}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			word := state.Outcome{RefID: "old", Status: state.Tombstone, Source: state.SourcePerson, By: &state.Holder{Command: test.command}}
			m := newMemory(record(declare("old", twin), state.Tombstone, func(d *state.Detail) {
				d.Outcome, d.IntentSeq = &word, 8
			}))
			m.happen(append(test.events, word)...)
			p := plan(t, m, planner.Controls{}, declare("new", twin))
			if got := !p.Applicable(); got != test.counts {
				t.Errorf("the plan has obstacles: %v, want %v: %+v", got, test.counts, p.Obstacles)
			}
		})
	}
}
