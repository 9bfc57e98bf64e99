package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

var errCrashed = errors.New("the process is dead")

// fuse lets so many effects happen and then none, as if the process had been killed.
type fuse struct {
	mu   sync.Mutex
	left int
}

func (f *fuse) burn(string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		return errCrashed
	}
	f.left--
	return nil
}

func (f *fuse) set(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = n
}

// bank is a service whose every effect may be the last that the process sees. It counts
// what it makes.
type bank struct {
	*service
	fuse    *fuse
	journal *memory
	t       *testing.T
	mode    bankMode

	mu      sync.Mutex
	created map[string]int
	sent    map[string]string // first body by ref_id
	asked   map[string]int
}

type bankMode struct {
	forgetful bool // a ref_id that comes again is made again: only a lookup helps
	exists    bool // a ref_id that comes again is answered 409
	carries   bool // and the problem carries the record
	lookup    bool
	first     func() executor.Answer // to the first request of every ref_id, nil for none
	commits   bool                   // that first request makes the transfer all the same
}

func (b *bank) Ready(ctx context.Context) (time.Time, error) {
	if err := b.fuse.burn("token"); err != nil {
		return time.Time{}, err
	}
	return b.service.Ready(ctx)
}

func (b *bank) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	if err := b.fuse.burn("lookup"); err != nil {
		return nil, err
	}
	return b.service.Find(ctx, refIDs)
}

func (b *bank) Submit(_ context.Context, path string, body []byte) executor.Answer {
	dead := executor.Answer{Kind: executor.Unclear, Reason: errCrashed.Error()}
	if b.fuse.burn("request") != nil {
		return dead
	}
	req, err := transfer.ParseRequest(transfer.Internal, body, "")
	if err != nil || path != "/v2/transfer/internal" {
		b.t.Errorf("request %s %s: %v", path, body, err)
		return dead
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if row := b.journal.row(req.RefID); !row.Open() {
		b.t.Errorf("a request for %q arrives while the state says %v", req.RefID, row.Status)
	}
	if first, ok := b.sent[req.RefID]; ok && first != string(body) {
		b.t.Errorf("%q was sent with other bytes: %s, %s", req.RefID, first, body)
	}
	b.sent[req.RefID] = string(body)
	b.asked[req.RefID]++
	if b.asked[req.RefID] == 1 && b.mode.first != nil {
		if b.mode.commits {
			b.create(req)
		}
		return b.mode.first()
	}
	answer := b.create(req)
	if b.fuse.burn("answer") != nil {
		return dead
	}
	return answer
}

func (b *bank) create(req transfer.Request) executor.Answer {
	known := b.created[req.RefID] > 0
	if !known || b.mode.forgetful {
		b.created[req.RefID]++
	}
	record := b.make(req)
	if known && b.mode.exists {
		answer := executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Reason: "It knows the ref_id."}
		if b.mode.carries {
			answer.Record = record
		}
		return answer
	}
	return executor.Answer{Kind: executor.Answered, HTTPStatus: 200, Record: record}
}

// TestACrashAfterAnyEffect kills a run after its n-th effect, for every n, kills the next
// one as well, and applies again: each ref_id is made once, and the state knows it.
func TestACrashAfterAnyEffect(t *testing.T) {
	unclear := func() executor.Answer { return executor.Answer{Kind: executor.Unclear, HTTPStatus: 503} }
	tooMany := func() executor.Answer { return executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429} }
	modes := map[string]bankMode{
		"a service that answers the first record again":    {},
		"a service that answers 409":                       {exists: true},
		"a service that answers 409 with the record":       {exists: true, carries: true},
		"a service that answers 409 and has a lookup":      {exists: true, lookup: true},
		"a service that protects nothing but has a lookup": {forgetful: true, lookup: true},
		"lost answers": {first: unclear, commits: true},
		"lost answers of a service that protects nothing but has lookup": {forgetful: true, lookup: true, first: unclear, commits: true},
		"answers of 503 before anything is made":                         {first: unclear},
		"answers of 429":                                                 {first: tooMany},
		"answers of 429 and a lookup":                                    {first: tooMany, lookup: true, forgetful: true},
	}
	for name, mode := range modes {
		for _, inFlight := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d in flight", name, inFlight), func(t *testing.T) {
				for n := 0; ; n++ {
					finished := false
					synctest.Test(t, func(t *testing.T) { finished = crashAfter(t, mode, inFlight, n) })
					if t.Failed() {
						t.Fatalf("crashed after %d effects", n)
					}
					if finished {
						return
					}
				}
			})
		}
	}
}

// crashAfter reports whether the first run ended before its crash.
func crashAfter(t *testing.T, mode bankMode, inFlight, n int) bool {
	w := newWorld(t)
	w.lookup, w.settings.LookUpFirst, w.settings.InFlightMax = mode.lookup, mode.lookup, inFlight
	f := &fuse{left: n}
	b := &bank{
		service: w.service, fuse: f, journal: w.journal, t: t, mode: mode,
		created: make(map[string]int), sent: make(map[string]string), asked: make(map[string]int),
	}
	w.journal.before = f.burn
	requests := numbered(5)
	apply := func() error {
		run := w.run(w.plan(requests...))
		run.Submitter = b
		if mode.lookup {
			run.Finder = b
		}
		_, err := executor.Apply(t.Context(), run)
		w.results() // checks that nothing is settled twice
		return err
	}
	finished := apply() == nil
	f.set(n / 2)
	_ = apply() // crashes at another place, or has nothing to do
	f.set(1 << 30)
	for range 3 {
		if err := apply(); err != nil {
			t.Errorf("apply after the crashes: %v", err)
		}
	}
	for _, r := range requests {
		row := w.journal.row(r.RefID)
		// Without a record in the 409 and without a lookup, only a person can tell.
		held := mode.exists && !mode.carries && !mode.lookup && row.Status == state.InDoubt
		if b.created[r.RefID] != 1 || !row.Status.Made() && !held {
			t.Errorf("%q was made %d times, and the state says %v: %v", r.RefID, b.created[r.RefID], row.Status, w.journal.kinds(r.RefID))
		}
	}
	return finished
}
