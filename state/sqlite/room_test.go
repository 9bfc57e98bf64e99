package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

// volume is a fake of the room that the volume of a state has.
type volume struct{ free atomic.Int64 }

func on(s *sqlite.Store, free int64) *volume {
	v := new(volume)
	v.free.Store(free)
	s.Free(func(string) (int64, bool) { return v.free.Load(), v.free.Load() >= 0 })
	return v
}

const mib = 1 << 20

func intend(j state.Journal, refID string) error {
	return j.Append(context.Background(), statetest.Intent(refID, "run-1", "10.00"))
}

func settle(t *testing.T, j state.Journal, refID string) {
	t.Helper()
	add(t, j, statetest.Outcome(refID, "run-1", state.SourceAnswer, state.Refused))
}

// A volume that gets full keeps payments from their begin, and not from their end: an outcome that is not written is a payment in doubt.
func TestAFullVolumeBeginsNothingAndRecordsTheRest(t *testing.T) {
	s, path := create(t)
	v := on(s, 64*mib)
	j := lock(t, s)
	if err := intend(j, "first"); err != nil {
		t.Fatal(err)
	}
	v.free.Store(0)
	var full *state.FullError
	if err := intend(j, "second"); !errors.As(err, &full) || !errors.Is(err, state.ErrNoRoom) || full.Name != path || full.Needed <= full.Free {
		t.Fatalf("an intent on a full volume: %v (%+v)", err, full)
	}
	if err := j.Append(t.Context(), state.Begun{RunID: "run-2"}); !errors.As(err, &full) {
		t.Fatalf("a run on a full volume: %v", err)
	}
	settle(t, j, "first")
	if err := j.Append(t.Context(), statetest.Intent("found", "run-1", "10.00"), statetest.Outcome("found", "run-1", state.SourceAnswer, state.Refused)); err != nil {
		t.Fatalf("an intent with its outcome on a full volume: %v", err)
	}
	v.free.Store(64 * mib)
	if err := intend(j, "second"); err != nil {
		t.Fatalf("an intent once there is room again: %v", err)
	}
	settle(t, j, "second")
	v.free.Store(-1) // a file system that does not say
	if err := intend(j, "third"); err != nil {
		t.Fatalf("an intent where nobody knows how much room there is: %v", err)
	}
	settle(t, j, "third")
	unlock(t, j)
}

// Each payment under way has room for its outcome.
func TestRoomIsKeptForEachOutcome(t *testing.T) {
	s, _ := create(t)
	on(s, 512<<10)
	j := lock(t, s)
	n := 0
	for ; n < 100; n++ {
		if err := intend(j, fmt.Sprint("payment-", n)); err != nil {
			break
		}
	}
	if n < 5 || n > 60 {
		t.Errorf("%d payments of 12 KiB each were begun with 512 KiB", n)
	}
	for i := range n {
		settle(t, j, fmt.Sprint("payment-", i))
	}
	if err := intend(j, "next"); err != nil {
		t.Errorf("after the outcomes: %v", err)
	}
	unlock(t, j)
}

// On a small volume the log is moved into the database early, so that it does not fill it, unless somebody reads an older view.
func TestTheLogStaysSmallOnASmallVolume(t *testing.T) {
	s, path := create(t)
	on(s, mib)
	j := lock(t, s)
	log := func(from, to int) int64 {
		for i := from; i < to; i++ {
			refID := fmt.Sprint("payment-", i)
			if err := intend(j, refID); err != nil {
				t.Fatal(err)
			}
			settle(t, j, refID)
		}
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size := log(0, 200); size > mib/4 {
		t.Errorf("the log has %d bytes on a volume of 1 MiB", size)
	}
	reader, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if size := log(200, 400); size < mib/4 {
		t.Errorf("the log has %d bytes beside a reader: the test tests nothing", size)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	unlock(t, j)
}

// The room of the log is room for the log, once all of it is in the database: a run goes on with it, and not beside a reader of an
// older view.
func TestTheLogIsWrittenAgainFromItsBeginning(t *testing.T) {
	s, path := create(t)
	v := on(s, 64*mib)
	j := lock(t, s)
	pay := func(refID string) {
		t.Helper()
		if err := intend(j, refID); err != nil {
			t.Fatal(err)
		}
		settle(t, j, refID)
	}
	for i := range 200 {
		pay(fmt.Sprint("payment-", i))
	}
	before, err := os.Stat(path + "-wal")
	if err != nil || before.Size() < mib {
		t.Fatalf("the log has %v (%v), want 1 MiB", before.Size(), err)
	}
	v.free.Store(0)
	reader, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := intend(j, "seen by nobody"); err == nil { // all of the log is in the database by now, and the reader keeps it there
		settle(t, j, "seen by nobody")
	}
	var full *state.FullError
	if err := intend(j, "beside"); !errors.As(err, &full) {
		t.Errorf("an intent beside a reader: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	pay("after")
	after, err := os.Stat(path + "-wal")
	if err != nil || after.Size() != before.Size() {
		t.Errorf("the log grew from %d to %d bytes (%v)", before.Size(), after.Size(), err)
	}
	unlock(t, j)
}
