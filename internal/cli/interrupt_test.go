package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"remit/internal/cli"
	"remit/internal/cli/exit"
	"remit/internal/clock/boot"
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
