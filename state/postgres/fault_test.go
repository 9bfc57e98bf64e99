package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// TestACommitThatIsNotAnsweredIsFoundOut cuts the connection in the middle of a commit: before
// the server has heard of it, after, and long after, when the client has been asking again.
func TestACommitThatIsNotAnsweredIsFoundOut(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for name, c := range map[string]cut{
		"the server never hears of it":  {},
		"the server commits":            {forwards: true},
		"the server commits much later": {forwards: true, after: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, schema := create(t, server)
			network := newProxy(t, server.Address())
			through, err := postgres.Open(t.Context(), postgres.Options{
				URL: strings.Replace(server.URL(), server.Address(), network.address, 1), Schema: schema, Now: clock,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, through)
			j := lock(t, through)
			add(t, j, statetest.Intent("before", "run", "10.00"))
			network.arm(`\"ref_id\":\"cut\"`, c)
			add(t, j, statetest.Intent("cut", "run", "10.00"))
			if network.happened() != 1 {
				t.Fatal("nothing was cut")
			}
			add(t, j, statetest.Outcome("cut", "run", state.SourceAnswer, state.Recorded))
			if err := j.Append(t.Context(), statetest.Intent("cut", "run", "10.00")); !errors.Is(err, state.ErrRecorded) {
				t.Errorf("it goes on from another state: %v", err)
			}
			unlock(t, j)
			meta, err := s.Verify(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if meta.Serial != 4 {
				t.Errorf("%d events, want 4: an entry was written twice, or not at all", meta.Serial)
			}
		})
	}
}

// TestACommitOfABrokenJournalIsNotTriedAgain breaks the connection of a commit once the journal
// was broken, as where a server that stands still was given up.
func TestACommitOfABrokenJournalIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	network := newProxy(t, server.Address())
	through, err := postgres.Open(t.Context(), postgres.Options{
		URL: strings.Replace(server.URL(), server.Address(), network.address, 1), Schema: schema, Now: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, through)
	j := lock(t, through)
	add(t, j, statetest.Intent("before", "run", "10.00"))
	gone := errors.New("it was given up")
	network.arm("cut", cut{first: func() { j.(interface{ Break(error) }).Break(gone) }})
	if err := j.Append(t.Context(), statetest.Intent("cut", "run", "10.00")); !errors.Is(err, gone) {
		t.Errorf("append got %v", err)
	}
	if network.happened() != 1 {
		t.Fatal("nothing was cut")
	}
	_ = j.Unlock() // it failed
	if meta, err := s.Verify(t.Context(), ""); err != nil || meta.Serial != 2 {
		t.Errorf("%d events, want 2: %v", meta.Serial, err)
	}
}

// TestALockWhoseSessionEndsIsLost ends the session that holds the lock, and no other.
func TestALockWhoseSessionEndsIsLost(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	j := lock(t, s)
	add(t, j, statetest.Intent("before", "run", "10.00"))
	server.Exec(t, schema, `SELECT pg_terminate_backend(holder_pid) FROM meta`)
	waitUntil(t, "the lock to be let go", func() bool {
		_, held := holder(t, s)
		return !held
	})
	if err := j.Check(t.Context()); !errors.Is(err, state.ErrLost) {
		t.Errorf("a request may begin: %v", err)
	}
	if err := j.Append(t.Context(), statetest.Intent("after", "run", "10.00")); !errors.Is(err, state.ErrLost) {
		t.Errorf("append got %v", err)
	}
	next := lock(t, reopen(t, server, schema))
	if err := j.Append(t.Context(), statetest.Intent("after", "run", "10.00")); !errors.Is(err, state.ErrLost) {
		t.Errorf("under the next holder: append got %v", err)
	}
	add(t, next, statetest.Outcome("before", "", state.SourceLookup, state.Recorded))
	unlock(t, next)
	if err := j.Unlock(); !errors.Is(err, state.ErrLost) {
		t.Errorf("unlock got %v", err)
	}
	if got := len(rows(t, s)); got != 1 {
		t.Errorf("%d rows", got)
	}
}

// TestUnlockLetsGoWhileTheLockIsLookedAt unlocks at a moment at which the holder asks whether
// another runner wants to take part: the next one has the lock at once.
func TestUnlockLetsGoWhileTheLockIsLookedAt(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	runner := statetest.Holder("apply")
	runner.RunID = "run"
	j, err := s.Lock(t.Context(), runner, 0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.WithoutCancel(t.Context()))
	begun, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Exec(t.Context(), "LOCK TABLE "+schema+".runners"); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the holder to ask", func() bool {
		return server.Exec(t, schema, `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'runners'::regclass`) == "1"
	})
	unlock(t, j)
	if got, held := holder(t, s); held {
		t.Errorf("the lock is still held: %v", got)
	}
	if err := begun.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, err := s.Lock(t.Context(), statetest.Holder("apply"), 0)
	if err != nil {
		t.Fatalf("the next one: %v", err)
	}
	unlock(t, next)
}

