package rows

import (
	"bytes"
	"errors"
	"io"
	"sort"

	"github.com/hashicorp/hcl/v2"
)

const (
	dataBufferBytes = 256 << 10
	recordBytesMax  = 16 << 20 // one row, so that an open quotation mark can't fill memory
)

// lineTracker remembers where the lines begin that a reader may still ask about.
type lineTracker struct {
	from    io.Reader
	offset  int64
	first   int     // number of the line of starts[0]
	starts  []int64 // offsets of lines
	needed  int     // earliest line that is still needed
	unread  int     // bytes read since the last row
	skipped int     // bytes before the text of line 1
}

func newLineTracker(from io.Reader) *lineTracker {
	return &lineTracker{from: from, first: 1, starts: []int64{0}}
}

var errRecordLong = errors.New("a row has more than 16 MiB: is a quotation mark left open?")

func (t *lineTracker) Read(p []byte) (int, error) {
	if t.unread > recordBytesMax {
		return 0, errRecordLong
	}
	if drop := t.needed - t.first; drop > dataBufferBytes/64 {
		t.starts = append(t.starts[:0], t.starts[min(drop, len(t.starts)):]...)
		t.first += drop
	}
	n, err := t.from.Read(p)
	t.unread += n
	for at := 0; ; {
		i := bytes.IndexByte(p[at:n], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		t.starts = append(t.starts, t.offset+int64(at))
	}
	t.offset += int64(n)
	return n, err
}

// start is the offset of a line that is at or after the needed one.
func (t *lineTracker) start(line int) int64 {
	if i := line - t.first; i >= 0 && i < len(t.starts) {
		return t.starts[i]
	}
	return t.offset
}

// line is the number of the line of an offset, which is in or after the needed one.
func (t *lineTracker) line(offset int64) int {
	return t.first + max(sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > offset })-1, 0)
}

// at is a range of length bytes from a line and a column in bytes.
func (t *lineTracker) at(file string, line, column, length int) hcl.Range {
	column = max(column, 1)
	start := hcl.Pos{Line: line, Column: column, Byte: int(t.start(line)) + column - 1}
	if line == 1 {
		start.Byte += t.skipped
	}
	end := start
	end.Byte += length
	end.Column += length
	return hcl.Range{Filename: file, Start: start, End: end}
}
