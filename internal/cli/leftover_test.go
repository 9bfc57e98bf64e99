package cli

import (
	"context"
	"errors"
	"testing"

	"remit/state"
)

// unread is a journal whose state nobody reads again.
type unread struct {
	state.Journal
	t *testing.T
}

func (u unread) Snapshot(context.Context) (state.Snapshot, error) {
	u.t.Error("it reads the state again")
	return nil, errors.New("not read")
}

// TestAnInterruptedReadingIsNotBegunAnew has somebody interrupt an apply while it reads a state, which takes seconds for one with millions of
// transfers: the apply ends as it is, and does not read all of it for what is in doubt.
func TestAnInterruptedReadingIsNotBegunAnew(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	ended := errors.New("interrupted")
	if got := new(applying).withLeftover(ctx, nil, unread{t: t}, new(countingSnapshot), nil, ended); !errors.Is(got, ended) {
		t.Errorf("it ends with %v", got)
	}
}
