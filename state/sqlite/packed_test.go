package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

func outlinesOf(t testing.TB, s state.Store) ([]state.Outline, error) {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var list []state.Outline
	for outline, err := range snap.Outlines(t.Context()) {
		if err != nil {
			return list, err
		}
		list = append(list, outline)
	}
	return list, nil
}

// many makes a state with so many recorded rows.
func many(t testing.TB, count int) (*sqlite.Store, string) {
	t.Helper()
	s, path := create(t)
	j := lock(t, s)
	for i := 0; i < count; i += 1000 {
		var entries []state.Entry
		for n := i; n < min(i+1000, count); n++ {
			refID := scattered(int64(n))
			entries = append(entries, statetest.Intent(refID, "run", "10.00"), statetest.Outcome(refID, "run", state.SourceAnswer, state.Recorded))
		}
		add(t, j, entries...)
	}
	unlock(t, j)
	return s, path
}

func exact() cmp.Option {
	return cmp.Comparer(func(a, b transfer.Amount) bool { return a == b })
}

// sameOutlines holds outlines against rows, which it returns.
func sameOutlines(t *testing.T, s state.Store) []state.Transfer {
	t.Helper()
	list := rows(t, s)
	var want []state.Outline
	for _, row := range list {
		want = append(want, row.Outline())
	}
	got, err := outlinesOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, exact()); diff != "" {
		t.Errorf("outlines:\n%s", diff)
	}
	return list
}

// sameRows holds both against rows that are asked for by name, and so are not packed.
func sameRows(t *testing.T, s state.Store) {
	t.Helper()
	list := sameOutlines(t, s)
	var refIDs []string
	for _, row := range list {
		refIDs = append(refIDs, row.RefID)
	}
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	details, err := snap.Details(t.Context(), refIDs...)
	if err != nil {
		t.Fatal(err)
	}
	var want []state.Transfer
	for _, d := range details {
		want = append(want, d.Transfer)
	}
	if diff := cmp.Diff(want, list, exact()); diff != "" {
		t.Errorf("rows:\n%s", diff)
	}
}

// TestPages reads states that fill their last page, exceed it by one row, and
// have newer rows at either end and between.
func TestPages(t *testing.T) {
	t.Parallel()
	counts := []int{1, sqlite.PageRows, sqlite.PageRows + 1, sqlite.PageRows - 1, 2*sqlite.PageRows + 7}
	for _, count := range counts[:suite.Dose(3, 5, 5)] {
		t.Run(fmt.Sprint(count, " rows"), func(t *testing.T) {
			s, _ := many(t, count)
			if rows, outlines, err := s.Unpacks(t.Context()); !rows || !outlines || err != nil {
				t.Errorf("rows unpack: %t, outlines: %t, %v", rows, outlines, err)
			}
			sameRows(t, s)
			j := lock(t, s)
			add(t, j, statetest.Intent("a", "run 2", "1.00"), statetest.Intent("ref-8", "run 2", "1.00"), statetest.Intent("z", "run 2", "1.00"))
			add(t, j, statetest.Outcome(scattered(0), "", state.SourceLookup, state.Conflict))
			sameRows(t, s)
			unlock(t, j)
		})
	}
}

// TestStrangeTexts has the separator of packed rows, and a whole row of them, in
// every text that a row has.
func TestStrangeTexts(t *testing.T) {
	for name, set := range map[string]string{
		"asset":       `asset = 'U' || char(31) || 'D'`,
		"two assets":  `asset = 'USD' || char(31) || '10.00' || char(31) || 'COMPLETED' || char(31) || ref_id || char(31) || 'USD'`,
		"status":      `record_status = char(31) WHERE record_id IS NOT NULL`,
		"nothing":     `record_status = char(0) || 'x' WHERE record_id IS NOT NULL`,
		"run":         `run_id = run_id || char(31)`,
		"no run":      `run_id = ''`,
		"number":      `twin = -9223372036854775808, destination = 9223372036854775807`,
		"time":        `intended_ms = -1`,
		"fingerprint": `fingerprint = zeroblob(32)`,
		"digits":      `fingerprint = CAST('12345678901234567890123456789 n ' AS BLOB)`,
	} {
		t.Run(name, func(t *testing.T) {
			s, path := many(t, 3)
			j := lock(t, s)
			add(t, j, statetest.Intent("open", "run", "10.00"), statetest.Intent("opened", "run", "10.00"))
			unlock(t, j)
			execute(t, path, `UPDATE transfers SET `+set)
			sameRows(t, s)
		})
	}
}

