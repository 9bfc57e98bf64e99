package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/creachadair/jrpc2/channel"
)

const (
	messageBytesMax = 256 << 20 // of one message
	headerLinesMax  = 32        // before one message; each has at most 4 KiB
)

// frames is the framing of [channel.LSP] for an input that nobody trusts: it takes memory for the bytes that came, not for the length that a
// header claims, and refuses a message above messageBytesMax.
type frames struct {
	channel.Channel // sends
	in              *bufio.Reader
}

func newFrames(in io.Reader, out io.WriteCloser) *frames {
	return &frames{channel.LSP(in, out), bufio.NewReader(in)}
}

// Recv implements [channel.Channel].
func (f *frames) Recv() ([]byte, error) {
	length, err := f.header()
	if err != nil {
		return nil, err
	}
	var message bytes.Buffer
	if _, err := io.CopyN(&message, f.in, length); err != nil {
		return nil, err
	}
	return message.Bytes(), nil
}

// header reads the lines before a message, and returns its length.
func (f *frames) header() (int64, error) {
	length := int64(-1)
	for range headerLinesMax {
		raw, err := f.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line := strings.TrimRight(string(raw), "\r\n")
		if line == "" {
			if length < 0 {
				return 0, errors.New("a message has no Content-Length")
			}
			return length, nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return 0, errors.New("a line before a message is no header")
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || length < 0 || length > messageBytesMax {
			return 0, fmt.Errorf("the Content-Length %q is none from 0 to %d", strings.TrimSpace(value), messageBytesMax)
		}
	}
	return 0, errors.New("a message has too many headers")
}
