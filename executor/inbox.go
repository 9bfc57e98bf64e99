package executor

import "sync"

// inbox brings messages of other goroutines to that of the scheduler. Nobody waits to leave a message,
// and all that came in by the time the scheduler looks is one waking up.
type inbox struct {
	mu       sync.Mutex
	messages []func()
	woken    chan struct{} // of one
}

func newInbox() *inbox { return &inbox{woken: make(chan struct{}, 1)} }

// post leaves a message.
func (b *inbox) post(message func()) {
	b.mu.Lock()
	b.messages = append(b.messages, message)
	b.mu.Unlock()
	b.wake()
}

// wake has wait return, with a message or without one.
func (b *inbox) wake() {
	select {
	case b.woken <- struct{}{}:
	default: // it is awake, and has not looked yet
	}
}

// wait waits for a message or a wake, and returns the messages since its last call, in order.
func (b *inbox) wait() []func() {
	<-b.woken
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.messages
	b.messages = nil
	return messages
}
