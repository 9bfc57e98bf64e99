package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"remit/state"
)

// base is the point up to which the database has the journal without its write-ahead log.
type base struct {
	seq    int64 // of its newest event
	hash   []byte
	folded int64 // the newest event that its rows of transfers have
}

// checkLog refuses a database beside a write-ahead log that is not its own, wrapped around
// [state.ErrDamaged]. A holder that is killed leaves its log. Where a backup is then put in
// the place of the database alone, SQLite lays that log over it: a mixture that opens without
// a word and lacks transfers that were made. A log of the database goes on where the database
// ends: each event from there on must be there, chained to the one before it, and each row
// that has taken such an event over must have it.
func (s *Store) checkLog(ctx context.Context) error {
	if !hasWAL(s.path) {
		return nil
	}
	// While a holder lives the database may be half way through taking its log over.
	if _, held, err := s.holder(ctx, 0); held || err != nil {
		return err
	}
	bottom, err := s.readBase(ctx)
	if err != nil {
		// A holder that died while it moved the log into the database left a database
		// that only the log makes whole.
		return nil //nolint:nilerr // the log is not refused for what it may mend
	}
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	return errors.Join(checkAgainst(ctx, conn, bottom), conn.Close())
}

// readBase reads the database as if it had no log.
func (s *Store) readBase(ctx context.Context) (base, error) {
	db := forReading(s.path, true)
	var b base
	err := db.QueryRowContext(ctx, `SELECT seq, hash, folded FROM events, meta ORDER BY seq DESC LIMIT 1`).Scan(&b.seq, &b.hash, &b.folded)
	return b, errors.Join(err, db.Close())
}

func checkAgainst(ctx context.Context, conn *sql.Conn, bottom base) error {
	next, previous := bottom.seq, ""
	for l, err := range linesFrom(ctx, conn, bottom.seq) {
		switch {
		case err != nil:
			return err
		case l.Seq != next:
			return mixed("event %d is missing", next)
		case l.Seq == bottom.seq && l.Hash != hex.EncodeToString(bottom.hash),
			l.Seq > bottom.seq && l.Hash != l.Chain(previous):
			return mixed("event %d is another one", l.Seq)
		}
		next, previous = l.Seq+1, l.Hash
	}
	if next == bottom.seq {
		return mixed("event %d is missing", next)
	}
	var behind int64
	err := conn.QueryRowContext(ctx, `SELECT coalesce(min(seq), 0) FROM meta, events LEFT JOIN transfers USING (ref_id)
		WHERE seq > ? AND seq <= folded AND kind IN (?, ?) AND coalesce(last_seq, 0) < seq`,
		bottom.folded, state.KindIntent, state.KindOutcome).Scan(&behind)
	if err != nil {
		return explain(err)
	}
	if behind > 0 {
		return mixed("the transfer of event %d does not have it", behind)
	}
	return nil
}

func mixed(format string, at int64) error {
	return fmt.Errorf("its write-ahead log is not of this file, which may be a backup put in the place of another one: "+format+": %w", at, state.ErrDamaged)
}
