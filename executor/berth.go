package executor

import "context"

// berths are places of which there are only so many: among the requests in flight, or among
// the intents that are written ahead of theirs. The former is taken right before a request,
// and given back once it is known whether its answer stops the run: the intent of the next
// request is written ahead meanwhile, and the outcome of the last one behind it, so that the
// service is kept busy while the disk is.
type berths chan struct{}

// berth is one place among them.
type berth struct {
	of   berths
	held bool
}

// enter waits for a place. The error is ctx's.
func (b *berth) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case b.of <- struct{}{}:
		b.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave gives the place back, where there is one.
func (b *berth) leave() {
	if b.held {
		b.held = false
		<-b.of
	}
}
