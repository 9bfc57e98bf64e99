package planner_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/planner"
	"remit/planner/plannertest"
	"remit/state"

	"github.com/shopspring/decimal"
)

// scene is a saved plan of one kind, with the state that it was made from.
type scene struct {
	memory   *memory
	plan     *planner.Plan
	controls planner.Controls // against which it is computed again
}

// newScene plans the declared transfers.
func newScene(t testing.TB, m *memory, controls planner.Controls, declared ...config.Transfer) scene {
	t.Helper()
	p := plan(t, m, controls, declared...)
	p.Header.PlanID, p.Header.ToolVersion, p.Header.Author, p.Header.Expires = "plan-1", "0.2.0", "ada", now.Add(day)
	if !p.Applicable() {
		t.Fatalf("the honest plan is not applicable: %v", p.Obstacles)
	}
	m.events = []state.Event{{Seq: 6, Time: now.Add(-time.Hour), Kind: state.KindEnded}, {Seq: 7, Time: now.Add(-time.Hour), Kind: state.KindEnded}}
	controls = planner.Controls{Declared: controls.Declared, Batches: controls.Batches, Operator: controls.Operator}
	return scene{m, p, controls}
}

// scenes are a plan of each kind.
func scenes(t testing.TB) map[string]scene {
	sample, m := sampleOf(t)
	sample.Header.ReadWarnings = []config.ReadWarning{{File: "pay.xlsx", Name: "hidden_rows", Count: 2, Lines: []int{3, 4}, Acknowledged: true}}
	sample.Header.Lacks = "event 9"
	m.events = []state.Event{{Seq: 6, Time: now.Add(-time.Hour), Kind: state.KindEnded}, {Seq: 7, Time: now.Add(-time.Hour), Kind: state.KindEnded}}
	all := map[string]scene{"every action": {m, sample, planner.Controls{}}}

	control := &config.BatchControl{Place: config.Place{File: "pay.hcl", Line: 9}, Count: 3, Totals: map[string]decimal.Decimal{"USD": decimal.NewFromInt(240)}}
	batches := []config.Batch{{Name: "pay", Control: control}}
	pay := inBatch("pay")
	all["a batch with a control block"] = newScene(t, newMemory(record(declare("a", pay), state.Recorded)), planner.Controls{
		Batches: batches, Targets: []string{"transfer.internal.b"},
	}, declare("a", pay), declare("b", pay), declare("c", pay))
	all["a batch that is partly paid"] = newScene(t, newMemory(record(declare("a", pay), state.Recorded)), planner.Controls{Batches: batches},
		declare("a", pay), declare("b", pay), declare("c", pay))

	all["an older twin"] = newScene(t, newMemory(record(declare("old", twin, label), state.Recorded, intended(90*day))), planner.Controls{},
		declare("old", twin, label, window(day)), declare("new", twin, label, window(day)))
	all["accepted by the declaration"] = newScene(t, newMemory(record(declare("old", twin), state.Recorded)), planner.Controls{},
		declare("old", twin), declare("new", twin, acceptOf("old")))
	all["dates of a schedule"] = newScene(t, newMemory(record(declare("october", occurs(now.Add(-30*day), 7*day), twin), state.Recorded, intended(20*day), func(d *state.Detail) {
		d.Intent.Due = now.Add(-30 * day)
	})), planner.Controls{}, declare("october", occurs(now.Add(-30*day), 7*day), twin), declare("november", occurs(now.Add(-day), 7*day), twin))
	known := newMemory(record(declare("a"), state.Recorded))
	known.meta.Service.CustomerID = "c0ffee"
	all["a state that knows its customer"] = newScene(t, known, planner.Controls{}, declare("a"), declare("b"))
	capped := limits(limit("desk", config.PerPlan, amountMax("100")))
	capped.OverrideLimit = []string{"desk"}
	all["a limit that was overridden"] = newScene(t, newMemory(), capped, declare("a"), declare("b"))
	all["dependencies"] = newScene(t, newMemory(record(declare("a"), state.Recorded, recordStatus(transfer.Pending))), planner.Controls{},
		declare("a"), declare("b", after("a")), declare("c", after("a", "b")), declare("d", after("a", "b")), declare("e", notBefore(now.Add(day))), declare("f", after("e")))
	all["a reversal"] = newScene(t, newMemory(record(declare("a"), state.Recorded), record(declare("b"), state.Recorded), record(reversal("b-back", declare("b"), "20"), state.Recorded, reversing("b"))),
		planner.Controls{}, declare("a"), declare("b"), reversal("b-back", declare("b"), "20"), reversal("a-back", declare("a"), "30"), reversal("b-more", declare("b"), "60"))
	all["a rename that was accepted"] = newScene(t, newMemory(record(declare("old", twin, label), state.Recorded), record(declare("gone", twin, named("pay", "old")), state.Recorded, intended(90*day))),
		planner.Controls{AcceptDuplicate: []string{"new"}}, declare("new", twin, label, window(day)))
	all["a correction that was accepted"] = newScene(t, newMemory(record(ofAmount("v-10.00", "10.00"), state.Recorded, intended(90*day)), record(ofAmount("v-9.00", "9.00"), state.Recorded)),
		planner.Controls{AcceptRenames: map[string]int{"transfer.internal.pay": 1}}, ofAmount("v-9.00", "9.00"), ofAmount("v-10.50", "10.50"))
	all["renames of a block that were accepted"] = newScene(t, newMemory(record(declare("pay-1", twin, named("pay", "old")), state.Recorded)),
		planner.Controls{AcceptRenames: map[string]int{"transfer.internal.pay": 1}}, declare("p-1", twin, named("pay", "new")), declare("p-2", named("pay", "new")))
	all["what comes late, and was accepted"] = newScene(t, newMemory(record(declare("october", occurs(now.Add(-30*day), 7*day)), state.Recorded, func(d *state.Detail) { d.Intent.Due = now.Add(-30 * day) })),
		planner.Controls{AcceptLate: 2}, declare("october", occurs(now.Add(-30*day), 7*day)), declare("september", occurs(now.Add(-60*day), 90*day), inBlock("dated")), declare("other", occurs(now.Add(-60*day), 7*day)))
	all["what was imported"] = newScene(t, newMemory(imported(declare("a"), state.Adopted), imported(declare("b"), state.Unverified), imported(declare("gone"), state.Adopted)), planner.Controls{},
		declare("a"), declare("b"), declare("c"), declare("d", to("to-a")))
	all["the sandbox"] = newScene(t, inSandbox(newMemory(record(declare("a"), state.Recorded))), planner.Controls{Rehearsal: true},
		declare("a"), declare("b", notBefore(now.Add(day))), declare("c", after("b")))
	all["a plan with targets"] = newScene(t, newMemory(record(declare("a"), state.Recorded), record(declare("x"), state.InDoubt)), planner.Controls{Targets: []string{"transfer.internal.b"}},
		declare("a"), declare("b"), declare("x"), declare("c"))
	all["look-alikes of a batch that were accepted"] = newScene(t, newMemory(), planner.Controls{AcceptDuplicates: map[string]int{"pay": 1}},
		declare("a", twin, inBatch("pay")), declare("b", twin, inBatch("pay")))
	renamed := newMemory(record(declare("old", to("ada")), state.Recorded), record(declare("other", to("bob")), state.Recorded))
	renamed.names = []state.Name{{Seq: 2, RefID: "old", Text: "Ada Lovelace"}, {Seq: 3, RefID: "other", Text: "Bob"}}
	all["display names"] = newScene(t, renamed, planner.Controls{}, declare("old", to("ada"), called("Ada Lovelace")), declare("other", to("bob"), called("Bob")),
		declare("new", to("ada"), called("A. Lovelace"), sum("7")), declare("known", to("bob"), called("Bob"), sum("7")), declare("first", called("Grace"), elsewhere), declare("later", called("Eve"), elsewhere, notBefore(now.Add(day))))
	return all
}

