package executor

import (
	"context"
	"sync"
	"time"
)

// backstop bounds requests whose Submitter does not end: each ends not before two timeouts,
// and not long after. Those that begin about the same time share a bound, because a context,
// a timer and a goroutine for each request cost more than what they are there for.
type backstop struct {
	mu     sync.Mutex
	shared context.Context
	made   time.Time // when shared was
}

// get is c.flight with a bound for a request that begins now. Nothing needs to be given back.
func (b *backstop) get(c *course) context.Context {
	timeout := c.run.Policy.RequestTimeout
	if timeout <= 0 {
		return c.flight
	}
	step := timeout / 4
	b.mu.Lock()
	defer b.mu.Unlock()
	now := c.run.Clock.Now()
	if age := now.Sub(b.made); b.shared == nil || age < 0 || age > step {
		// It ends by itself, or with the run.
		b.shared, _ = c.bounded(c.flight, 2*timeout+step)
		b.made = now
	}
	return b.shared
}
