package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"remit/state"
	"remit/state/sqlite"
)

// editing opens the file of a new state as another program would.
func editing(t *testing.T) (path string, db *sql.DB) {
	t.Helper()
	s, path := create(t)
	closed(t, s)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return path, db
}

// verified is what a check says of a state.
func verified(t *testing.T, path string) error {
	t.Helper()
	s, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		return err
	}
	defer closed(t, s)
	_, err = s.Verify(t.Context(), "")
	return err
}

// TestAnIndexOfAnEmptyTableIsLookedInto writes a page of another table over the index of a table without rows. SQLite's own
// check says nothing of it.
func TestAnIndexOfAnEmptyTableIsLookedInto(t *testing.T) {
	path, db := editing(t)
	var from, to int
	err := db.QueryRow(`SELECT (SELECT rootpage FROM sqlite_master WHERE name = 'events'), rootpage FROM sqlite_master WHERE name = 'transfers_record_id'`).Scan(&from, &to)
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := verified(t, path); err != nil {
		t.Fatalf("a whole state: %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(content[(to-1)*pageSize:to*pageSize], content[(from-1)*pageSize:from*pageSize])
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := verified(t, path); !errors.Is(err, state.ErrDamaged) {
		t.Errorf("it is verified: %v", err)
	}
}

// TestADefinitionOfAnIndexIsNotExecuted has the definition of an index go on with statements of its own, which SQLite does not read.
func TestADefinitionOfAnIndexIsNotExecuted(t *testing.T) {
	path, db := editing(t)
	made := filepath.Join(t.TempDir(), "made.db")
	var err error
	for _, statement := range []string{
		`PRAGMA writable_schema = ON`,
		`UPDATE sqlite_master SET sql = sql || '; ATTACH ''` + made + `'' AS made' WHERE name = 'transfers_record_id'`,
	} {
		_, executed := db.Exec(statement)
		err = errors.Join(err, executed)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := verified(t, path); !errors.Is(err, state.ErrDamaged) {
		t.Errorf("it is verified: %v", err)
	}
}

// TestWhatPersonsSaidIsFoundByItsIndex asks SQLite how it would look for it: a journal has two events for each transfer.
func TestWhatPersonsSaidIsFoundByItsIndex(t *testing.T) {
	_, db := editing(t)
	defer db.Close()
	var id, parent, unused int
	var how string
	err := db.QueryRow(`EXPLAIN QUERY PLAN SELECT seq, data FROM events WHERE `+sqlite.IsTold+` ORDER BY seq DESC`).Scan(&id, &parent, &unused, &how)
	if err != nil || !strings.Contains(how, "events_told") {
		t.Errorf("it is found so: %s, %v", how, err)
	}
}
