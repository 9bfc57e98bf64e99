package evidence

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1" // reads as encoding/json does, in half the time

	"remit/internal/text/jsontext"
	"remit/state"
)

// lineBytesMax bounds a line of the journal's part: an answer of the service has 1 MiB at most,
// and an event a few of them.
const lineBytesMax = 64 << 20

// line is an event of the journal, in full or, where it is not about the run, by its number
// and its digest alone.
type line struct {
	Seq      int64           `json:"seq"`
	Digest   string          `json:"digest,omitempty"` // of an event that is withheld; "" of one in full
	Time     time.Time       `json:"time,omitzero"`
	Kind     state.Kind      `json:"kind,omitempty"`
	RefID    string          `json:"ref_id,omitempty"`
	RunID    string          `json:"run_id,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Previous string          `json:"previous,omitempty"` // hash of the event before it; "" of the first of a journal
	Hash     string          `json:"hash,omitempty"`
}

func shown(e state.Event, previous string) line {
	return line{
		Seq: e.Seq, Time: e.Time, Kind: e.Kind, RefID: e.RefID, RunID: e.RunID, Data: e.Data,
		Previous: previous, Hash: e.Hash,
	}
}

func withheld(e state.Event) line { return line{Seq: e.Seq, Digest: e.Digest().String()} }

// isShown reports whether the event is there in full.
func (l *line) isShown() bool { return l.Digest == "" }

// isBare reports whether there is nothing but a number and a digest.
func (l *line) isBare() bool {
	return l.Time.IsZero() && len(l.Kind)+len(l.RefID)+len(l.RunID)+len(l.Data)+len(l.Previous)+len(l.Hash) == 0
}

// event is the event of a line in full.
func (l *line) event() state.Event {
	return state.Event{Seq: l.Seq, Time: l.Time, Kind: l.Kind, RefID: l.RefID, RunID: l.RunID, Data: l.Data, Hash: l.Hash}
}

// digest is that of the event, whether it is there in full or not. The error of one in other letters is [errNotWritten]: its
// line is encoded as it was read.
func (l *line) digest() (state.EventDigest, error) {
	if l.isShown() {
		return l.event().Digest(), nil
	}
	raw, err := hex.DecodeString(l.Digest)
	if err != nil || len(raw) != len(state.EventDigest{}) {
		return state.EventDigest{}, errors.New("its digest is none")
	}
	digest := state.EventDigest(raw)
	if digest.String() != l.Digest {
		return state.EventDigest{}, errNotWritten
	}
	return digest, nil
}

// lineWriter writes lines in the one way in which they are read again.
type lineWriter struct {
	out     io.Writer
	buffer  bytes.Buffer
	encoder *json.Encoder
}

func newLineWriter(w io.Writer) *lineWriter {
	l := &lineWriter{out: w}
	l.encoder = json.NewEncoder(&l.buffer)
	l.encoder.SetEscapeHTML(false)
	return l
}

// encode returns the line as package json writes it without its escapes for HTML. There are two lines for each transfer, so the
// fields are written without reflection; what can't be is left to package json, which also says why.
func (w *lineWriter) encode(l *line) ([]byte, error) {
	w.buffer.Reset()
	if w.encodePlain(l) {
		return w.buffer.Bytes(), nil
	}
	w.buffer.Reset()
	err := w.encoder.Encode(l)
	return w.buffer.Bytes(), err
}

func (w *lineWriter) encodePlain(l *line) bool {
	b := strconv.AppendInt(append(w.buffer.AvailableBuffer(), `{"seq":`...), l.Seq, 10)
	b = appendText(b, `,"digest":`, l.Digest)
	if !l.Time.IsZero() {
		text, err := l.Time.MarshalJSON()
		if err != nil {
			return false
		}
		b = append(append(b, `,"time":`...), text...)
	}
	b = appendText(b, `,"kind":`, string(l.Kind))
	b = appendText(b, `,"ref_id":`, l.RefID)
	b = appendText(b, `,"run_id":`, l.RunID)
	if len(l.Data) > 0 {
		w.buffer.Write(append(b, `,"data":`...))
		if jsonv1.Compact(&w.buffer, l.Data) != nil {
			return false
		}
		b = w.buffer.AvailableBuffer()
	}
	b = appendText(b, `,"previous":`, l.Previous)
	b = appendText(b, `,"hash":`, l.Hash)
	w.buffer.Write(append(b, "}\n"...))
	return true
}

// appendText appends a member, unless its text is empty.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return jsontext.Append(append(b, name...), text)
}

func (w *lineWriter) write(l line) error {
	text, err := w.encode(&l)
	if err != nil {
		return fmt.Errorf("write event %d: %w", l.Seq, err)
	}
	_, err = w.out.Write(text)
	return err
}

// lineReader reads lines, and refuses one that is written in any other way: two readers of a pack
// must not read it differently.
type lineReader struct {
	in     *bufio.Reader
	again  *lineWriter // nil where the lines were read before
	text   []byte
	number int   // of the line, from 1
	offset int64 // of its first byte
	next   int64 // offset of the line after it
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, 64<<10), again: newLineWriter(io.Discard)}
}

// newTrustingReader reads lines that were read before.
func newTrustingReader(r io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, 64<<10)}
}

// errNotWritten is of a line that is not as it was written.
var errNotWritten = errors.New("it is not as remit writes it")

// read returns the next line; io.EOF after the last one. Its parts are its own.
func (r *lineReader) read() (line, error) {
	r.text = r.text[:0]
	r.number++
	r.offset = r.next
	for {
		part, err := r.in.ReadSlice('\n')
		r.text = append(r.text, part...)
		r.next += int64(len(part))
		switch {
		case len(r.text) > lineBytesMax:
			return line{}, fmt.Errorf("it is longer than %d bytes", lineBytesMax)
		case err == nil:
			return r.parse()
		case errors.Is(err, io.EOF) && len(r.text) > 0:
			return line{}, errors.New("it is cut off")
		case !errors.Is(err, bufio.ErrBufferFull):
			return line{}, err
		}
	}
}

func (r *lineReader) parse() (line, error) {
	l, ok := plainLine(string(r.text))
	if ok && r.isWritten(&l) {
		return l, nil
	}
	l = line{}
	if err := jsonv1.Unmarshal(r.text, &l); err != nil {
		return line{}, fmt.Errorf("it cannot be read: %w", err)
	}
	if !r.isWritten(&l) {
		return line{}, errNotWritten
	}
	return l, nil
}

// isWritten reports whether the line that was read is written as it stands there.
func (r *lineReader) isWritten(l *line) bool {
	if r.again == nil {
		return true
	}
	again, err := r.again.encode(l)
	return err == nil && bytes.Equal(again, r.text)
}

// plainLine reads a line that a lineWriter wrote without reflection, and reports false of any other, which may be a line all the same.
// It does not look at the payload, which ends before the hash of the event before it: of a line that is not as a lineWriter writes it,
// what it returns may be anything.
func plainLine(text string) (line, bool) {
	r := jsontext.NewReader(text)
	l := line{Seq: r.Int(`{"seq":`), Digest: r.May(`,"digest":`), Time: r.Time(`,"time":`), Kind: state.Kind(r.May(`,"kind":`))}
	// A part keeps these, and would keep all of the line with them.
	l.RefID, l.RunID = strings.Clone(r.May(`,"ref_id":`)), strings.Clone(r.May(`,"run_id":`))
	if r.Has(`,"data":`) {
		l.Data = json.RawMessage(r.Until(`,"previous":`))
	}
	l.Previous, l.Hash = r.May(`,"previous":`), r.May(`,"hash":`)
	r.Skip("}\n")
	return l, r.Done()
}
