package certify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"remit/executor"
	"remit/internal/transfer"
)

const (
	pollFirst = 250 * time.Millisecond
	pollMax   = 5 * time.Second
	// lookupIDs and lookupIDLength make addresses that are as long as remit sends them.
	lookupIDs      = executor.FindMax
	lookupIDLength = 90
)

// Exchange is what a client says of one request that is none to create, or of one page of a lookup.
type Exchange struct {
	Token  bool // it was for a token; otherwise a lookup
	Status int  // of HTTP; 0 where no answer was read

	Life  time.Duration // of a token; 0 where the endpoint does not say
	Lacks []string      // scopes that were asked for and not granted

	IsPage bool // of a lookup, which was read
	Length int  // bytes of its address
	Asked  int  // ref_ids
	Alone  bool // each is asked for alone by now: of several, some do not reach the service
	Others int  // records of ref_ids that were not asked for
	More   bool // it named a further page
}

// lookedUp is what a lookup says of one ref_id.
type lookedUp struct {
	tried      bool
	count      int // records
	unreadable string
	err        error
}

// lookUpOdd asks for ref_ids that are there for their characters, each by itself: the answer may be
// another's. Those that differ in capitals are asked for together.
func (t *Trial) lookUpOdd(ctx context.Context) {
	t.watch.ignore(true)
	defer t.watch.ignore(false)
	t.odd = make(map[string]lookedUp)
	for _, name := range []string{nameLong, nameSigns} {
		p := t.probe(name)
		if p == nil || p.first == nil || ctx.Err() != nil {
			continue
		}
		refID := p.request.RefID
		t.poll(ctx, func() bool {
			found, unreadable, err := t.find(ctx, refID)
			t.odd[refID] = lookedUp{true, len(found[refID]), unreadable[refID], err}
			return err != nil || len(found[refID]) > 0 || unreadable[refID] != ""
		})
	}
}

// watch keeps what the client says. It is safe for concurrent use.
type watch struct {
	mu        sync.Mutex
	ignored   bool
	exchanges []Exchange
}

// ignore has exchanges not be kept.
func (w *watch) ignore(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ignored = on
}

// Watch is told of each exchange, by any goroutine.
func (t *Trial) Watch(e Exchange) {
	t.watch.mu.Lock()
	defer t.watch.mu.Unlock()
	if !t.watch.ignored {
		t.watch.exchanges = append(t.watch.exchanges, e)
	}
}

// lag is how long after the answer a lookup listed the transfer.
type lag struct {
	tried  bool
	listed bool
	most   time.Duration // it was not listed before the lookup before that; where it was not listed, how long was waited
	err    error         // of the last lookup
}

// final is what lookups say in the end.
type final struct {
	tried      bool
	found      map[string][]transfer.Record
	unreadable map[string]string
	err        error // that says nothing about any of them
	waited     time.Duration

	alone map[string]bool // ref_ids that are listed only where each is asked for by itself

	absent    map[string][]transfer.Record // of a ref_id that nobody used
	absentErr error
	longErr   error // of a lookup of 100
	long      bool  // it was tried
}

// find looks ref_ids up. An unreadable record is no error.
func (t *Trial) find(ctx context.Context, refIDs ...string) (map[string][]transfer.Record, map[string]string, error) {
	found, err := t.Finder.Find(ctx, refIDs)
	if unreadable, ok := errors.AsType[*executor.UnreadableError](err); ok {
		return found, unreadable.Reasons, nil
	}
	return found, nil, err
}

// measureLag looks the first transfer up until it is listed.
func (t *Trial) measureLag(ctx context.Context, p *probe) {
	attempts := t.gate.of(p)
	if t.Finder == nil || len(attempts) == 0 || attempts[len(attempts)-1].answer.Kind != executor.Answered {
		return
	}
	refID := p.request.RefID
	t.tell("waiting until a lookup lists it")
	t.lag.tried = true
	began := t.Clock.Now()
	t.poll(ctx, func() (done bool) {
		asked := t.Clock.Now()
		found, unreadable, err := t.find(ctx, refID)
		t.lag.err, t.lag.most = err, asked.Sub(began)
		t.lag.listed = len(found[refID]) > 0 || unreadable[refID] != ""
		return err != nil || t.lag.listed
	})
	if ctx.Err() != nil {
		t.lag = lag{}
	}
}

