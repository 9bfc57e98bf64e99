package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"remit/state"
	"remit/state/storage"
)

// Verify reads the whole state and returns what it says of itself, or the first thing that
// is wrong:
//
//   - what SQLite's own check finds, wrapped around [state.ErrDamaged];
//   - a break of the journal's chain, or a head that it does not have, as [state.Verify]
//     names it;
//   - a row, a run, a jump of the clock or the state's word on itself that is not what the journal makes of it,
//     wrapped around [state.ErrDamaged].
//
// It writes nothing and holds every row in memory. A state that was moved away is verified as
// any other.
func (s *Store) Verify(ctx context.Context, head string) (state.Meta, error) {
	snap, err := s.snapshot(ctx, true)
	if err != nil {
		return state.Meta{}, fmt.Errorf("verify state %s: %w", s.path, err)
	}
	err = errors.Join(snap.verify(ctx, head), snap.Close())
	if err != nil {
		return state.Meta{}, fmt.Errorf("verify state %s: %w", s.path, err)
	}
	return snap.head.Meta, nil
}

func (s *snapshot) verify(ctx context.Context, head string) error {
	var complaints []string
	err := query(ctx, s.conn, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		complaints = append(complaints, text)
		return err
	}, `PRAGMA integrity_check(20)`)
	if err != nil {
		return err
	}
	if !slices.Equal(complaints, []string{"ok"}) {
		return fmt.Errorf("%w: %s", state.ErrDamaged, strings.Join(complaints, "; "))
	}
	if err := openIndexes(ctx, s.conn); err != nil {
		return err
	}
	again, err := storage.Verify(linesFrom(ctx, s.conn, 1), head)
	if err != nil {
		return err
	}
	runs, err := s.allRuns(ctx)
	if err != nil {
		return err
	}
	rows := s.allRows(ctx)
	if s.version < schemaSpelled {
		rows = again.InOneSpelling(rows)
	}
	if err := again.Compare(s.head.Meta, rows, runs); err != nil {
		return err
	}
	if err := again.CompareJumps(s.Jumps(ctx)); err != nil {
		return err
	}
	return checkTips(ctx, s.conn, s.head)
}

// openIndexes looks into each index. SQLite's own check reads an index as it goes through the rows of its table, so it never
// opens those of an empty table, and the first row that is written there fails. A definition that could end its statement
// is none of remit's, and is not executed.
func openIndexes(ctx context.Context, conn *sql.Conn) error {
	var looks []string
	err := query(ctx, conn, func(rows *sql.Rows) error {
		var name, table, definition string
		if err := rows.Scan(&name, &table, &definition); err != nil {
			return err
		}
		if strings.ContainsAny(name+table, `"`) || strings.Contains(definition, ";") {
			return fmt.Errorf("%w: remit did not make its index %q", state.ErrDamaged, name)
		}
		_, condition, isPartial := strings.Cut(definition, " WHERE ")
		if !isPartial {
			condition = "true"
		}
		looks = append(looks, fmt.Sprintf(`SELECT 1 FROM "%s" INDEXED BY "%s" WHERE %s LIMIT 1`, table, name, condition))
		return nil
	}, `SELECT name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE type = 'index' ORDER BY name`)
	for _, look := range looks {
		if err == nil {
			err = query(ctx, conn, func(*sql.Rows) error { return nil }, look)
		}
	}
	return err
}

// linesFrom yields the journal from the event first on.
func linesFrom(ctx context.Context, conn *sql.Conn, first int64) iter.Seq2[storage.StoredEvent, error] {
	return func(yield func(storage.StoredEvent, error) bool) {
		stream(ctx, conn, yield, scanEvent, `SELECT `+eventColumns+` FROM events WHERE seq >= ? ORDER BY seq`, first)
	}
}
