package postgres

import (
	"context"
	"time"

	"remit/state"
)

// OpenPatiently is Open for a program that gives a server up when it is silent for so long.
func OpenPatiently(ctx context.Context, opts Options, patience time.Duration) (*Store, error) {
	s, err := newStore(opts, false)
	if err != nil {
		return nil, err
	}
	s.pool.ConnConfig.AfterNetConnect = withPatience(patience)
	return opened(ctx, s)
}

// CreateAt is Create for a program whose schema has a version, from 1 to [SchemaVersion].
func CreateAt(ctx context.Context, created state.Created, opts Options, version int) (*Store, error) {
	if err := create(ctx, created, opts, version); err != nil {
		return nil, err
	}
	s, err := newStore(opts, false)
	if err != nil {
		return nil, err
	}
	s.wanted = version
	return opened(ctx, s)
}

// SchemaVersion is that of the program.
func SchemaVersion() int { return schemaVersion() }

// SchemaReadable is the oldest that the program reads as it is.
const SchemaReadable = schemaReadable

// IsAway reports whether an error says that the server is not there to be asked, for now.
func IsAway(err error) bool { return isAway(err) }

// Explain wraps what the server says into the state's own errors.
func Explain(err error) error { return explain(err) }
