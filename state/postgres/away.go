package postgres

import (
	"context"
	"errors"
	"io"
	"net"

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
	if said := code(err); len(said) == 5 {
		const readOnly = "25006" // it follows another one by now
		switch said[:2] {
		case "08", "40", "53", "55", "57", "58": // connections, rollbacks, resources, locks, operators, the system
			return true
		}
		return said == readOnly
	}
	for _, broken := range []error{state.ErrLost, errBroken, errUncertain, errSilent, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded} {
		if errors.Is(err, broken) {
			return true
		}
	}
	var network net.Error
	var connecting *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connecting) || pgconn.SafeToRetry(err)
}

// Newest implements [state.Replicated].
func (j *journal) Newest() (seq int64, hash string) {
	newest := j.newest.Load()
	return newest.Serial, newest.Head
}
