package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"remit/internal/transfer"
	"remit/internal/tree"
	"remit/internal/view"
	"remit/planner"
)

// treeOf has a configuration of each kind, with text in all that others wrote: some that pay, some that don't, and one
// without a plan.
func treeOf(text string) *tree.Tree {
	totals := func(amounts ...string) *transfer.Totals {
		t := new(transfer.Totals)
		for i := 0; i < len(amounts); i += 2 {
			t.Add(amounts[i], transfer.MustAmount(amounts[i+1]))
		}
		return t
	}
	sent := totals("USD", "412850.22", "EUR", "10")
	pays := &tree.Brief{
		Digest: strings.Repeat("0a", 32), Applicable: true, Sent: *sent,
		Actions:   map[planner.Action]*transfer.Totals{planner.Submit: sent, planner.Wait: totals("USD", "7"), planner.None: totals("USD", "1")},
		Groups:    []planner.StatusGroup{{Group: planner.GroupDue, Totals: *sent}, {Group: planner.GroupNext, Totals: *totals("USD", "7")}},
		Signals:   []planner.SignalCount{{Kind: planner.FirstDestination, Count: 2}},
		Approvals: []string{"Needs 2 approvers: " + text}, Shortened: 1,
	}
	blocked := &tree.Brief{
		Digest: strings.Repeat("0b", 32), Sent: *totals("USD", "20.5"), Actions: map[planner.Action]*transfer.Totals{planner.Submit: totals("USD", "20.5"), planner.Resolve: totals("USD", "1.25")},
		Groups:    []planner.StatusGroup{{Group: planner.GroupInDoubt, Totals: *totals("USD", "1.25"), Next: "remit resolve rent"}},
		Obstacles: []planner.Obstacle{{Kind: planner.ObstacleLimit, Address: "limit." + text, RefIDs: []string{text}, Count: 1, Detail: "limit.desk allows less. " + text}}, Blocked: 3,
	}
	quiet := &tree.Brief{Digest: strings.Repeat("0c", 32), Applicable: true, Empty: true, Actions: map[planner.Action]*transfer.Totals{planner.None: totals("USD", "5")}}
	return &tree.Tree{
		Top: "finance " + text, Asked: tree.Plan, At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
		Entries: []tree.Entry{
			{Directory: "acme/payroll" + text, Environment: "production" + text, Entity: "acme" + text, Brief: pays, Next: "remit plan --out=remit.plan --chdir=acme/payroll" + text},
			{Directory: "acme/vendors", Environment: "production" + text, Entity: "acme" + text, ExitCode: 5, Brief: blocked, Next: "remit resolve rent --chdir=acme/vendors", Told: "\nWarning: " + strings.ReplaceAll(text, "\n", " ") + "\n\n  on main.hcl\n", Lines: []json.RawMessage{json.RawMessage(`{"type":"diagnostic"}`)}},
			{Directory: "globex", Environment: "staging", Entity: "globex", Brief: quiet},
			{Directory: "initech", Entity: "initech", ExitCode: 1, Error: "there is no state " + text, Next: "remit init --chdir=initech"},
		},
		Found:     &tree.Found{Shared: []string{"book" + text}, Links: []string{"again" + text}},
		Untouched: []string{"umbrella" + text}, Gone: []string{"gone" + text},
	}
}

func treeFaces(t testing.TB, of *tree.Tree) map[string]string {
	t.Helper()
	faces := map[string]string{}
	for name, write := range map[string]func(io.Writer, *tree.Tree, view.Screen) error{"txt": view.Tree, "md": view.TreeMarkdown, "html": view.TreeHTML} {
		var b bytes.Buffer
		if err := write(&b, of, view.Screen{}); err != nil {
			t.Fatal(err)
		}
		faces[name] = b.String()
	}
	var lines, told bytes.Buffer
	if err := view.NewJSON(&lines, "dev").Tree(of); err != nil {
		t.Fatal(err)
	}
	if err := view.TreeTold(&told, &of.Entries[1], view.Screen{}); err != nil {
		t.Fatal(err)
	}
	faces["jsonl"], faces["told.txt"] = lines.String(), told.String()
	return faces
}

func TestTree(t *testing.T) {
	status := treeOf("")
	status.Asked, status.Sandbox = tree.Status, true
	for name, of := range map[string]*tree.Tree{"plan": treeOf(""), "status": status} {
		for ending, text := range treeFaces(t, of) {
			golden(t, "tree/"+name+"."+ending, []byte(withoutSources(text)))
		}
	}
	nothing := &tree.Tree{Top: ".", Asked: tree.Plan, Found: &tree.Found{}, Untouched: []string{"acme"}}
	if text := treeFacesOf(t, nothing); !strings.Contains(text, "No configuration is touched.") {
		t.Errorf("a tree of which nothing is touched is shown as %s", text)
	}
}

func treeFacesOf(t testing.TB, of *tree.Tree) string {
	t.Helper()
	var b bytes.Buffer
	for _, write := range []func(io.Writer, *tree.Tree, view.Screen) error{view.Tree, view.TreeMarkdown, view.TreeHTML} {
		if err := write(&b, of, view.Screen{}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// Text of others reaches no reader unseen, and makes no element of a page.
func TestTreeOfHostileText(t *testing.T) {
	for _, text := range []string{hostileMarkup, strings.Repeat("N", 8<<10), "</details>", "|", "`````"} {
		faces := treeFaces(t, treeOf(text))
		for _, text := range faces {
			checkShown(t, text)
		}
		for _, line := range strings.Split(strings.TrimSpace(faces["jsonl"]), "\n") {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %.200s", line)
			}
		}
		got, want := elements(faces["html"]), elements(treeFaces(t, treeOf("benign"))["html"])
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("other elements with %.100q:\n%v\nwant\n%v", text, got, want)
		}
	}
}

// A comment of a pull request has 65,536 characters at most.
func TestTreeMarkdownIsBounded(t *testing.T) {
	many := treeOf("")
	for i := range 2000 {
		e := many.Entries[i%4]
		e.Directory = fmt.Sprintf("entity-%d/%s", i, strings.Repeat("long", 20))
		many.Entries = append(many.Entries, e)
	}
	if text := treeFaces(t, many)["md"]; len(text) > 62_000 || !strings.Contains(text, "| and 1") {
		t.Errorf("it has %d bytes, or does not say what is left out", len(text))
	}
}