// TestStrangeRefID has the separator where no journal puts it.
func TestStrangeRefID(t *testing.T) {
	s, path := many(t, 30) // the newest events are held against their rows
	execute(t, path, `UPDATE transfers SET ref_id = 'r' || char(31) || '1' || char(31) || char(31) || char(31) WHERE ref_id = '`+scattered(1)+`'`)
	if list := sameOutlines(t, s); list[0].RefID != "r\x1f1\x1f\x1f\x1f" {
		t.Errorf("got %q", list[0].RefID)
	}
}

// TestDamagedRows changes a row in ways that no journal does. The ref_id is named.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]string{
		"a fingerprint that is too short":  `fingerprint = zeroblob(31)`,
		"a fingerprint that is too long":   `fingerprint = CAST('12345678901234567890123456789012 ' AS BLOB)`,
		"a fingerprint that ends in space": `fingerprint = CAST('12345678901234567890123456789    n' AS BLOB)`,
		"no fingerprint":                   `fingerprint = x''`,
		"an amount that is none":           `amount = '1e3'`,
		"an amount of nothing":             `amount = ''`,
		"a status that is none":            `status = 9`,
		"a status of nothing":              `status = 0`,
		"a status that is too large":       `status = 1000000`,
		"a status below nothing":           `status = -3`,
		"a flag that is a status":          `from_label = 6`,
		"a flag below nothing":             `doubted = -1`,
		"a byte of one digest in another":  `fingerprint = zeroblob(33), request_digest = zeroblob(15)`,
	} {
		t.Run(name, func(t *testing.T) {
			s, path := many(t, 5)
			refID := rows(t, s)[3].RefID
			execute(t, path, `PRAGMA ignore_check_constraints = ON; UPDATE transfers SET `+set+` WHERE ref_id = '`+refID+`'`)
			named := func(what string, err error) {
				if !errors.Is(err, state.ErrDamaged) || !strings.Contains(err.Error(), refID) {
					t.Errorf("%s: got %v", what, err)
				}
			}
			_, err := outlinesOf(t, s)
			named("outlines", err)
			snap, err := s.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer snap.Close()
			err = nil
			for _, err = range snap.Transfers(t.Context()) {
			}
			named("rows", err)
		})
	}
}

// TestReadingIsStopped ends reading early and leaves nothing running.
func TestReadingIsStopped(t *testing.T) {
	s, _ := many(t, 4*sqlite.PageRows)
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	before := runtime.NumGoroutine()
	for _, err := range snap.Outlines(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, last := 0, error(nil)
	for _, err := range snap.Outlines(ctx) {
		last = err
		if n++; n == 10 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) || n > 2*sqlite.PageRows+1 {
		t.Errorf("after %d rows: %v", n, last)
	}
	for range 6_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// FuzzUnpack unpacks any texts: without a panic, and never more or less than it was told.
func FuzzUnpack(f *testing.F) {
	row := "149" + strings.Repeat("x", 32) + " 1795770000000 -1 17"
	f.Add(uint8(1), "a\x1fUSD\x1f10.00\x1f\x1f", row)
	f.Add(uint8(2), "a\x1fUSD\x1f10.00\x1f\x1f\x1fb\x1fEUR\x1f1\x1fCOMPLETED\x1frun", row+" "+row)
	f.Add(uint8(2), "a\x1fUSD\x1f10.00\x1f\x1f\x1fb", row+" ")
	f.Add(uint8(1), "a\x1f10.00\x1fg\x1fr\x1fUSD\x1fCOMPLETED\x1frun", "149"+strings.Repeat("x", 48)+" 1 2 n 4 -5 6 7 8")
	f.Add(uint8(1), "", "")
	f.Add(uint8(0), "", "")
	f.Fuzz(func(t *testing.T, count uint8, words, numbers string) {
		n := int(count)
		refIDs, ok := sqlite.UnpackTransfers(n, words, numbers)
		if ok && (len(refIDs) != n || n > 0 && strings.Count(words, "\x1f") != 7*n-1) {
			t.Errorf("%d rows of %q, %q", len(refIDs), words, numbers)
		}
		list, ok := sqlite.UnpackOutlines(n, words, numbers)
		if ok && (len(list) != n || n > 0 && strings.Count(words, "\x1f") != 5*n-1) {
			t.Errorf("%d outlines of %q, %q", len(list), words, numbers)
		}
		for _, o := range list {
			if o.Status < state.Unsent || o.Status > state.Tombstone || o.Amount.IsZero() || strings.Contains(o.RefID, "\x1f") {
				t.Errorf("%+v", o)
			}
		}
	})
}
