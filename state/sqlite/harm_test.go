package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"remit/state"
	"remit/state/statetest"
)

// TestAFileThatIsHarmedUnderALockEndsTheJournal cuts, removes or replaces each file of a state that
// is locked: the next check, the next append and the unlock all say so.
func TestAFileThatIsHarmedUnderALockEndsTheJournal(t *testing.T) {
	t.Parallel()
	cut := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, info.Size()-1)
	}
	replace := func(path string) error {
		content, err := os.ReadFile(path + ".kept")
		return errors.Join(err, os.Remove(path), os.WriteFile(path, content, 0o600))
	}
	for name, c := range map[string]struct {
		side string
		harm func(path string) error
		want error
	}{
		"the database is cut":      {"", cut, state.ErrDamaged},
		"the database is removed":  {"", os.Remove, state.ErrReplaced},
		"the database is replaced": {"", replace, state.ErrReplaced},
		"the log is cut":           {"-wal", cut, state.ErrDamaged},
		"the log is emptied":       {"-wal", func(path string) error { return os.Truncate(path, 0) }, state.ErrDamaged},
		"the log is removed":       {"-wal", os.Remove, state.ErrReplaced},
		"the log is replaced":      {"-wal", replace, state.ErrReplaced},
		"the index is removed":     {"-shm", os.Remove, state.ErrReplaced},
	} {
		for _, when := range []string{"before a commit", "before the unlock"} {
			t.Run(name+" "+when, func(t *testing.T) {
				s, path := create(t)
				j := lock(t, s)
				for i := range 40 {
					add(t, j, statetest.Intent(fmt.Sprint("a-", i), "run", "10.00"))
				}
				copyTo(t, path+c.side, path+c.side+".kept")
				if err := c.harm(path + c.side); err != nil {
					t.Fatal(err)
				}
				if when == "before a commit" {
					if err := j.Check(t.Context()); !errors.Is(err, c.want) {
						t.Errorf("check got %v", err)
					}
					if err := j.Append(t.Context(), statetest.Intent("b", "run", "10.00")); !errors.Is(err, c.want) {
						t.Errorf("append got %v", err)
					}
				}
				if err := j.Unlock(); !errors.Is(err, c.want) {
					t.Errorf("unlock got %v", err)
				}
			})
		}
	}
}

// copyTo copies in another process: to read a file here would take SQLite's locks away.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}
