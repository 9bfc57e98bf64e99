//go:build unix

// Package scripts runs the scripts of testdata/script, each a promise to the user: what a user types, and what remit says.
//
// Its one invariant: a script meets the program as a process of its own, and the service, clocks and files that it names.
package scripts

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// Program is the remit of scripts, that of package machine/remit. It is quicker to start than a test: it has less in it.
var Program = suite.Program{Package: "remit/internal/proof/machine/remit"}

// Main is the TestMain of each package that runs scripts. It removes the program, and stops the PostgreSQL that tests share,
// after them.
func Main(m *testing.M) {
	suite.InMemory()        // but for scripts, which are on a disk as people are
	suite.SideBySide(12)    // scripts mostly wait: for processes, a service, a disk
	debug.SetGCPercent(400) // many commands run in this process, each with garbage of its own
	defer Program.Remove()
	defer pgtest.CloseShared()
	suite.StartHearing(syscall.SIGHUP, syscall.SIGINT)
	m.Run()
}

// Part is which of the scripts a package runs. There are three, as go test ends a package after ten minutes, and a slow machine
// takes that long for all.
type Part int

// The parts.
const (
	ToL    Part = iota // the scripts that need no other program, with names from a to l
	FromM              // with names from m to z
	Beside             // those that need another program, and skip themselves on a machine without it
)

// partOf is the part that a script belongs to.
func partOf(name string, script *txtar.Archive) Part {
	switch {
	case needsOther.Match(script.Comment):
		return Beside
	case name < "m":
		return ToL
	}
	return FromM
}

// needsOther is in each script of [Beside]: the line by which it skips itself.
var needsOther = regexp.MustCompile(`(?m)^\[!(?:exec:[^\]]+|postgres)\] skip\b`)

// lawsOfMoney are the scripts of the quick set, -short: a change that breaks one pays twice, loses a
// payment, or shows another one than is sent.
var lawsOfMoney = []string{
	"apply-declared", "approval", "bound", "changed", "control-totals", "dead-ends", "doubt-age", "exit-tells-the-end", "first-use",
	"force-unlock", "forged-marks", "forged-plan", "forged-plan-id", "interrupted-early", "interrupted-plan", "killed", "limits", "loop", "monthly-rent",
	"next-month", "not-made-wait", "outage", "plan-digest", "policies", "refused", "refused-doubt", "renames", "reversal",
	"same-ref-two-states", "saved-plan", "state-lost", "stopped-plan", "two-applies", "two-plans", "undeclared", "unverified", "windows",
}

// Run runs the scripts of one part. They use remit as a real process, and a service on loopback that they control with the
// service command.
func Run(t *testing.T, part Part) {
	t.Helper()
	params := Params(t)
	all, err := filepath.Glob(suite.InRoot("testdata", "script", "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("found the scripts %q, %v", all, err)
	}
	laws := slices.Clone(lawsOfMoney)
	for _, file := range all {
		script, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		isQuick := slices.Contains(laws, name)
		laws = slices.DeleteFunc(laws, func(law string) bool { return law == name })
		if partOf(name, script) == part && (isQuick || !testing.Short()) {
			params.Files = append(params.Files, file)
		}
	}
	if len(laws) > 0 {
		t.Fatalf("lawsOfMoney has scripts that do not exist: %q", laws)
	}
	testscript.Run(t, params)
}

// Params are those of scripts that the caller names, with the commands that all of them have.
func Params(t *testing.T) testscript.Params {
	t.Helper()
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		t.Fatal("UPDATE_SCRIPTS has become a flag: go test ./internal/cli ./internal/proof/... -run TestScripts/NAME -update, or .ci/update for all")
	}
	root := suite.InRoot()
	bin := filepath.Dir(Program.Build(t))
	return testscript.Params{
		WorkdirRoot:         scriptDir(t),
		UpdateScripts:       suite.Update(),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			env.Setenv("RECIPES", filepath.Join(root, "docs", "recipes"))
			env.Setenv("COMPAT", filepath.Join(root, "testdata", "compat"))
			env.Setenv("USER", "clerk")
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".tmp"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".tmp", ".local", "state")) // what this machine has seen of states
			env.Setenv("HUNDREDS", strconv.Itoa(suite.Dose(1, 10, 100)))                        // of transfers, where many are needed
			env.Values[serviceKey{}] = &fakeService{}
			env.Values[serverKey{}] = &database{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "postgres":
				return pgtest.Installed(), nil
			case "full":
				return suite.Dose(0, 0, 1) == 1, nil
			case "root":
				return os.Geteuid() == 0, nil
			case "strangers": // another user may come to what the scripts have, or the user is no administrator
				return os.Geteuid() != 0 || exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", os.TempDir()).Run() == nil, nil
			case "mounts": // a process may have mounts of its own
				return exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: commands(),
	}
}

// scriptDir is where scripts have their directories. Messages break by how long its name is, which is as where
// TMPDIR is not set.
func scriptDir(t *testing.T) string {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "go-test-script")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				_ = os.Chmod(path, 0o700) // a script may have taken it from itself
			}
			return nil
		})
		_ = os.RemoveAll(root)
	})
	return root
}

type serviceKey struct{}
