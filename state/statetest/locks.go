package statetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state"
)

func oneHolder(t *testing.T, b *bench) {
	s, other := b.create(), b.open()
	if holder, held := b.holder(s); held {
		t.Errorf("held by %v before anyone locked", holder)
	}
	j := b.lock(s)
	for name, from := range map[string]state.Store{"the same process": s, "another one": other} {
		var locked *state.LockedError
		if _, err := from.Lock(t.Context(), Holder("other"), 0); !errors.As(err, &locked) {
			t.Fatalf("%s locked too: %v", name, err)
		}
		b.same("the holder that is named to "+name, Holder("apply"), locked.Holder)
		holder, held := b.holder(from)
		b.same("the holder that is seen by "+name, Holder("apply"), holder)
		if !held {
			t.Errorf("%s sees no holder", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := other.Lock(ctx, Holder("other"), time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("waited on although nobody waits: %v", err)
	}
	b.append(j, Intent("a", "run", "10.00"))
	b.unlock(j)
	if holder, held := b.holder(other); held {
		t.Errorf("held by %v after it was unlocked", holder)
	}
	b.unlock(b.lock(other))
}

func (b *bench) holder(s state.Store) (state.Holder, bool) {
	b.t.Helper()
	snap, err := s.Snapshot(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	defer snap.Close()
	return snap.Holder()
}

func waitedFor(t *testing.T, b *bench) {
	s, other := b.create(), b.open()
	j := b.lock(s)
	had := make(chan error, 1)
	go func() {
		j, err := other.Lock(t.Context(), Holder("other"), time.Minute)
		if err == nil {
			err = errors.Join(j.Append(t.Context(), Intent("b", "run", "10.00")), j.Unlock())
		}
		had <- err
	}()
	b.append(j, Intent("a", "run", "10.00"))
	select {
	case err := <-had:
		t.Fatalf("did not wait: %v", err)
	default:
	}
	b.unlock(j)
	if err := <-had; err != nil {
		t.Error(err)
	}
	if rows := b.look(s).Rows; len(rows) != 2 {
		t.Errorf("%d rows", len(rows))
	}
}

func lookingIsFree(t *testing.T, b *bench) {
	s, other := b.create(), b.open()
	readers := suite.Dose(2, 2, 4)
	locks := make(chan struct{}) // each reader is told of each lock as it is taken, and looks from then on
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for range locks {
				for range suite.Dose(2, 3, 20) { // without a pause; more take the processors from the writer
					snap, err := other.Snapshot(t.Context())
					if err != nil {
						t.Errorf("snapshot: %v", err)
						continue
					}
					if err := snap.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				}
			}
		})
	}
	for range suite.Dose(10, 20, 20) {
		for range readers {
			locks <- struct{}{}
		}
		j, err := s.Lock(t.Context(), Holder("apply"), 0)
		if err != nil {
			t.Errorf("a reader kept a writer out: %v", err)
			continue
		}
		b.unlock(j)
	}
	close(locks)
	wg.Wait()
}

// takenBecause wants an error to say who took a lock away by force, and why.
func (b *bench) takenBecause(err error, reason string) {
	b.t.Helper()
	taken, ok := errors.AsType[*state.TakenError](err)
	if !ok || taken.By.Command != "force-unlock" || taken.Reason != reason {
		b.t.Errorf("got %#v, want who took the lock away because %s", err, reason)
	}
}

func fenced(t *testing.T, b *bench) {
	s, other := b.create(), b.open()
	old := b.lock(s)
	b.append(old, Intent("a", "run", "10.00"))
	if err := old.Check(t.Context()); err != nil {
		t.Errorf("check of a holder: %v", err)
	}
	if err := other.ForceUnlock(t.Context(), Holder("force-unlock"), state.Clocks{}, ""); err == nil {
		t.Error("a lock was taken away without a reason")
	}
	if err := other.ForceUnlock(t.Context(), Holder("force-unlock"), state.Clocks{}, "the host burned down"); err != nil {
		t.Fatal(err)
	}
	stopped := func(when string) {
		t.Helper()
		err := old.Check(t.Context())
		if !errors.Is(err, state.ErrFenced) {
			t.Errorf("%s: check got %v", when, err)
		}
		b.takenBecause(err, "the host burned down")
		err = old.Append(t.Context(), Outcome("a", "run", state.SourceAnswer, state.Recorded))
		if !errors.Is(err, state.ErrFenced) {
			t.Errorf("%s: append got %v", when, err)
		}
		b.takenBecause(err, "the host burned down")
	}
	stopped("at once")
	young := b.lock(other)
	stopped("under the next holder")
	if err := young.Check(t.Context()); err != nil {
		t.Errorf("check of the next holder: %v", err)
	}
	b.append(young, Outcome("a", "", state.SourceLookup, state.Recorded))
	if err := old.Unlock(); !errors.Is(err, state.ErrFenced) {
		t.Errorf("unlock got %v", err)
	}
	if _, err := s.Lock(t.Context(), Holder("third"), 0); err == nil {
		t.Error("the one whose lock was taken let go of another's")
	}
	b.append(young, Intent("b", "run", "10.00"))
	b.unlock(young)
	v := b.look(s)
	b.same("the journal", []state.Entry{
		Created(),
		Intent("a", "run", "10.00"),
		state.Unlocked{From: Holder("apply"), By: Holder("force-unlock"), Reason: "the host burned down"},
		Outcome("a", "", state.SourceLookup, state.Recorded),
		Intent("b", "run", "10.00"),
	}, v.entries(t))
	if v.Meta.Fence < 3 {
		t.Errorf("two locks and one force made the fence %d", v.Meta.Fence)
	}
}

// movedAway holds on to a store that was opened before the move: its next journal goes on from the
// head that the moved one has.
func movedAway(t *testing.T, b *bench) {
	s, other := b.create(), b.open()
	j := b.lock(s)
	b.append(j, Intent("a", "run", "10.00"))
	before, err := j.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head := before.Meta().Head
	if err := before.Close(); err != nil {
		t.Error(err)
	}
	if err := j.(state.Mover).Move(t.Context(), "there"); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if moved, ok := errors.AsType[*state.MovedError](err); !ok || moved.To != "there" {
			t.Errorf("%s got %v", what, err)
		}
	}
	refused("force-unlock", other.ForceUnlock(t.Context(), Holder("force-unlock"), state.Clocks{}, "it hangs"))
	_, err = other.Lock(t.Context(), Holder("apply"), 0)
	refused("lock", err)
	_, err = other.Snapshot(t.Context())
	refused("snapshot", err)
	verified, err := other.(interface {
		Verify(ctx context.Context, head string) (state.Meta, error)
	}).Verify(t.Context(), "")
	if err != nil || verified.Head != head {
		t.Errorf("its head was %s and is %s: %v", head, verified.Head, err)
	}
}

func unlocked(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.unlock(j)
	if err := j.Append(t.Context(), Intent("a", "run", "10.00")); !errors.Is(err, state.ErrUnlocked) {
		t.Errorf("append got %v", err)
	}
	if err := j.Check(t.Context()); !errors.Is(err, state.ErrUnlocked) {
		t.Errorf("check got %v", err)
	}
	if err := j.Unlock(); !errors.Is(err, state.ErrUnlocked) {
		t.Errorf("a second unlock got %v", err)
	}
	b.unlock(b.lock(s))
	if len(b.look(s).Rows) != 0 {
		t.Error("something was written")
	}
}
