package storage_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"remit/state/storage"
)

// TestWhichUnwrittenNotesAreMissed has a note fail, that is there or not, and another one be written or not.
func TestWhichUnwrittenNotesAreMissed(t *testing.T) {
	for what, test := range map[string]struct {
		err                     error
		isThere, isOtherWritten bool
		want                    int
	}{
		"no room":                                          {syscall.ENOSPC, true, false, 1},
		"no room to make it":                               {syscall.ENOSPC, false, false, 1},
		"no room, and another was written":                 {syscall.ENOSPC, true, true, 1},
		"no room to make it, and another was written":      {syscall.ENOSPC, false, true, 0},
		"a broken disk":                                    {syscall.EIO, true, true, 1},
		"a read-only file system":                          {syscall.EROFS, true, false, 1},
		"a read-only file system, and another was written": {syscall.EROFS, true, true, 0},
		"denied, which is told before":                     {fs.ErrPermission, true, false, 0},
		"no home":                                          {syscall.ENOTDIR, false, false, 0},
	} {
		t.Run(what, func(t *testing.T) {
			var unnoted storage.Unnoted
			path := filepath.Join(t.TempDir(), "newest-a")
			if test.isThere {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			unnoted.Add(path, &fs.PathError{Op: "write", Path: path, Err: test.err})
			if test.isOtherWritten {
				other := storage.OpenSeen(filepath.Join(t.TempDir(), "newest-b"), "lineage", true, &unnoted)
				other.Write(1, "hash")
				defer func() { _ = other.Close() }()
			}
			if got := unnoted.Unnoted(); len(got) != test.want {
				t.Errorf("missed are %v", got)
			}
		})
	}
}

// TestANoteThatIsWrittenAgainIsNotMissed has a directory stand in the place of a note for a while.
func TestANoteThatIsWrittenAgainIsNotMissed(t *testing.T) {
	var unnoted storage.Unnoted
	path := filepath.Join(t.TempDir(), "newest-a")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		note := storage.OpenSeen(path, "lineage", true, &unnoted)
		note.Write(1, "hash")
		if got := unnoted.Unnoted(); len(got) != want {
			t.Errorf("missed are %v, not %d", got, want)
		}
		_ = note.Close()
		_ = os.Remove(path)
	}
}
