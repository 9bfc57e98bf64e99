package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"remit/internal/cli"
	"remit/internal/cli/exit"
	"remit/internal/clock/boot"
	"remit/internal/proof/suite"
	"remit/internal/sandbox"
)

// TestACancelledRunIsInterrupted cancels an apply in its middle, and one that has not begun: a program that
// embeds remit gets the exit code of an interrupt, whatever the cause says, and the next apply pays the
// rest.
func TestACancelledRunIsInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		want  int
	}{
		"without a cause, as by Ctrl-C": {nil, 130},
		"by another cause":              {context.DeadlineExceeded, 130},
		"SIGINT":                        {exit.Interrupt{Signal: syscall.SIGINT}, 130},
		"SIGTERM":                       {exit.Interrupt{Signal: syscall.SIGTERM}, 143},
		"SIGHUP":                        {exit.Interrupt{Signal: syscall.SIGHUP}, 129},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const rows, stopAt = 40, 5
			box, err := sandbox.Open(t.Context(), sandbox.Options{Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			var made atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				box.ServeHTTP(w, r)
				if r.URL.Path != sandbox.TokenPath && made.Add(1) == stopAt {
					cancel(c.cause)
				}
			}))
			t.Cleanup(func() {
				server.Close()
				_ = box.Close()
			})
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "main.hcl"), interruptedDeclaration(server.URL, rows))
			remit := func(ctx context.Context, args ...string) (int, string) {
				var out bytes.Buffer
				code := cli.Run(ctx, append(args, "--chdir="+dir), strings.NewReader(""), &out, &out, func(string) (string, bool) { return "", false })
				return code, out.String()
			}
			if code, out := remit(t.Context(), "init"); code != 0 {
				t.Fatalf("init ends with %d:\n%s", code, out)
			}
			code, out := remit(ctx, "apply", "--auto-approve")
			if code != c.want {
				t.Errorf("an apply that was cancelled in its middle ends with %d, want %d:\n%s", code, c.want, out)
			}
			if code, out = remit(ctx, "apply", "--auto-approve"); code != c.want {
				t.Errorf("an apply that was cancelled before its begin ends with %d, want %d:\n%s", code, c.want, out)
			}
			if code, out = remit(t.Context(), "apply", "--auto-approve"); code != 0 || made.Load() != rows {
				t.Errorf("the next apply ends with %d, and %d of %d were made:\n%s", code, made.Load(), rows, out)
			}
		})
	}
}

// TestAnInterruptedTreeEndsAtOnce interrupts plan --recursive at each moment at which it looks at the clock: it ends with 130, and
// shows no table of the configurations that it had read.
func TestAnInterruptedTreeEndsAtOnce(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, fmt.Sprint(i), "main.hcl"), interruptedDeclaration("http://127.0.0.1:1", 3))
	}
	interrupted := 0
	for at := int64(1); ; at++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		var looks atomic.Int64
		now := func() time.Time {
			if looks.Add(1) == at {
				cancel(exit.Interrupt{Signal: syscall.SIGINT})
			}
			return time.Now()
		}
		var out, said bytes.Buffer
		code := cli.RunOn(ctx, cli.Machine{Now: now, Boot: boot.Clock()}, []string{"plan", "--recursive", "--sandbox", "--chdir=" + dir}, strings.NewReader(""), &out, &said, func(string) (string, bool) { return "", false })
		cancel(nil)
		if looks.Load() < at {
			if code != 0 {
				t.Errorf("without an interrupt it ends with %d:\n%s", code, &said)
			}
			break
		}
		if interrupted++; code != 130 || out.Len() > 0 {
			t.Errorf("interrupted at look %d it ends with %d:\n%s%s", at, code, &out, &said)
		}
	}
	if interrupted < 4 {
		t.Errorf("it was interrupted %d times", interrupted)
	}
}

func interruptedDeclaration(url string, rows int) string {
	return fmt.Sprintf(`
service {
  base_url      = %[1]q
  token_url     = "%[1]s%[2]s"
  client_id     = %[3]q
  client_secret = %[4]q
  max_in_flight = 2
}
transfer "internal" "pay" {
  for_each        = toset([for n in range(%[5]d) : tostring(n)])
  ref_id          = "pay-${each.key}"
  from_profile_id = "treasury"
  to_profile_id   = "payee-${each.key}"
  amount          = "1.00"
  asset           = "USD"
}
`, url, sandbox.TokenPath, sandbox.DefaultClientID, sandbox.DefaultClientSecret, rows)
}

