package wholefile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"remit/internal/files/wholefile"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan")
	write := func(text string, failure error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, failure)
		}
	}
	if err := wholefile.Replace(path, 0o640, write("old", nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := wholefile.Replace(path, 0o640, write("ne", broken)); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	hold(t, path, "old")
	if err := wholefile.Replace(path, 0o600, write("new", nil)); err != nil {
		t.Fatal(err)
	}
	hold(t, path, "new")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something was left behind: %v, %v", entries, err)
	}
	if err := wholefile.Replace(filepath.Join(dir, "none", "plan"), 0o600, write("x", nil)); err == nil {
		t.Error("a directory that is not there was written to")
	}
}

func hold(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("it has %q, %v; want %q", got, err, want)
	}
}

func TestPublishReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	finished, path := filepath.Join(dir, "finished"), filepath.Join(dir, "name")
	if err := os.WriteFile(finished, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Publish(finished, path); err != nil {
		t.Fatal(err)
	}
	hold(t, path, "new")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Publish(finished, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	hold(t, path, "kept")
	if err := wholefile.Publish(filepath.Join(dir, "nothing"), filepath.Join(dir, "other")); err == nil {
		t.Error("nothing was published")
	}
}
