package sqlite_test

import (
	"database/sql"
	"testing"
)

// tryExecute changes the file behind the store's back, as a person with the sqlite3 shell
// could.
func tryExecute(t *testing.T, path, text string) error {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), text)
	return err
}

func execute(t *testing.T, path, text string) {
	t.Helper()
	if err := tryExecute(t, path, text); err != nil {
		t.Fatal(err)
	}
}
