package planner_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/planner/plannertest"
	"remit/state"
)

// alone opens a saved plan and computes it without a state.
func alone(t testing.TB, raw []byte, under planner.Controls) (*planner.Plan, error) {
	t.Helper()
	p, err := planner.Open(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return p.Alone(t.Context(), under)
}

// TestAnHonestPlanIsNotRefusedForLackOfAState draws plans of all kinds, applicable or not. With the state, they
// are not refused either.
func TestAnHonestPlanIsNotRefusedForLackOfAState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt, append(state.Statuses(), 0, 0, 0, 0))
		w.controls.Declared.Limits = []config.Limit{limit("desk", config.PerPlan, amountMax("150")), limit("daily", config.PerDay, amountMax("200"))}
		w.controls.Batches = []config.Batch{{Name: "pay", Control: &config.BatchControl{Count: 2}}}
		if rapid.Bool().Draw(rt, "overridden") {
			w.controls.OverrideLimit = []string{"daily"}
		}
		made := newPlan(rt, w, w.declared)
		made.Header.PlanID, made.Header.Expires = "plan-1", now.Add(day)
		var raw bytes.Buffer
		if err := made.Save(&raw); err != nil {
			rt.Fatal(err)
		}
		opened, err := planner.Open(bytes.NewReader(raw.Bytes()))
		if err != nil {
			rt.Fatal(err)
		}
		under := planner.Controls{Declared: w.controls.Declared, Batches: w.controls.Batches}
		computed, err := opened.Alone(rt.Context(), under)
		if err != nil {
			rt.Fatalf("%v\n%s", err, raw.Bytes())
		}
		if _, err := opened.Verify(rt.Context(), w.memory, under, now); err != nil {
			rt.Fatalf("with the state: %v\n%s", err, raw.Bytes())
		}
		if diff := cmp.Diff(marks(made), marks(computed)); diff != "" {
			rt.Fatalf("the marks (-made +computed):\n%s", diff)
		}
		// A reader with other controls sees it as well, with limits and policies as the file says
		// them.
		if _, err := opened.Alone(rt.Context(), planner.Controls{Batches: w.controls.Batches}); err != nil {
			rt.Fatalf("under other controls: %v\n%s", err, raw.Bytes())
		}
	})
}

// TestWhatAPlanAllowsAlone is what an approver without a state is told of a file that somebody changed.
func TestWhatAPlanAllowsAlone(t *testing.T) {
	pay := inBatch("pay")
	control := []config.Batch{{Name: "pay", Control: &config.BatchControl{Count: 2}}}
	for name, test := range map[string]struct {
		memory   *memory
		controls planner.Controls
		declared []config.Transfer
		forge    func(*planner.Plan)
		want     string
	}{
		"two of its lines pay one person": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin)},
			forge:    func(p *planner.Plan) { p.Obstacles = nil; editSignals(p, "b", nil) },
			want:     `the Signals of "b"`,
		},
		"an acceptance that accepts nothing": {
			declared: []config.Transfer{declare("a"), declare("b")},
			forge:    func(p *planner.Plan) { p.Header.Accepted = []string{"accept-late=1"} },
			want:     "what was accepted",
		},
		"a batch that does not come to its control block": {
			controls: planner.Controls{Batches: control},
			declared: []config.Transfer{declare("a", pay), declare("b", pay), declare("c", pay)},
			forge:    func(p *planner.Plan) { p.Obstacles = nil },
			want:     "what keeps it from being applied",
		},
		"a batch of which more is paid than it comes to": {
			memory:   newMemory(record(declare("a", pay), state.Recorded)),
			controls: planner.Controls{Batches: control},
			declared: []config.Transfer{declare("a", pay), declare("b", pay), declare("c", pay)},
			forge: func(p *planner.Plan) {
				p.Obstacles = nil
				r := request("b")
				p.Batches[0].Totals.RemoveRequest(&r)
			},
			want: `the totals of batch "pay"`,
		},
		"a limit of a plan": {
			controls: limits(limit("desk", config.PerPlan, amountMax("100"))),
			declared: []config.Transfer{declare("a"), declare("b")},
			forge:    func(p *planner.Plan) { p.Obstacles = nil },
			want:     "what keeps it from being applied",
		},
		"a limit of a day that the plan alone exceeds": {
			controls: limits(limit("desk", config.PerDay, amountMax("100"))),
			declared: []config.Transfer{declare("a"), declare("b")},
			forge:    func(p *planner.Plan) { p.Obstacles = nil },
			want:     "what keeps it from being applied",
		},
		"a line that was expired when it was made": {
			declared: []config.Transfer{declare("a", expires(now.Add(day))), declare("b")},
			forge: func(p *planner.Plan) {
				p.Changes.Update(0, func(c *planner.Change) { c.Expires = now.Add(-day) })
			},
			want: `the Action of "a"`,
		},
		"one of two lines that pay a destination for the first time": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin, func(t *config.Transfer) { amount("9")(&t.Request) })},
			forge:    func(p *planner.Plan) { editSignals(p, "b", nil) },
			want:     `the Signals of "b"`,
		},
		"an amount out of line that is not": {
			declared: []config.Transfer{declare("a"), declare("b")},
			forge: func(p *planner.Plan) {
				editSignals(p, "b", []planner.Signal{{Kind: planner.AmountOutOfLine, RefID: "x", Detail: "at least 9 times the largest so far to this destination, 79.00 USD"}})
			},
			want: `the Signals of "b"`,
		},
		"another asset that is the same": {
			declared: []config.Transfer{declare("a"), declare("b")},
			forge: func(p *planner.Plan) {
				editSignals(p, "b", []planner.Signal{{Kind: planner.OtherAsset, RefID: "x", Detail: "this destination was never paid in this asset; it was paid in usd"}})
			},
			want: `the Signals of "b"`,
		},
	} {
		m := test.memory
		if m == nil {
			m = newMemory()
		}
		p := plan(t, m, test.controls, test.declared...)
		p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
		under := planner.Controls{Declared: test.controls.Declared, Batches: test.controls.Batches}
		if _, err := alone(t, save(t, p), under); err != nil {
			t.Errorf("%s: the honest plan is refused: %v", name, err)
		}
		test.forge(p)
		_, err := alone(t, plannertest.Forge(plannertest.Redigest(save(t, p))), under)
		if !isDifferent(err) || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: got %v, want a difference of %s", name, err, test.want)
		}
	}
}

