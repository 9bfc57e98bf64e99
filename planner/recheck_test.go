package planner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// begun is a run of the plan that the tests check, or of another.
func begun(runID, planID string) state.Begun { return state.Begun{RunID: runID, PlanID: planID} }

// begunOf is a run of a plan.
func begunOf(runID string, p *planner.Plan) state.Begun {
	return state.Begun{RunID: runID, PlanID: p.Header.PlanID, PlanSHA256: p.SHA256, Digest: p.Digest}
}

// carriedOut says that the runs of a plan's ID carried out that very plan.
func (m *memory) carriedOut(p *planner.Plan) *memory {
	for i, event := range m.events {
		var b state.Begun
		if event.Kind == state.KindBegun && json.Unmarshal(event.Data, &b) == nil && b.PlanID == p.Header.PlanID {
			m.events[i].Data, _ = json.Marshal(begunOf(b.RunID, p))
		}
	}
	return m
}

// outcomeOf says in short what Recheck said.
func outcomeOf(p *planner.Plan, err error) string {
	var stale *planner.StaleError
	var other *planner.OtherError
	var controls *planner.ControlsError
	var obstacle *planner.ObstacleError
	var different *planner.DifferentError
	switch {
	case errors.As(err, &different):
		return "different " + different.What
	case err == nil:
		return fmt.Sprint(actions(p))
	case errors.Is(err, planner.ErrCompleted):
		return "completed"
	case errors.Is(err, planner.ErrExpired):
		return "expired"
	case errors.As(err, &stale):
		return fmt.Sprint("stale ", stale.Lines)
	case errors.As(err, &other):
		return "other " + other.What
	case errors.As(err, &controls):
		return fmt.Sprint("other ", controls.Changes)
	case errors.As(err, &obstacle):
		return fmt.Sprint("obstacle ", obstacle.Obstacles[0].Kind, " ", obstacle.Obstacles[0].RefIDs)
	}
	return "error " + err.Error()
}

// files are controls in files, each as NAME:SHA256.
func files(all ...string) config.Controls {
	var c config.Controls
	for _, text := range all {
		name, sum, _ := strings.Cut(text, ":")
		c.Files = append(c.Files, config.ControlFile{Name: name, SHA256: sum})
	}
	return c
}

