// Package ratelimit spaces requests to the service.
//
// Its invariant: in any window of the given length, half open, no more than the given number of
// requests start, and no more reach the service, as long as none is under way for longer than
// [state.Lateness].
package ratelimit

import (
	"context"
	"slices"
	"sync"
	"time"

	"remit/state"
)

const (
	gapFirst = 20 * time.Millisecond // between starts, after a first answer of "not processed"
	gapMax   = time.Second           // to which it doubles with each further one
	gapMin   = time.Millisecond      // below which it is none
)

// Limit allows so many requests in any window of the given length; no requests is no limit.
type Limit struct {
	Requests int
	Window   time.Duration
}

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep returns early, with the context's error, when ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// Reserve reserves at most wanted starts that no other runner of the run has. Its results are those
// of [state.Share].
type Reserve func(ctx context.Context, wanted int) (starts int, within time.Duration, err error)

// Limiter spaces the starts of one operation's requests. A caller takes a slot before it writes an
// intent, so that few intents wait; the slot counts as a start that never ages until the request
// really starts. It is safe for concurrent use.
type Limiter struct {
	clock  Clock
	limit  Limit
	notify func(wait time.Duration)

	// Only the holder of a turn sleeps; the others queue for the turn in their order, at no cost.
	turnTake  chan struct{}
	turnStart chan struct{}
	changed   chan struct{} // a caller gave a slot back, or its start began to age

	mu          sync.Mutex
	taken       int         // slots whose requests have not started
	starts      []time.Time // from when the latest age, at most limit.Requests, oldest first
	latest      time.Time   // of all starts
	latestTake  time.Time
	pausedUntil time.Time
	gap         time.Duration

	reserve       Reserve // nil while one runner alone has the limit
	waiting       int     // requests that are about to start
	reserved      int     // starts that are left of the latest reservation
	reservedUntil time.Time
}

// New returns a limiter that knows of past starts, oldest first. It calls notify for each wait of a
// second or more.
func New(clock Clock, limit Limit, past []time.Time, notify func(wait time.Duration)) *Limiter {
	l := &Limiter{
		clock: clock, limit: limit, notify: notify,
		turnTake: make(chan struct{}, 1), turnStart: make(chan struct{}, 1), changed: make(chan struct{}, 1),
	}
	l.turnTake <- struct{}{}
	l.turnStart <- struct{}{}
	l.starts = append(l.starts, past[max(0, len(past)-limit.Requests):]...)
	return l
}

// Limit returns the limit that the limiter keeps.
func (l *Limiter) Limit() Limit { return l.limit }

// Take waits for a slot. The caller ends it with Start or Release. The error is ctx's.
func (l *Limiter) Take(ctx context.Context) error {
	select {
	case <-l.turnTake:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { l.turnTake <- struct{}{} }()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait, ok := l.slot()
		switch {
		case ok:
			return nil
		case wait > 0:
			if err := l.sleep(ctx, wait); err != nil {
				return err
			}
		default: // all slots are with requests that are about to start
			select {
			case <-l.changed:
			case <-ctx.Done():
			}
		}
	}
}

// TryTake takes a slot if one is free and nobody waits for one.
func (l *Limiter) TryTake() bool {
	select {
	case <-l.turnTake:
	default:
		return false
	}
	defer func() { l.turnTake <- struct{}{} }()
	_, ok := l.slot()
	return ok
}

// slot takes a slot, or returns how long to wait; 0 if other requests must start or end first.
func (l *Limiter) slot() (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if wait := l.held(now, l.latestTake); wait > 0 {
		return wait, false
	}
	if l.limit.Requests > 0 {
		for len(l.starts) > 0 && now.Sub(l.starts[0]) >= l.limit.Window {
			l.starts = l.starts[1:]
		}
		if l.taken+len(l.starts) >= l.limit.Requests {
			if len(l.starts) == 0 {
				return 0, false
			}
			return min(l.limit.Window, l.limit.Window-now.Sub(l.starts[0])), false // an answer may have it age sooner
		}
	}
	l.taken++
	l.latestTake = now
	return 0, true
}

// held returns how long a pause, and the gap after the given time, last.
func (l *Limiter) held(now, after time.Time) time.Duration {
	wait := l.pausedUntil.Sub(now)
	if l.gap > 0 && !after.IsZero() {
		wait = max(wait, after.Add(l.gap).Sub(now))
	}
	return wait
}

