package storage

import (
	"context"
	"slices"
	"sync"
	"time"

	"remit/state"
)

// Bounds of one commit.
const (
	commitMax = 4096 // entries that share one commit
	queueMax  = 1024 // calls that wait for the next commit

	// A commit costs about as much CPU as twenty entries, whatever the entries are. Where the last one
	// had crowd entries or more, others are on their way: the next one is begun after crowdWait,
	// which is too short for a request that waits behind it to be missed by the service. Few
	// callers, who wait for one another, are never held up.
	crowd     = 32
	crowdWait = 2 * time.Millisecond
)

// Call is one Append that waits.
type Call struct {
	Drafts []state.Draft

	one  [1]state.Draft // room for those of most calls
	ctx  context.Context
	done chan error // of one
}

// Commit writes what it can of calls in one transaction. It returns an error for each call,
// nil for those that are durable. Where the second result is not nil, the calls without an
// error of their own may or may not be durable, and nothing is committed after.
type Commit func(calls []*Call) ([]error, error)

// Queue has calls share commits: one is under way at a time, and all that waits meanwhile
// goes into the next. It is safe for concurrent use.
type Queue struct {
	commit Commit
	calls  chan *Call
	ended  chan struct{} // closed when the last commit is over

	mu     sync.RWMutex
	closed bool
	broken error // guarded by mu; what every call returns after a commit failed
}

// NewQueue returns a queue that commits until Close.
func NewQueue(commit Commit) *Queue {
	q := &Queue{commit: commit, calls: make(chan *Call, queueMax), ended: make(chan struct{})}
	go q.run()
	return q
}

// Append is that of [state.Journal].
func (q *Queue) Append(ctx context.Context, entries ...state.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	c := &Call{ctx: ctx, done: make(chan error, 1)}
	c.Drafts = slices.Grow(c.one[:0], len(entries))
	for _, entry := range entries {
		draft, err := state.NewDraft(entry)
		if err != nil {
			return err
		}
		c.Drafts = append(c.Drafts, draft)
	}
	if err := q.enqueue(ctx, c); err != nil {
		return err
	}
	// Once taken up, a commit is not given up: its outcome must be known.
	return <-c.done
}

func (q *Queue) enqueue(ctx context.Context, c *Call) error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	switch {
	case q.closed:
		return state.ErrUnlocked
	case ctx.Err() != nil:
		return ctx.Err()
	}
	select {
	case q.calls <- c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Err is what an Append would be refused with whatever it says: [state.ErrUnlocked] after
// Close, and the error of the commit that failed. It is nil otherwise.
func (q *Queue) Err() error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		return state.ErrUnlocked
	}
	return q.broken
}

// Break has nothing be committed any more, as a commit that fails does. The first error stays.
func (q *Queue) Break(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken == nil {
		q.broken = err
	}
}

// Close waits for the calls that were taken up, and returns the error of the commit that
// failed, if one did. It returns [state.ErrUnlocked], and waits for nothing, where the queue
// was closed before.
func (q *Queue) Close() error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return state.ErrUnlocked
	}
	q.closed = true
	close(q.calls)
	q.mu.Unlock()
	<-q.ended
	return q.Broken()
}

// Broken is the error after which nothing is committed any more, closed or not; nil before it.
func (q *Queue) Broken() error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.broken
}

// run commits entries until Close: all that wait at once share a commit.
func (q *Queue) run() {
	defer close(q.ended)
	last := 0
	for first := range q.calls {
		if last >= crowd {
			time.Sleep(crowdWait)
		}
		batch, size := []*Call{first}, len(first.Drafts)
	gather:
		for size < commitMax {
			select {
			case c, ok := <-q.calls:
				if !ok {
					break gather
				}
				batch, size = append(batch, c), size+len(c.Drafts)
			default:
				break gather
			}
		}
		q.answer(batch)
		last = size
	}
}

// answer commits calls and answers each of them: with its own error where it breaks a rule,
// which changes nothing for the others.
func (q *Queue) answer(calls []*Call) {
	broken := q.Broken()
	var answers []error
	if broken == nil {
		if answers, broken = q.commit(calls); broken != nil {
			q.Break(broken)
		}
	}
	for i, c := range calls {
		switch {
		case broken != nil && (answers == nil || answers[i] == nil):
			c.done <- broken
		default:
			c.done <- answers[i]
		}
	}
}
