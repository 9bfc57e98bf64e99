package evidence

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1" // reads as encoding/json does, in half the time

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

func (w *lineWriter) encode(l *line) ([]byte, error) {
	w.buffer.Reset()
	err := w.encoder.Encode(l)
	return w.buffer.Bytes(), err
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
	var l line
	if err := jsonv1.Unmarshal(r.text, &l); err != nil {
		return line{}, fmt.Errorf("it cannot be read: %w", err)
	}
	if r.again == nil {
		return l, nil
	}
	again, err := r.again.encode(&l)
	if err != nil || !bytes.Equal(again, r.text) {
		return line{}, errNotWritten
	}
	return l, nil
}
