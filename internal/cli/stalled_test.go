package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"remit/internal/cli"
	"remit/internal/sandbox"
)

// TestAReaderThatStandsStillStopsNoRun has an apply whose reader stops in its middle, as `| less` does: each payment is made and recorded, the
// lock is let go, and all lines are there once somebody reads on. An interrupt ends the wait.
func TestAReaderThatStandsStillStopsNoRun(t *testing.T) {
	const rows = 400 // whose lines are more than a pipe takes
	noEnv := func(string) (string, bool) { return "", false }
	begin := func(t *testing.T, ctx context.Context) (dir string, out *bufio.Reader, end <-chan int, made *atomic.Int64) {
		t.Helper()
		box, err := sandbox.Open(t.Context(), sandbox.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		made = new(atomic.Int64)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			box.ServeHTTP(w, r)
			if r.URL.Path != sandbox.TokenPath {
				made.Add(1)
			}
		}))
		t.Cleanup(func() {
			server.Close()
			_ = box.Close()
		})
		dir = t.TempDir()
		writeFile(t, filepath.Join(dir, "main.hcl"), interruptedDeclaration(server.URL, rows))
		var said bytes.Buffer
		if code := cli.Run(t.Context(), []string{"init", "--chdir=" + dir}, strings.NewReader(""), &said, &said, noEnv); code != 0 {
			t.Fatalf("init ends with %d:\n%s", code, &said)
		}
		read, written, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = read.Close() })
		ended := make(chan int, 1)
		go func() {
			code := cli.Run(ctx, []string{"apply", "--json", "--auto-approve", "--chdir=" + dir}, strings.NewReader(""), written, io.Discard, noEnv)
			_ = written.Close()
			ended <- code
		}()
		return dir, bufio.NewReaderSize(read, 64), ended, made
	}
	line := func(t *testing.T, out *bufio.Reader) string {
		t.Helper()
		text, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	status := func(dir string) int {
		return cli.Run(t.Context(), []string{"status", "--chdir=" + dir}, strings.NewReader(""), io.Discard, io.Discard, noEnv)
	}
	// untilRecorded reads up to the first payment, and then waits for all of them without reading on.
	untilRecorded := func(t *testing.T, dir string, out *bufio.Reader) {
		t.Helper()
		for !strings.Contains(line(t, out), `"type":"settled"`) {
		}
		for status(dir) != 0 {
			if t.Context().Err() != nil {
				t.Fatal("not all is recorded")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}

	t.Run("and reads on", func(t *testing.T) {
		t.Parallel()
		dir, out, end, made := begin(t, t.Context())
		untilRecorded(t, dir, out)
		var again bytes.Buffer
		if code := cli.Run(t.Context(), []string{"apply", "--auto-approve", "--lock-timeout=1m", "--chdir=" + dir}, strings.NewReader(""), &again, &again, noEnv); code != 0 {
			t.Errorf("the next apply ends with %d:\n%s", code, &again)
		}
		settled, last := 1, ""
		for {
			text, err := out.ReadString('\n')
			if err != nil {
				break
			}
			last = text
			if strings.Contains(text, `"type":"settled"`) {
				settled++
			}
		}
		if code := <-end; code != 0 || settled != rows || !strings.Contains(last, `"type":"run_summary"`) || made.Load() != rows {
			t.Errorf("it ends with %d, %d of %d lines, %d requests, and last %s", code, settled, rows, made.Load(), last)
		}
	})
	t.Run("and is interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		dir, out, end, _ := begin(t, ctx)
		untilRecorded(t, dir, out)
		cancel()
		if code := <-end; code != 130 {
			t.Errorf("it ends with %d", code)
		}
	})
	t.Run("before the run, and is interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		_, out, end, made := begin(t, ctx)
		line(t, out) // the first one of the plan
		cancel()
		if code := <-end; code != 130 || made.Load() != 0 {
			t.Errorf("it ends with %d and %d requests", code, made.Load())
		}
	})
}
