package statetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"remit/state"
)

func eventsAsked(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("a", "run", "10.00"))                                 // 2
	b.append(j, Intent("b", "run", "10.00"))                                 // 3
	b.append(j, Outcome("a", "run", state.SourceAnswer, state.InDoubt))      // 4
	b.append(j, Intent("a", "run 2", "10.00"))                               // 5
	b.unlock(j)                                                              //
	j = b.lock(s)                                                            //
	b.append(j, Outcome("b", "run", state.SourceAnswer, state.Refused))      // 6
	b.append(j, Outcome("a", "run 2", state.SourceAnswer, state.Unverified)) // 7
	for name, c := range map[string]struct {
		after int64
		refID string
		want  []int64
	}{
		"all":                             {0, "", []int64{1, 2, 3, 4, 5, 6, 7}},
		"all after a number":              {5, "", []int64{6, 7}},
		"all after the last":              {7, "", nil},
		"of a ref_id":                     {0, "a", []int64{2, 4, 5, 7}},
		"of a ref_id after a number":      {4, "a", []int64{5, 7}},
		"of a ref_id after the last":      {7, "a", nil},
		"of another":                      {0, "b", []int64{3, 6}},
		"of a ref_id that nobody knows":   {0, "c", nil},
		"of a ref_id after a later event": {6, "b", nil},
	} {
		snap, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for e, err := range snap.Events(t.Context(), c.after, c.refID) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Seq)
		}
		b.same(name, c.want, got)
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
	}
	b.unlock(j)
}

func clockBack(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.set(start.Add(time.Hour + 123456*time.Nanosecond))
	b.append(j, Intent("a", "run", "10.00"))
	b.set(start)
	b.append(j, Intent("b", "run", "10.00"))
	b.unlock(j)
	b.set(start.Add(-time.Hour))
	other := b.open()
	j = b.lock(other)
	b.append(j, Intent("c", "run", "10.00"))
	b.unlock(j)
	v := b.look(s)
	want := map[string]time.Time{
		"a": start.Add(time.Hour + time.Second),
		"b": start.Add(time.Second),
		"c": start.Add(-time.Hour + time.Second),
	}
	for _, row := range v.Rows {
		if row.IntendedAt != want[row.RefID] {
			t.Errorf("%q was intended at %v, want %v", row.RefID, row.IntendedAt, want[row.RefID])
		}
	}
	if v.Meta.At != want["c"] {
		t.Errorf("the newest event is of %v, want %v", v.Meta.At, want["c"])
	}
	b.same("the jumps", []state.Jump{
		{Seq: 4, Kind: state.KindIntent, At: want["c"], Back: time.Hour},
		{Seq: 3, Kind: state.KindIntent, At: want["b"], Back: time.Hour},
	}, v.Jumps)
}

// clockSlightlyBack has two machines, whose clocks may be apart by as much.
func clockSlightlyBack(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.set(start.Add(time.Hour))
	b.append(j, Intent("a", "run", "10.00"))
	b.set(start.Add(time.Hour - state.JumpMin))
	b.append(j, Intent("b", "run", "10.00"), state.ClockConfirmed{By: Holder("state clock"), Reason: "it was slow"})
	b.append(j, state.Asked{About: "a", By: Holder("resolve"), Reason: "the bank says so"})
	b.same("the jumps", []state.Jump(nil), b.look(s).Jumps)
	b.set(start)
	b.append(j, state.ClockConfirmed{By: Holder("state clock"), Reason: "it was slow"})
	b.set(start.Add(-time.Hour))
	b.append(j, Intent("c", "run", "10.00"))
	b.unlock(j)
	jumps := b.look(s).Jumps
	if len(jumps) != 2 || jumps[0].Settled || !jumps[1].Settled || jumps[1].Kind != state.KindClock {
		t.Errorf("the jump before a person's word, and the one after it: %+v", jumps)
	}
}

