package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"remit/state"
	"remit/state/storage"
)

// tipSize is how many of the newest events are held against what was folded of them.
const tipSize = 16

// checkTips refuses a file of which the parts do not go together, such as an older copy under a
// newer log, wrapped around [state.ErrDamaged]: the newest events must be chained, no row and no run
// may know of a later event, and those that were marked as folded must be in their rows. What it reads
// does not grow with the state; [Store.Verify] reads all.
func checkTips(ctx context.Context, conn *sql.Conn, h head) error {
	if h.folded > h.Serial {
		return apart("its rows are marked as having event %d, and its journal ends with event %d", h.folded, h.Serial)
	}
	tip, err := readTip(ctx, conn, h.Serial)
	if err != nil {
		return err
	}
	for i, l := range tip {
		switch {
		case l.Seq != h.Serial-int64(len(tip)-1-i):
			return apart("event %d follows event %d", l.Seq, tip[max(i-1, 0)].Seq)
		case i > 0 && l.Hash != l.Chain(tip[i-1].Hash):
			return apart("event %d does not follow from event %d", l.Seq, l.Seq-1)
		}
		if err := checkFolded(ctx, conn, l, h); err != nil {
			return err
		}
	}
	if err := checkService(tip, h); err != nil {
		return err
	}
	return checkNewestRun(ctx, conn, h)
}

// checkService holds the service of the state against the newest events: the first record of a
// customer is in it already.
func checkService(tip []storage.Line, h head) error {
	for _, l := range slices.Backward(tip) {
		if l.Kind == state.KindRebound {
			return nil // those before it were of another one
		}
		if l.Kind != state.KindOutcome {
			continue
		}
		draft, err := l.Checked()
		if err != nil {
			return err
		}
		// An error is of a customer that a person accepted, and whom the state does not have.
		if after, err := h.Apply(draft, l.Seq, l.Time); err == nil && after.Service != h.Service {
			return apart("the customer of event %d is not that of the state", l.Seq)
		}
	}
	return nil
}

// readTip reads the newest events, in their order.
func readTip(ctx context.Context, conn *sql.Conn, serial int64) ([]storage.Line, error) {
	var tip []storage.Line
	err := query(ctx, conn, func(rows *sql.Rows) error {
		l, err := scanEvent(rows)
		tip = append(tip, l)
		return err
	}, `SELECT `+eventColumns+` FROM events WHERE seq > ? ORDER BY seq LIMIT ?`, serial-tipSize, tipSize)
	return tip, err
}

// checkFolded holds an event of the tip against the row, or the run, that it is about.
func checkFolded(ctx context.Context, conn *sql.Conn, l storage.Line, h head) error {
	var at sql.NullInt64
	switch l.Kind {
	case state.KindIntent, state.KindOutcome:
		err := conn.QueryRowContext(ctx, `SELECT last_seq FROM transfers WHERE ref_id = ?`, l.RefID).Scan(&at)
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return explain(err)
		case at.Int64 > h.Serial:
			return apart("the row of ref_id %q has event %d, and the journal ends with event %d", l.RefID, at.Int64, h.Serial)
		case l.Seq <= h.folded && at.Int64 < l.Seq:
			return apart("the row of ref_id %q lacks event %d, which is marked as folded", l.RefID, l.Seq)
		}
	case state.KindBegun, state.KindEnded:
		column := "begun_seq"
		if l.Kind == state.KindEnded {
			column = "ended_seq"
		}
		err := conn.QueryRowContext(ctx, `SELECT `+column+` FROM runs WHERE run_id = ?`, l.RunID).Scan(&at)
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return explain(err)
		case at.Int64 != l.Seq:
			return apart("run %q does not name event %d", l.RunID, l.Seq)
		}
	case state.KindCreated, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked:
	}
	return nil
}

// checkNewestRun holds the run that began last against the events that it names.
func checkNewestRun(ctx context.Context, conn *sql.Conn, h head) error {
	var runID string
	var begun int64
	var ended sql.NullInt64
	err := conn.QueryRowContext(ctx, `SELECT run_id, begun_seq, ended_seq FROM runs ORDER BY begun_seq DESC LIMIT 1`).Scan(&runID, &begun, &ended)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return explain(err)
	}
	if last := max(begun, ended.Int64); last > h.Serial {
		return apart("run %q names event %d, and the journal ends with event %d", runID, last, h.Serial)
	}
	_, err = readRun(ctx, conn, runID)
	return err
}

func apart(format string, args ...any) error {
	return fmt.Errorf("its parts are of different times, as where an older copy was put under a newer log: "+format+": %w", append(args, state.ErrDamaged)...)
}
