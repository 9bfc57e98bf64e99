package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// direct is a statement that is run thousands of times in one transaction, past package sql:
// its locks, its checks and a result for each run cost as much as SQLite does with the row.
// It belongs to one connection, which compiles it when it is first run. One that never was can be closed.
type direct struct {
	text string
	stmt driver.Stmt
	exec driver.StmtExecContext
}

// prepare compiles the statement.
func (d *direct) prepare(ctx context.Context, raw any) error {
	preparer, ok := raw.(driver.ConnPrepareContext)
	if !ok {
		panic(fmt.Sprintf("sqlite: %T prepares no statement", raw))
	}
	stmt, err := preparer.PrepareContext(ctx, d.text)
	if err != nil {
		return err
	}
	d.stmt, d.exec = stmt, stmt.(driver.StmtExecContext)
	return nil
}

// run hands do a function that runs the statement once. do must not use conn. Nothing is
// interrupted by ctx: a transaction ends whole.
func (d *direct) run(ctx context.Context, conn *sql.Conn, do func(exec func([]driver.Value) error) error) error {
	ctx = context.WithoutCancel(ctx)
	var named []driver.NamedValue
	return conn.Raw(func(raw any) error {
		if d.stmt == nil {
			if err := d.prepare(ctx, raw); err != nil {
				return err
			}
		}
		return do(func(values []driver.Value) error {
			named = named[:0]
			for i, value := range values {
				named = append(named, driver.NamedValue{Ordinal: i + 1, Value: value})
			}
			_, err := d.exec.ExecContext(ctx, named)
			return err
		})
	})
}

// close lets go of the statement. The driver keeps the file open until then.
func (d *direct) close(conn *sql.Conn) error {
	if d.stmt == nil {
		return nil
	}
	return conn.Raw(func(any) error { return errors.Join(d.stmt.Close()) })
}
