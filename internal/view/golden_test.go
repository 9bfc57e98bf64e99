package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
)

// golden compares got with a file of testdata, which .ci/update writes.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if suite.Update() {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v; .ci/update ./internal/view writes it", err)
		return
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s; .ci/update ./internal/view writes it anew (-want +got):\n%s", path, diff)
	}
}

// screens are the faces that goldens show, by the ending of their names.
func screens() map[string]view.Screen {
	return map[string]view.Screen{
		"80.txt":        {Width: 80},
		"140.txt":       {Width: 140},
		"140.color.txt": {Width: 140, Color: true, Terminal: true},
	}
}

// fixture is a plan as testdata holds it: its totals are added up from its lines.
type fixture struct {
	Header     planner.Header     `json:"header"`
	Changes    []planner.Change   `json:"changes"`
	Undeclared []planner.Change   `json:"undeclared"`
	None       [][2]string        `json:"none"` // asset and amount
	Obstacles  []planner.Obstacle `json:"obstacles"`
	Digest     string             `json:"digest"`
}

// plan is the plan of a fixture. Where a line to submit says nothing of duplicate_within, it
// has the default.
func (f fixture) plan() *planner.Plan {
	for i := range f.Changes {
		if c := &f.Changes[i]; c.Action == planner.Submit && c.DuplicateWithin == 0 {
			c.DuplicateWithin = config.DuplicateWithinDefault
		}
	}
	p := &planner.Plan{
		Header: f.Header, Changes: planner.ListChanges(f.Changes...), Undeclared: f.Undeclared, Obstacles: f.Obstacles,
		Digest: f.Digest, Totals: make(map[planner.Action]*transfer.Totals),
	}
	add := func(a planner.Action, asset string, amount transfer.Amount) {
		if p.Totals[a] == nil {
			p.Totals[a] = new(transfer.Totals)
		}
		p.Totals[a].Add(asset, amount)
	}
	for _, changes := range [][]planner.Change{f.Changes, f.Undeclared} {
		for _, c := range changes {
			add(c.Action, c.Request.Asset, c.Request.Amount)
		}
	}
	for _, none := range f.None {
		add(planner.None, none[0], transfer.MustAmount(none[1]))
	}
	return p
}

// readPlan reads a fixture of testdata/plan.
func readPlan(t testing.TB, name string) *planner.Plan {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "plan", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f.plan()
}

// planText is a plan on a screen.
func planText(t *testing.T, p *planner.Plan, o view.PlanOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.Plan(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkShown fails where text has a character that does not show, line ends apart.
func checkShown(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		for _, r := range line {
			if transfer.Hidden(r) || !unicode.IsPrint(r) {
				t.Errorf("%U reached the reader in %.200q", r, line)
				return // a run that writes goldens writes the others as well
			}
		}
	}
}