// Start waits while a pause lasts, calls check, and turns the caller's slot into a start at
// this moment. It returns from when on the start ages, for Arrived. On an error, of ctx or of
// check, the caller keeps the slot.
func (l *Limiter) Start(ctx context.Context, check func() error) (ages time.Time, err error) {
	l.count(1)
	defer l.count(-1)
	select {
	case <-l.turnStart:
	case <-ctx.Done():
		return ages, context.Cause(ctx)
	}
	defer func() { l.turnStart <- struct{}{} }()
	for {
		if ctx.Err() != nil {
			return ages, context.Cause(ctx)
		}
		if err := l.haveReserved(ctx); err != nil {
			return ages, err
		}
		if wait := l.startWait(); wait > 0 {
			if err := l.sleep(ctx, wait); err != nil {
				return ages, err
			}
			continue
		}
		if err := check(); err != nil {
			return ages, err
		}
		if ages, ok := l.tryStart(); ok {
			return ages, nil
		}
	}
}

func (l *Limiter) startWait() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held(l.clock.Now(), l.latest)
}

func (l *Limiter) tryStart() (ages time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if l.held(now, l.latest) > 0 || !l.isReserved(now) {
		return ages, false
	}
	l.reserved--
	l.taken--
	l.latest = now
	if l.limit.Requests > 0 {
		ages = now.Add(state.Lateness(l.limit.Window))
		l.insert(ages)
	}
	l.signal()
	return ages, true
}

// Forget takes back a start of which no request began. Its slot is another's from then on.
func (l *Limiter) Forget(ages time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, found := slices.BinarySearchFunc(l.starts, ages, time.Time.Compare); found {
		l.starts = slices.Delete(l.starts, i, i+1)
	}
	l.signal()
}

// Arrived notes the answer to a request. The start ages from now on, if Start returned a later time.
func (l *Limiter) Arrived(ages time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	i, found := slices.BinarySearchFunc(l.starts, ages, time.Time.Compare)
	if found && now.Before(ages) {
		l.starts = slices.Delete(l.starts, i, i+1)
		l.insert(now)
	}
}

func (l *Limiter) insert(ages time.Time) {
	i, _ := slices.BinarySearchFunc(l.starts, ages, time.Time.Compare)
	l.starts = slices.Insert(l.starts, i, ages)
}

func (l *Limiter) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting += n
}

// Share reserves every start from now on, and returns the ages of the starts that still count. An
// unlimited limiter reserves none.
func (l *Limiter) Share(reserve Reserve) (ages []time.Duration) {
	if l.limit.Requests <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserve = reserve
	now := l.clock.Now()
	for _, start := range l.starts {
		ages = append(ages, max(0, now.Sub(start)))
	}
	return ages
}

// isReserved reports whether the other runners let a request start now.
func (l *Limiter) isReserved(now time.Time) bool {
	return l.reserve == nil || l.reserved > 0 && now.Before(l.reservedUntil)
}

// haveReserved waits for a reserved start. The caller holds the turn.
func (l *Limiter) haveReserved(ctx context.Context) error {
	for ctx.Err() == nil {
		l.mu.Lock()
		now, reserve, wanted := l.clock.Now(), l.reserve, min(l.waiting, l.limit.Requests)
		ready := l.isReserved(now)
		l.mu.Unlock()
		if ready {
			return nil
		}
		starts, within, err := reserve(ctx, wanted)
		switch {
		case err != nil:
			return err
		case starts > 0:
			l.mu.Lock()
			l.reserved, l.reservedUntil = starts, now.Add(within) // of before it was asked for
			l.mu.Unlock()
		default:
			if err := l.sleep(ctx, within); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// Release gives a slot back whose request will not start.
func (l *Limiter) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
	l.signal()
}

func (l *Limiter) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Pause starts no request for d, and spaces the starts after it. It reports whether this made the
// pause longer.
func (l *Limiter) Pause(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if !l.pausedUntil.After(now) { // the answers of one storm slow down once
		l.gap = min(max(2*l.gap, gapFirst), gapMax)
	}
	if until := now.Add(d); until.After(l.pausedUntil) {
		l.pausedUntil = until
		return true
	}
	return false
}

// Processed notes that the service took a request: the gap closes slowly.
func (l *Limiter) Processed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gap -= l.gap / 16; l.gap < gapMin {
		l.gap = 0
	}
}

func (l *Limiter) sleep(ctx context.Context, d time.Duration) error {
	if d >= time.Second {
		l.notify(d)
	}
	if err := l.clock.Sleep(ctx, d); err != nil {
		return context.Cause(ctx)
	}
	return nil
}