// reversal gives back some of what a transfer moved.
func reversal(refID string, of config.Transfer, some string) config.Transfer {
	t := declare(refID)
	t.Request = of.Request.Back()
	t.Request.RefID, t.Reverses = refID, of.Request.RefID
	amount(some)(&t.Request)
	return t
}

func reversing(refID string) func(*state.Detail) {
	return func(d *state.Detail) { d.Intent.Reverses = refID }
}

// inBlock declares a transfer of the block of another one.
func inBlock(block string) func(*config.Transfer) {
	return func(t *config.Transfer) {
		t.Block = "transfer.internal." + block
		t.Address = t.Block + `["` + t.Request.RefID + `"]`
	}
}

func inSandbox(m *memory) *memory {
	m.meta.Environment, m.meta.Service = state.Sandbox, state.SandboxIdentity()
	return m
}

// TestAnHonestPlanIsComputedAgain holds that the plans of the test below are not refused for what
// they are.
func TestAnHonestPlanIsComputedAgain(t *testing.T) {
	for name, s := range scenes(t) {
		if _, err := s.recheck(t, save(t, s.plan)); err != nil {
			t.Errorf("%s: %v (a line is computed again from what Change.declared in word.go gives back, and from nothing else)", name, err)
		}
		if _, err := alone(t, save(t, s.plan), s.controls); err != nil {
			t.Errorf("%s, without the state: %v", name, err)
		}
	}
}

