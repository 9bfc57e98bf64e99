package postgres_test

import (
	"errors"
	"testing"

	"remit/state"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// TestWhoIsLost has runners of a run that show a sign of life, or none, in each way: one that has lost its lease, or its
// session, is lost, and its parts are free. One that asks to take part is no runner yet.
func TestWhoIsLost(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a", "b", "c", "d", "e")
	// The session of the first one holds the lock, and process 0 is that of nobody.
	server.Exec(t, schema, `WITH claimed AS (UPDATE parts SET runner = number + 10 WHERE number > 0)
		INSERT INTO runners (run_id, number, pid, holder, joined, lease_until, gone, settled)
		SELECT run_id, n, CASE WHEN lives THEN pid ELSE 0 END, holder, is_in, now() + lease, '', 0
		FROM runners, (VALUES
			(11, true, true, interval '1 hour'),
			(12, true, true, interval '-1 hour'),
			(13, false, true, interval '1 hour'),
			(14, false, true, interval '-1 hour'),
			(15, false, false, interval '-1 hour')) others (n, lives, is_in, lease)
		WHERE runners.number = 1`)
	waitUntil(t, "some to be lost", func() bool {
		return server.Exec(t, schema, `SELECT count(*) > 0 FROM runners WHERE gone = 'lost'`) == "true"
	})
	if got := server.Exec(t, schema, `SELECT string_agg(number::text, ' ' ORDER BY number) FROM runners WHERE gone = 'lost'`); got != "12 13 14" {
		t.Errorf("lost are %s, want 12, 13 and 14", got)
	}
	if got := server.Exec(t, schema, `SELECT string_agg(number::text, ' ' ORDER BY number) FROM parts WHERE runner IS NULL AND again`); got != "2 3 4" {
		t.Errorf("free are the parts %s, want 2, 3 and 4", got)
	}
}

// TestARunnerStopsWhereItsEventsAreGone takes an event away that was durable, as a copy does that takes the place of
// its server before it had everything. The runner that wrote it stops; one that knows nothing of it can't tell.
func TestARunnerStopsWhereItsEventsAreGone(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	second := joined(t, server, schema)
	add(t, second, statetest.Intent("a", "run-1", "10.00"))
	server.Exec(t, schema, `SET session_replication_role = replica; DELETE FROM events WHERE seq = 3; DELETE FROM transfers;
		UPDATE meta SET folded = 2, written = (SELECT xmin::text::bigint FROM events WHERE seq = 2)`)
	add(t, first, statetest.Intent("b", "run-1", "10.00"))
	if err := second.Append(t.Context(), statetest.Intent("c", "run-1", "10.00")); !errors.Is(err, state.ErrReplaced) {
		t.Errorf("got %v, want %v", err, state.ErrReplaced)
	}
	if got := len(rows(t, s)); got != 1 {
		t.Errorf("%d rows, want that of the first runner alone", got)
	}
}
