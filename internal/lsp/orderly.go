package lsp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/creachadair/jrpc2/channel"
)

// orderly is a channel that lets the server finish. It passes on what follows initialize, a shutdown, an exit and the end of the
// input when each request before has its answer: the server beneath begins requests side by side, and drops those that it has
// not begun when the input ends.
type orderly struct {
	channel.Channel
	ctx     context.Context
	isFirst bool // the latest record was initialize

	mu      sync.Mutex
	open    map[string]bool // the IDs of requests without an answer
	settled chan struct{}   // has one entry when open became empty
}

func newOrderly(ctx context.Context, of channel.Channel) *orderly {
	return &orderly{Channel: of, ctx: ctx, open: make(map[string]bool), settled: make(chan struct{}, 1)}
}

// envelope is what tells a request, a notification and an answer from one another.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// Recv implements [channel.Channel].
func (o *orderly) Recv() ([]byte, error) {
	record, err := o.Channel.Recv()
	var is envelope
	if err == nil && json.Unmarshal(record, &is) != nil {
		return record, nil // the server says what is wrong with it
	}
	if err != nil || o.isFirst || is.Method == "shutdown" || is.Method == "exit" {
		o.await()
	}
	o.isFirst = is.Method == "initialize"
	if is.Method != "" && len(is.ID) > 0 {
		o.mu.Lock()
		o.open[string(is.ID)] = true
		o.mu.Unlock()
	}
	return record, err
}

// Send implements [channel.Channel].
func (o *orderly) Send(record []byte) error {
	err := o.Channel.Send(record)
	var is envelope
	if json.Unmarshal(record, &is) != nil || is.Method != "" {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, string(is.ID))
	if len(o.open) == 0 {
		select {
		case o.settled <- struct{}{}:
		default:
		}
	}
	return err
}

// await returns when every request has its answer, or the server ends.
func (o *orderly) await() {
	for {
		o.mu.Lock()
		isDone := len(o.open) == 0
		o.mu.Unlock()
		if isDone {
			return
		}
		select {
		case <-o.settled:
		case <-o.ctx.Done():
			return
		}
	}
}