func (s *scene) recheck(t testing.TB, raw []byte) (*planner.Plan, error) {
	t.Helper()
	p, err := planner.Open(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return p.Recheck(t.Context(), s.memory, s.controls, now)
}

// TestEveryEditOfASavedPlanIsRefusedOrItsAuthorsWord edits, deletes and adds every field and line of
// plans of each kind, with the file's hash made anew, and its digest too. An edit that is not refused changes
// nothing, or is listed in docs/security.md as what its author says; and nothing else is. The same holds where
// the state is not at hand, with a second list of what hangs on it.
func TestEveryEditOfASavedPlanIsRefusedOrItsAuthorsWord(t *testing.T) {
	suite.Slow(t)
	withState := wordsIn(t, plannertest.HeadingWords)
	alone := wordsIn(t, plannertest.HeadingAlone)
	for name, way := range map[string]struct {
		listed  map[string]bool
		further map[string]bool // that may be used as well
		open    func(*scene, testing.TB, []byte) (*planner.Plan, error)
	}{
		"with the state": {listed: withState, open: (*scene).recheck},
		"alone":          {listed: alone, further: withState, open: (*scene).alone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			share := suite.Dose(4, 16, 1) // one edit of so many is tried, and each of what is listed
			used := make(map[string]bool)
			edits := rand.IntN(share)
			for name, s := range scenes(t) {
				raw := save(t, s.plan)
				honest, err := way.open(&s, t, raw)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for edit := range plannertest.Edits(raw) {
					if edits++; edits%share != 0 && !way.listed[edit.Field] {
						continue
					}
					for _, forged := range plannertest.Forgeries(edit.Raw) {
						left, err := way.open(&s, t, forged)
						if err != nil || cmp.Diff(honest, left, saved()) == "" {
							continue
						}
						if !way.listed[edit.Field] && !way.further[edit.Field] {
							t.Errorf("%s: %s is neither refused nor listed: %s", name, edit.What, cmp.Diff(honest, left, saved()))
						}
						used[edit.Field] = true
					}
				}
			}
			for _, field := range slices.Sorted(maps.Keys(way.listed)) {
				if !used[field] {
					t.Errorf("docs/security.md lists %q as its author's word, but every edit of it is refused or changes nothing", field)
				}
			}
			if edits < 1000 {
				t.Errorf("only %d edits were tried", edits)
			}
		})
	}
}

// alone computes a plan without the state, as an approver does.
func (s *scene) alone(t testing.TB, raw []byte) (*planner.Plan, error) {
	t.Helper()
	p, err := alone(t, raw, s.controls)
	if err != nil {
		return nil, err
	}
	return p, p.CheckHeader(s.memory.Meta(), s.controls.Declared, now)
}

// wordsIn are the fields that docs/security.md lists in the table with a heading.
func wordsIn(t testing.TB, heading string) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	words, err := plannertest.Words(string(page), heading)
	if err != nil {
		t.Fatal(err)
	}
	return words
}