// TestASessionThatOnlyWritesMayEnd ends the session that commits, again and again.
func TestASessionThatOnlyWritesMayEnd(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema, role := createFor(t, server)
	j := lock(t, s)
	for i := range 20 {
		add(t, j, statetest.Intent(fmt.Sprintf("ref-%02d", i), "run", "10.00"))
		if i%4 == 0 {
			server.Terminate(t, `usename = '`+role+`' AND query LIKE '%COMMIT%' AND pid <> (SELECT holder_pid FROM `+schema+`.meta)`)
		}
	}
	unlock(t, j)
	if meta, err := s.Verify(t.Context(), ""); err != nil || meta.Serial != 21 {
		t.Errorf("%d events: %v", meta.Serial, err)
	}
}

// TestAServerThatStopsInTheMiddleLosesNothing stops a server under a journal that many write
// to, as a crash would, and runs it again.
func TestAServerThatStopsInTheMiddleLosesNothing(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Start(t)
	s, schema := create(t, server)
	for stop := range 3 {
		j := lock(t, s)
		var mu sync.Mutex
		durable := make(map[string]bool)
		var wg sync.WaitGroup
		for worker := range 8 {
			wg.Go(func() {
				for i := 0; ; i++ {
					refID := fmt.Sprintf("%d-%d-%d", stop, worker, i)
					if err := j.Append(t.Context(), statetest.Intent(refID, "run", "10.00")); err != nil {
						return
					}
					mu.Lock()
					durable[refID] = true
					mu.Unlock()
				}
			})
		}
		waitUntil(t, "a hundred intents", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(durable) > 100
		})
		server.Stop()
		wg.Wait()
		if err := j.Check(t.Context()); err == nil {
			t.Error("a request may begin while the server is away")
		}
		if err := server.Run(); err != nil {
			t.Fatal(err)
		}
		if err := j.Append(t.Context(), statetest.Intent("after", "run", "10.00")); err == nil {
			t.Error("the journal goes on although its lock is gone")
		}
		if err := j.Check(t.Context()); err == nil {
			t.Error("a request may begin although the lock is gone")
		}
		_ = j.Unlock() // it failed
		closed(t, s)
		s = reopen(t, server, schema)
		found := make(map[string]bool)
		for _, row := range rows(t, s) {
			found[row.RefID] = true
		}
		for refID := range durable {
			if !found[refID] {
				t.Errorf("stop %d: %s was acknowledged and is gone", stop, refID)
			}
		}
		if _, err := s.Verify(t.Context(), ""); err != nil {
			t.Errorf("stop %d: %v", stop, err)
		}
	}
}

// TestADatabaseThatWentBackIsNotWrittenTo takes an event away that was durable, as a copy does
// that takes the place of its server before it had everything.
func TestADatabaseThatWentBackIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	server.Exec(t, schema, `SET session_replication_role = replica; DELETE FROM events WHERE seq = 2; DELETE FROM transfers; UPDATE meta SET folded = 1`)
	if err := j.Append(t.Context(), statetest.Intent("b", "run", "10.00")); !errors.Is(err, state.ErrReplaced) {
		t.Errorf("got %v", err)
	}
	_ = j.Unlock() // it failed
	if got := len(rows(t, s)); got != 0 {
		t.Errorf("%d rows were written", got)
	}
}

// TestTheDeadAreFollowedAtOnce kills processes in the middle of their appends; the next one has
// the lock without waiting for a time to pass.
func TestTheDeadAreFollowedAtOnce(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	durable := make(map[string]bool)
	for kill := range 5 {
		cmd, words := startChild(t, server, schema)
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
		j, err := s.Lock(t.Context(), statetest.Holder("apply"), patience)
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]bool)
		snap, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range snap.Events(t.Context(), 0, "") {
			if err != nil {
				t.Fatal(err)
			}
			found[e.RefID+" "+string(e.Kind)] = true
		}
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
		for word := range durable {
			if !found[word] {
				t.Errorf("kill %d: %s was acknowledged and is gone", kill, word)
			}
		}
		if _, err := s.Verify(t.Context(), ""); err != nil {
			t.Errorf("kill %d: %v", kill, err)
		}
		unlock(t, j)
	}
}

// TestAHolderThatStandsStillIsPutOut stops a process, perhaps in the middle of a commit, takes
// its lock away, and lets it go on.
func TestAHolderThatStandsStillIsPutOut(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	cmd, words := startChild(t, server, schema)
	for range 50 {
		words.Scan()
	}
	signal(t, cmd, "STOP")
	if err := s.ForceUnlock(t.Context(), statetest.Holder("force-unlock"), state.Clocks{}, "it stands still"); err != nil {
		t.Fatal(err)
	}
	j := lock(t, s)
	add(t, j, statetest.Intent("next", "run", "10.00"))
	signal(t, cmd, "CONT")
	for words.Scan() { // what it had acknowledged before
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it goes on as if nothing had happened")
	}
	add(t, j, statetest.Outcome("next", "run", state.SourceAnswer, state.Recorded))
	unlock(t, j)
	meta, err := s.Verify(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := server.Exec(t, schema, `SELECT string_agg(kind, ' ' ORDER BY seq) FROM events WHERE seq > $1`, meta.Serial-3); got != "unlocked intent outcome" {
		t.Errorf("the journal ends with %q", got)
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

// patience is how long a test waits for a sure event: longer than any machine is busy.
const patience = 5 * time.Minute

func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
