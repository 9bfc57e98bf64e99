package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"remit/state"
)

// awayOr has an error with which a journal fails wrap [state.ErrAway], in its own words, where the server
// went away or ended what was asked of it.
func awayOr(err error) error {
	if err == nil || !isAway(err) {
		return err
	}
	return retold{errors.Join(state.ErrAway, err), err.Error()}
}

// isAway reports whether an error says that the server is not there to be asked, for now: it, or another one in its
// place, may answer the same later.
func isAway(err error) bool {
	for _, final := range []error{state.ErrFenced, state.ErrReplaced, state.ErrDamaged} {
		if errors.Is(err, final) {
			return false
		}
	}
	var connecting *pgconn.ConnectError
	isConnecting := errors.As(err, &connecting)
	if said := code(err); len(said) == 5 {
		const (
			readOnly = "25006" // it follows another one by now
			internal = "XX000" // a full disk is told so while the server lets a client in: "could not write init file"
		)
		switch said[:2] {
		case "08", "40", "53", "55", "57", "58": // connections, rollbacks, resources, locks, operators, the system
			return true
		case "28": // a password that was right before: it was rotated, and the file that has the new one may follow
			return true
		}
		return said == readOnly || said == internal && isConnecting
	}
	for _, broken := range []error{state.ErrLost, errBroken, errUncertain, errSilent, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded} {
		if errors.Is(err, broken) {
			return true
		}
	}
	var network net.Error
	return isConnecting || errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// incarnation is one life of a server: from its start to its end, and between two promotions of a copy.
type incarnation struct {
	started  time.Time
	timeline string // a copy that is promoted begins another one; "" where the server does not tell
}

// isOther reports whether another server may be in the place of one. Where neither tells its timeline, one that started
// anew counts as another one.
func (i incarnation) isOther(was incarnation) bool {
	if i.timeline == "" && was.timeline == "" {
		return !i.started.Equal(was.started)
	}
	return i.timeline != was.timeline
}

func incarnationOf(ctx context.Context, q querier) (i incarnation, err error) {
	err = q.QueryRow(ctx, `SELECT pg_postmaster_start_time(), substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`).Scan(&i.started, &i.timeline)
	if hidesLog(err) {
		err = q.QueryRow(ctx, `SELECT pg_postmaster_start_time()`).Scan(&i.started)
	}
	return i, err
}

// hidesLog reports whether a server lacks the functions that tell where its log is, or denies them, as managed ones may.
func hidesLog(err error) bool {
	said, isSaid := errors.AsType[*pgconn.PgError](err)
	return isSaid && slices.Contains([]string{"0A000", "42501", "42883"}, said.Code)
}

var _ state.Returning = (*Store)(nil)

// Return implements [state.Returning].
func (s *Store) Return(ctx context.Context, before state.Replicated) (state.Return, error) {
	j, ok := before.(*journal)
	if !ok {
		panic("a journal of another kind of state")
	}
	now, err := incarnationOf(ctx, s.read)
	if err != nil {
		return state.Return{}, s.wrap("read", err)
	}
	was := j.lock.on
	isOther := now.isOther(was)
	return state.Return{Anew: isOther || !now.started.Equal(was.started), MayLack: isOther && j.lock.uncopied.Load()}, nil
}

// IsShared implements [state.Replicated].
func (j *journal) IsShared() bool { return j.member.Load() != nil }

// Newest implements [state.Replicated].
func (j *journal) Newest() (seq int64, hash string) {
	newest := j.newest.Load()
	return newest.Serial, newest.Head
}
