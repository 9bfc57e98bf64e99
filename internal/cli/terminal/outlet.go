package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
	"time"
)

// outletGrace is how long a command that was interrupted waits for the reader of its output.
const outletGrace = time.Second

// ErrStalled says that a command was interrupted while it waited for a reader.
var ErrStalled = errors.New("nobody reads what this command writes")

// Outlets are the files that a command writes to and whose readers may stand still, as a terminal does after Ctrl-S, or a pager
// that nobody pages on. None of them keeps the command from hearing an interrupt and, once they are [Outlets.Unhurried], from going on. A
// nil one has none.
//
// Its one invariant: bytes reach a file in the order in which they were written, also those of two streams that are the same file.
type Outlets struct {
	ctx context.Context // ends on an interrupt
	all []outlet
}

// outlet writes to a file by a queue.
type outlet struct {
	file  *os.File
	queue *queue
}

// queue are bytes for one file, or for two that are the same one, as both streams of a terminal are.
type queue struct {
	ctx context.Context

	mu          sync.Mutex
	held        []chunk
	isWriting   bool          // a goroutine writes, or is about to
	moved       chan struct{} // is closed once all that was held is written, or failed
	failed      error         // of the first write that failed: each one after it fails as well
	isUnhurried bool          // nobody waits until bytes are written
}

// chunk are bytes for a file.
type chunk struct {
	to    *os.File
	bytes []byte
}

// NewOutlets are none yet, of a command that an end of ctx interrupts.
func NewOutlets(ctx context.Context) *Outlets { return &Outlets{ctx: ctx} }

// Of is a writer to the same file. One that is no file, or a regular one, stays as it is: nobody reads from it at a speed of their own.
func (all *Outlets) Of(to io.Writer) io.Writer {
	file, isFile := to.(*os.File)
	if all == nil || !isFile {
		return to
	}
	info, err := file.Stat()
	if err != nil || info.Mode().IsRegular() {
		return to
	}
	o := outlet{file, &queue{ctx: all.ctx, moved: make(chan struct{})}}
	for _, other := range all.all {
		if known, err := other.file.Stat(); err == nil && os.SameFile(info, known) {
			o.queue = other.queue
		}
	}
	all.all = append(all.all, o)
	return o
}

// Write implements io.Writer. It returns once the bytes are written, or, of an unhurried one, at once.
func (o outlet) Write(p []byte) (int, error) {
	isUnhurried, err := o.queue.add(o.file, p)
	if err == nil && !isUnhurried {
		err = o.queue.wait(nil)
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unhurried has no write wait for its reader any more: a run whose payments are under way writes down how each one ended, also while
// nobody reads. Bytes that wait for a reader are kept in memory.
func (all *Outlets) Unhurried() {
	for q := range all.queues() {
		q.mu.Lock()
		q.isUnhurried = true
		q.mu.Unlock()
	}
}

// AreBehind reports whether some reader has not read all that was written: a line of progress can be left out then.
func (all *Outlets) AreBehind() bool {
	for q := range all.queues() {
		q.mu.Lock()
		isBehind := q.isWriting
		q.mu.Unlock()
		if isBehind {
			return true
		}
	}
	return false
}

// Flush waits until all is written, as long as the command is not interrupted, and returns the errors of the unhurried writes that
// failed first: any other write returned its error itself. It stops waiting, without an error, once enough is over; 0 never is.
func (all *Outlets) Flush(enough time.Duration) error {
	var over <-chan struct{}
	if enough > 0 {
		waiting, cancel := context.WithTimeout(context.Background(), enough)
		defer cancel()
		over = waiting.Done()
	}
	var failed []error
	for q := range all.queues() {
		if err := q.wait(over); q.hasUnhurried() {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (all *Outlets) queues() iter.Seq[*queue] {
	return func(yield func(*queue) bool) {
		if all == nil {
			return
		}
		seen := make(map[*queue]bool)
		for _, o := range all.all {
			if !seen[o.queue] && !yield(o.queue) {
				return
			}
			seen[o.queue] = true
		}
	}
}

func (q *queue) add(to *os.File, p []byte) (isUnhurried bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed != nil {
		return false, q.failed
	}
	if last := len(q.held) - 1; last >= 0 && q.held[last].to == to {
		q.held[last].bytes = append(q.held[last].bytes, p...)
	} else {
		q.held = append(q.held, chunk{to, slices.Clone(p)})
	}
	if !q.isWriting {
		q.isWriting = true
		go q.write()
	}
	return q.isUnhurried, nil
}

func (q *queue) hasUnhurried() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.isUnhurried
}

// write writes all that is held.
func (q *queue) write() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.held) > 0 && q.failed == nil {
		next := q.held[0]
		q.held = q.held[1:]
		q.mu.Unlock()
		_, err := next.to.Write(next.bytes)
		q.mu.Lock()
		if err != nil && q.failed == nil {
			q.failed = err
		}
	}
	q.held, q.isWriting = nil, false
	close(q.moved)
	q.moved = make(chan struct{})
}

// wait returns once nothing is held any more, the time that is enough has come, or an interrupted command has waited for its grace:
// nothing is written after that.
func (q *queue) wait(enough <-chan struct{}) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.isWriting || q.failed != nil {
		return q.failed
	}
	moved := q.moved
	q.mu.Unlock()
	err := q.until(moved, enough)
	q.mu.Lock()
	if err != nil && q.failed == nil {
		q.failed = err
	}
	return q.failed
}

func (q *queue) until(moved, enough <-chan struct{}) error {
	select {
	case <-moved:
		return nil
	case <-enough:
		return nil
	case <-q.ctx.Done():
	}
	grace := time.NewTimer(outletGrace)
	defer grace.Stop()
	select {
	case <-moved:
		return nil
	case <-grace.C:
		return fmt.Errorf("%w: %w", ErrStalled, context.Cause(q.ctx))
	}
}
