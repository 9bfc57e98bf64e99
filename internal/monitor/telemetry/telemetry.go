// Package telemetry sends the trace of one apply to an OpenTelemetry collector: a span for the
// run, and one below it for each request that is sampled.
//
// Its one invariant: whatever a collector does, an apply is neither slower nor otherwise for it.
// A span that finds no room in the queue is dropped, and the end is waited for a bounded time.
//
// It speaks OTLP over HTTP with JSON. That, and internal/service, are the outgoing HTTP of the
// program; docs/adr/0015-traces-without-a-library.md says why.
package telemetry

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	queueMax   = 2048 // spans that wait to be sent; further ones are dropped
	batchMax   = 512  // spans of one request to the collector
	batchPause = time.Second
	answerMax  = 64 << 10
	failedMax  = 3 // requests in a row, after which the collector is left alone

	plainMax   = 1000 // requests of a run that went well, of which each has a span
	plainEvery = 100  // of those after them, one in so many has
)

// Options say where spans go. Ambient things are parameters.
type Options struct {
	Getenv  func(name string) string // variables of OpenTelemetry's specification
	Random  io.Reader                // of IDs
	Proxy   func(*http.Request) (*url.URL, error)
	Version string // of remit
}

// Span is something that took time. No amount, name or secret may be in it.
type Span struct {
	Name         string
	Began, Ended time.Time
	Attributes   []Attribute
	Failed       string // why it did not go well; "" where it did
	Plain        bool   // it went well, as most do: one of many stands for them
}

// Attribute is one property of a span. Its Value is a string or an int.
type Attribute struct {
	Key   string
	Value any
}

// Trace is what one apply sends. The nil Trace sends nothing. Its methods may be called
// concurrently.
type Trace struct {
	settings
	client  *http.Client
	traceID string
	rootID  [8]byte
	queue   chan spanJSON
	done    chan struct{}
	giveUp  context.CancelFunc

	closing sync.RWMutex // held for reading by who puts into the queue
	closed  bool
	numbers atomic.Uint64 // of spans, which their IDs are made of
	plain   atomic.Int64
	lost    atomic.Int64
	failure atomic.Pointer[error] // the first of sending
}

// New begins a trace where the environment asks for one, and returns nil where it doesn't. An
// error is that the environment can't be understood: then nothing is sent.
func New(o Options) (*Trace, error) {
	s, err := readSettings(o.Getenv, o.Version)
	if err != nil || s.endpoint == "" {
		return nil, err
	}
	var ids [24]byte
	if _, err := io.ReadFull(o.Random, ids[:]); err != nil {
		return nil, fmt.Errorf("make the ID of a trace: %w", err)
	}
	if !s.samples(binary.BigEndian.Uint64(ids[8:16])) {
		return nil, nil
	}
	ctx, giveUp := context.WithCancel(context.Background())
	t := &Trace{
		settings: s, traceID: hex.EncodeToString(ids[:16]), rootID: [8]byte(ids[16:]),
		queue: make(chan spanJSON, queueMax), done: make(chan struct{}), giveUp: giveUp,
		client: &http.Client{
			Transport:     &http.Transport{Proxy: o.Proxy},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it would take the headers along
		},
	}
	go t.send(ctx)
	return t, nil
}

// Add puts a span below that of the run. It returns at once.
func (t *Trace) Add(s Span) {
	if t == nil {
		return
	}
	if s.Plain {
		if n := t.plain.Add(1); n > plainMax && n%plainEvery != 0 {
			return
		}
	}
	t.put(t.encode(s, t.nextID(), t.rootID[:], kindClient))
}

// End puts the span of the run, and returns when all is sent, or ctx has ended. The error says how
// much was not sent, and why.
func (t *Trace) End(ctx context.Context, run Span) error {
	if t == nil {
		return nil
	}
	t.put(t.encode(run, t.rootID, nil, kindInternal))
	t.closing.Lock()
	t.closed = true
	t.closing.Unlock()
	close(t.queue)
	select {
	case <-t.done:
	case <-ctx.Done():
		t.giveUp()
		<-t.done
	}
	t.giveUp()
	t.client.CloseIdleConnections()
	if lost := t.lost.Load(); lost > 0 {
		why := "the queue was full"
		if failure := t.failure.Load(); failure != nil {
			why = (*failure).Error()
		}
		return fmt.Errorf("%d spans were not sent: %s", lost, why)
	}
	return nil
}

// put queues a span, or drops it.
func (t *Trace) put(s spanJSON) {
	t.closing.RLock()
	defer t.closing.RUnlock()
	if t.closed {
		return // an attempt that outlives its run
	}
	select {
	case t.queue <- s:
	default:
		t.lost.Add(1)
	}
}

// nextID is an ID that no other span of this trace has.
func (t *Trace) nextID() [8]byte {
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], binary.BigEndian.Uint64(t.rootID[:])+t.numbers.Add(1))
	return id
}

// send sends queued spans, a batch at a time, until the queue is closed.
func (t *Trace) send(ctx context.Context) {
	defer close(t.done)
	failed := 0
	for {
		batch := t.nextBatch(ctx)
		if len(batch) == 0 {
			return
		}
		if failed >= failedMax || ctx.Err() != nil {
			t.lost.Add(int64(len(batch)))
			continue
		}
		err := t.post(ctx, batch)
		if err == nil {
			failed = 0
			continue
		}
		failed++
		t.lost.Add(int64(len(batch)))
		t.failure.CompareAndSwap(nil, &err)
	}
}

// nextBatch waits for a span, and then a while for more. It is empty where there are no more.
func (t *Trace) nextBatch(ctx context.Context) []spanJSON {
	first, more := <-t.queue
	if !more {
		return nil
	}
	batch := []spanJSON{first}
	pause := time.NewTimer(batchPause)
	defer pause.Stop()
	for len(batch) < batchMax {
		select {
		case s, more := <-t.queue:
			if !more {
				return batch
			}
			batch = append(batch, s)
		case <-pause.C:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}

func (t *Trace) post(ctx context.Context, batch []spanJSON) error {
	body, err := json.Marshal(t.request(batch))
	if err != nil {
		panic(fmt.Sprintf("encode spans: %v", err))
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "remit/"+t.version)
	answer, err := t.client.Do(r)
	if err != nil {
		return fmt.Errorf("the collector %s did not answer: %w", t.shown, cause(err))
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, answerMax)); err != nil {
		return fmt.Errorf("the collector %s broke off its answer: %w", t.shown, err)
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector %s answered %s", t.shown, answer.Status)
	}
	return nil
}

// cause is an error of the client without the URL, which may have a password in it.
func cause(err error) error {
	if failure, ok := err.(*url.Error); ok { //nolint:errorlint // the client's own is the outermost
		return failure.Err
	}
	return err
}
