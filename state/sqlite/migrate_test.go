package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

func TestAnOlderSchemaIsMigratedUnderTheLockAfterABackup(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	unlock(t, j)
	names, err := fs.Glob(sqlite.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	newest := len(names)
	newer := migrationsTo(t, newest)
	newer[fmt.Sprintf("%05d_more.sql", newest+1)] = &fstest.MapFile{
		Data: fmt.Appendf(nil, "-- +goose Up\nCREATE TABLE more (one INTEGER) STRICT;\nPRAGMA user_version = %d;\n", newest+1),
	}
	next, err := sqlite.OpenWith(t.Context(), path, options, newer)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, next)
	if _, err := next.Snapshot(t.Context()); !errors.Is(err, state.ErrOlder) {
		t.Errorf("a snapshot before the migration: %v", err)
	}
	if err := next.ForceUnlock(t.Context(), statetest.Holder("force-unlock"), state.Clocks{}, "gone"); err != nil {
		t.Errorf("a lock of the older program can't be taken away: %v", err)
	}
	j = lock(t, next)
	add(t, j, statetest.Intent("b", "run", "10.00"))
	unlock(t, j)
	if got := rows(t, next); len(got) != 2 {
		t.Errorf("%d rows after the migration", len(got))
	}
	if _, err := s.Snapshot(t.Context()); !errors.Is(err, state.ErrNewer) {
		t.Errorf("the older program goes on: %v", err)
	}
	backups, err := filepath.Glob(fmt.Sprintf("%s.schema-%d.*.backup", path, newest))
	if err != nil || len(backups) != 1 {
		t.Fatalf("backups: %v, %v", backups, err)
	}
	if got := rows(t, reopen(t, backups[0])); len(got) != 1 {
		t.Errorf("the backup has %d rows", len(got))
	}
}

// migrationsTo are the first n migrations.
func migrationsTo(t *testing.T, n int) fstest.MapFS {
	names, err := fs.Glob(sqlite.Migrations(), "*.sql")
	if err != nil || len(names) < n {
		t.Fatal(names, err)
	}
	first := fstest.MapFS{}
	for _, name := range names[:n] {
		text, err := fs.ReadFile(sqlite.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		first[name] = &fstest.MapFile{Data: text}
	}
	return first
}

// schemaSpelled is the first schema of which every row has one spelling of UUIDs.
const schemaSpelled = 7

// TestAStateOfEachOlderSchemaGoesOn has states that earlier programs made: they are read as they
// are, and migrated by the first lock, after which nothing is lost and lists can be written.
func TestAStateOfEachOlderSchemaGoesOn(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(sqlite.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for version := 1; version < len(names); version++ {
		t.Run(names[version-1], func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "remit.db")
			old, err := sqlite.CreateWith(t.Context(), path, statetest.Created(), options, migrationsTo(t, version))
			if err != nil {
				t.Fatal(err)
			}
			old.Pace(4, 2) // some rows are folded, others are in the journal alone
			j := lock(t, old)
			for _, refID := range []string{"a", "b", "c"} {
				add(t, j, statetest.Intent(refID, "run", "10.00"), statetest.Outcome(refID, "run", state.SourceAnswer, state.Recorded))
			}
			add(t, j, statetest.Outcome("d", "", state.SourceImport, state.Adopted), statetest.Intent("e", "run", "10.00"))
			unlock(t, j)
			before := rows(t, old)
			meta, err := old.Verify(t.Context(), "")
			if err != nil || len(before) != 5 {
				t.Fatal(before, err)
			}
			closed(t, old)
			// Earlier programs wrote a movement in the letters of its request.
			asDeclared := slices.Clone(before)
			if version < schemaSpelled {
				asDeclared[0].Twin, asDeclared[0].Destination = 1, 2
				execute(t, path, "UPDATE transfers SET twin = 1, destination = 2 WHERE ref_id = 'a'")
			}

			s := reopen(t, path)
			if diff := cmp.Diff(asDeclared, rows(t, s), exact()); diff != "" {
				t.Errorf("read before the migration:\n%s", diff)
			}
			readOnly, err := sqlite.OpenReadOnly(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := readOnly.Verify(t.Context(), meta.Head); err != nil {
				t.Errorf("verified before the migration: %v", err)
			}
			closed(t, readOnly)
			unlock(t, lock(t, s))
			if diff := cmp.Diff(before, rows(t, s), exact()); diff != "" {
				t.Errorf("migrated:\n%s", diff)
			}
			j = lock(t, s)
			add(t, j, statetest.Listed("f", "run", state.SourceImport, state.Unverified))
			add(t, j, state.Asked{About: "e", By: statetest.Holder("resolve"), Reason: "the bank says so"})
			unlock(t, j)
			if _, err := s.Verify(t.Context(), meta.Head); err != nil {
				t.Errorf("verified after the migration: %v", err)
			}
			made := tablesOf(t, path)
			fresh, other := create(t)
			closed(t, fresh)
			if diff := cmp.Diff(tablesOf(t, other), made); diff != "" {
				t.Errorf("the schema is not that of a new state:\n%s", diff)
			}
			for name, sql := range map[string]string{
				"a ref_id that is removed":    "DELETE FROM transfers WHERE ref_id = 'a'",
				"a record that is taken away": "UPDATE transfers SET record_id = 'other' WHERE ref_id = 'a'",
				"a record under two ref_ids":  "UPDATE transfers SET record_id = 'r-a' WHERE ref_id = 'f'",
			} {
				if err := tryExecute(t, path, sql); err == nil {
					t.Errorf("the migrated schema allows %s", name)
				}
			}
		})
	}
}

// TestAMigrationThatFailsChangesNothing has each migration end in a mistake, as a crash would end it.
func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "remit.db")
	old, err := sqlite.CreateWith(t.Context(), path, statetest.Created(), options, migrationsTo(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	j := lock(t, old)
	add(t, j, statetest.Intent("a", "run", "10.00"), statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded))
	unlock(t, j)
	before := rows(t, old)
	broken := migrationsTo(t, 2)
	broken["00002_listed.sql"].Data = append(broken["00002_listed.sql"].Data, "\nINSERT INTO nowhere VALUES (1);\n"...)
	next, err := sqlite.OpenWith(t.Context(), path, options, broken)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Lock(t.Context(), statetest.Holder("apply"), 0); err == nil {
		t.Fatal("it was migrated")
	}
	closed(t, next)
	if diff := cmp.Diff(before, rows(t, old), exact()); diff != "" {
		t.Errorf("the older program reads something else:\n%s", diff)
	}
	closed(t, old)
	later := func() time.Time { return clock().Add(time.Second) } // or its backup would have the name of the first
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: later})
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, lock(t, s))
	if diff := cmp.Diff(before, rows(t, s), exact()); diff != "" {
		t.Errorf("migrated afterwards:\n%s", diff)
	}
	closed(t, s)
}

// tablesOf is how the tables of a state are made, in words.
func tablesOf(t *testing.T, path string) string {
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var text string
	if err := db.QueryRowContext(t.Context(), `SELECT group_concat(name || ': ' || sql, x'0a') FROM (SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%' ORDER BY name)`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEachMigrationSetsItsOwnNumber(t *testing.T) {
	names, err := fs.Glob(sqlite.Migrations(), "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for i, name := range names {
		text, err := fs.ReadFile(sqlite.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		want := "PRAGMA user_version = " + string(rune('1'+i)) + ";"
		if !strings.HasPrefix(name, "0000"+string(rune('1'+i))+"_") || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}
