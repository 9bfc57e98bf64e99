package executor

import (
	"context"
	"sync"
	"time"
)

// backstop bounds requests whose Submitter does not end: each ends not before two timeouts,
// and not long after. Requests that begin about the same time share a bound: a context, a timer
// and a goroutine for each one would cost more than the bound brings.
type backstop struct {
	life *lifetime

	mu     sync.Mutex
	shared context.Context
	made   time.Time // when shared was
}

// get returns the context of a request that begins now. The caller gives nothing back.
func (b *backstop) get() context.Context {
	timeout := b.life.timeout
	if timeout <= 0 {
		return b.life.flight
	}
	step := timeout / 4
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.life.clock.Now()
	if age := now.Sub(b.made); b.shared == nil || age < 0 || age > step {
		// It ends by itself, or with the run.
		b.shared, _ = b.life.bounded(b.life.flight, 2*timeout+step)
		b.made = now
	}
	return b.shared
}
