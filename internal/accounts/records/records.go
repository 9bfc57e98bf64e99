// Package records reads the service's exports of transfer records: JSON, JSON Lines and CSV.
//
// Its one invariant: what it yields is what the file says, to the last digit, and what it can't
// read is an error at its file and line; nothing is skipped, guessed or rounded.
package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"remit/internal/files/bankfile"
	"remit/internal/transfer"
)

// recordMax bounds one record, in bytes: as much as an answer of the service may have.
const recordMax = 1 << 20

// Record is a transfer record and the line of its file on which it begins, from 1.
type Record struct {
	transfer.Record
	Line int
}

// Error says where a file can't be read, and why.
type Error struct {
	File string
	Line int // from 1
	Err  error
}

// Error is file:line and why.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns why.
func (e *Error) Unwrap() error { return e.Err }

// Reader reads one file, once. It holds one record at a time.
type Reader struct {
	name      string
	in        io.Reader
	max       int64
	count     int
	continues string
	promise   int                 // of the list of which the last page is one; 0 where it says none
	promised  map[int]int         // records there are of those lists that say a number, by that number
	list      func(Listing) error // nil where a list is a mistake
}

// NewReader returns a Reader of at most max bytes of in. The name is for errors.
func NewReader(name string, in io.Reader, max int64) *Reader {
	return &Reader{name: name, in: in, max: max}
}

// All yields the records in the order of the file. The file is one of
//
//   - JSON objects, one after another: JSON Lines are such;
//   - an array of such objects, or several;
//   - pages of the service's lookup, {"items":[…],"next_page_cursor":"…"}, one or several;
//   - CSV: see [transfer.Record] for the names of its columns, which are those of the service's
//     fields, and metadata.KEY for one pair. An empty cell is a field that is absent. The
//     delimiter is a comma, a semicolon, a tab or a bar: the one that the header has.
//
// A byte-order mark is skipped. Money may be a JSON number, of which the digits are taken as they
// are. After an error, which is an *[Error] where the file is wrong, nothing more comes. A file
// without a record, an empty one too, yields nothing.
func (r *Reader) All() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		limited := &io.LimitedReader{R: r.in, N: r.max + 1}
		in := bufio.NewReaderSize(limited, 256<<10)
		going := true
		each := func(record Record) bool {
			r.count++
			going = yield(record, nil)
			return going
		}
		err := r.read(in, each)
		if limited.N <= 0 {
			err = fmt.Errorf("%s is larger than %d bytes", r.name, r.max)
		}
		if err != nil && going {
			yield(Record{}, err)
		}
	}
}

// TakeList has each line of CSV that is a list handed to each, in place of a record; an error of
// each ends the reading and is yielded. Without it a list is a mistake. A list is CSV whose header
// has ref_id and group_id, may have amount and asset, and has no id.
func (r *Reader) TakeList(each func(Listing) error) { r.list = each }

// Count is how many records, or lines of a list, were yielded.
func (r *Reader) Count() int { return r.count }

// Continues returns, once all was read, the field by which the last page of the file says that another
// one follows; "" where it says no such thing. The export goes on elsewhere then.
func (r *Reader) Continues() string { return r.continues }

// Promised returns, once all was read, how many records there are of lists whose pages say how many these have (total_count), by that
// number. Pages of one list may be in several files.
func (r *Reader) Promised() map[int]int { return r.promised }

// read finds out what the file is.
func (r *Reader) read(in *bufio.Reader, each func(Record) bool) error {
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(len(mark)) // it was peeked at
	}
	head, _ := in.Peek(bankfile.SniffedBytes)
	if what := foreign(head); what != "" {
		return r.wrong(1, fmt.Errorf("this is %s; export the service's own records as JSON, JSON Lines or CSV in UTF-8", what))
	}
	if what := ofRemit(r.name, head); what != "" {
		return r.wrong(1, errors.New(what))
	}
	line := 1
	for {
		first, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", r.name, err)
		}
		if first == '\n' {
			line++
		}
		if strings.IndexByte(" \t\r\n", first) >= 0 {
			continue
		}
		_ = in.UnreadByte() // it was read
		if first == '{' || first == '[' {
			return r.readJSON(in, line, each)
		}
		return r.readCSV(in, line, each)
	}
}

// foreign says what a file is by its first bytes where it is surely no text in UTF-8; else "".
func foreign(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "a spreadsheet or another ZIP file"
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "compressed with gzip"
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return "text in UTF-16"
	case bytes.HasPrefix(head, []byte(`{"format":"remit plan/`)), bytes.HasPrefix(head, []byte(`{"format":"remit-plan/`)):
		return "a saved plan of remit, and no export of the service"
	case bytes.HasPrefix(head, []byte("%PDF")):
		return "a PDF, and no export of the service"
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return "a workbook of an old kind (.xls), or one with a password"
	}
	if name := bankfile.Name(head); name != "" {
		return name + ", and no export of the service"
	}
	return ""
}

func (r *Reader) wrong(line int, err error) error { return &Error{r.name, line, err} }
