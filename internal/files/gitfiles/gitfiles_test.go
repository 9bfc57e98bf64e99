package gitfiles_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/files/gitfiles"
	"remit/internal/proof/suite"
)

// repository is a working tree that real git made.
type repository struct {
	*testing.T
	dir, home string
}

func newRepository(t *testing.T, flags ...string) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed here (Debian: apt-get install git)")
	}
	physical, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{t, filepath.Join(physical, "work"), physical}
	r.dir = physical
	r.git(append([]string{"init", "-q", "-b", "main", "work"}, flags...)...)
	r.dir = filepath.Join(physical, "work")
	r.write("main.hcl", "locals {}\n")
	r.write("payroll/rent.csv", "name,amount\n")
	r.write("payroll/deep/er/a b.csv", strings.Repeat("row\n", 3000))
	if err := os.Symlink("payroll/rent.csv", filepath.Join(r.dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("payroll", filepath.Join(r.dir, "people")); err != nil {
		t.Fatal(err)
	}
	r.commit()
	return r
}

func (r *repository) git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME="+r.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.Fatal(err)
	}
}

func (r *repository) commit() {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-qm", "a commit")
}

// agrees compares our answers about a directory of the working tree with git's.
func (r *repository) agrees(dir string) {
	r.Helper()
	checkout, err := gitfiles.Find(filepath.Join(r.dir, dir))
	if err != nil {
		r.Fatal(err)
	}
	defer checkout.Close()
	if want := r.git("rev-parse", "HEAD"); checkout.Commit != want {
		r.Errorf("the commit is %s, and git says %s", checkout.Commit, want)
	}
	prefix := filepath.ToSlash(dir) + "/"
	if dir == "." {
		prefix = ""
	}
	var here []string
	for line := range strings.SplitSeq(r.git("ls-tree", "-r", "-z", "HEAD"), "\x00") {
		head, path, ok := strings.Cut(line, "\t")
		name, below := strings.CutPrefix(path, prefix)
		if !ok || !below {
			continue
		}
		if !strings.Contains(name, "/") {
			here = append(here, name)
		}
		want := strings.Fields(head)[2]
		if strings.HasPrefix(head, "120000 ") {
			target := r.git("cat-file", "blob", "HEAD:"+path)
			if target == "payroll" {
				continue // a directory
			}
			want = r.git("rev-parse", "HEAD:"+prefix+target)
		}
		blob, err := checkout.Blob(name)
		if err != nil || hex.EncodeToString(blob) != want {
			r.Errorf("%s is %x, %v, and git says %s", name, blob, err, want)
		}
		content, err := os.ReadFile(filepath.Join(r.dir, path))
		if err != nil {
			r.Fatal(err)
		}
		sum := checkout.NewBlob(int64(len(content)))
		_, _ = sum.Write(content)
		if got := hex.EncodeToString(sum.Sum(nil)); got != want {
			r.Errorf("the content of %s is %s, and git says %s", name, got, want)
		}
	}
	names, err := checkout.Names(".")
	if err != nil {
		r.Error(err)
	}
	if diff := cmp.Diff(here, names); diff != "" {
		r.Errorf("names of %s (-git +read):\n%s", dir, diff)
	}
}

