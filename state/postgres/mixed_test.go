package postgres_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// worked makes a state with three runs, of which the last has not ended.
func worked(t *testing.T, server *pgtest.Server) (schema string) {
	t.Helper()
	s, schema := create(t, server)
	for at, rows := range []int{20, 20, 3} {
		run := fmt.Sprint("run-", at)
		j := lock(t, s)
		entries := []state.Entry{state.Begun{RunID: run, By: statetest.Holder("apply")}} // in one commit, as there are many such states
		for i := range rows {
			refID := fmt.Sprintf("%s-%02d", run, i)
			entries = append(entries, statetest.Intent(refID, run, "10.00"), statetest.Outcome(refID, run, state.SourceAnswer, state.Recorded))
		}
		if at < 2 {
			entries = append(entries, state.Ended{RunID: run})
		}
		add(t, j, entries...)
		unlock(t, j)
	}
	return schema
}

// ways are all that open a state and must refuse a mixture.
func ways(t *testing.T, s *postgres.Store) map[string]error {
	t.Helper()
	errs := make(map[string]error)
	snap, err := s.Snapshot(t.Context())
	if err == nil {
		err = snap.Close()
	}
	errs["it is read"] = err
	j, err := s.Lock(t.Context(), statetest.Holder("apply"), 0)
	if err == nil {
		err = j.Unlock()
	}
	errs["it is locked"] = err
	errs["its lock is taken away"] = s.ForceUnlock(t.Context(), statetest.Holder("force-unlock"), state.Clocks{}, "to be sure")
	_, errs["it is verified"] = s.Verify(t.Context(), "")
	return errs
}

// TestAMixtureIsRefused has an administrator restore a part of a database, or mend it by hand, and a
// replica lack what its source has. Its newest event is number 92.
func TestAMixtureIsRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for name, c := range map[string]struct{ sql, want string }{
		"rows of an older dump":              {`DELETE FROM transfers WHERE run_id = 'run-2'`, `the row of ref_id "run-2-0`},
		"a newest row that is gone":          {`DELETE FROM transfers WHERE ref_id = 'run-2-02'`, `the row of ref_id "run-2-02" lacks event`},
		"a newest row as it was before":      {`UPDATE transfers SET status = 2, record_id = NULL, record_status = '', group_id = '', settled_ms = NULL, outcome_seq = 0, last_seq = intent_seq WHERE ref_id = 'run-2-02'`, `the row of ref_id "run-2-02" lacks event`},
		"no rows at all":                     {`TRUNCATE transfers`, `the row of ref_id`},
		"a journal of an older dump":         {`DELETE FROM events WHERE seq > 83; UPDATE meta SET folded = 83`, `the row of ref_id "run-1-19" has event 84, and the journal ends with event 83`},
		"a journal of before the newest run": {`DELETE FROM events WHERE seq > 85; UPDATE meta SET folded = 85`, `run "run-2" names event 86, and the journal ends with event 85`},
		"a replica without the newest event": {`DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)`, `and its journal ends with`},
		"a gap":                              {`DELETE FROM events WHERE seq = (SELECT max(seq) - 4 FROM events)`, `newest events it has 15`},
		"an event that was changed":          {`UPDATE events SET time_ms = time_ms + 1 WHERE seq = (SELECT max(seq) FROM events)`, `does not follow from event`},
		"a payload that is none":             {`UPDATE events SET data = '\x00' WHERE seq = (SELECT max(seq) FROM events)`, `does not follow from event`},
		"a newest run that is gone":          {`DELETE FROM runs WHERE run_id = 'run-2'`, `run "run-2" does not name event`},
		"a run that ends where none ends":    {`UPDATE runs SET ended_seq = begun_seq + 1 WHERE run_id = 'run-2'`, `event 87, which a run names, is of kind "intent"`},
		"the first event that is gone":       {`DELETE FROM events WHERE seq = 1`, `its first event is gone`},
		"a journal that is gone":             {`TRUNCATE events`, `its first event is gone`},
		"the word on itself that is gone":    {`DELETE FROM meta`, `what it says of itself is gone`},
		"a customer that was changed":        {`UPDATE meta SET customer_id = ''`, `customer of event`},
		"a journal behind the mark":          {`UPDATE meta SET folded = 93`, `its rows are marked as having event 93, and its journal ends with event 92`},
		"a word on itself of an older dump":  {`UPDATE meta SET folded = 91`, `its rows are marked as having event 91, and its journal ends with event 92`},
		"a journal, rows and runs of before": {`DELETE FROM events WHERE seq > 85; DELETE FROM transfers WHERE run_id = 'run-2'; DELETE FROM runs WHERE run_id = 'run-2'`, `are marked as having event 92, and its journal ends with event 85`},
		"a table that was not restored":      {`DROP TABLE tallies`, `its table tallies is gone`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := worked(t, server)
			server.Exec(t, schema, "SET session_replication_role = replica; "+c.sql) // which no trigger sees
			s, err := postgres.Open(t.Context(), options(server, schema))
			errs := map[string]error{"it is opened": err}
			if err == nil {
				defer closed(t, s)
				errs = ways(t, s)
			}
			for when, err := range errs {
				damaged := errors.Is(err, state.ErrDamaged) || when == "it is verified" && err != nil
				if !damaged || when != "it is verified" && !strings.Contains(err.Error(), c.want) {
					t.Errorf("when %s: got %v, want ...%s...", when, err, c.want)
				}
			}
		})
	}
	// A timer ran for weeks with nothing to pay after its last transfer.
	idle := func(t *testing.T) string {
		schema := worked(t, server)
		s := reopen(t, server, schema)
		j := lock(t, s)
		var entries []state.Entry
		for i := range 40 {
			entries = append(entries, state.Begun{RunID: fmt.Sprint("idle-", i)}, state.Ended{RunID: fmt.Sprint("idle-", i)})
		}
		add(t, j, entries...)
		unlock(t, j)
		return schema
	}
	for name, c := range map[string]struct{ sql, want string }{
		"rows of before, under runs that made nothing": {`DELETE FROM transfers WHERE ref_id = 'run-2-02'`, `the row of ref_id "run-2-02" lacks event 92`},
		"rows that are newer than the journal":         {`UPDATE transfers SET last_seq = 1000 WHERE ref_id = 'run-0-01'`, `the row of ref_id "run-0-01" has event 1000, and the journal ends with event 172`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := idle(t)
			server.Exec(t, schema, "SET session_replication_role = replica; "+c.sql)
			s := reopen(t, server, schema)
			err := func() error {
				snap, err := s.Snapshot(t.Context())
				if err != nil {
					return err
				}
				defer snap.Close()
				_, err = snap.Details(t.Context(), "run-0-01")
				return err
			}()
			if !errors.Is(err, state.ErrDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it is read: %v, want ...%s...", err, c.want)
			}
			j, err := s.Lock(t.Context(), statetest.Holder("apply"), 0)
			if err == nil {
				err = errors.Join(j.Append(t.Context(), statetest.Intent("run-0-01", "idle-0", "10.00")), j.Unlock())
			}
			if !errors.Is(err, state.ErrDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it is written: %v, want ...%s...", err, c.want)
			}
		})
	}
	t.Run("a whole one", func(t *testing.T) {
		t.Parallel()
		s := reopen(t, server, worked(t, server))
		for when, err := range ways(t, s) {
			if err != nil {
				t.Errorf("when %s: %v", when, err)
			}
		}
	})
}

