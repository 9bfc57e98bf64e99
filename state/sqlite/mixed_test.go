package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

const pageSize = 4096 // of SQLite, in files of ours

// times are the files of one state as they were one after the other: closed, killed with a log, closed
// again, and so on.
type times []map[string][]byte

func history(t testing.TB) times {
	t.Helper()
	path := filepath.Join(t.TempDir(), "remit.db")
	s, err := sqlite.Create(t.Context(), path, statetest.Created(), options)
	if err != nil {
		t.Fatal(err)
	}
	var all times
	for at, rows := range []int{2, 12, 60, 90} {
		run := fmt.Sprint("run-", at)
		j := lock(t, s)
		all = append(all, readFiles(t, path)) // as a kill would leave them
		add(t, j, state.Begun{RunID: run, By: statetest.Holder("apply")})
		all = append(all, readFiles(t, path))
		for i := range rows {
			refID := fmt.Sprintf("%s-%03d", run, i*37%rows)
			add(t, j, statetest.Intent(refID, run, "10.00"))
			add(t, j, statetest.Outcome(refID, run, state.SourceAnswer, state.Recorded))
		}
		all = append(all, readFiles(t, path))
		add(t, j, state.Ended{RunID: run})
		unlock(t, j)
		closed(t, s)
		all = append(all, readFiles(t, path))
		if s, err = sqlite.Open(t.Context(), path, options); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	return all
}

func readFiles(t testing.TB, path string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		files[suffix] = content
	}
	return files
}

// damage makes files out of those of a history: a database and a log of any two times, cut, with pages
// swapped, taken from another time, or overwritten.
func damage(all times, seed uint64) map[string][]byte {
	r := rand.New(rand.NewPCG(seed, 18))
	db := bytes.Clone(all[r.IntN(len(all))][""])
	log := bytes.Clone(all[r.IntN(len(all))]["-wal"])
	page := func(of []byte) []byte {
		if len(of) < pageSize {
			return nil
		}
		at := r.IntN(len(of)/pageSize) * pageSize
		return of[at : at+pageSize]
	}
	for range r.IntN(3) {
		switch r.IntN(6) {
		case 0:
			db = db[:r.IntN(len(db)+1)]
		case 1:
			a, b := page(db), page(db)
			kept := bytes.Clone(a)
			copy(a, b)
			copy(b, kept)
		case 2:
			copy(page(db), page(all[r.IntN(len(all))][""]))
		case 3:
			if at := page(db); at != nil {
				at[r.IntN(pageSize)] ^= byte(1 << r.IntN(8))
			}
		case 4:
			log = log[:r.IntN(len(log)+1)]
		case 5:
			if len(log) > 0 {
				log[r.IntN(len(log))] ^= byte(1 << r.IntN(8))
			}
		}
	}
	return map[string][]byte{"": db, "-wal": log}
}

// try reads, verifies, locks and writes files, and fails the test where one that is verified as
// whole can't be used, or where anything panics.
func try(t *testing.T, files map[string][]byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "remit.db")
	for suffix, content := range files {
		if suffix != "" && len(content) == 0 {
			continue
		}
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	isWhole := false
	if s, err := sqlite.OpenReadOnly(t.Context(), path); err == nil {
		_, verified := s.Verify(t.Context(), "")
		isWhole = verified == nil
		read(t, s)
		closed(t, s)
	}
	s, err := sqlite.Open(t.Context(), path, options)
	if err != nil {
		if isWhole {
			t.Errorf("it was verified and can't be opened: %v", err)
		}
		return
	}
	defer closed(t, s)
	j, err := s.Lock(t.Context(), statetest.Holder("apply"), 0)
	if err != nil {
		if isWhole {
			t.Errorf("it was verified and can't be locked: %v", err)
		}
		return
	}
	err = j.Append(t.Context(), statetest.Intent("after", "run", "10.00"))
	if err = errors.Join(err, j.Unlock()); err != nil && isWhole {
		t.Errorf("it was verified and can't be written: %v", err)
	}
	if _, err := s.Verify(t.Context(), ""); err != nil && isWhole {
		t.Errorf("it was verified and is damaged now: %v", err)
	}
}

// read reads all that a snapshot has. Each damage must be an error.
func read(t *testing.T, s *sqlite.Store) {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		return
	}
	defer snap.Close()
	for row, err := range snap.Transfers(t.Context()) {
		if err != nil {
			break
		}
		_, _ = snap.Details(t.Context(), row.RefID) // an error is a finding
	}
	drain(snap.Outlines(t.Context()))
	drain(snap.Runs(t.Context()))
	drain(snap.Events(t.Context(), 0, ""))
	drain(snap.Jumps(t.Context()))
}

// drain reads up to an error, which is a finding.
func drain[T any](all iter.Seq2[T, error]) {
	for _, err := range all {
		if err != nil {
			return
		}
	}
}

// TestNoBytesMakeItPanic tries a few hundred damaged files.
func TestNoBytesMakeItPanic(t *testing.T) {
	t.Parallel()
	all := history(t)
	for seed := range uint64(suite.Dose(80, 250, 1000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { try(t, damage(all, seed)) })
	}
}

// FuzzDamage tries more of them: go test ./state/sqlite -fuzz FuzzDamage.
func FuzzDamage(f *testing.F) {
	all := history(f)
	for seed := range uint64(4) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { try(t, damage(all, seed)) })
}

// TestAMixtureOfTimesIsRefused puts the database of each time under the log of each other one. A
// database that opens must be whole: nothing that was folded may be missing from its journal, or the
// other way round.
func TestAMixtureOfTimesIsRefused(t *testing.T) {
	t.Parallel()
	all := history(t)
	refused := 0
	for i, db := range all {
		for k, log := range all {
			if i == k || len(log["-wal"]) == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%d under the log of %d", i, k), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "remit.db")
				if err := errors.Join(os.WriteFile(path, db[""], 0o600), os.WriteFile(path+"-wal", log["-wal"], 0o600)); err != nil {
					t.Fatal(err)
				}
				s, err := sqlite.Open(t.Context(), path, options)
				if err == nil {
					defer closed(t, s)
					var j state.Journal
					if j, err = s.Lock(t.Context(), statetest.Holder("apply"), 0); err == nil {
						unlock(t, j)
						if _, err := s.Verify(t.Context(), ""); err != nil {
							t.Errorf("it can be locked and is damaged: %v", err)
						}
						return
					}
				}
				refused++
				if !errors.Is(err, state.ErrDamaged) {
					t.Errorf("it is refused with %v", err)
				}
			})
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// TestRowsOfBeforeAreRefusedUnderRunsThatMadeNothing has a timer that ran for weeks with nothing to pay, and
// then rows of before.
func TestRowsOfBeforeAreRefusedUnderRunsThatMadeNothing(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"), statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded))
	for i := range 40 {
		add(t, j, state.Begun{RunID: fmt.Sprint("idle-", i)}, state.Ended{RunID: fmt.Sprint("idle-", i)})
	}
	unlock(t, j)
	closed(t, s)
	execute(t, path, "DROP TRIGGER transfers_delete; DELETE FROM transfers")
	snap, err := reopen(t, path).Snapshot(t.Context())
	if err == nil {
		_ = snap.Close()
	}
	if !errors.Is(err, state.ErrDamaged) || !strings.Contains(err.Error(), `the row of ref_id "a" lacks event 3`) {
		t.Errorf("it is read: %v", err)
	}
}