// TestAnInterruptedPlanFileIsNoBadPlan interrupts commands that read a saved plan at each moment at which they ask whether
// they are: they blame neither the plan nor ask for a new one.
func TestAnInterruptedPlanFileIsNoBadPlan(t *testing.T) {
	for _, line := range []string{"show november.plan", "graph november.plan", "apply --rehearse november.plan", "plan --against=november.plan"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dir := savedPlanOf(t, 3)
			words := strings.Fields(line + " --sandbox --chdir=" + dir)
			interrupted := 0
			for at := int64(1); ; at++ {
				base, cancel := context.WithCancelCause(t.Context())
				ctx := &asked{Context: base, at: at, interrupt: func() { cancel(exit.Interrupt{Signal: syscall.SIGINT}) }}
				said := new(suite.Output)
				code := cli.RunOn(ctx, cli.Machine{Now: time.Now, Boot: boot.Clock()}, words, strings.NewReader(""), io.Discard, said, func(string) (string, bool) { return "", false })
				cancel(nil)
				for _, blame := range []string{"cannot be", "plan --out", "context canceled"} {
					if strings.Contains(said.String(), blame) {
						t.Errorf("interrupted at look %d it says %q:\n%s", at, blame, said.String())
					}
				}
				if ctx.times.Load() < at {
					break
				}
				if interrupted++; code != 130 && code != 0 { // 0 where nothing was left to do
					t.Errorf("interrupted at look %d it ends with %d:\n%s", at, code, said.String())
				}
			}
			if interrupted < 3 {
				t.Errorf("it was interrupted %d times", interrupted)
			}
		})
	}
}

// TestAnInterruptedApplyIsNoBadState interrupts an apply while it makes its state.
func TestAnInterruptedApplyIsNoBadState(t *testing.T) {
	for at := int64(2); at <= 20; at += 3 {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "main.hcl"), interruptedDeclaration("http://127.0.0.1:1", 1))
		base, cancel := context.WithCancelCause(t.Context())
		ctx := &asked{Context: base, at: at, interrupt: func() { cancel(exit.Interrupt{Signal: syscall.SIGINT}) }}
		var said bytes.Buffer
		code := cli.RunOn(ctx, cli.Machine{Now: time.Now, Boot: boot.Clock()}, []string{"apply", "--sandbox", "--auto-approve", "--chdir=" + dir}, strings.NewReader(""), io.Discard, &said, func(string) (string, bool) { return "", false })
		cancel(nil)
		if code != 130 || strings.Contains(said.String(), "context canceled") {
			t.Errorf("interrupted at look %d it ends with %d:\n%s", at, code, &said)
		}
	}
}

// asked is a context that is interrupted when it is asked for the at-th time.
type asked struct {
	context.Context
	at        int64
	times     atomic.Int64
	interrupt func()
}

// Err implements context.Context.
func (a *asked) Err() error {
	if a.times.Add(1) == a.at {
		a.interrupt()
	}
	return a.Context.Err()
}

// TestAnInterruptedShowWritesNothingBetweenItsLines interrupts show --json while it writes.
func TestAnInterruptedShowWritesNothingBetweenItsLines(t *testing.T) {
	dir := savedPlanOf(t, 1_000)
	ctx, cancel := context.WithCancelCause(t.Context())
	out := &interrupting{interrupt: func() { cancel(exit.Interrupt{Signal: syscall.SIGINT}) }}
	said := new(suite.Output)
	code := cli.RunOn(ctx, cli.Machine{Now: time.Now, Boot: boot.Clock()}, []string{"show", "november.plan", "--json", "--show=all", "--sandbox", "--chdir=" + dir},
		strings.NewReader(""), out, said, func(string) (string, bool) { return "", false })
	if code != 130 && code != 0 || strings.Contains(said.String(), "Error") { // 0 where it was done before anybody looked
		t.Errorf("it ends with %d:\n%s", code, said.String())
	}
	written := out.String()
	if strings.Contains(written, `"error"`) {
		t.Error("it writes an error beside the lines")
	}
	lines := strings.SplitAfter(written, "\n")
	for n, line := range lines[:len(lines)-1] { // the last one may be cut off
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d of %d is %q", n+1, len(lines), line)
		}
	}
}

// interrupting interrupts who writes to it, the first time, and is slow.
type interrupting struct {
	suite.Output
	interrupt func()
	once      sync.Once
}

// Write implements io.Writer.
func (i *interrupting) Write(p []byte) (int, error) {
	i.once.Do(i.interrupt)
	time.Sleep(60 * time.Millisecond)
	return i.Output.Write(p)
}

// savedPlanOf is a directory with a saved plan of so many transfers for the sandbox, november.plan.
func savedPlanOf(t *testing.T, rows int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), interruptedDeclaration("http://127.0.0.1:1", rows))
	var out bytes.Buffer
	if code := cli.Run(t.Context(), []string{"plan", "--sandbox", "--out=november.plan", "--chdir=" + dir}, strings.NewReader(""), &out, &out, func(string) (string, bool) { return "", false }); code != 0 {
		t.Fatalf("plan ends with %d:\n%s", code, &out)
	}
	return dir
}
