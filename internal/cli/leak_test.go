package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"remit/internal/cli"
)

// TestNothingOfACommandIsKept runs commands in one process, as tests and embedders do: what one of them opened is closed
// when nobody holds it any more. A registry of the process that keeps a command keeps its files open as well.
func TestNothingOfACommandIsKept(t *testing.T) {
	const commands = 60
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte("locals { a = 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not list the files that a process has open")
		}
		return len(names)
	}
	before := open()
	for range commands {
		var stdout, stderr bytes.Buffer
		if code := cli.Run(t.Context(), []string{"validate", "--chdir=" + dir}, strings.NewReader(""), &stdout, &stderr, func(string) (string, bool) { return "", false }); code != 0 {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
	}
	// Finalizers run some time after a collection.
	for deadline := time.Now().Add(5 * time.Minute); open() > before+commands/2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d files are open after %d commands, and %d were before", open(), commands, before)
		}
		runtime.GC()
	}
}
