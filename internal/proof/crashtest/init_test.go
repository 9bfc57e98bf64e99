package crashtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// TestInitsAtOnceMakeOneState starts several at the same time, as jobs of a first rollout do,
// some of which are killed: in one directory with a file, and in several ones with one schema.
func TestInitsAtOnceMakeOneState(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	s := newService(t, program)
	server := pgtest.Start(t)
	for round := range suite.Dose(0, 2, 5) {
		first := newDirectory(t, program, s, false, 8)
		first.share(server)
		second := newDirectory(t, program, s, false, 8)
		second.share(server)
		second.shared, second.env = first.shared, first.env
		makeAtOnce(t, round, first, first, second, second)
		file := newDirectory(t, program, s, false, 8)
		makeAtOnce(t, round, file, file, file)
	}
}

// makeAtOnce runs an init in each directory. Of the killed ones it is enough that the next
// one goes well.
func makeAtOnce(t *testing.T, round int, dirs ...*directory) {
	t.Helper()
	started := make([]*running, len(dirs))
	for i, d := range dirs {
		started[i] = d.start("init")
	}
	isKilled := round%2 == 1
	if isKilled {
		time.Sleep(time.Duration(round) * 20 * time.Millisecond)
		_ = started[0].cmd.Process.Kill() // it may have ended
	}
	for i, r := range started {
		if e := r.end(); e.code != 0 && (i > 0 || !isKilled) {
			t.Errorf("init %d of round %d ended with exit code %d: %s", i, round, e.code, e.stderr)
		}
	}
	lineage := ""
	for _, d := range dirs {
		d.must(0, "init")
		text, err := os.ReadFile(filepath.Join(d.path, ".remit.lock.hcl"))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`lineage\s*=\s*"[^"]+"`).FindString(string(text))
		if found == "" || lineage != "" && found != lineage {
			t.Errorf("one directory is bound to %q, and another to %q", found, lineage)
		}
		lineage = found
	}
	if rows := dirs[0].rows(); len(rows) > 0 {
		t.Errorf("%d rows in a new state", len(rows))
	}
	dirs[0].must(0, "audit", "verify")
}

// TestAnInitThatWasCutOffIsFinished kills init --new-state at each of its calls that change a
// directory. The advice of the next command leads to a state within three commands, which knows that it is in place of
// another one, and nothing of an unfinished state is left.
func TestAnInitThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	needs(t, "strace", "-f", "-qq", "-o", "/dev/null", program, "version")
	s := newService(t, program)
	for call, times := range map[string]int{"renameat": 2, "unlinkat": 2, "fsync": 4, "fdatasync": 2, "ftruncate": 2} {
		for when := 1; when <= times; when++ {
			d := newDirectory(t, program, s, false, 8)
			d.must(0, "init")
			if err := os.Remove(filepath.Join(d.path, "remit.db")); err != nil {
				t.Fatal(err)
			}
			r := &directory{t: t, program: "strace", path: d.path, env: d.env}
			killed := r.run("-f", "-qq", "-o", "/dev/null", "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, when), program, "init", "--new-state")
			name := fmt.Sprintf("%s %d", call, when)
			for step := 0; ; step++ {
				e := d.run("plan")
				if e.code == 0 {
					break
				}
				next := regexp.MustCompile(`(?m)^    remit (.+)$`).FindStringSubmatch(e.stderr)
				if step == 2 || next == nil {
					e.fatal(t, fmt.Sprintf("killed at %s (exit code %d), it leads nowhere", name, killed.code))
				}
				if advised := d.run(strings.Fields(next[1])...); advised.code != 0 {
					advised.fatal(t, "killed at "+name+", what is advised fails")
				}
			}
			if verified := d.must(4, "audit", "verify"); !strings.Contains(oneLine(verified.stderr), "made in place of one that is gone") {
				verified.fatal(t, "killed at "+name+", it is taken for whole")
			}
			if left, _ := filepath.Glob(filepath.Join(d.path, ".remit-new-*")); len(left) > 0 { // the pattern is well formed
				t.Errorf("killed at %s, %v are left", name, left)
			}
		}
	}
}
