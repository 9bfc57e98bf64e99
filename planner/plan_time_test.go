package planner_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// TestTheTimeOfAPlanFitsTheEventsAroundIt has plans whose file says that event 7 is the newest one they know, an event before them, and
// one that came since. Clocks may be five minutes apart, and a time that a wrong clock wrote says nothing.
func TestTheTimeOfAPlanFitsTheEventsAroundIt(t *testing.T) {
	const unfit = "different the time of the plan, of which event 7 is the newest"
	for name, test := range map[string]struct {
		made, before, since time.Duration // from now; no event came since where it is 0
		want                string
	}{
		"after the event": {-time.Minute, -time.Hour, 0, "[+ a]"},
		"between the two": {-40 * time.Minute, -time.Hour, -30 * time.Minute, "[+ a]"},
		"before the event by what clocks are apart":           {-65 * time.Minute, -time.Hour, 0, "[+ a]"},
		"before the event by more":                            {-65*time.Minute - time.Second, -time.Hour, 0, unfit},
		"before the event, which is still to come":            {-time.Hour, 6 * time.Minute, 0, "[+ a]"},
		"after the next by what clocks are apart":             {-25 * time.Minute, -time.Hour, -30 * time.Minute, "[+ a]"},
		"after the next by more":                              {-25*time.Minute + time.Second, -time.Hour, -30 * time.Minute, unfit},
		"after the next, which says that it is the older one": {-time.Minute, -time.Hour, -2 * time.Hour, "[+ a]"},
		"in the future by what clocks are apart":              {5 * time.Minute, -time.Hour, 0, "[+ a]"},
		"in the future by more":                               {5*time.Minute + time.Second, -time.Hour, 0, "other time"},
		"tomorrow":                                            {day, -time.Hour, 0, "other time"},
	} {
		m := newMemory()
		m.events = []state.Event{{Seq: 7, Time: now.Add(test.before), Kind: state.KindEnded}}
		p, err := planner.New(t.Context(), slices.Values([]config.Transfer{declare("a")}), m, planner.Controls{}, now.Add(test.made))
		if err != nil {
			t.Fatal(err)
		}
		p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(2*day)
		opened, err := planner.Open(bytes.NewReader(save(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		if test.since != 0 {
			m.at = now.Add(test.since)
			m.happen(begun("run-9", "plan-2"))
		}
		left, err := opened.Recheck(t.Context(), m, planner.Controls{}, now)
		if got := outcomeOf(left, err); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestAPlanSaysWhatItsStateLacks has states that may lack transfers, which its reviewer is to know.
func TestAPlanSaysWhatItsStateLacks(t *testing.T) {
	for want, meta := range map[string]func(*state.Meta){
		"": func(*state.Meta) {},
		"event 9, and the transfers of that time (its newest is event 7)": func(m *state.Meta) { m.Lacks = 9 },
		"the transfers after its dump (its newest is event 7)":            func(m *state.Meta) { m.Restored = true },
	} {
		m := newMemory()
		meta(&m.meta)
		if got := plan(t, m, planner.Controls{}, declare("a")).Header.Lacks; got != want {
			t.Errorf("the plan says %q, want %q", got, want)
		}
	}
}
