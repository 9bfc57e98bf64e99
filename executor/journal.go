package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"remit/state"
)

// ErrJournal says that the journal failed or was taken away while a run was under way: the part that
// was sent may be missing in it, and is in doubt there. The state must be looked at.
var ErrJournal = errors.New("the journal of the state failed")

// journalWriter appends to the journal until an append fails. After it nothing can be trusted:
// the failed entries may be durable or not.
type journalWriter struct {
	journal Journal
	ctx     context.Context

	mu     sync.Mutex
	failed error
}

// append makes entries durable. An error that is no refusal of the state ([isRefusal]) is kept and
// ends all later appends.
func (w *journalWriter) append(entries ...state.Entry) error {
	if err := w.failure(); err != nil {
		return err
	}
	err := w.journal.Append(w.ctx, entries...)
	if err == nil || isRefusal(err) || isFull(err) {
		return err
	}
	return w.fail(err)
}

// isFull reports whether the state begins nothing more because its volume has too little room: it wrote nothing, and the journal is
// sound. No other entry of its kind fares better.
func isFull(err error) bool {
	_, ok := errors.AsType[*state.FullError](err)
	return ok
}

// snapshot returns the state as the journal has it now. The caller closes it.
func (w *journalWriter) snapshot() (state.Snapshot, error) { return w.journal.Snapshot(w.ctx) }

// check returns an error if the lock is no longer ours.
func (w *journalWriter) check() error {
	if err := w.failure(); err != nil {
		return err
	}
	if err := w.journal.Check(w.ctx); err != nil {
		return w.fail(err)
	}
	return nil
}

func (w *journalWriter) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return w.failed
}

// failure returns the error that ended the appends; nil without one.
func (w *journalWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// isRefusal reports whether the state refused entries because they break a rule: it wrote
// nothing, and the journal is sound.
func isRefusal(err error) bool {
	for _, rule := range []error{
		state.ErrRecorded, state.ErrDifferent, state.ErrTombstone, state.ErrNoAttempt, state.ErrRun,
	} {
		if errors.Is(err, rule) {
			return true
		}
	}
	if _, ok := errors.AsType[*state.EdgeError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*state.CustomerError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*state.DuplicateGroupError](err); ok {
		return true
	}
	_, ok := errors.AsType[*state.DuplicateRecordError](err)
	return ok
}
