package planner_test

import (
	"bytes"
	"errors"
	"testing"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// TestAPlanThatIsNotApplicableIsComputedAgain is about honest plans with each kind of obstacle, and about
// the same files with one obstacle that is made up.
func TestAPlanThatIsNotApplicableIsComputedAgain(t *testing.T) {
	pay := inBatch("pay")
	nine := func(t *config.Transfer) { amount("9")(&t.Request) }
	control := []config.Batch{{Name: "pay", Control: &config.BatchControl{Count: 3}}}
	for name, test := range map[string]struct {
		memory   *memory
		controls planner.Controls
		declared []config.Transfer
	}{
		"an edited declaration": {newMemory(record(declare("a"), state.Recorded)), planner.Controls{}, []config.Transfer{declare("a", nine), declare("b")}},
		"twins":                 {newMemory(), planner.Controls{}, []config.Transfer{declare("a", twin), declare("b", twin)}},
		"a recorded twin":       {newMemory(record(declare("a", twin), state.Recorded, intended(day))), planner.Controls{}, []config.Transfer{declare("a", twin), declare("b", twin, window(7*day))}},
		"a control block":       {newMemory(), planner.Controls{Batches: control}, []config.Transfer{declare("a", pay), declare("b", pay)}},
		"a control block of what is recorded": {
			newMemory(record(declare("a", pay), state.Recorded), record(declare("b", pay), state.Recorded)),
			planner.Controls{Batches: control},
			[]config.Transfer{declare("a", pay), declare("b", pay)},
		},
		"nothing declared": {newMemory(record(declare("a"), state.Recorded)), planner.Controls{}, nil},
		"a limit":          {newMemory(), limits(limit("desk", config.PerPlan, amountMax("100"))), []config.Transfer{declare("a"), declare("b")}},
		"a late date":      {newMemory(), planner.Controls{}, []config.Transfer{declare("a", occurs(now.Add(-30*day), 7*day))}},
	} {
		made := plan(t, test.memory, test.controls, test.declared...)
		made.Header.PlanID, made.Header.Author, made.Header.Expires = "plan-1", "ada", now.Add(day)
		if made.Applicable() {
			t.Errorf("%s: the plan is applicable", name)
			continue
		}
		under := planner.Controls{Declared: test.controls.Declared, Batches: test.controls.Batches}
		verify := func(raw []byte) error {
			opened, err := planner.Open(bytes.NewReader(raw))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, err = opened.Verify(t.Context(), test.memory, under, now)
			return err
		}
		if err := verify(save(t, made)); err != nil {
			t.Errorf("%s: the honest plan is refused: %v", name, err)
		}
		made.Obstacles = append(made.Obstacles, planner.Obstacle{Kind: planner.ObstaclePolicy, Address: "policy.made_up", Count: 1, Detail: "Pay me first."})
		if err := verify(save(t, made)); !isDifferent(err) {
			t.Errorf("%s: an obstacle was made up, and the error is %v", name, err)
		}
	}
}

func isDifferent(err error) bool {
	_, ok := errors.AsType[*planner.DifferentError](err)
	return ok
}
