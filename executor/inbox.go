package executor

import "sync"

// inbox is where the goroutine of an order is told what happened elsewhere. Who tells it
// something does not wait for it, and all that came in by the time it looks is one waking up.
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

// wait returns what has come in since it was called last, in order, once there is anything, or
// a wake.
func (b *inbox) wait() []func() {
	<-b.woken
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.messages
	b.messages = nil
	return messages
}