func TestRecheck(t *testing.T) {
	edited := func(c *config.Transfer) { amount("70")(&c.Request) }
	tests := map[string]struct {
		declared []config.Transfer
		recorded []state.Detail
		accept   []string
		since    func(*memory)
		header   func(*planner.Header)
		under    config.Controls // when it was planned
		controls config.Controls // now
		want     string
	}{
		"nothing happened": {want: "[+ a + b]"},
		"another run recorded one": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-2"))
				m.put("run-1", record(declare("a"), state.Recorded))
			},
			want: "stale [{a nothing recorded recorded in run run-1}]",
		},
		"another run of no plan recorded one": {
			since: func(m *memory) {
				m.happen(begun("run-1", ""))
				m.put("run-1", record(declare("a"), state.Recorded))
			},
			want: "stale [{a nothing recorded recorded in run run-1}]",
		},
		"another run was refused one": {
			since: func(m *memory) { m.put("run-1", record(declare("a"), state.Refused)) },
			want:  "stale [{a nothing recorded refused in run run-1}]",
		},
		"another run left one in doubt": {
			since: func(m *memory) { m.put("run-1", record(declare("a"), state.InDoubt, open)) },
			want:  "stale [{a nothing recorded in doubt in run run-1}]",
		},
		"another run wrote nothing": {
			since: func(m *memory) { m.put("run-1", record(declare("a"), state.Unsent)) },
			want:  "[+ a + b]",
		},
		"another run sent another request of a doubt, and left it in doubt": {
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			since:    func(m *memory) { m.put("run-1", record(with(declare("a"), edited), state.InDoubt, open)) },
			want:     "stale [{a in doubt in run run-0 in doubt in run run-1}]",
		},
		"a person settled one": {
			since: func(m *memory) {
				m.details["a"] = record(declare("a"), state.Tombstone)
				m.happen(state.Outcome{RefID: "a", Status: state.Tombstone, Source: state.SourcePerson})
			},
			want: "stale [{a nothing recorded tombstone in run run-0}]",
		},
		"an earlier run of this plan recorded one": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a"), state.Recorded))
			},
			want: "[+ b]",
		},
		"an earlier run of this plan was refused one": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a"), state.Refused))
			},
			want: "[+ b]",
		},
		"an earlier run of this plan left one in doubt": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a"), state.InDoubt, open))
			},
			want: "[+ a + b]",
		},
		"an earlier run of this plan left one in doubt and a person settled it": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a"), state.Recorded))
				m.happen(state.Outcome{RefID: "a", Status: state.Recorded, Source: state.SourcePerson})
			},
			want: "[+ b]",
		},
		"an earlier run of this plan wrote nothing": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a"), state.Unsent))
			},
			want: "[+ a + b]",
		},
		"a run that says it was this plan's sent something else": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a", edited), state.Recorded))
			},
			want: "stale [{a nothing recorded recorded in run run-1}]",
		},
		"an earlier run of this plan ended with a conflict": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a"), state.Conflict))
			},
			want: "obstacle conflict [a]",
		},
		"an earlier run of this plan gave every line an outcome": {
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("a"), state.Recorded))
				m.put("run-1", record(declare("b"), state.Refused))
			},
			want: "completed",
		},
		"an earlier run of this plan says that it was complete": {
			since: func(m *memory) { m.happen(begun("run-1", "plan-1"), state.Ended{RunID: "run-1", Complete: true}) },
			want:  "completed",
		},
		"a run of another plan was complete": {
			since: func(m *memory) { m.happen(begun("run-1", "plan-2"), state.Ended{RunID: "run-1", Complete: true}) },
			want:  "[+ a + b]",
		},
		"a run of another plan ended in conflict": {
			since: func(m *memory) { m.put("run-1", record(declare("x"), state.Conflict)) },
			want:  "obstacle conflict [x]",
		},
		"what was refused is still refused": {
			recorded: []state.Detail{record(declare("a"), state.Refused)}, want: "[+ a + b]",
		},
		"what was refused was refused again": {
			recorded: []state.Detail{record(declare("a"), state.Refused)},
			since:    func(m *memory) { m.put("run-1", record(declare("a"), state.Refused)) },
			want:     "stale [{a refused in run run-0 refused in run run-1}]",
		},
		"what was in doubt is still in doubt": {
			recorded: []state.Detail{record(declare("a"), state.InDoubt)}, want: "[? a + b]",
		},
		"what was in doubt was settled by another run": {
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			since: func(m *memory) {
				m.details["a"] = record(declare("a"), state.Recorded)
				m.happen(begun("run-1", "plan-2"), state.Outcome{RefID: "a", RunID: "run-1"})
			},
			want: "stale [{a in doubt in run run-0 recorded in run run-0}]",
		},
		"what was in doubt was looked up by an earlier run of this plan": {
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			since: func(m *memory) {
				m.details["a"] = record(declare("a"), state.Recorded)
				m.happen(begun("run-1", "plan-1"), state.Outcome{RefID: "a", RunID: "run-1"})
			},
			want: "[+ b]",
		},
		"what was in doubt was asked for by an earlier run of this plan and settled by another": {
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			since: func(m *memory) {
				m.details["a"] = record(declare("a"), state.Recorded)
				m.happen(begun("run-1", "plan-1"), state.Outcome{RefID: "a", RunID: "run-1"}, state.Outcome{RefID: "a", RunID: "run-2"})
			},
			want: "stale [{a in doubt in run run-0 recorded in run run-0}]",
		},
		"what was in doubt is in doubt with other bytes": {
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			since:    func(m *memory) { m.details["a"] = record(declare("a", edited), state.InDoubt) },
			want:     `different the Differences of "a"`,
		},
		"what was in doubt vanished with an older state": {
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			since:    func(m *memory) { delete(m.details, "a") },
			want:     `different the Action of "a"`,
		},
		"a person forgot what the plan counts on": {
			declared: []config.Transfer{declare("old", twin, window(day)), declare("new", twin, window(day))},
			recorded: []state.Detail{record(declare("old", twin), state.Recorded, intended(90*day))},
			since: func(m *memory) {
				m.details["old"] = record(declare("old", twin), state.Tombstone, func(d *state.Detail) { d.RecordID, d.GroupID = "id-old", "group-old" })
				m.happen(state.Outcome{RefID: "old", Status: state.Tombstone, Source: state.SourcePerson})
			},
			want: "obstacle conflict [old]",
		},
		"another run paid another date of the schedule, which looks the same": {
			declared: []config.Transfer{
				declare("november", twin, occurs(now.Add(-day), 7*day)), declare("december", twin, occurs(now.Add(day), 7*day)),
			},
			since: func(m *memory) {
				m.put("run-1", record(declare("december", twin, occurs(now.Add(day), 7*day)), state.Recorded, func(d *state.Detail) { d.Intent.Due = now.Add(day) }))
			},
			want: "obstacle late [november]",
		},
		"another run made a twin": {
			declared: []config.Transfer{declare("b", twin)},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin), state.Recorded)) },
			want:     "obstacle look-alike [b]",
		},
		"another run left a twin in doubt": {
			declared: []config.Transfer{declare("b", twin)},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin), state.InDoubt, open)) },
			want:     "obstacle look-alike [b]",
		},
		"another run left a twin in doubt that was intended long ago": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{record(declare("x", twin), state.Unsent, intended(900*day))},
			since: func(m *memory) {
				m.put("run-1", record(declare("x", twin), state.InDoubt, intended(900*day), open))
			},
			want: "obstacle look-alike [b]",
		},
		"another run left a twin whose age nobody knows": {
			declared: []config.Transfer{declare("b", twin)},
			since: func(m *memory) {
				m.put("run-1", record(declare("x", twin), state.Recorded, func(d *state.Detail) { d.IntendedAt = time.Time{} }))
			},
			want: "obstacle look-alike [b]",
		},
		"another run recorded the twin under a new label, and equal ones are only marked": {
			declared: []config.Transfer{declare("b", twin, label, window(0))},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin, label), state.Recorded)) },
			want:     "obstacle rename [b]",
		},
		"another run recorded the twin under a new label long ago": {
			declared: []config.Transfer{declare("b", twin, label, window(day))},
			since: func(m *memory) {
				m.put("run-1", record(declare("x", twin, label), state.Recorded, intended(900*day)))
			},
			want: "obstacle rename [b]",
		},
		"another run recorded the twin under other words long ago": {
			declared: []config.Transfer{declare("b", twin, named("pay", "new"), window(0))},
			since: func(m *memory) {
				m.put("run-1", record(declare("x", twin, named("pay", "old")), state.Recorded, intended(900*day)))
			},
			want: "obstacle rename [b]",
		},
		"another run recorded the twin under the same words": {
			declared: []config.Transfer{declare("b", twin, named("pay", "new"), window(0))},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin, named("pay", "new")), state.Recorded)) },
			want:     "[+ b]",
		},
		"another run recorded a twin by words that another line has": {
			declared: []config.Transfer{
				declare("b", twin, named("pay", "new"), window(0)),
				declare("y", twin, named("gift", "old"), window(0), notBefore(now.Add(day))),
			},
			since: func(m *memory) { m.put("run-1", record(declare("x", twin, named("gift", "old")), state.Recorded)) },
			want:  "obstacle rename [b]",
		},
		"another run recorded a twin with a label that the plan has": {
			declared: []config.Transfer{declare("b", twin, label, window(0)), declare("x", twin, label, window(0), notBefore(now.Add(day)))},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin, label), state.Recorded)) },
			want:     "[+ b > x]",
		},
		"another run recorded a twin without a label, and equal ones are only marked": {
			declared: []config.Transfer{declare("b", twin, label, window(0))},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin), state.Recorded)) },
			want:     "obstacle rename [b]",
		},
		"another run was refused a twin": {
			declared: []config.Transfer{declare("b", twin)},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin), state.Refused)) },
			want:     "[+ b]",
		},
		"another run's twin FAILED": {
			declared: []config.Transfer{declare("b", twin)},
			since: func(m *memory) {
				m.put("run-1", record(declare("x", twin), state.Recorded, recordStatus(transfer.Failed)))
			},
			want: "[+ b]",
		},
		"another run made a twin of one whose window is 0": {
			declared: []config.Transfer{declare("b", twin, window(0))},
			since:    func(m *memory) { m.put("run-1", record(declare("x", twin), state.Recorded)) },
			want:     "[+ b]",
		},
		"a twin is older than the window": {
			declared: []config.Transfer{declare("b", twin, window(day))}, recorded: []state.Detail{record(declare("x", twin), state.Recorded, intended(2*day))},
			want: "[+ b]",
		},
		"the twin was accepted, and another came": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{record(declare("x", twin), state.Recorded)},
			accept: []string{"b"},
			since:  func(m *memory) { m.put("run-1", record(declare("y", twin), state.Recorded)) },
			want:   "obstacle look-alike [b]",
		},
		"the twin was accepted": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{record(declare("x", twin), state.Recorded)},
			accept: []string{"b"}, want: "[+ b]",
		},
		"an earlier run of this plan made one of two twins": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin)}, accept: []string{"b"},
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("b", twin), state.Recorded))
			},
			want: "[+ a]",
		},
		"an earlier run of this plan left one of two twins in doubt": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin)}, accept: []string{"b"},
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(declare("b", twin), state.InDoubt, open))
			},
			want: "[+ a + b]",
		},
		"the plan was not applicable": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin)}, want: "obstacle look-alike [b]",
		},
		"another environment": {header: func(h *planner.Header) { h.Environment = "prod" }, want: "other environment"},
		"another service":     {header: func(h *planner.Header) { h.Service.Operator = "acme" }, want: "other service"},
		"another customer":    {header: func(h *planner.Header) { h.Service.CustomerID = "c-1" }, want: "other service"},
		"the customer is known by now": {
			since: func(m *memory) { m.meta.Service.CustomerID = "c-1" }, want: "[+ a + b]",
		},
		"another lineage":   {header: func(h *planner.Header) { h.Lineage = "0000" }, want: "other lineage"},
		"an older state":    {header: func(h *planner.Header) { h.Serial = 8 }, want: "other serial"},
		"the same controls": {under: files("a:1", "b:1"), controls: files("b:1", "a:1"), want: "[+ a + b]"},
		"a control is new":  {controls: files("b:1"), want: "other [{{file b  1} is new}]"},
		"controls are others": {
			under: files("a:1", "b:1", "c:1", "d:1"), controls: files("b:1", "c:2", "e:1"),
			want: "other [{{file a  1} is gone} {{file c  2} is another} {{file d  1} is gone} {{file e  1} is new}]",
		},
		"one of two controls of a name is gone": {
			under: files("a:1", "a:2"), controls: files("a:2"), want: "other [{{file a  1} is gone}]",
		},
		"one of two controls of a name is another": {
			under: files("a:1", "a:2"), controls: files("a:2", "a:3"), want: "other [{{file a  3} is another}]",
		},
		"it expired": {header: func(h *planner.Header) { h.Expires = now }, want: "expired"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			declared := test.declared
			if declared == nil {
				declared = []config.Transfer{declare("a"), declare("b")}
			}
			m := newMemory(test.recorded...)
			p := plan(t, m, planner.Controls{AcceptDuplicate: test.accept, Declared: test.under}, declared...)
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
			if test.header != nil {
				test.header(&p.Header)
			}
			if test.since != nil {
				test.since(m)
			}
			left, err := p.Recheck(t.Context(), m.carriedOut(p), planner.Controls{Declared: test.controls}, now)
			if diff := cmp.Diff(test.want, outcomeOf(left, err)); diff != "" {
				t.Errorf("in memory (-want +got):\n%s", diff)
			}
			if err == nil && (left.Digest != p.Digest || left.Count(planner.Submit)+left.Count(planner.Resolve)+left.Count(planner.Wait) != left.Changes.Len()) {
				t.Errorf("what is left has the digest %s and counts %d", left.Digest, left.Count(planner.Submit))
			}
			if name == "another environment" || name == "another service" || name == "another customer" {
				return // the digest of these was made for another header
			}
			opened, err := planner.Open(bytes.NewReader(save(t, p)))
			if err != nil {
				t.Fatal(err)
			}
			left, err = opened.Recheck(t.Context(), m.carriedOut(opened), planner.Controls{Declared: test.controls}, now)
			if diff := cmp.Diff(test.want, outcomeOf(left, err)); diff != "" {
				t.Errorf("from a file (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAPlanWithoutAnIDHasNoEarlierRuns keeps direct applies apart from each other.
func TestAPlanWithoutAnIDHasNoEarlierRuns(t *testing.T) {
	m := newMemory()
	p := plan(t, m, planner.Controls{}, declare("a"))
	m.happen(begun("run-1", ""))
	m.put("run-1", record(declare("a"), state.Recorded))
	var stale *planner.StaleError
	if _, err := p.Recheck(t.Context(), m, planner.Controls{Declared: config.Controls{}}, now); !errors.As(err, &stale) || stale.Count != 1 {
		t.Errorf("error %v", err)
	}
}

// TestARunIsOfAPlanWhoseVeryBytesItCarriedOut lets runs have the ID of a plan without being of it.
func TestARunIsOfAPlanWhoseVeryBytesItCarriedOut(t *testing.T) {
	for name, edit := range map[string]func(*state.Begun){
		"of another file":         func(b *state.Begun) { b.PlanSHA256 = strings.Repeat("0", 64) },
		"of no file":              func(b *state.Begun) { b.PlanSHA256 = "" },
		"of other lines":          func(b *state.Begun) { b.Digest = strings.Repeat("0", 64) },
		"of neither of the two":   func(b *state.Begun) { b.Digest, b.PlanSHA256 = "", "" },
		"of another file's lines": func(b *state.Begun) { b.Digest, b.PlanSHA256 = "1", "1" },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			p := plan(t, m, planner.Controls{}, declare("a", twin))
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
			p, err := planner.Open(bytes.NewReader(save(t, p)))
			if err != nil {
				t.Fatal(err)
			}
			begun := begunOf("run-1", p)
			edit(&begun)
			m.happen(begun, state.Ended{RunID: "run-1", Complete: true})
			m.put("run-1", record(declare("b", twin), state.Recorded))
			var borrowed *planner.BorrowedError
			if _, err := p.Recheck(t.Context(), m, planner.Controls{}, now); !errors.As(err, &borrowed) || borrowed.RunID != "run-1" {
				t.Errorf("Recheck: %v", err)
			}
			if _, err := p.Verify(t.Context(), m, planner.Controls{}, now); !errors.As(err, &borrowed) {
				t.Errorf("Verify: %v", err)
			}
		})
	}
}

func TestRecheckKeepsTheTotalsOfWhatItDoesNotTouch(t *testing.T) {
	m := newMemory(record(declare("gone"), state.Recorded), record(declare("same"), state.Recorded))
	p := plan(t, m, planner.Controls{}, declare("a"), declare("b"), declare("same"))
	p.Header.PlanID = "plan-1"
	m.happen(begunOf("run-1", p))
	m.put("run-1", record(declare("a"), state.Recorded))
	left, err := p.Recheck(t.Context(), m, planner.Controls{Declared: config.Controls{}}, now)
	if err != nil {
		t.Fatal(err)
	}
	got := []int{left.Count(planner.Submit), left.Count(planner.None), left.Count(planner.Undeclared), p.Count(planner.Submit)}
	if diff := cmp.Diff([]int{1, 1, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
}

// TestTwinsThatALineOnlyCounts is about a line that has more twins than it shows.
func TestTwinsThatALineOnlyCounts(t *testing.T) {
	m := newMemory()
	for i := range 30 {
		d := record(declare(fmt.Sprintf("old-%02d", i), twin), state.Recorded)
		m.details[d.RefID] = d
	}
	p := plan(t, m, planner.Controls{AcceptDuplicate: []string{"a"}}, declare("a", twin))
	left, err := p.Recheck(t.Context(), m, planner.Controls{Declared: config.Controls{}}, now)
	if got := outcomeOf(left, err); got != "[+ a]" {
		t.Errorf("accepted: %s", got)
	}
	m.put("run-1", record(declare("one-more", twin), state.Recorded))
	left, err = p.Recheck(t.Context(), m, planner.Controls{Declared: config.Controls{}}, now)
	if got := outcomeOf(left, err); got != "obstacle look-alike [a]" {
		t.Errorf("with one more: %s", got)
	}
}

func TestConflictsOfOthersDoNotStopATargetedPlan(t *testing.T) {
	m := newMemory()
	p := plan(t, m, planner.Controls{Targets: []string{"transfer.internal.a"}}, declare("a"), declare("b"))
	m.put("run-1", record(declare("b"), state.Conflict))
	left, err := p.Recheck(t.Context(), m, planner.Controls{Declared: config.Controls{}}, now)
	if got := outcomeOf(left, err); got != "[+ a]" {
		t.Error(got)
	}
}
