package suite

import (
	"bytes"
	"sync"
)

// Output is written by a command, and read by a test meanwhile.
type Output struct {
	Told chan struct{} // gets a value after each write, if it has room; nil where nobody waits

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.Told <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

// String is all that was written until now.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
