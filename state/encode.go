package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"remit/internal/text/jsontext"
)

// encode writes an entry as the journal has it. There are two for each transfer, so the common ones
// are written without reflection; [encodeAny] is the oracle.
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
	case Created, Begun, Ended, Unlocked, Rebound, ClockConfirmed, Asked, Erased:
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

// encodePlain returns false for an intent with clocks of its own.
func (i Intent) encodePlain() (json.RawMessage, bool) {
	if i.Clocks != (Clocks{}) {
		return nil, false
	}
	w := plainWriter{b: make([]byte, 0, usualBytes+len(i.Body)+len(i.Body)/4)}
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
	w.optional(`,"occurrence":`, i.Occurrence)
	w.flag(`,"found":true`, i.Found)
	if i.AfterMS != 0 {
		w.b = strconv.AppendInt(append(w.b, `,"after_ms":`...), i.AfterMS, 10)
	}
	return append(w.b, '}'), !w.failed
}

// encodePlain returns false for an outcome with more than one record, with one that was not read, or
// with a list's word.
func (o Outcome) encodePlain() (json.RawMessage, bool) {
	if len(o.Problem) > 0 || o.Listed != nil || len(o.Differences) > 0 || o.By != nil || len(o.Records) > 1 || len(o.Records) == 1 && !o.isRead() {
		return nil, false
	}
	size := usualBytes
	for _, raw := range o.Records {
		size += len(raw)
	}
	w := plainWriter{b: make([]byte, 0, size)}
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
	return append(w.b, '}'), !w.failed && err == nil
}

// isRead reports whether Deciding was read from the first record: then that is valid JSON.
func (o Outcome) isRead() bool {
	raw, d := o.Records[0], o.Deciding
	return d != nil && len(raw) > 0 && len(d.Raw) == len(raw) && &d.Raw[0] == &raw[0]
}

// plainWriter writes the members of an object. Its failure is that of a time without a JSON form.
type plainWriter struct {
	b      []byte
	failed bool
}

// field takes the name with everything before it.
func (w *plainWriter) field(name, text string) {
	w.b = jsontext.Append(append(w.b, name...), text)
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
	w.b, w.failed = append(append(w.b, name...), text...), w.failed || err != nil
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
			i++ // an escaped one ends no text
		case !inText && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			b = append(b, raw[written:i]...)
			written = i + 1
		}
	}
	return append(b, raw[written:]...)
}
