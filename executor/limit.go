package executor

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

// limiter spaces the starts of one operation's requests. Its invariant: in any window of the
// given length, half open, no more than the given number start, and no more come to the service,
// as long as none is under way for longer than [state.Lateness]. A slot is taken before the
// intent is written, so that few intents lie waiting, and counts as a start that never ages
// until the request really starts.
type limiter struct {
	clock  Clock
	limit  RateLimit // no Requests: unlimited
	notify func(wait time.Duration)

	// Whoever holds a turn is the only one that sleeps; the others queue for it in their
	// order, at no cost.
	turnTake  chan struct{}
	turnStart chan struct{}
	changed   chan struct{} // a slot was given back, or has begun to age

	mu          sync.Mutex
	taken       int         // slots whose requests have not started
	starts      []time.Time // from when the latest age, at most limit.Requests, oldest first
	latest      time.Time   // of all starts
	latestTake  time.Time
	pausedUntil time.Time
	gap         time.Duration

	// reserve reserves starts that no other runner has, where several share the limit; nil
	// where this one is alone. What it returns is that of [state.Share].
	reserve       func(ctx context.Context, wanted int) (starts int, within time.Duration, err error)
	waiting       int // requests that are about to start
	reserved      int // starts that are left of the latest reservation
	reservedUntil time.Time
}

// newLimiter returns a limiter that knows of past starts, oldest first. notify is told of
// waits of a second or more.
func newLimiter(clock Clock, limit RateLimit, past []time.Time, notify func(time.Duration)) *limiter {
	l := &limiter{
		clock: clock, limit: limit, notify: notify,
		turnTake: make(chan struct{}, 1), turnStart: make(chan struct{}, 1), changed: make(chan struct{}, 1),
	}
	l.turnTake <- struct{}{}
	l.turnStart <- struct{}{}
	l.starts = append(l.starts, past[max(0, len(past)-limit.Requests):]...)
	return l
}

// take waits for a slot. The caller gives it back with start or release. The error is ctx's.
func (l *limiter) take(ctx context.Context) error {
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
		wait, ok := l.tryTake()
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

// takeNow takes a slot where there is one and nobody waits for one.
func (l *limiter) takeNow() bool {
	select {
	case <-l.turnTake:
	default:
		return false
	}
	defer func() { l.turnTake <- struct{}{} }()
	_, ok := l.tryTake()
	return ok
}

// tryTake takes a slot, or says how long to wait; 0 where that hangs on others.
func (l *limiter) tryTake() (wait time.Duration, ok bool) {
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

// held is how long a pause and the gap after the given time last.
func (l *limiter) held(now, after time.Time) time.Duration {
	wait := l.pausedUntil.Sub(now)
	if l.gap > 0 && !after.IsZero() {
		wait = max(wait, after.Add(l.gap).Sub(now))
	}
	return wait
}

// start waits while a pause lasts, calls check, and turns the caller's slot into a start at
// this moment. It returns from when on the start ages, for arrived. On an error, of ctx or of
// check, the slot is still the caller's.
func (l *limiter) start(ctx context.Context, check func() error) (ages time.Time, err error) {
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

func (l *limiter) startWait() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held(l.clock.Now(), l.latest)
}

func (l *limiter) tryStart() (ages time.Time, ok bool) {
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

// arrived says that a request is answered, of which start returned from when on it ages: that is
// now, if it was later.
func (l *limiter) arrived(ages time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	i, found := slices.BinarySearchFunc(l.starts, ages, time.Time.Compare)
	if found && now.Before(ages) {
		l.starts = slices.Delete(l.starts, i, i+1)
		l.insert(now)
	}
}

func (l *limiter) insert(ages time.Time) {
	i, _ := slices.BinarySearchFunc(l.starts, ages, time.Time.Compare)
	l.starts = slices.Insert(l.starts, i, ages)
}

func (l *limiter) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting += n
}

// share has every start be reserved from now on, and returns the starts that still count.
func (l *limiter) share(reserve func(ctx context.Context, wanted int) (int, time.Duration, error)) (ages []time.Duration) {
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

// isReserved reports whether a request may start now as far as other runners go.
func (l *limiter) isReserved(now time.Time) bool {
	return l.reserve == nil || l.reserved > 0 && now.Before(l.reservedUntil)
}

// haveReserved waits for a reserved start. Who calls it has the turn.
func (l *limiter) haveReserved(ctx context.Context) error {
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

// release gives a slot back whose request will not start.
func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
	l.signal()
}

func (l *limiter) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// pause lets nothing start for d, and spaces what starts afterwards. It returns whether
// this made the pause longer.
func (l *limiter) pause(d time.Duration) bool {
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

// processed says that the service took a request: the gap closes slowly.
func (l *limiter) processed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gap -= l.gap / 16; l.gap < gapMin {
		l.gap = 0
	}
}

func (l *limiter) sleep(ctx context.Context, d time.Duration) error {
	if d >= time.Second {
		l.notify(d)
	}
	if err := l.clock.Sleep(ctx, d); err != nil {
		return context.Cause(ctx)
	}
	return nil
}