// toldListed asks for what persons said, among answers, lookups and an import that nobody's run made.
func toldListed(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("a", "run", "10.00"), Outcome("a", "run", state.SourceAnswer, state.Conflict))
	b.append(j, Intent("b", "run", "10.00"), Outcome("b", "run", state.SourceAnswer, state.InDoubt))
	b.append(j, Outcome("a", "", state.SourcePerson, state.Recorded))
	b.append(j, Outcome("b", "", state.SourceLookup, state.Recorded), Outcome("c", "", state.SourceImport, state.Adopted))
	b.append(j, Outcome("b", "", state.SourcePerson, state.Tombstone))
	b.unlock(j)
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for event, err := range snapshot.Told(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, event.RefID+" "+string(event.Kind))
	}
	if err := snapshot.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []string{"b outcome", "a outcome"}) {
		t.Errorf("persons spoke of %v", told)
	}
}

func runsListed(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	first, second := state.Begun{RunID: "run 1", PlanID: "p", Digest: "d"}, state.Begun{RunID: "run 0", Digest: "e"}
	ended := state.Ended{RunID: "run 1", Outcomes: map[string]int{"recorded": 2}, Complete: true}
	b.append(j, first)
	b.append(j, ended)
	b.unlock(j)
	j = b.lock(b.open())
	b.append(j, second)
	if err := j.Append(t.Context(), first); !errors.Is(err, state.ErrRun) {
		t.Errorf("a run of an earlier lock began again: %v", err)
	}
	if err := j.Append(t.Context(), ended); !errors.Is(err, state.ErrRun) {
		t.Errorf("a run of an earlier lock ended again: %v", err)
	}
	v := b.look(s)
	b.same("the runs", []state.Run{
		{Begun: second, BegunAt: v.Events[3].Time},
		{Begun: first, BegunAt: v.Events[1].Time, Ended: &ended, EndedAt: v.Events[2].Time},
	}, v.Runs)
	b.unlock(j)
}

func rebound(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	after := state.Identity{BaseURL: "https://other.example", Operator: "acme", ClientID: "client 2", TokenURL: "https://tokens.example", CustomerID: "k"}
	b.append(j, state.Rebound{Before: Created().Service, After: after, By: Holder("state rebind"), Reason: "moved"})
	b.same("at once", after, b.look(s).Meta.Service)
	b.unlock(j)
	b.same("afterwards", after, b.look(b.open()).Meta.Service)
	j = b.lock(s)
	b.append(j, state.Rebound{
		Before: after, After: after, EnvironmentBefore: Created().Environment, EnvironmentAfter: "production",
		By: Holder("init"), Reason: "nothing was ever sent",
	})
	b.same("the environment, at once", "production", b.look(s).Meta.Environment)
	b.unlock(j)
	b.same("the environment, afterwards", "production", b.look(b.open()).Meta.Environment)
	b.same("the service, afterwards", after, b.look(b.open()).Meta.Service)
	j = b.lock(s)
	if err := j.Append(t.Context(), Created()); err == nil {
		t.Error("a state was created twice")
	}
	b.unlock(j)
}

func snapshotStays(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("a", "run", "10.00"))
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	before := b.look(s)
	b.append(j, Outcome("a", "run", state.SourceAnswer, state.Recorded), Intent("b", "run", "10.00"))
	b.append(j, state.Begun{RunID: "run"})
	b.same("while it is written to", before, b.read(snap))
	b.unlock(j)
	b.same("after it was unlocked", before, b.read(snap))
	if details, err := snap.Details(t.Context(), "a", "b"); err != nil || len(details) != 1 || details[0].Outcome != nil {
		t.Errorf("details of later: %v, %v", details, err)
	}
	if now := b.look(s); len(now.Rows) != 2 || len(now.Runs) != 1 {
		t.Errorf("a new snapshot has %d rows and %d runs", len(now.Rows), len(now.Runs))
	}
}

