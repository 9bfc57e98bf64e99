package cli_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/cli"
	"remit/internal/proof/suite"
	"remit/internal/sandbox"
	"remit/planner"
)

// example is one that runs: a directory, or one of a tree whose directories share others.
type example struct {
	source, dir string
	ledger      string   // of its sandbox
	flags       []string // of each command
}

// findExamples are the examples that declare something to pay.
func findExamples(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob("../../examples/" + pattern + "/main.hcl")
		if err != nil || len(found) == 0 {
			t.Fatalf("find the examples: %v", err)
		}
		for _, main := range found {
			names = append(names, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(main)), "../../examples/"))
		}
	}
	return names
}

// openExample copies an example: of a tree all of it, and its staging environment is the one that is rehearsed.
func openExample(t *testing.T, name string) example {
	t.Helper()
	root := t.TempDir()
	e := example{source: filepath.Join("../../examples", name), dir: root, ledger: filepath.Join(root, ".remit", "sandbox", "ledger.db")}
	tree, below, isTree := strings.Cut(name, "/")
	copyExample(t, filepath.Join("../../examples", tree), root)
	if isTree {
		e.dir = filepath.Join(root, below)
		e.ledger = filepath.Join(e.dir, ".remit", "sandbox", "staging", "ledger.db")
		e.flags = []string{"--root=" + root, "--environment=staging"}
	}
	return e
}

func (e example) run(t *testing.T, wantCode int, args ...string) string {
	t.Helper()
	return e.runIn(t, 0, wantCode, args...)
}

func (e example) runIn(t *testing.T, ahead time.Duration, wantCode int, args ...string) string {
	t.Helper()
	return runIn(t, ahead, wantCode, append(append(args, "--chdir="+e.dir), e.flags...)...)
}

// TestExamples applies each example in the sandbox: its plan is the golden file beside it,
// its tests pass, the ledger has what the plan promised, and a second run does nothing.
func TestExamples(t *testing.T) {
	for _, name := range findExamples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := openExample(t, name)

			plan := e.run(t, 0, "plan", "--sandbox", "--show=all")
			golden := filepath.Join(e.source, "plan.golden")
			if suite.Update() {
				if err := os.WriteFile(golden, []byte(plan), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), plan); diff != "" {
				t.Errorf("the plan is not the golden file; .ci/update writes it anew (-want +got):\n%s", diff)
			}

			if diff := cmp.Diff(plan, e.runIn(t, 20*365*24*time.Hour, 0, "plan", "--sandbox", "--show=all")); diff != "" {
				t.Errorf("in twenty years the plan is another (-now +then):\n%s", diff)
			}

			e.run(t, 0, "test")
			e.run(t, 2, "plan", "--sandbox", "--detailed-exitcode", "--out=first.plan")
			e.run(t, 0, "apply", "--sandbox", "--auto-approve")
			again := e.run(t, 0, "apply", "--sandbox", "--auto-approve")
			if !strings.Contains(again, "No changes.") {
				t.Errorf("the second apply does something:\n%s", again)
			}
			e.run(t, 0, "plan", "--sandbox", "--detailed-exitcode")
			compareLedger(t, e)
		})
	}
}

// compareLedger holds the ledger's debits against the totals of the plan, digit by digit.
func compareLedger(t *testing.T, e example) {
	t.Helper()
	file, err := os.Open(filepath.Join(e.dir, "first.plan"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plan, err := planner.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Open(context.Background(), sandbox.Options{
		Path: e.ledger, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	debits, err := box.Debits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.Totals[planner.Submit]
	if planned.Count() != debits.Count() {
		t.Errorf("the ledger has %d transfers, the plan has %d", debits.Count(), planned.Count())
	}
	for total := range planned.All() {
		if got := debits.Sum(total.Asset); !got.Equal(total.Sum) {
			t.Errorf("the ledger's debits are %s %s, the plan's %s", total.Asset, got, total.Sum)
		}
	}
}

// run runs remit in this process and returns its standard output.
func run(t *testing.T, wantCode int, args ...string) string {
	t.Helper()
	return runIn(t, 0, wantCode, args...)
}

// runIn is run with a clock that is ahead.
func runIn(t *testing.T, ahead time.Duration, wantCode int, args ...string) string {
	t.Helper()
	now := func() time.Time { return time.Now().Add(ahead) }
	var stdout, stderr bytes.Buffer
	code := cli.RunAt(context.Background(), now, args, strings.NewReader(""), &stdout, &stderr, func(string) (string, bool) { return "", false })
	if code != wantCode {
		t.Fatalf("remit %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, wantCode, &stdout, &stderr)
	}
	return stdout.String()
}

func copyExample(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() == ".remit" {
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