// Our answers are git's, in every form in which git stores a commit.
func TestReadsWhatGitWrites(t *testing.T) {
	suite.Slow(t)
	for name, act := range map[string]func(*repository){
		"objects that have files of their own": func(*repository) {},
		"a pack":                               func(r *repository) { r.git("gc", "-q", "--aggressive") },
		"packs with differences, and what came after them": func(r *repository) {
			for i := range 30 {
				for j := range 40 {
					r.write(fmt.Sprintf("payroll/%d.csv", j), fmt.Sprint(i*j))
				}
				r.commit()
			}
			r.git("gc", "-q", "--aggressive")
			r.write("later.csv", "a\n")
			r.commit()
			r.git("repack", "-q")
			r.write("latest.csv", "b\n")
			r.commit()
		},
		"differences that name their base": func(r *repository) {
			for i := range 60 {
				r.write(fmt.Sprintf("payroll/%d.csv", i), fmt.Sprint(i))
			}
			r.commit()
			r.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f")
		},
		"offsets of eight bytes": func(r *repository) {
			r.git("-c", "pack.indexVersion=2", "repack", "-q", "-a", "-d")
			packs, err := filepath.Glob(filepath.Join(r.dir, ".git/objects/pack/*.pack"))
			if err != nil || len(packs) != 1 {
				r.Fatal(packs, err)
			}
			index := strings.TrimSuffix(packs[0], ".pack") + ".idx"
			if err := os.Remove(index); err != nil {
				r.Fatal(err)
			}
			r.git("index-pack", "--index-version=2,0x40", "-o", index, packs[0])
		},
		"refs in one file":          func(r *repository) { r.git("pack-refs", "--all") },
		"no branch":                 func(r *repository) { r.git("checkout", "-q", "--detach") },
		"a branch with slashes":     func(r *repository) { r.git("checkout", "-qb", "feature/a/b"); r.git("pack-refs", "--all") },
		"a tree that another hides": func(r *repository) { r.write("payroll.csv", "1"); r.write("payroll-b/x", "2"); r.commit() },
	} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(name+", "+format, func(t *testing.T) {
				r := newRepository(t, "--object-format="+format)
				act(r)
				r.agrees(".")
				r.agrees("payroll")
				r.agrees("payroll/deep")
			})
		}
	}
}

func TestReadsLinkedWorkingTreesAndSubmodules(t *testing.T) {
	r := newRepository(t)
	r.git("worktree", "add", "-q", "../beside")
	beside := *r
	beside.dir = filepath.Join(r.home, "beside")
	beside.write("only-here.csv", "1")
	beside.commit()
	beside.agrees("payroll")
	r.agrees(".")

	other := newRepository(t)
	other.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.dir, "below")
	other.commit()
	submodule := *other
	submodule.dir = filepath.Join(other.dir, "below")
	submodule.agrees(".")
}

// A .git that names another repository than its own, or is none of a working tree, says nothing.
func TestFindsNoCommit(t *testing.T) {
	for name, act := range map[string]func(*repository){
		"before the first commit":          func(r *repository) { r.git("checkout", "-q", "--orphan", "new") },
		"a .git that is a link":            func(r *repository) { r.replace("link", filepath.Join(r.home, "git")) },
		"a .git file for any repository":   func(r *repository) { r.replace("file", "gitdir: "+filepath.Join(r.home, "git")) },
		"a .git file for a device":         func(r *repository) { r.replace("file", "gitdir: /dev/zero") },
		"a .git file without an end":       func(r *repository) { r.replace("file", "gitdir: "+strings.Repeat("a", 1<<20)) },
		"a working tree that git does not": func(r *repository) { r.replace("file", "gitdir: "+filepath.Join(r.home, "git/worktrees/work")) },
		"a bare repository in the directory": func(r *repository) {
			if err := os.Rename(filepath.Join(r.dir, ".git"), filepath.Join(r.home, "git")); err != nil {
				r.Fatal(err)
			}
			for _, name := range []string{"HEAD", "objects", "refs", "config"} {
				if err := os.Rename(filepath.Join(r.home, "git", name), filepath.Join(r.dir, name)); err != nil {
					r.Fatal(err)
				}
			}
		},
		"a HEAD that leads out": func(r *repository) { r.write(".git/HEAD", "ref: refs/../../../git/x") },
		"a branch that leads out": func(r *repository) {
			path := filepath.Join(r.dir, ".git/refs/heads/main")
			outside := filepath.Join(r.home, "outside")
			err := errors.Join(os.WriteFile(outside, []byte(strings.Repeat("a", 40)), 0o600), os.Remove(path), os.Symlink(outside, path))
			if err != nil {
				r.Fatal(err)
			}
		},
		"branches that name one another": func(r *repository) { r.write(".git/refs/heads/main", "ref: refs/heads/main") },
		"text where a hash should be":    func(r *repository) { r.write(".git/refs/heads/main", "root:x:0:0:root:/root:/bin/bash") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			act(r)
			checkout, err := gitfiles.Find(filepath.Join(r.dir, "payroll"))
			if !errors.Is(err, gitfiles.ErrNone) && !errors.Is(err, os.ErrNotExist) && err == nil {
				checkout.Close()
				t.Errorf("the commit is %q", checkout.Commit)
			}
		})
	}
}

