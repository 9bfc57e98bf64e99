package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"remit/internal/files/wholefile"
	"remit/planner"
)

// checkOut refuses, before anything is planned, a file that --out must not replace: only an
// earlier plan or an empty file is lost without loss. The state's files would take with them
// what was paid, and a file of the configuration what is to be. An empty name is no file.
func (w *workspace) checkOut(name string, expiresIn time.Duration) error {
	if name == "" {
		return nil
	}
	if expiresIn <= 0 {
		return fmt.Errorf("--expires-in=%s leaves no time to apply the plan; say a longer one, such as 72h", expiresIn)
	}
	path := w.within(name)
	for _, belonging := range w.place.Files() {
		if samePath(path, belonging) {
			return fmt.Errorf("save the plan: %s is a file of the state, which a plan never replaces; name another file with --out", name)
		}
	}
	if strings.HasSuffix(path, ".hcl") || strings.HasSuffix(path, ".hcl.json") {
		return fmt.Errorf("save the plan: %s would be read as configuration; name another file with --out, such as november.plan", name)
	}
	replaceable, err := isReplaceable(path, planStart())
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	if !replaceable {
		return fmt.Errorf("save the plan: %s is there already and is no plan, so it is not replaced; name another file with --out", name)
	}
	return nil
}

// planStart is how every saved plan begins.
func planStart() string {
	format, _, _ := strings.Cut(planner.Format, "/")
	return `{"format":"` + format + "/"
}

// samePath reports whether two paths name one file, which need not be there.
func samePath(a, b string) bool {
	if infoA, err := os.Stat(a); err == nil {
		if infoB, err := os.Stat(b); err == nil {
			return os.SameFile(infoA, infoB)
		}
	}
	absoluteA, errA := filepath.Abs(a)
	absoluteB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absoluteA == absoluteB
}

// isReplaceable reports whether there is no file yet, an empty one, or one that begins so. A
// link, a directory or a device is none of these.
func isReplaceable(path, start string) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // only read
	head, err := io.ReadAll(io.LimitReader(file, int64(len(start))))
	return len(head) == 0 || string(head) == start, err
}

// savePlan writes the plan to a file, which only its owner may read, and its bytes to also.
func (w *workspace) savePlan(ctx context.Context, plan *planner.Plan, name string, also io.Writer) error {
	defer w.quiet()
	var err error
	if plan.Header.Origin, err = w.origin(); err != nil {
		return fmt.Errorf("save the plan to %s: %w", name, err)
	}
	if err := wholefile.Replace(w.within(name), 0o600, func(file io.Writer) error {
		return plan.Save(interruptible{ctx, io.MultiWriter(file, also)})
	}); err != nil {
		return fmt.Errorf("save the plan to %s: %w", name, err)
	}
	return nil
}
