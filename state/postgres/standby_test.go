package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// TestACommitThatNoStandbyHasIsNotTakenForDurable has an administrator end the wait of a commit for
// a standby that does not answer. The server says that it committed, and a warning: what it then
// has is gone where a standby takes its place.
func TestACommitThatNoStandbyHasIsNotTakenForDurable(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Start(t)
	// set says what commits wait for. Another process of the server heeds it, in its own time.
	set := func(standbys string) {
		t.Helper()
		server.Exec(t, "public", `ALTER SYSTEM SET synchronous_standby_names = '`+standbys+`'`)
		server.Exec(t, "public", `SELECT pg_reload_conf()`)
	}
	// endWait ends the wait of the session that waits for a standby, once it does, and returns when
	// that session does not wait any more.
	const waiting = `FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'`
	endWait := func(by string) {
		t.Helper()
		pid := ""
		waitUntil(t, "a commit to wait", func() bool {
			pid = server.Exec(t, "public", `SELECT coalesce(min(pid)::text, '') `+waiting)
			return pid != ""
		})
		server.Exec(t, "public", `SELECT `+by+`(`+pid+`)`)
		waitUntil(t, "its wait to end", func() bool {
			return server.Exec(t, "public", `SELECT count(*) `+waiting+` AND pid = `+pid) == "0"
		})
	}
	wait := func(standbys string) {
		t.Helper()
		set(standbys)
		if standbys == "" {
			return // which wakes who waits
		}
		// It is so once a commit waits.
		tried := make(chan error, 1)
		try := func() {
			_, err := server.TryExec(t.Context(), "public", `SELECT pg_logical_emit_message(true, 'try', '')::text`)
			tried <- err
		}
		go try()
		waitUntil(t, "commits to wait", func() bool {
			select {
			case err := <-tried:
				if err != nil {
					t.Fatal(err)
				}
				go try()
			default:
			}
			return server.Exec(t, "public", `SELECT count(*) `+waiting) == "1"
		})
		endWait("pg_cancel_backend")
		if err := <-tried; err != nil {
			t.Fatal(err)
		}
	}
	for _, by := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		t.Run(by, func(t *testing.T) {
			s, _ := create(t, server)
			j := lock(t, s)
			add(t, j, statetest.Intent("before", "run", "10.00"))

			wait("nobody")
			defer wait("")
			appended := make(chan error, 1)
			go func() { appended <- j.Append(t.Context(), statetest.Intent("waits", "run", "10.00")) }()
			endWait(by)
			select {
			case err := <-appended:
				t.Fatalf("an entry that no standby has was said to be durable, or not: %v", err)
			case <-time.After(time.Second): // it asks how it ended
			}
			wait("")
			if err := <-appended; err != nil {
				t.Fatalf("once the standbys have it, or none is waited for: %v", err)
			}
			add(t, j, statetest.Outcome("waits", "run", state.SourceAnswer, state.Recorded))

			wait("nobody")
			go func() { appended <- j.Append(t.Context(), statetest.Intent("never", "run", "10.00")) }()
			endWait(by)
			endWait(by)
			if err := <-appended; err == nil || !strings.Contains(err.Error(), "WARNING") && by == "pg_cancel_backend" {
				t.Errorf("an entry that no standby has was said to be durable, or not why it is not: %v", err)
			}
			if err := j.Append(t.Context(), statetest.Intent("later", "run", "10.00")); err == nil {
				t.Error("it goes on after a commit of which nothing is known")
			}
			wait("")
			_ = j.Unlock() // it failed
			meta, err := s.Verify(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if meta.Serial != 5 {
				t.Errorf("%d events, want 5: an entry was written twice, or not at all", meta.Serial)
			}
		})
	}
	t.Run("a move", func(t *testing.T) {
		s, schema := create(t, server)
		j := lock(t, s)
		wait("nobody")
		defer wait("")
		moved := make(chan error, 1)
		go func() { moved <- j.(state.Mover).Move(t.Context(), "elsewhere") }()
		endWait("pg_cancel_backend")
		if err := <-moved; err == nil {
			t.Error("a mark that no standby has was said to be durable")
		}
		wait("")
		again, err := postgres.Open(t.Context(), options(server, schema))
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, again)
		var mark *state.MovedError
		if _, err := again.Lock(t.Context(), statetest.Holder("migrate"), 0); !errors.As(err, &mark) || mark.To != "elsewhere" {
			t.Errorf("got %v", err)
		}
	})
}
