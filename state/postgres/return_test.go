package postgres_test

import (
	"path/filepath"
	"testing"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// TestAServerThatIsBackSaysWhatItIs stops a server under a journal. It comes back as itself, and then as a copy that was
// promoted: what other runners appended may be missing there, as no commit waited for it.
func TestAServerThatIsBackSaysWhatItIs(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Start(t)
	s, schema := create(t, server)
	j := lock(t, s)
	add(t, j, statetest.Intent("one", "run", "10.00"))
	is := func(want state.Return) {
		t.Helper()
		again := reopen(t, server, schema)
		back, err := again.Return(t.Context(), j.(state.Replicated))
		if err != nil {
			t.Fatal(err)
		}
		if back != want {
			t.Errorf("it is %+v, want %+v", back, want)
		}
	}
	is(state.Return{})
	server.Stop()
	run := func() {
		t.Helper()
		if err := server.Run(); err != nil {
			t.Fatal(err)
		}
	}
	run()
	is(state.Return{Anew: true})
	server.Stop()
	// A server that finds this file follows another one, until it is promoted.
	if _, err := server.Place(filepath.Join("data", "standby.signal"), nil); err != nil {
		t.Fatal(err)
	}
	run()
	if got := server.Exec(t, "public", `SELECT pg_promote()::text`); got != "true" {
		t.Fatalf("it is not promoted: %s", got)
	}
	is(state.Return{Anew: true, MayLack: true})
	_ = j.Unlock() // it failed
}

// TestAServerThatHidesItsLog denies the functions that tell its timeline, as managed servers may: it is used all the same, and
// once it has started anew it counts as another one.
func TestAServerThatHidesItsLog(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Start(t)
	server.Exec(t, "public", `ALTER FUNCTION pg_catalog.pg_current_wal_lsn() RENAME TO hidden`)
	s, schema := create(t, server)
	j := lock(t, s)
	add(t, j, statetest.Intent("one", "run", "10.00"))
	is := func(want state.Return) {
		t.Helper()
		back, err := reopen(t, server, schema).Return(t.Context(), j.(state.Replicated))
		if err != nil || back != want {
			t.Errorf("it is %+v, %v; want %+v", back, err, want)
		}
	}
	is(state.Return{})
	server.Stop()
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	is(state.Return{Anew: true, MayLack: true})
	_ = j.Unlock() // it failed
}