func reopened(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("a", "run", "10.00"))
	// Not unlocked: what an append returned for does not wait for that.
	b.same("beside its writer", b.look(s), b.look(b.open()))
	b.append(j, Outcome("a", "run", state.SourceAnswer, state.InDoubt))
	b.unlock(j)
	j = b.lock(b.open())
	if err := j.Append(t.Context(), Intent("a", "run", "20.00")); !errors.Is(err, state.ErrDifferent) {
		t.Errorf("the next holder forgot the bytes: %v", err)
	}
	b.append(j, Intent("a", "run 2", "10.00"), Outcome("a", "run 2", state.SourceAnswer, state.Refused))
	if row := b.look(s).row("a"); row.Status != state.InDoubt || !row.Doubted {
		t.Errorf("the next holder forgot the doubt: %+v", row)
	}
	b.unlock(j)
}

// ownMistakes and concurrent let many callers share commits.
func ownMistakes(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("made", "run", "10.00"), Outcome("made", "run", state.SourceAnswer, state.Recorded))
	const callers = 40
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			refID := fmt.Sprintf("c-%02d", i)
			if i%2 == 0 {
				refID = "made"
			}
			errs[i] = j.Append(t.Context(), Intent(refID, "run", "10.00"))
		})
	}
	wg.Wait()
	for i, err := range errs {
		if i%2 == 0 && !errors.Is(err, state.ErrRecorded) || i%2 == 1 && err != nil {
			t.Errorf("caller %d got %v", i, err)
		}
	}
	if v := b.look(s); len(v.Rows) != 1+callers/2 || v.Meta.Serial != 3+callers/2 {
		t.Errorf("there are %d rows and %d events", len(v.Rows), v.Meta.Serial)
	}
	b.unlock(j)
}

// appendAtOnce has many callers append the intents and outcomes of their own ref_ids, and returns what each call appended.
func appendAtOnce(t *testing.T, j state.Journal, callers, each int) [][]state.Entry {
	var mu sync.Mutex
	var given [][]state.Entry
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				refID := fmt.Sprintf("%02d-%03d", c, i)
				answer := Outcome(refID, "run", state.SourceAnswer, []state.Status{
					state.Recorded, state.Refused, state.InDoubt, state.Conflict, state.Unsent,
				}[i%5])
				// One of the two ways to append, so that pairs are seen to stay together.
				calls := [][]state.Entry{{Intent(refID, "run", "10.00")}, {answer}}
				if i%2 == 0 {
					calls = [][]state.Entry{{Intent(refID, "run", "10.00"), answer}}
				}
				for _, entries := range calls {
					if err := j.Append(t.Context(), entries...); err != nil {
						t.Errorf("append of %q: %v", refID, err)
					}
					// Durable when it returns: any reader sees it.
					mu.Lock()
					given = append(given, entries)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return given
}

func concurrent(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	const callers, each = 16, 25
	given := appendAtOnce(t, j, callers, each)
	v := b.look(s)
	if got, want := len(v.Events), 1+2*callers*each; got != want {
		t.Fatalf("%d events, want %d", got, want)
	}
	place := make(map[string][]int64) // of each ref_id's events, in their order
	for _, e := range v.Events {
		place[e.RefID+string(e.Kind)] = append(place[e.RefID+string(e.Kind)], e.Seq)
	}
	got := v.entries(t)
	for _, entries := range given {
		at := int64(0)
		for _, entry := range entries {
			refID, _ := entry.Subject()
			seqs := place[refID+string(entry.Kind())]
			if len(seqs) != 1 {
				t.Fatalf("%q has events %v of kind %q", refID, seqs, entry.Kind())
			}
			if at != 0 && seqs[0] != at+1 {
				t.Errorf("the entries of one append are events %d and %d", at, seqs[0])
			}
			at = seqs[0]
			b.same("event of "+refID, entry, got[at-1])
		}
	}
	b.same("the rows", fold(t, v.Events), v.Rows)
	b.unlock(j)
	b.same("the rows after the lock", v.Rows, b.look(b.open()).Rows)
	if !slices.IsSortedFunc(v.Rows, func(a, b state.Transfer) int { return map[bool]int{true: -1, false: 1}[a.RefID < b.RefID] }) {
		t.Error("the rows are not in order")
	}
}
