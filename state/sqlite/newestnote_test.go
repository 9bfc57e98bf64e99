package sqlite_test

import (
	"path/filepath"
	"testing"

	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
	"remit/state/storage"
)

// TestCopiesThatWereUsedLackWhatTheOthersHave writes to three copies of a state under one path, one after the other: whichever is
// there, it lacks events, until one of them is complete. The others are older copies then.
func TestCopiesThatWereUsedLackWhatTheOthersHave(t *testing.T) {
	notes := storage.Notebook{Kept: []string{t.TempDir()}}
	first, path := create(t)
	closed(t, first)
	dir := t.TempDir()
	copies := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		copies[name] = filepath.Join(dir, name)
		copyState(t, path, copies[name], "")
	}
	inPlace := func(name string, use func(*sqlite.Store)) {
		t.Helper()
		copyState(t, copies[name], path, "")
		s := reopen(t, path)
		s.NoteIn(notes)
		use(s)
		closed(t, s)
		copyState(t, path, copies[name], "")
	}
	for _, name := range []string{"a", "b", "c"} {
		inPlace(name, func(s *sqlite.Store) {
			j := lock(t, s)
			add(t, j, statetest.Intent(name, "run", "10.00"))
			unlock(t, j)
		})
	}
	lacks := func(name string, want, forked bool) {
		t.Helper()
		inPlace(name, func(s *sqlite.Store) {
			if meta := metaOf(t, s); meta.Lacks > 0 != want || meta.Forked != forked {
				t.Errorf("copy %s lacks %d, forked %v", name, meta.Lacks, meta.Forked)
			}
		})
	}
	for name := range copies {
		lacks(name, true, true)
	}
	inPlace("b", func(s *sqlite.Store) {
		j := lock(t, s)
		add(t, j, statetest.Intent("d", "run 2", "10.00"))
		if err := j.(state.Completer).Complete(); err != nil {
			t.Fatal(err)
		}
		unlock(t, j)
	})
	lacks("b", false, false)
	lacks("a", true, false)
	lacks("c", true, false)
}

// TestACopyUnderAnotherPathLacksWhatWasPaid tries copies of a state elsewhere: one that pays nothing stops nobody, and one that
// does, or from whose original somebody did, is told from a whole one.
func TestACopyUnderAnotherPathLacksWhatWasPaid(t *testing.T) {
	notes := storage.Notebook{Kept: []string{t.TempDir()}}
	first, original := create(t)
	closed(t, first)
	elsewhere := filepath.Join(t.TempDir(), "copy.db")
	use := func(path string, entries ...state.Entry) state.Meta {
		t.Helper()
		s := reopen(t, path)
		s.NoteIn(notes)
		defer closed(t, s)
		if len(entries) > 0 {
			j := lock(t, s)
			add(t, j, entries...)
			unlock(t, j)
		}
		return metaOf(t, s)
	}
	use(original, statetest.Intent("r-1", "run", "10.00"))
	copyState(t, original, elsewhere, "")
	if meta := use(elsewhere, statetest.Outcome("r-1", "run", state.SourceAnswer, state.Refused)); meta.Lacks > 0 {
		t.Errorf("a copy that has all lacks %d", meta.Lacks)
	}
	if meta := use(original); meta.Lacks > 0 {
		t.Errorf("a copy that paid nothing has the original lack %d", meta.Lacks)
	}
	use(original, statetest.Intent("r-2", "run 2", "10.00"))
	if meta := use(elsewhere); meta.Lacks == 0 || meta.Forked || !meta.Elsewhere {
		t.Errorf("the copy has what was paid after it: %+v", meta)
	}
	use(elsewhere, statetest.Intent("r-3", "run 3", "10.00"))
	for _, path := range []string{original, elsewhere} {
		if meta := use(path); meta.Lacks == 0 || !meta.Forked {
			t.Errorf("%s has what was paid from the other: %+v", path, meta)
		}
	}
}

func metaOf(t testing.TB, s state.Store) state.Meta {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = snap.Close() }() // it was only read
	return snap.Meta()
}
