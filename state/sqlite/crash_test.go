package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

// childPath names the state that a child process of these tests works on.
const childPath = "REMIT_TEST_CHILD_STATE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		child(path)
		return
	}
	suite.SideBySide(8) // they mostly wait: for locks, processes and a disk
	m.Run()
}

// child locks the state and appends from many goroutines until it is killed. It names each durable
// entry, a line each.
func child(path string) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{Now: time.Now})
	if err != nil {
		panic(err)
	}
	s.Pace(16, 3) // so that the kill often falls into a fold
	holder := statetest.Holder("child")
	holder.PID = os.Getpid()
	j, err := s.Lock(ctx, holder, 0)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	say := func(refID string, kind state.Kind) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(os.Stdout, refID, kind)
	}
	say("locked", "")
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				refID := fmt.Sprintf("%s-%d-%d", filepath.Base(os.Args[0]), worker, os.Getpid()*100000+i)
				if err := j.Append(ctx, statetest.Intent(refID, "child", "10.00")); err != nil {
					panic(err)
				}
				say(refID, state.KindIntent)
				answer := statetest.Outcome(refID, "child", state.SourceAnswer, []state.Status{state.Recorded, state.InDoubt, state.Refused}[i%3])
				if err := j.Append(ctx, answer); err != nil {
					panic(err)
				}
				say(refID, state.KindOutcome)
			}
		})
	}
	wg.Wait()
}

// start runs a child and returns its words.
func start(t *testing.T, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	words := bufio.NewScanner(out)
	if !words.Scan() || words.Text() != "locked " {
		t.Fatalf("the child says %q", words.Text())
	}
	return cmd, words
}

