package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// plans are the fixtures of testdata/plan, with what is shown beside them.
func plans() map[string]view.PlanOptions {
	return map[string]view.PlanOptions{
		"payroll":    {Names: map[string]string{"0acfa5a6-6f2e-41af-a833-48e301197ffd": "treasury"}},
		"nothing":    {},
		"undeclared": {},
		"sandbox":    {Sandbox: true},
		"mixed": {Saved: true, Names: map[string]string{
			"0acfa5a6-6f2e-41af-a833-48e301197ffd": "treasury",
			"37867177-f88c-45cc-b9b5-d786e7079609": "landlord",
		}},
		"marketplace": {},
		"alike-ids":   {},
	}
}

func TestPlanOnScreens(t *testing.T) {
	for name, o := range plans() {
		for ending, screen := range screens() {
			t.Run(name+" at "+ending, func(t *testing.T) {
				o.Screen = screen
				got := planText(t, readPlan(t, name), o)
				golden(t, "plan/"+name+"."+ending, got)
				if !screen.Color {
					checkShown(t, string(got))
				}
			})
		}
	}
}

func TestPlanForPrograms(t *testing.T) {
	for name, o := range plans() {
		t.Run(name, func(t *testing.T) {
			o.ShowAll = true
			var b bytes.Buffer
			if err := view.NewJSON(&b, "0.1.0").Plan(readPlan(t, name), o); err != nil {
				t.Fatal(err)
			}
			golden(t, "plan/"+name+".jsonl", b.Bytes())
		})
	}
}

func TestPlanShowsUndeclaredOnRequest(t *testing.T) {
	o := view.PlanOptions{ShowAll: true}
	golden(t, "plan/undeclared.all.txt", planText(t, readPlan(t, "undeclared"), o))
}

// Lines of a table end within the screen; what cannot be broken may not: commands, and
// words that someone copies.
func TestPlanLinesFitTheScreen(t *testing.T) {
	for name, o := range plans() {
		for _, width := range []int{80, 100, 120, 140, 200} {
			o.Width = width
			for line := range strings.SplitSeq(string(planText(t, readPlan(t, name), o)), "\n") {
				if lipgloss.Width(line) > width && strings.Contains(strings.TrimLeft(line, " "), "  ") {
					t.Errorf("%s at %d: %d columns in %q", name, width, lipgloss.Width(line), line)
				}
			}
		}
	}
}

// manyPlan is a plan of n transfers to n/2 destinations in two batches.
func manyPlan(n int) *planner.Plan {
	f := fixture{Header: planner.Header{Environment: "production", Service: state.Identity{BaseURL: "https://api.example.com"}}, Digest: strings.Repeat("ab", 32)}
	for i := range n {
		batch := "payroll"
		if i%3 == 0 {
			batch = ""
		}
		c := planner.Change{
			Action: planner.Submit, RefID: fmt.Sprintf("pay-%05d", i), Place: fmt.Sprintf("payroll.csv:%d", i+2), Batch: batch,
			Address: "transfer.internal.pay",
			Request: transfer.Request{
				Operation: transfer.Internal, RefID: fmt.Sprintf("pay-%05d", i), Asset: "USD",
				FromProfileID: "treasury-main", ToProfileID: fmt.Sprintf("employee-%05d", i/2),
				Amount: transfer.MustAmount(fmt.Sprintf("%d.50", 100+i)),
			},
		}
		if i%10 == 0 {
			c.Action, c.Reason = planner.Failed, "the service says FAILED"
		}
		if i%97 == 5 {
			c.Request.Asset = "EUR"
		}
		f.Changes = append(f.Changes, c)
	}
	return f.plan()
}

func TestPlanOfManyTransfersIsASummary(t *testing.T) {
	p := manyPlan(300)
	for ending, screen := range screens() {
		golden(t, "plan/many."+ending, planText(t, p, view.PlanOptions{Screen: screen}))
	}
}

func TestPlanListsAsManyAsAllowed(t *testing.T) {
	tests := map[string]struct {
		count   int
		showAll bool
		want    int
	}{
		"200 transfers are listed":                {count: 200, want: 200},
		"of 201 only those to look at are listed": {count: 201, want: 20},
		"all of 201 are listed on request":        {count: 201, showAll: true, want: 201},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := string(planText(t, manyPlan(test.count), view.PlanOptions{ShowAll: test.showAll}))
			if got := strings.Count(text, "payroll.csv:"); got != test.want {
				t.Errorf("%d lines, want %d:\n%s", got, test.want, text)
			}
		})
	}
}

// IDs that differ in what a short form leaves out are never shown alike.
func TestPlanTellsIDsApart(t *testing.T) {
	text := string(planText(t, readPlan(t, "alike-ids"), view.PlanOptions{}))
	for _, id := range []string{"aaaaaaaa-0000-4000-8000-00000000ffff", "aaaaaaaa-0000-4000-8000-00010000ffff"} {
		if !strings.Contains(text, id) {
			t.Errorf("%s is not in\n%s", id, text)
		}
	}
}

func TestPlanReturnsErrorsOfItsWriter(t *testing.T) {
	p := readPlan(t, "mixed")
	if err := view.Plan(brokenWriter{}, p, view.PlanOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("text: %v", err)
	}
	if err := view.NewJSON(brokenWriter{}, "").Plan(p, view.PlanOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("JSON: %v", err)
	}
}

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// Every line of JSON is an object with a type, the first with the format.
func TestJSONBeginsWithItsVersion(t *testing.T) {
	var b bytes.Buffer
	j := view.NewJSON(&b, "1.2.3")
	if err := j.Plan(readPlan(t, "mixed"), view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := j.Error(errors.New("lock held"), "remit force-unlock"); err != nil {
		t.Fatal(err)
	}
	versions := 0
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		var object struct{ Type, Format, Remit string }
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if object.Type == "" {
			t.Errorf("line %d has no type: %s", i+1, line)
		}
		if object.Type == "version" {
			versions++
			if i != 0 || object.Format != view.Format || object.Remit != "1.2.3" {
				t.Errorf("line %d: %s", i+1, line)
			}
		}
	}
	if versions != 1 {
		t.Errorf("%d lines carry the version", versions)
	}
}
