package sqlite_test

import (
	"errors"
	"fmt"
	"os"
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
	c := newCopies(t)
	use, original, elsewhere := c.use, c.original, c.elsewhere
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

// copies are a state and a copy of it under another path, of one user.
type copies struct {
	*testing.T
	notes               storage.Notebook
	original, elsewhere string
}

func newCopies(t *testing.T) *copies {
	first, original := create(t)
	closed(t, first)
	return &copies{t, storage.Notebook{Kept: []string{t.TempDir()}}, original, filepath.Join(t.TempDir(), "copy.db")}
}

// open opens the one at path.
func (c *copies) open(path string) *sqlite.Store {
	s := reopen(c.T, path)
	s.NoteIn(c.notes)
	return s
}

// use writes entries to the one at path, and returns what it says of itself then.
func (c *copies) use(path string, entries ...state.Entry) state.Meta {
	c.Helper()
	s := c.open(path)
	defer closed(c.T, s)
	if len(entries) > 0 {
		j := lock(c.T, s)
		add(c.T, j, entries...)
		unlock(c.T, j)
	}
	return metaOf(c.T, s)
}

// TestAForkIsNotForgotten has both copies pay by turns, with lookups: neither is ever whole, however often it is used.
func TestAForkIsNotForgotten(t *testing.T) {
	c := newCopies(t)
	c.use(c.original, statetest.Intent("r-1", "run", "10.00"))
	copyState(t, c.original, c.elsewhere, "")
	c.use(c.original, statetest.Intent("r-2", "run 2", "10.00"))
	for n := range 4 {
		for _, path := range []string{c.elsewhere, c.original} {
			run := fmt.Sprint(path, n)
			if meta := c.use(path, statetest.Intent(run, run, "10.00")); meta.Lacks == 0 || !meta.Forked {
				t.Fatalf("%s, use %d: it lacks %d, forked %v", path, n, meta.Lacks, meta.Forked)
			}
		}
	}
}

// TestOfTwoCopiesAtOnceNeitherIsWhole has both begin payments while each holds its own lock.
func TestOfTwoCopiesAtOnceNeitherIsWhole(t *testing.T) {
	c := newCopies(t)
	copyState(t, c.original, c.elsewhere, "")
	a, b := c.open(c.original), c.open(c.elsewhere)
	ja, jb := lock(t, a), lock(t, b)
	add(t, jb, statetest.Intent("r-2", "run 2", "10.00"))
	add(t, ja, statetest.Intent("r-1", "run", "10.00"))
	for _, s := range []*sqlite.Store{a, b} {
		if meta := metaOf(t, s); meta.Lacks == 0 || !meta.Forked {
			t.Errorf("it lacks %d, forked %v", meta.Lacks, meta.Forked)
		}
	}
	unlock(t, ja)
	unlock(t, jb)
	closed(t, a)
	closed(t, b)
}

// TestAnOlderCopyThatPaysNothingLeavesTheNewestWhole puts the newest copy back after a look at an older one.
func TestAnOlderCopyThatPaysNothingLeavesTheNewestWhole(t *testing.T) {
	c := newCopies(t)
	older, newest := filepath.Join(t.TempDir(), "older.db"), filepath.Join(t.TempDir(), "newest.db")
	c.use(c.original, statetest.Intent("r-1", "run", "10.00"))
	copyState(t, c.original, older, "")
	c.use(c.original, statetest.Intent("r-2", "run 2", "10.00"))
	copyState(t, c.original, newest, "")
	copyState(t, older, c.original, "")
	if meta := c.use(c.original, statetest.Outcome("r-1", "run", state.SourceAnswer, state.Refused)); meta.Lacks == 0 {
		t.Error("the older copy is whole")
	}
	copyState(t, newest, c.original, "")
	if meta := c.use(c.original); meta.Lacks > 0 {
		t.Errorf("the newest copy lacks %d", meta.Lacks)
	}
}

// TestACopyWithoutNotesOfItsLineageIsToldByThoseOfItsPath has another user pay from an older copy in the place of the state: the note of
// that branch is beside it.
func TestACopyWithoutNotesOfItsLineageIsToldByThoseOfItsPath(t *testing.T) {
	c := newCopies(t)
	older, newest := filepath.Join(t.TempDir(), "older.db"), filepath.Join(t.TempDir(), "newest.db")
	copyState(t, c.original, older, "")
	c.use(c.original, statetest.Intent("r-1", "run", "10.00"))
	copyState(t, c.original, newest, "")
	copyState(t, older, c.original, "")
	c.notes = storage.Notebook{} // the other user has none
	c.use(c.original, statetest.Intent("r-2", "run 2", "10.00"))
	copyState(t, newest, c.original, "")
	if meta := c.use(c.original); meta.Lacks == 0 || !meta.Forked || meta.Elsewhere {
		t.Errorf("the newest copy has what was paid from the older one: %+v", meta)
	}
}

// TestAPaymentThatWasNotNotedIsNotedByTheNextLock has a process die between its commit and the note, of a whole state and of a branch.
func TestAPaymentThatWasNotNotedIsNotedByTheNextLock(t *testing.T) {
	c := newCopies(t)
	dies := func(path, refID string) { // it leaves the notes of the user as they were before its payment
		t.Helper()
		before := map[string][]byte{}
		files, _ := filepath.Glob(filepath.Join(c.notes.Kept[0], "newest-????????-*"))
		for _, file := range files {
			before[file], _ = os.ReadFile(file)
		}
		c.use(path, statetest.Intent(refID, refID, "10.00"))
		for file, content := range before {
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := c.open(path)
		unlock(t, lock(t, s))
		closed(t, s)
	}
	c.use(c.original, statetest.Intent("r-1", "run", "10.00"))
	copyState(t, c.original, c.elsewhere, "")
	dies(c.original, "r-2")
	if meta := c.use(c.elsewhere); meta.Lacks == 0 || meta.Forked {
		t.Errorf("the copy has what was paid from the original: %+v", meta)
	}
	c.use(c.elsewhere, statetest.Intent("r-3", "run 3", "10.00"))
	noted := c.use(c.original).Lacks
	dies(c.elsewhere, "r-4")
	if meta := c.use(c.original); meta.Lacks <= noted {
		t.Errorf("of a branch event %d is noted, and not a later one than %d", meta.Lacks, noted)
	}
}

// TestANoteThatFailsInARunIsTold has a disk fail in the middle of a run, for which a directory stands in the place of a note, and be
// mended before its end.
func TestANoteThatFailsInARunIsTold(t *testing.T) {
	c := newCopies(t)
	c.use(c.original, statetest.Intent("r-1", "run", "10.00"))
	s := c.open(c.original)
	j := lock(t, s)
	told := func(want int) {
		t.Helper()
		if got := j.(state.Noting).Unnoted(); len(got) != want {
			t.Errorf("unnoted are %v, not %d", got, want)
		}
	}
	told(0)
	notes, _ := filepath.Glob(filepath.Join(c.notes.Kept[0], "newest-????????-*"))
	if err := errors.Join(os.Remove(notes[0]), os.Mkdir(notes[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	add(t, j, statetest.Intent("r-2", "run", "10.00"))
	told(1)
	if err := os.Remove(notes[0]); err != nil {
		t.Fatal(err)
	}
	add(t, j, statetest.Intent("r-3", "run", "10.00"))
	told(0)
	unlock(t, j)
	closed(t, s)
}
