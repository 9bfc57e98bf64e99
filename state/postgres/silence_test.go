package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
)

// TestASilentServerIsGivenUp has a server hang at each thing that a runner asks before it sends, with a context that
// never ends: the runner gives the server up, and says so.
func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	lock := func(ctx context.Context, s *postgres.Store) error {
		j, err := s.Lock(ctx, state.Holder{RunID: "next"}, 0)
		if err == nil {
			err = j.Unlock()
		}
		return err
	}
	join := func(ctx context.Context, s *postgres.Store) error {
		j, err := s.Join(ctx, state.Holder{}, time.Minute)
		if err == nil {
			err = j.Unlock()
		}
		return err
	}
	read := func(ctx context.Context, s *postgres.Store) error {
		snapshot, err := s.Snapshot(ctx)
		if err == nil {
			err = snapshot.Close()
		}
		return err
	}
	for name, c := range map[string]struct {
		mark string // of what the server does not answer
		run  bool   // one is in progress
		do   func(context.Context, *postgres.Store) error
	}{
		"a session is prepared":      {mark: "idle_session_timeout", do: lock},
		"the lock is asked for":      {mark: "pg_try_advisory_lock(", do: lock},
		"the lock is signed":         {mark: "fence = fence + 1", do: lock},
		"the newest event is read":   {mark: "repeatable read read only", do: lock},
		"the holder is asked for":    {mark: "l.pid IS NOT NULL", run: true, do: join},
		"a runner asks to take part": {mark: "INSERT INTO runners", run: true, do: join},
		"a run is looked for":        {mark: "FROM shares", run: true, do: join},
		"the state is read":          {mark: "SELECT version, moved", do: read},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, schema := create(t, server)
			if c.run {
				j := began(t, first, "run")
				defer unlock(t, j)
			}
			network := newProxy(t, server.Address())
			s, err := postgres.OpenPatiently(t.Context(), postgres.Options{
				URL: strings.Replace(server.URL(), server.Address(), network.address, 1), Schema: schema, Now: clock,
			}, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, s)
			network.arm(c.mark, cut{first: func() { <-t.Context().Done() }})
			err = c.do(context.Background(), s)
			if network.happened() != 1 {
				t.Fatalf("nothing hangs: %v", err)
			}
			if err == nil || !strings.Contains(err.Error(), "the server does not answer: it was silent for 20s") {
				t.Errorf("the end is %v", err)
			}
		})
	}
}
