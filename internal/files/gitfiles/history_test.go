package gitfiles_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/files/gitfiles"
)

// TestATextIsFoundInEarlierCommits looks for it behind a merge, in a pack, in a directory, and where the history is cut off.
func TestATextIsFoundInEarlierCommits(t *testing.T) {
	r := newRepository(t)
	r.write("payroll/lock", `lineage = "first"`)
	r.commit()
	first := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "side")
	r.write("payroll/lock", `lineage = "second"`)
	r.commit()
	second := r.git("rev-parse", "HEAD")
	r.write("payroll/lock", `lineage = "third"`)
	r.commit()
	r.git("checkout", "-q", "main")
	r.write("other", "1")
	r.commit()
	r.git("merge", "-q", "--no-edit", "side")
	merged := r.git("rev-parse", "HEAD")
	had := func(dir, name, text string) string {
		t.Helper()
		checkout, err := gitfiles.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer checkout.Close()
		commit, err := checkout.Had(name, text)
		if err != nil {
			t.Error(err)
		}
		return commit
	}
	in := filepath.Join(r.dir, "payroll")
	for _, packed := range []bool{false, true} {
		if packed {
			r.git("gc", "-q")
		}
		for text, want := range map[string]string{`"third"`: merged, `"second"`: second, `"fourth"`: ""} {
			if got := had(in, "lock", text); got != want {
				t.Errorf("%s was in %q, want %q", text, got, want)
			}
		}
		if got := had(r.dir, "payroll/lock", `"first"`); got == "" || r.git("show", got+":payroll/lock") != `lineage = "first"` {
			t.Errorf("%q was in %q, want one that had it, such as %s", "first", got, first)
		}
		if got := had(r.dir, "lock", `"second"`); got != "" {
			t.Errorf("a file of another directory was found in %s", got)
		}
	}
	r.git("clone", "-q", "--depth=1", "file://"+r.dir, filepath.Join(r.home, "shallow"))
	if got := had(filepath.Join(r.home, "shallow", "payroll"), "lock", `"second"`); got != "" {
		t.Errorf("a shallow clone has %s", got)
	}
}

// TestOtherWorkingTreesNameTheRepositoryBack lists those that git worktree added, and none that a file alone names.
func TestOtherWorkingTreesNameTheRepositoryBack(t *testing.T) {
	r := newRepository(t)
	for _, name := range []string{"beside", "gone", "stranger"} {
		r.git("worktree", "add", "-q", "../"+name)
	}
	beside := filepath.Join(r.home, "beside")
	r.git("worktree", "list") // git takes all of them for its own
	elsewhere := newRepository(t)
	r.write(".git/worktrees/stranger/gitdir", filepath.Join(elsewhere.dir, ".git")+"\n")
	r.write(".git/worktrees/gone/gitdir", filepath.Join(r.home, "nowhere", ".git")+"\n")
	others := func(dir string) []string {
		t.Helper()
		checkout, err := gitfiles.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer checkout.Close()
		return checkout.Others()
	}
	for dir, want := range map[string][]string{
		r.dir:                            {beside},
		filepath.Join(r.dir, "payroll"):  {filepath.Join(beside, "payroll")},
		beside:                           {r.dir},
		filepath.Join(beside, "payroll"): {filepath.Join(r.dir, "payroll")},
		elsewhere.dir:                    nil,
		filepath.Join(elsewhere.dir, "payroll", "deep"): nil,
	} {
		if diff := cmp.Diff(want, others(dir)); diff != "" {
			t.Errorf("beside %s (-want +got):\n%s", dir, diff)
		}
	}
}
