package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/suite"
	"remit/planner/plannertest"
	"remit/state/postgres/pgtest"
)

// TestAForgedPlanLeadsAndJoinsNoRun has edited plans, signed by their author and two approvers, begin a run on PostgreSQL
// that others may take part in, and take part in one that carries out the honest plan. A runner that joins brings the
// very bytes of the run's plan, so there no edit at all passes, not even of what is its author's word.
func TestAForgedPlanLeadsAndJoinsNoRun(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	var now strings.Builder
	var want []string
	for i := range 14 { // several parts
		refID := fmt.Sprintf("t%02d", i)
		want = append(want, refID)
		now.WriteString(rent(refID, "to-"+refID, fmt.Sprintf("%d.00", 20+i), ""))
	}
	f := newForger(t, forgeryKind{
		now:   now.String(),
		state: fmt.Sprintf("\nstate \"postgres\" {\n  url    = %q\n  schema = %q\n}\n", server.URL(), server.Schema()),
	})
	edits := slices.Collect(plannertest.Edits(f.honest))
	share := len(edits) / suite.Dose(0, 4, 100) // one edit of so many is tried
	left := map[string]int{"header.lineage": 2, "header.environment": 2, "line.signals.kind": 2, "footer.totals.assets.sum": 2}
	var leading, joining [][]byte
	for i, edit := range edits {
		// An edit of the digest that is repaired is the honest plan again.
		forgeries := slices.DeleteFunc(plannertest.Forgeries(edit.Raw), func(raw []byte) bool { return bytes.Equal(raw, f.honest) })
		if left[edit.Field]--; left[edit.Field] >= 0 {
			leading = append(leading, forgeries...)
		}
		if i%share == os.Getpid()%share {
			joining = append(joining, forgeries...)
		}
	}
	if len(leading) < 5 || len(joining) < 3 {
		t.Fatalf("only %d and %d forgeries are tried", len(leading), len(joining))
	}
	dir := f.copied()
	for _, forged := range leading {
		if code, text := f.join(dir, forged); code == 0 || len(f.service.sent()) > 0 {
			t.Fatalf("a forged plan begins a run, exit code %d: %v\n%s", code, f.service.sent(), text)
		}
	}

	// The service answers nothing until everybody has tried to take part.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began, release := make(chan struct{}, len(edits)), make(chan struct{})
	f.service.when(func() {
		began <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
	}, nil)
	f.signAll(filepath.Join(f.origin, "november.plan"))
	led := make(chan string, 1)
	go func() {
		code, stdout, stderr := f.remitIn(ctx, f.origin, "apply", "--join", "--parallelism=1", "november.plan")
		led <- fmt.Sprintf("exit code %d\n%s%s", code, stdout, stderr)
	}()
	select {
	case <-began:
	case text := <-led:
		t.Fatalf("the honest plan is not sent: %s", text)
	}
	for _, forged := range joining {
		var code int
		var text string
		ended := make(chan struct{})
		go func() {
			code, text = f.join(dir, forged)
			close(ended)
		}()
		select {
		case <-ended:
		case <-began:
			t.Fatalf("a forged plan takes part in a run and sends: %v\n%s", f.service.sent(), forged)
		}
		if code == 0 || strings.Contains(text, "Taking part") || len(f.service.sent()) != 1 {
			t.Errorf("a forged plan takes part in a run, exit code %d: %v\n%s", code, f.service.sent(), text)
		}
	}
	joined := make(chan string, 1)
	go func() {
		code, text := f.join(dir, f.honest)
		joined <- fmt.Sprintf("exit code %d\n%s", code, text)
	}()
	select {
	case <-began: // the second one sends, too
	case text := <-joined:
		t.Fatalf("nobody joins: %s", text)
	}
	close(release)
	for _, ended := range []chan string{led, joined} {
		if text := <-ended; !strings.HasPrefix(text, "exit code 0\n") {
			t.Errorf("the honest plan ends with %s", text)
		}
	}
	var sent []string
	for _, post := range f.service.sent() {
		_, refID, _ := strings.Cut(post, `"ref_id":"`)
		refID, _, _ = strings.Cut(refID, `"`)
		sent = append(sent, refID)
	}
	slices.Sort(sent)
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// copied is a copy of the directory of the honest plan.
func (f *forger) copied() string {
	f.Helper()
	dir := filepath.Join(filepath.Dir(f.origin), "joining")
	if err := os.CopyFS(dir, os.DirFS(f.origin)); err != nil {
		f.Fatal(err)
	}
	return dir
}

// join applies a plan, signed by all, in a directory, so that it takes part in the run in progress.
func (f *forger) join(dir string, plan []byte) (int, string) {
	path := filepath.Join(dir, "november.plan")
	if err := os.WriteFile(path, plan, 0o600); err != nil {
		panic(err) // a test's own directory
	}
	f.signAll(path)
	code, stdout, stderr := f.remit(dir, "apply", "--join", "--parallelism=1", "november.plan")
	return code, stdout + stderr
}
