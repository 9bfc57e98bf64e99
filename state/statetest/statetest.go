// Package statetest is the conformance suite that every store of a state passes, and the
// entries that tests of stores are made of.
//
// Its one invariant: a store that passes keeps laws 1, 2, 3 and 8 for its callers, so that
// nothing above it has to know which store it has.
package statetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
	"remit/state"
)

// Harness makes states for the suite.
type Harness struct {
	// Create makes a state of its own and opens it. The clock now dates its events.
	Create func(t *testing.T, created state.Created, now func() time.Time) state.Store
	// Open opens the state that Create made last once more, as another process would.
	Open func(t *testing.T, now func() time.Time) state.Store
}

// Run runs the suite. Each of its tests calls harness for a Harness of its own; what that
// opens is closed by the suite.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	for name, test := range map[string]func(*testing.T, *bench){
		"a new state has one event and no ref_id":                   newState,
		"a journal and its rows tell the same story":                story,
		"an append is whole or nothing":                             wholeOrNothing,
		"one caller's mistake is its own":                           ownMistakes,
		"an append whose caller has gone writes nothing":            callerGone,
		"a record is stored under one ref_id":                       oneOwner,
		"a group_id is that of one transfer, unless accepted":       oneGroup,
		"what is recorded says what a record must":                  whole,
		"a record of another customer is refused":                   otherCustomer,
		"what a list says stands until a record comes":              listed,
		"ref_ids come in the order of their bytes":                  byteOrder,
		"a row of every status has its outline":                     outlines,
		"details come in the order asked for":                       detailsOrder,
		"events can be asked for by ref_id and by number":           eventsAsked,
		"an event keeps the time that its writer's clock had":       clockBack,
		"the clocks of two machines may be five minutes wrong each": clockSlightlyBack,
		"what persons said is listed from the newest":               toldListed,
		"runs are listed from the newest":                           runsListed,
		"the service's identity can be changed":                     rebound,
		"a snapshot does not change":                                snapshotStays,
		"a reader that stops early stops":                           readerStops,
		"one holder at a time, named to others":                     oneHolder,
		"a lock that is waited for is had":                          waitedFor,
		"looking at a lock disturbs nobody":                         lookingIsFree,
		"a holder whose lock was taken can't write":                 fenced,
		"a journal that was unlocked can't write":                   unlocked,
		"a state that was moved away stays as it is":                movedAway,
		"what was appended is there when the state is opened again": reopened,
		"concurrent appends are exactly what was given":             concurrent,
		"a name comes with its intent and stays out of the journal": named,
		"names are removed, and everything else stays":              erased,
		"random histories agree with a model":                       agreesWithModel,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, &bench{t: t, harness: harness(t), clock: start})
		})
	}
}

// start is when the clock of each test begins.
var start = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// bench is what one test of the suite works on.
type bench struct {
	t       *testing.T
	harness Harness

	mu    sync.Mutex
	clock time.Time // guarded by mu
}

// now is the clock: a second passes with each look at it.
func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(time.Second)
	return b.clock
}

// set moves the clock, back as well.
func (b *bench) set(to time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = to
}

func (b *bench) create() state.Store {
	b.t.Helper()
	return b.closing(b.harness.Create(b.t, Created(), b.now))
}

func (b *bench) open() state.Store {
	b.t.Helper()
	return b.closing(b.harness.Open(b.t, b.now))
}

func (b *bench) closing(s state.Store) state.Store {
	b.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.t.Errorf("close: %v", err)
		}
	})
	return s
}

func (b *bench) lock(s state.Store) state.Journal {
	b.t.Helper()
	j, err := s.Lock(b.t.Context(), Holder("apply"), 0)
	if err != nil {
		b.t.Fatalf("lock: %v", err)
	}
	return j
}

func (b *bench) unlock(j state.Journal) {
	b.t.Helper()
	if err := j.Unlock(); err != nil {
		b.t.Errorf("unlock: %v", err)
	}
}

func (b *bench) append(j state.Journal, entries ...state.Entry) {
	b.t.Helper()
	if err := j.Append(b.t.Context(), entries...); err != nil {
		b.t.Fatalf("append: %v", err)
	}
}

// snapshotter is a store or a journal.
type snapshotter interface {
	Snapshot(ctx context.Context) (state.Snapshot, error)
}

// view is a whole snapshot.
type view struct {
	Meta   state.Meta
	Rows   []state.Transfer
	Events []state.Event
	Runs   []state.Run
	Jumps  []state.Jump
	Names  []state.Name
}

// look reads all that there is.
func (b *bench) look(s snapshotter) view {
	b.t.Helper()
	snap, err := s.Snapshot(b.t.Context())
	if err != nil {
		b.t.Fatalf("snapshot: %v", err)
	}
	defer func() {
		if err := snap.Close(); err != nil {
			b.t.Errorf("close the snapshot: %v", err)
		}
	}()
	return b.read(snap)
}

func (b *bench) read(snap state.Snapshot) view {
	b.t.Helper()
	v := view{Meta: snap.Meta()}
	ctx := b.t.Context()
	for row, err := range snap.Transfers(ctx) {
		if err != nil {
			b.t.Fatalf("transfers: %v", err)
		}
		v.Rows = append(v.Rows, row)
	}
	b.sameOutlines(snap, v.Rows)
	for e, err := range snap.Events(ctx, 0, "") {
		if err != nil {
			b.t.Fatalf("events: %v", err)
		}
		v.Events = append(v.Events, e)
	}
	for run, err := range snap.Runs(ctx) {
		if err != nil {
			b.t.Fatalf("runs: %v", err)
		}
		v.Runs = append(v.Runs, run)
	}
	for jump, err := range snap.Jumps(ctx) {
		if err != nil {
			b.t.Fatalf("jumps: %v", err)
		}
		v.Jumps = append(v.Jumps, jump)
	}
	for name, err := range snap.Names(ctx) {
		if err != nil {
			b.t.Fatalf("names: %v", err)
		}
		v.Names = append(v.Names, name)
	}
	if err := state.Verify(snap.Events(ctx, 0, ""), v.Meta.Head); err != nil {
		b.t.Errorf("the chain: %v", err)
	}
	if last := v.Events[len(v.Events)-1]; last.Hash != v.Meta.Head || last.Seq != v.Meta.Serial {
		b.t.Errorf("serial %d and head %s are not those of the last event, %d and %s", v.Meta.Serial, v.Meta.Head, last.Seq, last.Hash)
	}
	return v
}

func (v view) row(refID string) state.Transfer {
	for _, row := range v.Rows {
		if row.RefID == refID {
			return row
		}
	}
	return state.Transfer{}
}

// entries are what the journal has, without the clocks that a store adds of its own.
func (v view) entries(t *testing.T) []state.Entry {
	t.Helper()
	var entries []state.Entry
	for _, e := range v.Events {
		entry, err := e.Entry()
		if err != nil {
			t.Fatal(err)
		}
		if unlocked, ok := entry.(state.Unlocked); ok {
			unlocked.Clocks.Server = time.Time{}
			entry = unlocked
		}
		entries = append(entries, entry)
	}
	return entries
}

// exact compares amounts by their digits.
func exact() cmp.Option {
	return cmp.Comparer(func(a, b transfer.Amount) bool { return a == b })
}

func same(want, got any) bool { return cmp.Equal(want, got, exact()) }

func (b *bench) same(what string, want, got any) {
	b.t.Helper()
	if diff := cmp.Diff(want, got, exact()); diff != "" {
		b.t.Errorf("%s:\n%s", what, diff)
	}
}
