package rows

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// withoutEndMark reads a text without the Ctrl-Z with which programs for DOS end a file, and the
// line ends after it. One in another place is text.
type withoutEndMark struct{ from *bufio.Reader }

const (
	endMark    = 0x1a
	endMarkMax = 512 // bytes from the first mark on
)

func newWithoutEndMark(from io.Reader) *withoutEndMark {
	return &withoutEndMark{bufio.NewReaderSize(from, dataBufferBytes)}
}

// Read is that of the text.
func (w *withoutEndMark) Read(p []byte) (int, error) {
	if _, err := w.from.Peek(1); err != nil {
		return 0, err
	}
	text, _ := w.from.Peek(w.from.Buffered())
	until := bytes.IndexByte(text, endMark)
	switch {
	case until < 0:
		until = len(text)
	case until == 0:
		rest, err := w.from.Peek(endMarkMax)
		if errors.Is(err, io.EOF) && len(bytes.Trim(rest, "\x1a\r\n")) == 0 {
			return 0, io.EOF
		}
		text, until = rest, 1
	}
	n := copy(p, text[:until])
	_, err := w.from.Discard(n)
	return n, err
}