// TestWhatWasAcknowledgedSurvivesAKill kills a process in the middle of its appends, again
// and again on one state.
func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	s, path := create(t)
	durable := make(map[string]bool)
	for kill := range 6 {
		cmd, words := start(t, path)
		for said := 0; words.Scan(); said++ {
			durable[words.Text()] = true
			if said == 37*(kill+1) {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		if _, held := holder(t, s); held {
			t.Error("the dead hold the lock")
		}
		before := rows(t, s)
		found := make(map[string]bool)
		for _, e := range events(t, s) {
			found[e.RefID+" "+string(e.Kind)] = true
		}
		for word := range durable {
			if !found[word] {
				t.Errorf("kill %d: %s was acknowledged and is gone", kill, word)
			}
		}
		if _, err := s.Verify(t.Context(), ""); err != nil {
			t.Errorf("kill %d: %v", kill, err)
		}
		unlock(t, lock(t, s)) // which folds the rest
		if diff := cmp.Diff(before, rows(t, s), digits()); diff != "" {
			t.Errorf("kill %d: the rows changed when they were folded:\n%s", kill, diff)
		}
		if _, err := s.Verify(t.Context(), ""); err != nil {
			t.Errorf("kill %d, after the next lock: %v", kill, err)
		}
	}
}

func holder(t *testing.T, s state.Store) (state.Holder, bool) {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	return snap.Holder()
}

func events(t *testing.T, s state.Store) []state.Event {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var list []state.Event
	for e, err := range snap.Events(t.Context(), 0, "") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func digits() cmp.Option {
	return cmp.Comparer(func(a, b transfer.Amount) bool { return a == b })
}

func TestAnotherProcessHoldsTheLockUntilItDies(t *testing.T) {
	s, path := create(t)
	cmd, _ := start(t, path)
	want := statetest.Holder("child")
	want.PID = cmd.Process.Pid
	var locked *state.LockedError
	if _, err := s.Lock(t.Context(), statetest.Holder("apply"), 0); !errors.As(err, &locked) {
		t.Fatalf("two processes hold the lock: %v", err)
	}
	if diff := cmp.Diff(want, locked.Holder); diff != "" {
		t.Error(diff)
	}
	if got, held := holder(t, s); !held || got != want {
		t.Errorf("a snapshot names %v, %v", got, held)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	unlock(t, lock(t, s))
}

// TestACrashAfterAnyCommitLosesNothing copies the file and its log after each commit, as a
// crash at that moment would leave them, with folds of one row at a time going on.
func TestACrashAfterAnyCommitLosesNothing(t *testing.T) {
	t.Parallel()
	s, path := create(t)
	s.Pace(3, 1)
	j := lock(t, s)
	dir := t.TempDir()
	appends := 0
	step := func(entries ...state.Entry) {
		t.Helper()
		add(t, j, entries...)
		appends++
		crashed := filepath.Join(dir, fmt.Sprintf("%d.db", appends))
		for _, suffix := range []string{"", "-wal"} {
			content, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(crashed+suffix, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := rows(t, s)
		again := reopen(t, crashed)
		if _, err := again.Verify(t.Context(), ""); err != nil {
			t.Errorf("after append %d: %v", appends, err)
		}
		if diff := cmp.Diff(want, rows(t, again), digits()); diff != "" {
			t.Errorf("after append %d:\n%s", appends, diff)
		}
		next := lock(t, again)
		if err := next.Append(t.Context(), statetest.Intent("aa", "run", "99.00")); !errors.Is(err, state.ErrDifferent) {
			t.Errorf("after append %d the next holder forgot a doubt: %v", appends, err)
		}
		unlock(t, next)
		if diff := cmp.Diff(want, rows(t, again), digits()); diff != "" {
			t.Errorf("after append %d, folded:\n%s", appends, diff)
		}
		closed(t, again)
	}
	step(statetest.Intent("aa", "run", "10.00"))
	for i := range 12 {
		// Names in an order of their own, so that a fold is not in the order of events.
		refID := fmt.Sprintf("%c%d", 'z'-rune(i*7%26), i)
		step(state.Begun{RunID: refID}, statetest.Intent(refID, "run", "10.00"))
		step(statetest.Outcome(refID, "run", state.SourceAnswer, []state.Status{state.Recorded, state.InDoubt, state.Conflict}[i%3]))
		if i%3 == 1 {
			step(statetest.Intent(refID, "run 2", "10.00"))
		}
	}
	unlock(t, j)
}

func TestVerifyFindsWhatWasChangedInTheFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want string
	}{
		"nothing":              {"SELECT 1", ""},
		"an event's payload":   {"DROP TRIGGER events_update; UPDATE events SET data = replace(data, '10.00', '99.00') WHERE seq = 2", "event 2: its hash"},
		"an event that is cut": {"DROP TRIGGER events_delete; DELETE FROM events WHERE seq = 3", "event 3: event 4 follows event 2"},
		"a row's amount":       {"UPDATE transfers SET amount = '99.00' WHERE ref_id = 'a'", `row of ref_id "a"`},
		"a row's status":       {"UPDATE transfers SET status = 4 WHERE ref_id = 'a'", `row of ref_id "a"`},
		"a row's digest":       {"UPDATE transfers SET request_digest = zeroblob(16) WHERE ref_id = 'b'", `row of ref_id "b"`},
		"a row that is gone":   {"DROP TRIGGER transfers_delete; DELETE FROM transfers WHERE ref_id = 'b'", `row of ref_id "b" is missing`},
		"a row too many": {`INSERT INTO transfers SELECT 'c', status, doubted, from_label, fingerprint, request_digest, twin, destination,
			asset, amount, NULL, group_id, record_status, intended_ms, attempted_ms, settled_ms, run_id, intent_seq, outcome_seq, last_seq
			FROM transfers WHERE ref_id = 'b'`, `row of ref_id "c"`},
		"the list of a ref_id's events": {"DROP TRIGGER events_update; UPDATE events SET previous = 1 WHERE seq = 3", "event 3 names event 1"},
		"the environment":               {"UPDATE meta SET environment = 'other'", "says of itself"},
		"the customer":                  {"UPDATE meta SET customer_id = ''", "says of itself"},
		"a run that is gone":            {"DELETE FROM runs", `run "run" is missing`},
		"a run's end":                   {"UPDATE runs SET ended_seq = NULL", `run "run" is not`},
		"an index":                      {"PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'runs') WHERE name = 'transfers_record_id'", "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := create(t)
			j := lock(t, s)
			add(t, j, statetest.Intent("a", "run", "10.00"))
			add(t, j, statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded), statetest.Intent("b", "run", "10.00"))
			add(t, j, state.Begun{RunID: "run"}, state.Ended{RunID: "run"})
			unlock(t, j)
			meta, err := s.Verify(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			closed(t, s) // without a log, which is checked when a state is opened
			execute(t, path, c.sql)
			_, err = reopen(t, path).Verify(t.Context(), meta.Head)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
		})
	}
	t.Run("a tail that is cut, by its head alone", func(t *testing.T) {
		s, path := create(t)
		j := lock(t, s)
		add(t, j, state.Begun{RunID: "run"})
		meta, err := s.Verify(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		unlock(t, j)
		execute(t, path, "DROP TRIGGER events_delete; DELETE FROM events WHERE seq = 2; DELETE FROM runs; UPDATE meta SET folded = 1")
		cut := reopen(t, path)
		if cut, err := cut.Verify(t.Context(), ""); err != nil || cut.Lacks != meta.Serial {
			t.Errorf("without the head: it lacks %d, %v", cut.Lacks, err)
		}
		if _, err := cut.Verify(t.Context(), meta.Head); err == nil {
			t.Error("with the head: not found")
		}
	})
}

func TestTheSchemaRefusesWhatTheRulesForbid(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"), statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded))
	add(t, j, statetest.Intent("b", "run", "10.00"))
	unlock(t, j)
	event := "INSERT INTO events VALUES (%s, 1e15, '%s', '%s', '', 0, '{}', zeroblob(32))"
	for name, sql := range map[string]string{
		"an event that is changed":          "UPDATE events SET data = '{}' WHERE seq = 2",
		"an event that is removed":          "DELETE FROM events WHERE seq = 4",
		"an event that is replaced":         "REPLACE INTO events SELECT seq, time_ms, kind, ref_id, run_id, previous, '{}', hash FROM events WHERE seq = 2",
		"a gap":                             fmt.Sprintf(event, "6", "ended", ""),
		"an unknown kind":                   fmt.Sprintf(event, "5", "undone", ""),
		"a second creation":                 fmt.Sprintf(event, "5", "created", ""),
		"an intent of nothing":              fmt.Sprintf(event, "5", "intent", ""),
		"half a hash":                       "INSERT INTO events VALUES (5, 1e15, 'ended', '', '', 0, '{}', zeroblob(16))",
		"a ref_id that is removed":          "DELETE FROM transfers WHERE ref_id = 'a'",
		"a record that is taken away":       "UPDATE transfers SET record_id = 'other' WHERE ref_id = 'a'",
		"a record under two ref_ids":        "UPDATE transfers SET status = 3, outcome_seq = 4, settled_ms = 1, record_status = 'COMPLETED', record_id = 'r-a' WHERE ref_id = 'b'",
		"a made transfer without a record":  "UPDATE transfers SET status = 3, outcome_seq = 4, settled_ms = 1 WHERE ref_id = 'b'",
		"a recorded one by a list":          "UPDATE transfers SET status = 3, group_id = 'g', outcome_seq = 4, settled_ms = 1 WHERE ref_id = 'b'",
		"a doubt with a list's group_id":    "UPDATE transfers SET group_id = 'g' WHERE ref_id = 'b'",
		"a refusal without an outcome":      "UPDATE transfers SET status = 6 WHERE ref_id = 'b'",
		"a doubt about what is recorded":    "UPDATE transfers SET doubted = 1 WHERE ref_id = 'a'",
		"a doubt with a record":             "UPDATE transfers SET record_id = 'x', record_status = 'PENDING' WHERE ref_id = 'b'",
		"a status of no name":               "UPDATE transfers SET status = 9 WHERE ref_id = 'b'",
		"a second row of the state's words": "INSERT INTO meta SELECT 2, lineage, environment, base_url, operator, client_id, customer_id, precheck, created_ms, fence, folded, moved FROM meta",
		"a number where a text belongs":     "UPDATE transfers SET fingerprint = 'text' WHERE ref_id = 'b'",
	} {
		if err := tryExecute(t, path, sql); err == nil {
			t.Errorf("the schema allows %s", name)
		}
	}
	if err := tryExecute(t, path, fmt.Sprintf(event, "5", "ended", "")); err != nil {
		t.Errorf("a fair event is refused, so the others were refused for another reason: %v", err)
	}
}

func TestVerifyFindsAJumpThatWasChanged(t *testing.T) {
	for name, c := range map[string]struct{ sql, want string }{
		"nothing":                           {"SELECT 1", ""},
		"one that is gone":                  {"DELETE FROM jumps", "jump of the clock at event 3 is missing"},
		"one that is another":               {"UPDATE jumps SET back_ms = 600001", "jump of the clock at event 3 is stored as 10m0.001s and is 10h0m0s"},
		"one that is not in the journal":    {"INSERT INTO jumps VALUES (4, 600001)", "jump of the clock is stored at event 4"},
		"one that is before all the others": {"INSERT INTO jumps VALUES (2, 600001)", "jump of the clock is stored at event 2"},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
			path := filepath.Join(t.TempDir(), "remit.db")
			s, err := sqlite.Create(t.Context(), path, statetest.Created(), sqlite.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			j := lock(t, s)
			now = now.Add(10 * time.Hour)
			add(t, j, state.Begun{RunID: "run"})
			now = now.Add(-10 * time.Hour)
			add(t, j, statetest.Intent("a", "run", "10.00"))
			add(t, j, state.Ended{RunID: "run"})
			unlock(t, j)
			closed(t, s)
			execute(t, path, c.sql)
			_, err = reopen(t, path).Verify(t.Context(), "")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
		})
	}
}
