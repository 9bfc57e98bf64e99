package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

// clock stands still: the journal dates events as late as the one before them.
func clock() time.Time { return time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC) }

var options = sqlite.Options{Now: clock}

func create(t testing.TB) (*sqlite.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "remit.db")
	s, err := sqlite.Create(t.Context(), path, statetest.Created(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	return s, path
}

func reopen(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	return s
}

func closed(t testing.TB, s *sqlite.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func lock(t testing.TB, s state.Store) state.Journal {
	t.Helper()
	j, err := s.Lock(t.Context(), statetest.Holder("apply"), 0)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func unlock(t testing.TB, j state.Journal) {
	t.Helper()
	if err := j.Unlock(); err != nil {
		t.Errorf("unlock: %v", err)
	}
}

func add(t testing.TB, j state.Journal, entries ...state.Entry) {
	t.Helper()
	if err := j.Append(context.WithoutCancel(t.Context()), entries...); err != nil {
		t.Fatal(err)
	}
}

// rows reads all rows of a state.
func rows(t testing.TB, s state.Store) []state.Transfer {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var list []state.Transfer
	for row, err := range snap.Transfers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}

// TestConformance runs the suite at the usual pace of folds, under which a test of the suite
// folds at the end of a lock alone, and at one under which each commit begins or goes on
// with a fold.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, pace := range map[string]func(*sqlite.Store){
		"folding at the end":    func(*sqlite.Store) {},
		"folding all the while": func(s *sqlite.Store) { s.Pace(2, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			statetest.Run(t, func(t *testing.T) statetest.Harness {
				path := filepath.Join(t.TempDir(), "remit.db")
				opened := func(t *testing.T, s *sqlite.Store, err error) state.Store {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
					pace(s)
					return s
				}
				return statetest.Harness{
					Create: func(t *testing.T, created state.Created, now func() time.Time) state.Store {
						s, err := sqlite.Create(t.Context(), path, created, sqlite.Options{Now: now})
						return opened(t, s, err)
					},
					Open: func(t *testing.T, now func() time.Time) state.Store {
						s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: now})
						return opened(t, s, err)
					},
				}
			})
		})
	}
}

func TestOpenMakesNothingAndSaysWhatIsThere(t *testing.T) {
	broken := func(change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			s, err := sqlite.Create(t.Context(), path, statetest.Created(), options)
			if err != nil {
				t.Fatal(err)
			}
			closed(t, s)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, string)
		want    error
	}{
		"nothing":          {func(*testing.T, string) {}, state.ErrMissing},
		"a file of 0 byte": {broken(func([]byte) []byte { return nil }), state.ErrEmpty},
		"a directory": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, state.ErrNotFile},
		"a file of something else": {broken(func([]byte) []byte { return []byte(strings.Repeat("hello ", 2000)) }), state.ErrForeign},
		"a file that was cut off":  {broken(func(b []byte) []byte { return b[:len(b)/2] }), state.ErrDamaged},
		"a database of another program": {broken(func(b []byte) []byte {
			copy(b[68:72], "else") // application_id in SQLite's header
			return b
		}), state.ErrForeign},
		"a newer schema": {broken(func(b []byte) []byte {
			b[63] = 99 // user_version in SQLite's header
			return b
		}), state.ErrNewer},
	} {
		for how, open := range map[string]func(context.Context, string) (*sqlite.Store, error){
			"for writing": func(ctx context.Context, path string) (*sqlite.Store, error) {
				return sqlite.Open(ctx, path, options)
			},
			"for reading": sqlite.OpenReadOnly,
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "remit.db")
				c.prepare(t, path)
				before := listing(t, path)
				s, err := open(t.Context(), path)
				if err == nil {
					closed(t, s)
				}
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if diff := cmp.Diff(before, listing(t, path)); diff != "" {
					t.Errorf("the directory changed:\n%s", diff)
				}
			})
		}
	}
}

// listing is the state's directory: names and contents. SQLite's own side files, and the lock's,
// are left out where they are empty of news.
func listing(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]string)
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), "-shm") || strings.HasSuffix(e.Name(), ".lock") || strings.HasPrefix(e.Name(), ".remit-newest-") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > 0 || e.Name() == filepath.Base(path) {
			list[e.Name()] = string(content)
		}
	}
	return list
}

