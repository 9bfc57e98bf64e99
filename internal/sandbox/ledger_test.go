package sandbox_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/sandbox"
)

// The ledger's own rules, tried by hand on its file: they must hold without our code.
func TestLedgerRefusesUnbalancedBooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	c := open(t, sandbox.Options{Path: path})
	c.made(body("a", "1.50"))
	const insert = `INSERT INTO transfers (seq, group_id, ref_id, operation, fingerprint, asset, amount, failed, created_ms, pending_until_ms, pending_lookups)
		VALUES (2, 'g', 'b', 'internal', zeroblob(32), 'USD', '2', 0, 0, 0, 0);`
	tests := map[string]struct {
		statement string
		refusal   string // a part of it; "" where the statement is allowed
	}{
		"a transfer without legs":      {insert, "broken"},
		"a transfer with one leg":      {insert + `INSERT INTO legs VALUES (2, 'DEBIT', 'i', 'p', '', '', 'USD', '2', '');`, "broken"},
		"a leg of another amount":      {insert + `INSERT INTO legs VALUES (2, 'DEBIT', 'i', 'p', '', '', 'USD', '2', ''), (2, 'CREDIT', 'j', 'q', '', '', 'USD', '3', '');`, "a leg differs"},
		"a leg of another asset":       {insert + `INSERT INTO legs VALUES (2, 'DEBIT', 'i', 'p', '', '', 'USD', '2', ''), (2, 'CREDIT', 'j', 'q', '', '', 'EUR', '2', '');`, "a leg differs"},
		"a leg without a transfer":     {`INSERT INTO legs VALUES (9, 'DEBIT', 'i', 'p', '', '', 'USD', '2', '');`, "a leg differs"},
		"a changed leg":                {`UPDATE legs SET profile_id = 'x';`, "only grows"},
		"a removed leg":                {`DELETE FROM legs;`, "only grows"},
		"a second use of a ref_id":     {`UPDATE transfers SET seq = seq; INSERT INTO transfers SELECT 3, group_id, ref_id, 0, operation, fingerprint, asset, amount, failed, created_ms, 0, 0, debit, credit FROM transfers; INSERT INTO legs SELECT 3, side, id, profile_id, '', '', asset, amount, '' FROM legs;`, "UNIQUE"},
		"a transfer with its two legs": {insert + `INSERT INTO legs VALUES (2, 'DEBIT', 'i', 'p', '', '', 'USD', '2', ''), (2, 'CREDIT', 'j', 'q', '', '', 'USD', '2', '');`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open("sqlite3", "file:"+path+"?_foreign_keys=on&_busy_timeout=10000")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }()
			refusal := ""
			if _, err := tx.ExecContext(t.Context(), tt.statement); err != nil {
				refusal = err.Error()
			} else if n := brokenKeys(t, tx); n > 0 { // what a commit would find
				refusal = fmt.Sprint(n, " keys are broken")
			}
			if (tt.refusal == "") != (refusal == "") || !strings.Contains(refusal, tt.refusal) {
				t.Errorf("refused with %q, want %q", refusal, tt.refusal)
			}
		})
	}
}

func brokenKeys(t *testing.T, tx *sql.Tx) (n int) {
	t.Helper()
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_foreign_key_check").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