// TestNothingInAMixtureMakesItPanic changes rows behind the newest events, which no opening reads.
func TestNothingInAMixtureMakesItPanic(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	for name, sql := range map[string]string{
		"an event of another ref_id":  `UPDATE events SET ref_id = 'other' WHERE seq = 10`,
		"an event of another kind":    `UPDATE events SET kind = 'ended' WHERE seq = 2`,
		"an unlocking as a beginning": `UPDATE events SET kind = 'unlocked' WHERE seq = 2`,
		"an outcome as an intent":     `UPDATE events SET kind = 'intent' WHERE seq = 4`,
		"a run that names an intent":  `UPDATE runs SET begun_seq = 3 WHERE run_id = 'run-0'`,
		"runs that were swapped":      `UPDATE runs SET run_id = run_id || 'x'`,
		"payloads that were swapped":  `UPDATE events e SET data = (SELECT data FROM events WHERE seq = e.seq - 1) WHERE seq > 1`,
		"rows that name other events": `UPDATE transfers SET intent_seq = 2, outcome_seq = 1`,
		"payloads of no bytes":        `UPDATE events SET data = ''`,
		"an intent that is gone":      `DELETE FROM events WHERE seq = 3`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := worked(t, server)
			server.Exec(t, schema, "SET session_replication_role = replica; "+sql)
			s := reopen(t, server, schema)
			if _, err := s.Verify(t.Context(), ""); err == nil {
				t.Error("it is verified as whole")
			}
			snap, err := s.Snapshot(t.Context())
			if err != nil {
				return
			}
			defer snap.Close()
			for row, err := range snap.Transfers(t.Context()) {
				if err != nil {
					break
				}
				_, _ = snap.Details(t.Context(), row.RefID) // an error is a finding
			}
			drain(snap.Runs(t.Context()))
			drain(snap.Events(t.Context(), 0, ""))
			drain(snap.Outlines(t.Context()))
			drain(snap.Jumps(t.Context()))
		})
	}
}

// drain reads up to an error, which is a finding.
func drain[T any](all iter.Seq2[T, error]) {
	for _, err := range all {
		if err != nil {
			return
		}
	}
}
