package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"

	"remit/state"
	"remit/state/storage"
)

// Pace makes folds begin at so many changed rows and take so many at a time, so that tests
// see the middle of one.
func (s *Store) Pace(at, step int) { s.pace = pace{at, step} }

// Free makes a store ask f how many bytes its volume has free.
func (s *Store) Free(f func(path string) (bytes int64, known bool)) { s.free = f }

// OpenWith is Open for a program with other migrations, which reads no older schema.
func OpenWith(ctx context.Context, path string, opts Options, migrations fs.FS) (*Store, error) {
	s, err := open(ctx, path, opts, migrations)
	if err == nil {
		s.readable = s.wanted
	}
	return s, err
}

// CreateWith is Create for a program with other migrations.
func CreateWith(ctx context.Context, path string, created state.Created, opts Options, migrations fs.FS) (*Store, error) {
	err := create(ctx, path, migrations, func(conn *sql.Conn) error { return begin(ctx, conn, created, opts.Now) })
	if err != nil {
		return nil, err
	}
	return OpenWith(ctx, path, opts, migrations)
}

// Migrations are those that the program carries.
func Migrations() fs.FS { return embeddedMigrations() }

// UnpackOutlines reads outlines out of the texts of packed rows, and reports whether they
// are exactly so many.
func UnpackOutlines(count int, words, numbers string) ([]state.Outline, bool) {
	return packedOutlines().unpackAll(nil, count, words, numbers)
}

// UnpackTransfers does the same with rows.
func UnpackTransfers(count int, words, numbers string) (refIDs []string, ok bool) {
	list, ok := packedRows().unpackAll(nil, count, words, numbers)
	for _, r := range list {
		refIDs = append(refIDs, r.RefID)
	}
	return refIDs, ok
}

// Unpacks reports whether the first page of rows, and that of outlines, unpack: a page that does
// not is read in another way, which only its cost gives away.
func (s *Store) Unpacks(ctx context.Context) (rows, outlines bool, err error) {
	snap, err := s.snapshot(ctx, false)
	if err != nil {
		return false, false, err
	}
	defer snap.Close()
	rows, err = unpacks(ctx, snap, packedRows())
	if err != nil {
		return false, false, err
	}
	outlines, err = unpacks(ctx, snap, packedOutlines())
	return rows, outlines, err
}

func unpacks[T any](ctx context.Context, snap *snapshot, p packed[T]) (bool, error) {
	var count int
	var words, numbers string
	err := snap.conn.QueryRowContext(ctx, p.text(), "", storage.PageRows).Scan(&count, &words, &numbers)
	_, ok := p.unpackAll(nil, count, words, numbers)
	return ok, err
}

// PageRows is how many rows one statement reads.
const PageRows = storage.PageRows

// UnpackEvents reads events out of a text that has exactly so many of them.
func UnpackEvents(count int, text string) (map[int64]*state.Event, bool) {
	events := make(map[int64]*state.Event)
	ok := unpackEvents(count, text, events)
	return events, ok
}

// EventsAt reads events of a table; packed reports whether SQLite could pack them.
func EventsAt(ctx context.Context, conn *sql.Conn, seqs ...int64) (events map[int64]*state.Event, packed bool, err error) {
	list, err := json.Marshal(seqs)
	if err != nil {
		return nil, false, err
	}
	packed = packedEventsAt(ctx, conn, string(list), make(map[int64]*state.Event))
	events, err = eventsAt(ctx, conn, seqs)
	return events, packed, err
}

// IsTold finds the outcomes by a person's word.
const IsTold = isTold

// LockBeside locks the file beside the state at path as a Lock does, which others may touch meanwhile before it is signed. It
// reports whether that is a lock.
func LockBeside(path string, holder state.Holder, meanwhile func() error) (isLock bool, release func() error, err error) {
	l, _, err := tryLockFile(lockPath(path))
	if err != nil || l == nil {
		return false, nil, err
	}
	if err := meanwhile(); err != nil {
		return false, nil, errors.Join(err, l.release())
	}
	isLock, err = l.sign(holder)
	return isLock, l.release, err
}
