package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

func TestVerifyFindsWhatWasChangedInTheDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for name, c := range map[string]struct {
		sql  string
		want string
	}{
		"nothing":                       {"SELECT 1", ""},
		"an event's payload":            {"UPDATE events SET data = convert_to(replace(convert_from(data, 'UTF8'), '10.00', '99.00'), 'UTF8') WHERE seq = 2", "event 2: its hash"},
		"an event that is cut":          {"DELETE FROM events WHERE seq = 3", "event 3: event 4 follows event 2"},
		"a row's amount":                {"UPDATE transfers SET amount = '99.00' WHERE ref_id = 'a'", `row of ref_id "a"`},
		"a row's status":                {"UPDATE transfers SET status = 4 WHERE ref_id = 'a'", `row of ref_id "a"`},
		"a row that is gone":            {"DELETE FROM transfers WHERE ref_id = 'b'", `row of ref_id "b" is missing`},
		"the list of a ref_id's events": {"UPDATE events SET previous = 1 WHERE seq = 3", "event 3 names event 1"},
		"the environment":               {"UPDATE meta SET environment = 'other'", "says of itself"},
		"the customer":                  {"UPDATE meta SET customer_id = ''", "says of itself"},
		"a run that is gone":            {"DELETE FROM runs", `run "run" is missing`},
		"a run's end":                   {"UPDATE runs SET ended_seq = NULL", `run "run" is not`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, schema := create(t, server)
			j := lock(t, s)
			add(t, j, statetest.Intent("a", "run", "10.00"))
			add(t, j, statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded), statetest.Intent("b", "run", "10.00"))
			add(t, j, state.Begun{RunID: "run"}, state.Ended{RunID: "run"})
			unlock(t, j)
			meta, err := s.Verify(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			server.Exec(t, schema, "SET session_replication_role = replica; "+c.sql) // which no trigger sees
			_, err = s.Verify(t.Context(), meta.Head)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
		})
	}
}

func TestTheSchemaRefusesWhatTheRulesForbid(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"), statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded))
	add(t, j, statetest.Intent("b", "run", "10.00"))
	unlock(t, j)
	event := `INSERT INTO events VALUES (%s, 1e15, '%s', '%s', '', 0, '{}', sha256(''))`
	for name, sql := range map[string]string{
		"an event that is changed":          "UPDATE events SET data = '{}' WHERE seq = 2",
		"an event that is removed":          "DELETE FROM events WHERE seq = 4",
		"a journal that is emptied":         "TRUNCATE events",
		"a gap":                             fmt.Sprintf(event, "6", "ended", ""),
		"an unknown kind":                   fmt.Sprintf(event, "5", "undone", ""),
		"a second creation":                 fmt.Sprintf(event, "5", "created", ""),
		"an intent of nothing":              fmt.Sprintf(event, "5", "intent", ""),
		"half a hash":                       `INSERT INTO events VALUES (5, 1e15, 'ended', '', '', 0, '{}', '\x00')`,
		"a ref_id that is removed":          "DELETE FROM transfers WHERE ref_id = 'a'",
		"all ref_ids that are removed":      "TRUNCATE transfers",
		"a record that is taken away":       "UPDATE transfers SET record_id = 'other' WHERE ref_id = 'a'",
		"a record under two ref_ids":        "UPDATE transfers SET status = 3, outcome_seq = 4, settled_ms = 1, record_status = 'COMPLETED', record_id = 'r-a' WHERE ref_id = 'b'",
		"a made transfer without a record":  "UPDATE transfers SET status = 3, outcome_seq = 4, settled_ms = 1 WHERE ref_id = 'b'",
		"a recorded one by a list":          "UPDATE transfers SET status = 3, group_id = 'g', outcome_seq = 4, settled_ms = 1 WHERE ref_id = 'b'",
		"a doubt with a list's group_id":    "UPDATE transfers SET group_id = 'g' WHERE ref_id = 'b'",
		"a refusal without an outcome":      "UPDATE transfers SET status = 6 WHERE ref_id = 'b'",
		"a doubt about what is recorded":    "UPDATE transfers SET doubted = true WHERE ref_id = 'a'",
		"a doubt with a record":             "UPDATE transfers SET record_id = 'x', record_status = 'PENDING' WHERE ref_id = 'b'",
		"a status of no name":               "UPDATE transfers SET status = 9 WHERE ref_id = 'b'",
		"a second row of the state's words": "INSERT INTO meta SELECT * FROM meta",
	} {
		if _, err := server.TryExec(t.Context(), schema, sql); err == nil {
			t.Errorf("the schema allows %s", name)
		}
	}
	if _, err := server.TryExec(t.Context(), schema, fmt.Sprintf(event, "5", "ended", "")); err != nil {
		t.Errorf("a fair event is refused, so the others were refused for another reason: %v", err)
	}
}

func TestVerifyFindsAJumpThatWasChanged(t *testing.T) {
	server := pgtest.Shared(t)
	for name, c := range map[string]struct{ sql, want string }{
		"nothing":                           {"SELECT 1", ""},
		"one that is gone":                  {"DELETE FROM jumps", "jump of the clock at event 3 is missing"},
		"one that is another":               {"UPDATE jumps SET back_ms = 600001", "jump of the clock at event 3 is stored as 10m0.001s and is 10h0m0s"},
		"one that is not in the journal":    {"INSERT INTO jumps VALUES (4, 600001)", "jump of the clock is stored at event 4"},
		"one that is before all the others": {"INSERT INTO jumps VALUES (2, 600001)", "jump of the clock is stored at event 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
			schema := server.Schema()
			opts := options(server, schema)
			opts.Now = func() time.Time { return now }
			s, err := postgres.Create(t.Context(), statetest.Created(), opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { closed(t, s) })
			j := lock(t, s)
			now = now.Add(10 * time.Hour)
			add(t, j, state.Begun{RunID: "run"})
			now = now.Add(-10 * time.Hour)
			add(t, j, statetest.Intent("a", "run", "10.00"))
			add(t, j, state.Ended{RunID: "run"})
			unlock(t, j)
			server.Exec(t, schema, c.sql)
			_, err = s.Verify(t.Context(), "")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
		})
	}
}
