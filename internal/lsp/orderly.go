package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// orderly is a channel that lets the server finish. It passes on the messages after initialize, a shutdown, an exit and the end of the
// input when each request before has its answer: the server beneath begins requests side by side, and drops those that it has
// not begun when the input ends.
type orderly struct {
	channel.Channel
	ctx     context.Context
	isFirst bool // the latest record was initialize

	isOver bool // the latest record was exit

	sending sync.Mutex
	mu      sync.Mutex
	open    map[string]bool // the IDs of requests without an answer
	settled chan struct{}   // has one entry when open became empty
}

func newOrderly(ctx context.Context, of channel.Channel) *orderly {
	return &orderly{Channel: of, ctx: ctx, open: make(map[string]bool), settled: make(chan struct{}, 1)}
}

// Recv implements [channel.Channel].
func (o *orderly) Recv() ([]byte, error) {
	if o.isOver {
		return nil, io.EOF
	}
	record, err := o.Channel.Recv()
	is, ok := requestOf(record)
	for err == nil && !ok {
		if err := o.send([]byte(refusal)); err != nil {
			return nil, err
		}
		record, err = o.Channel.Recv()
		is, ok = requestOf(record)
	}
	if err != nil || o.isFirst || is.Method == "shutdown" || is.Method == "exit" {
		o.await()
	}
	o.isFirst, o.isOver = is.Method == "initialize", is.Method == "exit"
	if id := keyOfID(json.RawMessage(is.ID)); id != "" && is.Method != "" {
		o.mu.Lock()
		o.open[id] = true
		o.mu.Unlock()
	}
	return record, err
}

// keyOfID is an ID in one spelling, as an answer may write it with other escapes than its request; "" for none, as of a notification.
func keyOfID(id json.RawMessage) string {
	var text string
	switch {
	case string(id) == "null":
		return ""
	case json.Unmarshal(id, &text) == nil:
		return "text " + text
	}
	return string(id)
}

// refusal answers a record to which no answer can be addressed.
const refusal = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is no request, notification or answer"}}`

// requestOf is the request, notification or answer that a record is, as the server beneath reads it. It is false for a record that the server may not
// have: one of several, which the protocol does not know, or one that has a mistake and no ID to answer to. The server answers a broken notification after the
// input has ended too, and panics then, because its channel is gone.
func requestOf(record []byte) (jrpc2.ParsedRequest, bool) {
	parsed, err := jrpc2.ParseRequests(record)
	if err != nil || len(parsed) != 1 || parsed[0].Batch || parsed[0].Error != nil && parsed[0].ID == "" {
		return jrpc2.ParsedRequest{}, false
	}
	return *parsed[0], true
}

func (o *orderly) send(record []byte) error {
	o.sending.Lock()
	defer o.sending.Unlock()
	return o.Channel.Send(record)
}

// Send implements [channel.Channel].
func (o *orderly) Send(record []byte) error {
	err := o.send(record)
	id, isAnswer := answeredBy(record)
	if !isAnswer {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, keyOfID(id))
	if len(o.open) == 0 {
		select {
		case o.settled <- struct{}{}:
		default:
		}
	}
	return err
}

// answeredBy is the ID of the request that a record answers; false where it is no answer. A result, which may be long, is not read where the
// ID comes before it.
func answeredBy(record []byte) (json.RawMessage, bool) {
	fields := json.NewDecoder(bytes.NewReader(record))
	var id json.RawMessage
	for {
		name, err := fields.Token()
		switch {
		case err != nil || name == "method":
			return nil, false
		case name == json.Delim('{'):
			continue
		case name == json.Delim('}'):
			return id, id != nil
		case (name == "result" || name == "error") && id != nil:
			return id, true
		}
		var value json.RawMessage
		if fields.Decode(&value) != nil {
			return nil, false
		}
		if name == "id" {
			id = value
		}
	}
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
