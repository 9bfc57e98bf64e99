package planner_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/planner"
	"remit/planner/plannertest"
	"remit/state"
)

func namesOf(refIDsAndNames ...string) []state.Name {
	var all []state.Name
	for i := 0; i < len(refIDsAndNames); i += 2 {
		all = append(all, state.Name{Seq: int64(i/2 + 2), RefID: refIDsAndNames[i], Text: refIDsAndNames[i+1]})
	}
	return all
}

func TestAKnownDestinationUnderAnotherNameIsMarked(t *testing.T) {
	ada := to("ada")
	paid := func(refID string, edits ...func(*state.Detail)) state.Detail {
		return record(declare(refID, ada), state.Recorded, edits...)
	}
	for name, c := range map[string]struct {
		known []state.Detail
		names []state.Name
		call  string
		want  []string
	}{
		"the name of before":                     {[]state.Detail{paid("a")}, namesOf("a", "Ada"), "Ada", nil},
		"another name":                           {[]state.Detail{paid("a")}, namesOf("a", "Ada"), "Eve", []string{`a: paid before under another name, "Ada"`}},
		"one of two names of before":             {[]state.Detail{paid("a"), paid("b")}, namesOf("a", "Ada", "b", "A. L."), "Ada", nil},
		"neither of two names of before":         {[]state.Detail{paid("a"), paid("b")}, namesOf("b", "A. L.", "a", "Ada"), "Eve", []string{`a: paid before under another name, "Ada"`}},
		"no name now":                            {[]state.Detail{paid("a")}, namesOf("a", "Ada"), "", nil},
		"no name before":                         {[]state.Detail{paid("a")}, nil, "Eve", nil},
		"a name of what was not paid":            {[]state.Detail{record(declare("a", ada), state.InDoubt)}, namesOf("a", "Ada"), "Eve", []string{": nothing was paid to this destination before"}},
		"the name of a request that was refused": {[]state.Detail{paid("a")}, namesOf("a", "Eve", "a", "Ada"), "Eve", []string{`a: paid before under another name, "Ada"`}},
		"the name of another destination":        {[]state.Detail{paid("a"), record(declare("b"), state.Recorded)}, namesOf("b", "Eve"), "Ada", nil},
		"a known name at another destination": {[]state.Detail{record(declare("b"), state.Recorded)}, namesOf("b", "Ada"), "Ada", []string{
			": nothing was paid to this destination before", "b: this name was paid before at another destination",
		}},
		"a known name in other letters at another destination": {[]state.Detail{record(declare("b"), state.Recorded)}, namesOf("b", "Ada Lovelace"), "ADA lovelace", []string{
			": nothing was paid to this destination before", "b: this name was paid before at another destination",
		}},
		"a known name at a destination that was paid without one": {[]state.Detail{paid("a"), record(declare("b"), state.Recorded)}, namesOf("b", "Ada"), "Ada", nil},
		"letters of another script in the name alone":             {[]state.Detail{paid("a")}, namesOf("a", "Ada"), "Аda", []string{": letters that may pass for those of another script, in display_name", `a: paid before under another name, "Ada"`}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(c.known...)
			m.names = c.names
			p := plan(t, m, planner.Controls{}, declare("new", ada, called(c.call), sum("7")))
			var got []string
			for _, s := range find(t, p, "new").Signals {
				got = append(got, s.RefID+": "+s.Detail)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// countingNames counts how often the names are read.
type countingNames struct {
	*memory
	reads *int
}

func (c countingNames) Names(ctx context.Context) iter.Seq2[state.Name, error] {
	*c.reads++
	return c.memory.Names(ctx)
}

func TestNamesAreReadOnceAndOnlyWhereOneIsToBeSent(t *testing.T) {
	for name, c := range map[string]struct {
		call string
		want int
	}{"no transfer has one": {"", 0}, "each has one": {"Ada", 1}} {
		m := newMemory(record(declare("a"), state.Recorded))
		m.names = namesOf("a", "Ada")
		reads := 0
		plan(t, countingNames{m, &reads}, planner.Controls{}, declare("b", called(c.call)), declare("c", called(c.call)))
		if reads != c.want {
			t.Errorf("%s: they are read %d times, not %d", name, reads, c.want)
		}
	}
}

func TestADisplayNameIsInTheFileAndNotInTheDigest(t *testing.T) {
	with, without := plan(t, newMemory(), planner.Controls{}, declare("a", called("Ada"))), plan(t, newMemory(), planner.Controls{}, declare("a"))
	if with.Digest != without.Digest {
		t.Error("the digest hangs on it")
	}
	with.Header.PlanID = "plan-1"
	raw := save(t, with)
	if !bytes.Contains(raw, []byte(`"display_name":"Ada"`)) {
		t.Errorf("the file has no name:\n%s", raw)
	}
	for name, forged := range map[string]string{"a bidirectional character": "A\u202eda", "too many characters": strings.Repeat("a", 141), "a space at its end": "Ada ", "what looks like an ID that was shortened": "Ada 37867177…", "an arrow": "Ada -> 37867177"} {
		mustBeChanged(t, name, plannertest.Forge([]byte(strings.Replace(string(raw), `"display_name":"Ada"`, fmt.Sprintf(`"display_name":"%s"`, forged), 1))))
	}
}

// TestAPlanIsAppliedAfterTheNamesWereRemoved has a plan with a mark that the state could tell then, and
// cannot any more: the mark stays, as the file says it.
func TestAPlanIsAppliedAfterTheNamesWereRemoved(t *testing.T) {
	m := newMemory(record(declare("a", to("ada")), state.Recorded))
	m.names = namesOf("a", "Ada")
	s := newScene(t, m, planner.Controls{}, declare("a", to("ada")), declare("new", to("ada"), called("Eve"), sum("7")))
	raw := save(t, s.plan)
	m.names = nil
	if _, err := s.recheck(t, raw); err == nil {
		t.Error("names are gone that nobody removed, and the plan is as it was")
	}
	m.happen(state.Erased{Names: 1, Reason: "they asked for it"})
	left, err := s.recheck(t, raw)
	if err != nil {
		t.Fatal(err)
	}
	want := []planner.Signal{{Kind: planner.OtherName, RefID: "a", Detail: `paid before under another name, "Ada"`}}
	if diff := cmp.Diff(want, find(t, left, "new").Signals); diff != "" {
		t.Error(diff)
	}
}

// TestNamesThatCameLaterSayNothingOfAPlan has another run pay the destination under a further name.
func TestNamesThatCameLaterSayNothingOfAPlan(t *testing.T) {
	m := newMemory(record(declare("a", to("ada")), state.Recorded))
	m.names = namesOf("a", "Ada")
	s := newScene(t, m, planner.Controls{}, declare("a", to("ada")), declare("new", to("ada"), called("Eve"), sum("7")))
	raw := save(t, s.plan)
	m.names = append(m.names, state.Name{Seq: 9, RefID: "a", Text: "Eve"})
	m.meta.Serial = 9
	if _, err := s.recheck(t, raw); err != nil {
		t.Error(err)
	}
}