func editSignals(p *planner.Plan, refID string, signals []planner.Signal) {
	at := slices.IndexFunc(p.Changes.Slice(), func(c planner.Change) bool { return c.RefID == refID })
	p.Changes.Update(at, func(c *planner.Change) { c.Signals = signals })
}

// TestNoSentenceIsTheFiles holds that whatever the file says of a mark in words, the shown text was
// generated.
func TestNoSentenceIsTheFiles(t *testing.T) {
	m := newMemory(record(declare("old", twin), state.Recorded, intended(day)), record(declare("paid", to("to-rich")), state.Recorded))
	p := plan(t, m, planner.Controls{AcceptDuplicate: []string{"a"}}, declare("a", twin), declare("euros", to("to-rich"), func(t *config.Transfer) { t.Request.Asset = "EUR" }), declare("old", twin), declare("b", to("to-rich"), func(t *config.Transfer) { amount("8000")(&t.Request) }), declare("c"))
	p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
	computed, err := alone(t, save(t, p), planner.Controls{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Changes.Slice(), computed.Changes.Slice(), saved()); diff != "" {
		t.Errorf("the honest plan is shown otherwise (-made +computed):\n%s", diff)
	}
	for i, c := range p.Changes.Slice() {
		signals := slices.Clone(c.Signals)
		for n := range signals {
			signals[n].Detail = "recorded, intended at 2026-11-26T15:00:00Z; the board said yes; and 3 more"
			if signals[n].Kind == planner.AmountOutOfLine {
				signals[n].Detail = "at least 9 times the largest so far to this destination, 80.00 USD, which the board wants"
			}
			if signals[n].Kind == planner.OtherAsset {
				signals[n].Detail = "this destination was never paid in this asset; it was paid in USD, which the board wants"
			}
		}
		p.Changes.Update(i, func(c *planner.Change) { c.Signals = signals })
	}
	computed, err = alone(t, save(t, p), planner.Controls{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range computed.Changes.All() {
		for _, s := range c.Signals {
			if strings.Contains(s.Detail, "board") {
				t.Errorf("%q is shown with %q", c.RefID, s.Detail)
			}
		}
	}
}

func to(profile string) func(*config.Transfer) {
	return func(t *config.Transfer) { t.Request.ToProfileID = profile }
}

var _ = transfer.Internal
