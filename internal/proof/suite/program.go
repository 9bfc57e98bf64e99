package suite

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Program is one of our programs, which the tests of a package run. It is built when the first of them needs it.
type Program struct {
	Package string // what it is built from

	once   sync.Once
	dir    string // "" before it is built
	failed error
	said   []byte // by the compiler
}

// Build returns the path of the program, which has the race detector where the tests have it. Any user may run it.
func (p *Program) Build(tb testing.TB) string {
	tb.Helper()
	p.once.Do(func() { p.failed = p.build() })
	if p.failed != nil {
		tb.Fatalf("build %s: %v\n%s", p.Package, p.failed, p.said)
	}
	return p.path()
}

func (p *Program) path() string { return filepath.Join(p.dir, path.Base(p.Package)) }

func (p *Program) build() error {
	var err error
	if p.dir, err = os.MkdirTemp("", "program"); err != nil {
		return err
	}
	// go run keeps what it linked, so that the next package, and the next run of these tests, has it at once; go build links
	// each time. Neither writes the information for a debugger, which takes longer than all else.
	args := slices.Concat([]string{"run", "-buildvcs=false", "-exec=cp"}, raced, []string{p.Package, p.path()})
	if runtime.GOOS == "windows" { // which has no cp
		args = slices.Concat([]string{"build", "-buildvcs=false", "-ldflags=-w"}, raced, []string{"-o", p.path(), p.Package})
	}
	if p.said, err = exec.Command("go", args...).CombinedOutput(); err != nil {
		return err
	}
	return os.Chmod(p.dir, 0o755) // some run it as another user
}

// Remove removes the program, after the tests.
func (p *Program) Remove() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}