// replace moves the .git away and puts a link or a file in its place.
func (r *repository) replace(kind, target string) {
	r.Helper()
	path := filepath.Join(r.dir, ".git")
	err := os.Rename(path, filepath.Join(r.home, "git"))
	if kind == "link" {
		err = errors.Join(err, os.Symlink(target, path))
	} else {
		err = errors.Join(err, os.WriteFile(path, []byte(target), 0o600))
	}
	if err != nil {
		r.Fatal(err)
	}
}

// The content of another repository is not looked for, and damage is no content.
func TestAnObjectIsHeldAgainstItsHash(t *testing.T) {
	r := newRepository(t)
	tree := r.git("rev-parse", "HEAD^{tree}")
	file := filepath.Join(r.dir, ".git/objects", tree[:2], tree[2:])
	ask := func() error {
		checkout, err := gitfiles.Find(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer checkout.Close()
		_, err = checkout.Blob("main.hcl")
		return err
	}
	other := r.git("rev-parse", "HEAD:payroll")
	content, err := os.ReadFile(filepath.Join(r.dir, ".git/objects", other[:2], other[2:]))
	if err := errors.Join(err, os.Chmod(file, 0o600), os.WriteFile(file, content, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a tree in the place of another: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := ask(); !errors.Is(err, gitfiles.ErrAbsent) {
		t.Errorf("a tree that is not there: %v", err)
	}

	whole := newRepository(t)
	lean := *whole
	lean.dir = whole.home
	lean.git("clone", "-q", "--shared", "work", "lean")
	lean.dir = filepath.Join(whole.home, "lean")
	checkout, err := gitfiles.Find(lean.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer checkout.Close()
	if _, err := checkout.Blob("main.hcl"); !errors.Is(err, gitfiles.ErrAbsent) {
		t.Errorf("a repository that borrows its objects: %v", err)
	}
}

// FuzzPack reads any bytes as a pack and its index, beside a commit that may be in it.
func FuzzPack(f *testing.F) {
	f.Add([]byte("PACK"), []byte("\xfftOc\x00\x00\x00\x02"))
	if _, err := exec.LookPath("git"); err == nil {
		r := newSeed(f)
		packs, err := filepath.Glob(filepath.Join(r, ".git/objects/pack/*.pack"))
		if err != nil || len(packs) != 1 {
			f.Fatal(packs, err)
		}
		data, err := os.ReadFile(packs[0])
		index, err2 := os.ReadFile(strings.TrimSuffix(packs[0], ".pack") + ".idx")
		if err := errors.Join(err, err2); err != nil {
			f.Fatal(err)
		}
		f.Add(data, index)
	}
	f.Fuzz(func(t *testing.T, data, index []byte) {
		dir := t.TempDir()
		commit := strings.Repeat("0", 40)
		if len(index) > 8+4*256+20 {
			commit = hex.EncodeToString(index[8+4*256:][:20])
		}
		packs := filepath.Join(dir, ".git/objects/pack")
		err := errors.Join(os.MkdirAll(packs, 0o755), os.WriteFile(filepath.Join(dir, ".git/HEAD"), []byte(commit), 0o600),
			os.WriteFile(filepath.Join(packs, "pack-a.pack"), data, 0o600), os.WriteFile(filepath.Join(packs, "pack-a.idx"), index, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		checkout, err := gitfiles.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer checkout.Close()
		_, _ = checkout.Blob("main.hcl") // it ends, and does not panic
		_, _ = checkout.Names(".")
	})
}

// newSeed is a working tree whose only pack has the commit first in its index, or not: the fuzzer
// finds its way from either.
func newSeed(f *testing.F) string {
	dir := f.TempDir()
	run := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
			"GIT_AUTHOR_DATE=2026-11-27T00:00:00Z", "GIT_COMMITTER_DATE=2026-11-27T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			f.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	run("init", "-q")
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.hcl", i)), []byte(fmt.Sprint(i)), 0o600); err != nil {
			f.Fatal(err)
		}
		run("add", "-A")
		run("commit", "-qm", "a commit")
	}
	run("gc", "-q", "--aggressive")
	return dir
}