// poll calls look until it is done, for at most Wait, with pauses that grow.
func (t *Trial) poll(ctx context.Context, look func() (done bool)) {
	began, pause := t.Clock.Now(), pollFirst
	for !look() {
		left := t.Wait - t.Clock.Now().Sub(began)
		if left <= 0 || t.Clock.Sleep(ctx, min(pause, left)) != nil {
			return
		}
		pause = min(2*pause, pollMax)
	}
}

// lookUp looks the whole series up until no transfer of it is PENDING or may still appear.
func (t *Trial) lookUp(ctx context.Context) {
	if t.Finder == nil || ctx.Err() != nil {
		return
	}
	var refIDs []string
	for _, p := range t.made {
		if !p.other && len(t.gate.of(p)) > 0 && !p.refuse && !p.isOdd() {
			refIDs = append(refIDs, p.request.RefID)
		}
	}
	if len(refIDs) == 0 {
		return
	}
	t.tell("looking up what became of %d transfers", len(refIDs))
	f := &t.final
	f.tried = true
	began := t.Clock.Now()
	t.poll(ctx, func() bool {
		f.found, f.unreadable, f.err = t.find(ctx, refIDs...)
		f.waited = t.Clock.Now().Sub(began)
		return f.err != nil || t.isWhole(refIDs)
	})
	if f.err == nil && ctx.Err() == nil {
		t.lookUpAlone(ctx, refIDs)
		t.lookUpOthers(ctx, refIDs[0])
		t.lookUpOdd(ctx)
	}
	if ctx.Err() != nil {
		t.final, t.odd = final{}, nil // an interrupted step says nothing of the service
	}
}

// lookUpAlone asks for each ref_id that a lookup of several did not list by itself: a gateway may join them.
func (t *Trial) lookUpAlone(ctx context.Context, refIDs []string) {
	f := &t.final
	f.alone = make(map[string]bool)
	for _, refID := range refIDs {
		if len(f.found[refID]) > 0 || f.unreadable[refID] != "" {
			continue
		}
		found, _, err := t.find(ctx, refID)
		if err != nil || len(found[refID]) == 0 {
			continue
		}
		f.alone[refID], f.found[refID] = true, found[refID]
	}
}

// isWhole reports whether lookups have both sides of each ref_id, and a final status.
func (t *Trial) isWhole(refIDs []string) bool {
	for _, refID := range refIDs {
		if t.final.unreadable[refID] != "" {
			continue
		}
		var debit, credit bool
		for _, r := range t.final.found[refID] {
			debit = debit || r.Direction == transfer.Debit && r.Status.Final()
			credit = credit || r.Direction == transfer.Credit && r.Status.Final()
		}
		if !debit || !credit {
			return false
		}
	}
	return true
}

// lookUpOthers asks for ref_ids that were never made: one alone, and so many that the address is long.
func (t *Trial) lookUpOthers(ctx context.Context, made string) {
	f := &t.final
	f.absent, _, f.absentErr = t.find(ctx, t.series+"never")
	refIDs := []string{made}
	for i := range lookupIDs - 1 {
		refID := fmt.Sprintf("%snever-%d-", t.series, i+1)
		refIDs = append(refIDs, refID+strings.Repeat("x", max(0, lookupIDLength-len(refID))))
	}
	if f.absentErr != nil {
		return
	}
	f.long = true
	found, _, err := t.find(ctx, refIDs...)
	f.longErr = err
	if err == nil && len(found[made]) == 0 && len(f.found[made]) > 0 {
		f.longErr = fmt.Errorf("the lookup of %d ref_ids does not list %q, which the one of %d lists", len(refIDs), made, len(t.final.found))
	}
}
