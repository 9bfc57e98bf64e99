package sqlite

import (
	"context"
	"io/fs"

	"remit/state"
)

// Pace makes folds begin at so many changed rows and take so many at a time, so that tests
// see the middle of one.
func (s *Store) Pace(at, step int) { s.pace = pace{at, step} }

// OpenWith is Open for a program with other migrations.
func OpenWith(ctx context.Context, path string, opts Options, migrations fs.FS) (*Store, error) {
	return open(ctx, path, opts, migrations)
}

// Migrations are those that the program carries.
func Migrations() fs.FS { return embeddedMigrations() }

// NetworkName is what a type of statfs(2) is called.
func NetworkName(magic uint32) string { return networkName(magic) }

// Unpack reads outlines out of the three texts of packed rows, and reports whether they are
// exactly so many.
func Unpack(count int, words, numbers, runs string) ([]state.Outline, bool) {
	return new(outlineReader).unpackAll(nil, count, words, numbers, runs)
}

// PageRows is how many rows one statement reads.
const PageRows = pageRows
