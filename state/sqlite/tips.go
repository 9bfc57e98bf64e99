package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"remit/state"
	"remit/state/storage"
)

// checkTips refuses a file of which the parts do not go together, such as an older copy under a
// newer log, as [storage.Newest.Check] does.
func checkTips(ctx context.Context, conn *sql.Conn, h head) error {
	newest := storage.Newest{
		Meta: h.Meta, Folded: h.folded,
		Rows: make(map[string]int64), Runs: make(map[string]storage.RunAt),
	}
	var err error
	if newest.Lines, err = readTip(ctx, conn, h.Serial); err != nil {
		return err
	}
	if newest.Behind, err = readBehind(ctx, conn, min(h.folded, h.Serial-storage.NewestMax)); err != nil {
		return err
	}
	for _, l := range slices.Concat(newest.Behind, newest.Lines) {
		if err := readFolded(ctx, conn, l, &newest); err != nil {
			return err
		}
	}
	if err := readLastRun(ctx, conn, &newest); err != nil {
		return err
	}
	return newest.Check()
}

// readTip reads the newest events, in their order.
func readTip(ctx context.Context, conn *sql.Conn, serial int64) ([]storage.StoredEvent, error) {
	return readLines(ctx, conn, `SELECT `+eventColumns+` FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
		serial-storage.NewestMax, storage.NewestMax)
}

// readBehind reads the newest event of a transfer, and that of a run, up to the event last.
func readBehind(ctx context.Context, conn *sql.Conn, last int64) ([]storage.StoredEvent, error) {
	var behind []storage.StoredEvent
	for _, kinds := range [][2]state.Kind{{state.KindIntent, state.KindOutcome}, {state.KindBegun, state.KindEnded}} {
		lines, err := readLines(ctx, conn, `SELECT `+eventColumns+` FROM events
			WHERE seq > ? AND seq <= ? AND kind IN (?, ?) ORDER BY seq DESC LIMIT 1`, last-storage.BehindMax, last, kinds[0], kinds[1])
		if err != nil {
			return nil, err
		}
		behind = append(behind, lines...)
	}
	return behind, nil
}

func readLines(ctx context.Context, conn *sql.Conn, text string, args ...any) ([]storage.StoredEvent, error) {
	var lines []storage.StoredEvent
	err := query(ctx, conn, func(rows *sql.Rows) error {
		l, err := scanEvent(rows)
		lines = append(lines, l)
		return err
	}, text, args...)
	return lines, err
}

// readFolded reads what the row, or the run, that an event is about has of it.
func readFolded(ctx context.Context, conn *sql.Conn, l storage.StoredEvent, into *storage.Newest) error {
	switch l.Kind {
	case state.KindIntent, state.KindOutcome:
		var at int64
		err := conn.QueryRowContext(ctx, `SELECT last_seq FROM transfers WHERE ref_id = ?`, l.RefID).Scan(&at)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return explain(err)
		}
		into.Rows[l.RefID] = at
	case state.KindBegun, state.KindEnded:
		_, err := readRunAt(ctx, conn, into, `SELECT run_id, begun_seq, ended_seq FROM runs WHERE run_id = ?`, l.RunID)
		return err
	case state.KindCreated, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked, state.KindErased:
	}
	return nil
}

// readRunAt reads which events a run names, and returns its ID; "" where there is no such run.
func readRunAt(ctx context.Context, conn *sql.Conn, into *storage.Newest, text string, args ...any) (runID string, err error) {
	var begun int64
	var ended sql.NullInt64
	err = conn.QueryRowContext(ctx, text, args...).Scan(&runID, &begun, &ended)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", explain(err)
	}
	into.Runs[runID] = storage.RunAt{Begun: begun, Ended: ended.Int64}
	return runID, nil
}

// readLastRun reads the run that began last, and the events that it names.
func readLastRun(ctx context.Context, conn *sql.Conn, into *storage.Newest) error {
	runID, err := readRunAt(ctx, conn, into, `SELECT run_id, begun_seq, ended_seq FROM runs ORDER BY begun_seq DESC LIMIT 1`)
	if err != nil || runID == "" {
		return err
	}
	at := into.Runs[runID]
	into.Last, err = readLines(ctx, conn, `SELECT `+eventColumns+` FROM events WHERE seq IN (?, ?) ORDER BY seq`, at.Begun, at.Ended)
	return err
}
