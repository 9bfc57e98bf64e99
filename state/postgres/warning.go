package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// warningKey is where a connection keeps what its server warned of last.
const warningKey = "remit: warning"

// keepWarning keeps a warning with the connection that it came on.
func keepWarning(conn *pgconn.PgConn, said *pgconn.Notice) {
	if said.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningKey] = (*pgconn.PgError)(said)
	}
}

// withoutWarning runs do, which ends with a COMMIT. The error is wrapped around errUncertain where
// the server warned meanwhile: a commit that waits for standbys, and is cancelled, is answered as
// any other, after a warning that they may not have it. That has no code of its own, and may be in
// any language, so that all warnings count.
func withoutWarning(conn *pgx.Conn, do func() error) error {
	kept := conn.PgConn().CustomData()
	delete(kept, warningKey)
	err := do()
	if said, ok := kept[warningKey].(*pgconn.PgError); ok && err == nil {
		return fmt.Errorf("%w: %w", errUncertain, said)
	}
	return err
}
