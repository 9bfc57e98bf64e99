package postgres_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
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

// TestAReadThatBreaksSaysThatTheServerIsAway: a runner that reads what it claimed, as its server goes away, waits for the next
// one as a runner does that writes.
func TestAReadThatBreaksSaysThatTheServerIsAway(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	first, schema := create(t, server)
	closed(t, first)
	network := newProxy(t, server.Address())
	s, err := postgres.Open(t.Context(), postgres.Options{
		URL: strings.Replace(server.URL(), server.Address(), network.address, 1), Schema: schema, Now: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, s)
	j := lock(t, s)
	defer func() { _ = j.Unlock() }()
	snapshot, err := j.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = snapshot.Close() }()
	network.arm("the-claimed-one", cut{})
	if _, err := snapshot.Details(t.Context(), "the-claimed-one"); !errors.Is(err, state.ErrAway) {
		t.Errorf("got %v, want %v", err, state.ErrAway)
	}
}
