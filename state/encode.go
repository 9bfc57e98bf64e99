package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// encode writes an entry as it stands in the journal. There are two for each transfer, so
// those that nearly all are like are written without reflection; [encodeAny] is the oracle.
func encode(entry Entry) (json.RawMessage, error) {
	switch e := entry.(type) {
	case Intent:
		if data, ok := e.encodePlain(); ok {
			return data, nil
		}
	case Outcome:
		if data, ok := e.encodePlain(); ok {
			return data, nil
		}
	case Created, Begun, Ended, Unlocked, Rebound, Clock, Asked, Erased:
	}
	return encodeAny(entry)
}

// encodeAny writes any entry: without the escapes that the json package makes for HTML, so
// that a record is kept letter by letter.
func encodeAny(entry Entry) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(entry); err != nil {
		return nil, fmt.Errorf("write %s: %w", entry.Kind(), err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// usualBytes is what the names, and all but the longest fields, of an entry take.
const usualBytes = 384

// encodePlain returns false where a text has more to escape than quotation marks and
// backslashes, and where the intent has clocks of its own.
func (i Intent) encodePlain() (json.RawMessage, bool) {
	if i.Clocks != (Clocks{}) {
		return nil, false
	}
	w := plainWriter{b: make([]byte, 0, usualBytes+len(i.Body)+len(i.Body)/4), plain: true}
	w.field(`{"ref_id":`, i.RefID)
	w.field(`,"run_id":`, i.RunID)
	w.field(`,"operation":`, string(i.Operation))
	w.field(`,"path":`, i.Path)
	w.field(`,"body":`, i.Body)
	w.field(`,"fingerprint":`, i.Fingerprint)
	w.field(`,"address":`, i.Address)
	w.field(`,"place":`, i.Place)
	w.optional(`,"batch":`, i.Batch)
	w.flag(`,"from_label":true`, i.FromLabel)
	w.optional(`,"naming":`, i.Naming)
	w.optional(`,"reverses":`, i.Reverses)
	w.time(`,"due":`, i.Due)
	w.flag(`,"found":true`, i.Found)
	if i.AfterMS != 0 {
		w.b = strconv.AppendInt(append(w.b, `,"after_ms":`...), i.AfterMS, 10)
	}
	return append(w.b, '}'), w.plain
}

// encodePlain returns false where an outcome has more than one record that was read, or a
// list's word, and where a text has more to escape than quotation marks and backslashes.
func (o Outcome) encodePlain() (json.RawMessage, bool) {
	if len(o.Problem) > 0 || o.Listed != nil || len(o.Differences) > 0 || o.By != nil || len(o.Records) > 1 || len(o.Records) == 1 && !o.isRead() {
		return nil, false
	}
	size := usualBytes
	for _, raw := range o.Records {
		size += len(raw)
	}
	w := plainWriter{b: make([]byte, 0, size), plain: true}
	w.field(`{"ref_id":`, o.RefID)
	w.optional(`,"run_id":`, o.RunID)
	status, err := o.Status.MarshalText()
	w.field(`,"status":`, string(status))
	w.field(`,"source":`, string(o.Source))
	w.optional(`,"reason":`, o.Reason)
	if o.HTTPStatus != 0 {
		w.b = strconv.AppendInt(append(w.b, `,"http_status":`...), int64(o.HTTPStatus), 10)
	}
	if len(o.Records) == 1 {
		w.b = append(w.b, `,"records":[`...)
		w.b = append(appendCompact(w.b, o.Records[0]), ']')
	}
	return append(w.b, '}'), w.plain && err == nil
}

// isRead reports whether Deciding was read from the first record: then that is valid JSON.
func (o Outcome) isRead() bool {
	raw, d := o.Records[0], o.Deciding
	return d != nil && len(raw) > 0 && len(d.Raw) == len(raw) && &d.Raw[0] == &raw[0]
}

// plainWriter writes JSON until a text is not plain.
type plainWriter struct {
	b     []byte
	plain bool
}

// field takes the name with what stands before it.
func (w *plainWriter) field(name, text string) {
	w.b = append(w.b, name...)
	w.b = append(w.b, '"')
	written, ascii := 0, true
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			w.b = append(append(w.b, text[written:i]...), '\\', c)
			written = i + 1
		case c < ' ':
			w.plain = false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	w.b = append(append(w.b, text[written:]...), '"')
	// Package json mends invalid text, and escapes two separators of lines.
	if !ascii && (!utf8.ValidString(text) || strings.ContainsAny(text, "\u2028\u2029")) {
		w.plain = false
	}
}

// optional is field for a text that is left out where it is empty.
func (w *plainWriter) optional(name, text string) {
	if text != "" {
		w.field(name, text)
	}
}

// time leaves out the zero time.
func (w *plainWriter) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	text, err := t.MarshalJSON()
	w.b, w.plain = append(append(w.b, name...), text...), w.plain && err == nil
}

func (w *plainWriter) flag(member string, is bool) {
	if is {
		w.b = append(w.b, member...)
	}
}

// appendCompact appends valid JSON without the white space between its parts.
func appendCompact(b []byte, raw []byte) []byte {
	written, inText := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			inText = !inText
		case c == '\\':
			i++ // what is escaped ends no text
		case !inText && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			b = append(b, raw[written:i]...)
			written = i + 1
		}
	}
	return append(b, raw[written:]...)
}
