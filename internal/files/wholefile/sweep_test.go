package wholefile_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"remit/internal/files/wholefile"
)

// TestWhatAKilledProcessLeftIsRemoved has a file of a process that died beside those of one that lives, of another
// file and of nobody.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".remit-lock.hcl-123", ".remit-other.hcl-123", ".remit-123"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("lock.hcl", filepath.Join(dir, ".remit-lock.hcl-link")); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(dir, "lock.hcl")
	err := wholefile.Replace(path, 0o644, func(w io.Writer) error {
		if _, err := io.WriteString(w, "outer"); err != nil {
			return err
		}
		// Another process does the same meanwhile.
		return wholefile.Replace(path, 0o644, func(w io.Writer) error {
			_, err := io.WriteString(w, "inner")
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "outer" {
		t.Errorf("%q, %v", content, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{".remit-123", ".remit-lock.hcl-link", ".remit-other.hcl-123", "lock.hcl"}; !slices.Equal(names, want) {
		t.Errorf("there are %q, want %q", names, want)
	}
}