func TestCreateReplacesNothing(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	unlock(t, j)
	if _, err := sqlite.Create(t.Context(), path, statetest.Created(), options); !errors.Is(err, state.ErrExists) {
		t.Errorf("over a state: %v", err)
	}
	if got := rows(t, s); len(got) != 1 {
		t.Errorf("the state changed: %v", got)
	}
	for name, file := range map[string]string{"a log that another state left": "remit.db-wal", "a file": "remit.db"} {
		path := filepath.Join(t.TempDir(), "remit.db")
		left := filepath.Join(filepath.Dir(path), file)
		if err := os.WriteFile(left, []byte("news"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.Create(t.Context(), path, statetest.Created(), options); !errors.Is(err, state.ErrExists) {
			t.Errorf("over %s: %v", name, err)
		}
		if content, err := os.ReadFile(left); err != nil || string(content) != "news" {
			t.Errorf("%s changed: %q, %v", name, content, err)
		}
	}
	if _, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "none", "remit.db"), statetest.Created(), options); err == nil {
		t.Error("made a directory")
	}
	bad := statetest.Created()
	bad.Lineage = ""
	empty := filepath.Join(t.TempDir(), "remit.db")
	if _, err := sqlite.Create(t.Context(), empty, bad, options); err == nil {
		t.Error("made a state without a lineage")
	}
	if diff := cmp.Diff(map[string]string{}, listing(t, empty)); diff != "" {
		t.Errorf("a failure left something behind:\n%s", diff)
	}
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	over, err := sqlite.Create(t.Context(), empty, statetest.Created(), options)
	if err != nil {
		t.Fatalf("over an empty file: %v", err)
	}
	closed(t, over)
}

func TestCreateWaitsForNobodyWhoHoldsTheLock(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	defer unlock(t, j)
	var locked *state.LockedError
	if _, err := sqlite.Create(t.Context(), path, statetest.Created(), options); !errors.As(err, &locked) {
		t.Errorf("got %v", err)
	}
}

func TestAllFilesAreThoseOfTheirOwnerAlone(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	backup := filepath.Join(filepath.Dir(path), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	if diff := cmp.Diff([]string{".remit-newest-remit.db", "backup.db", "remit.db", "remit.db-shm", "remit.db-wal", "remit.db.lock"}, names); diff != "" {
		t.Errorf("the files:\n%s", diff)
	}
	unlock(t, j)
}

func TestOpenReadOnlyWorksBesideAWriter(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	reader, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, reader)
	for _, refID := range []string{"b", "c"} {
		add(t, j, statetest.Intent(refID, "run", "10.00"))
		if diff := cmp.Diff(len(rows(t, s)), len(rows(t, reader))); diff != "" {
			t.Errorf("the reader lags:\n%s", diff)
		}
	}
	if _, err := reader.Lock(t.Context(), statetest.Holder("plan"), 0); err == nil {
		t.Error("a reader locked")
	}
	if err := reader.ForceUnlock(t.Context(), statetest.Holder("plan"), state.Clocks{}, "why not"); err == nil {
		t.Error("a reader took a lock away")
	}
	unlock(t, j)
	if got := rows(t, reader); len(got) != 3 {
		t.Errorf("%d rows after the lock", len(got))
	}
	if err := reader.Backup(t.Context(), path+".copy"); err != nil {
		t.Errorf("a reader can't make a copy: %v", err)
	}
}

func TestAFileThatWasReplacedIsNotWrittenTo(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := j.Check(t.Context()); !errors.Is(err, state.ErrReplaced) {
		t.Errorf("check got %v", err)
	}
	if err := j.Append(t.Context(), statetest.Intent("b", "run", "10.00")); !errors.Is(err, state.ErrReplaced) {
		t.Errorf("append got %v", err)
	}
	if err := os.Rename(path+".moved", path); err != nil {
		t.Fatal(err)
	}
	// A failed append may have been half done: the journal does not go on.
	if err := j.Append(t.Context(), statetest.Intent("b", "run", "10.00")); !errors.Is(err, state.ErrReplaced) {
		t.Errorf("append after the file came back got %v", err)
	}
	if err := j.Unlock(); !errors.Is(err, state.ErrReplaced) {
		t.Errorf("unlock got %v", err)
	}
	unlock(t, lock(t, s))
}

func TestBackupIsAStateOfItsOwn(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"), statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded))
	to := path + ".backup"
	if err := s.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a backup: %v", err)
	}
	add(t, j, statetest.Intent("b", "run", "10.00"))
	unlock(t, j)
	reader, err := sqlite.OpenReadOnly(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Verify(t.Context(), ""); err != nil {
		t.Error(err)
	}
	closed(t, reader)
	copied := reopen(t, to)
	if got := rows(t, copied); len(got) != 1 || got[0].Status != state.Recorded {
		t.Errorf("the backup has %v", got)
	}
	j = lock(t, copied)
	add(t, j, statetest.Intent("c", "run", "10.00"))
	unlock(t, j)
}
