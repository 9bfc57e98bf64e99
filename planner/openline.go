package planner

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"remit/internal/text/jsontext"
	"remit/internal/transfer"
)

// parsePlainLine reads a line that appendPlain wrote; false of any other, which may be a line of
// a saved plan all the same. buffers are for lines that are written again to be compared.
func parsePlainLine(line []byte, buffers *[2][]byte) (c Change, afterAs string, ok bool) {
	r := plainReader{rest: string(line)}
	c.Action = Action(r.must(`{"action":`))
	c.RefID = r.must(`,"ref_id":`)
	c.Address = r.may(`,"address":`)
	c.Place = r.may(`,"place":`)
	c.Batch = r.may(`,"batch":`)
	operation := transfer.Operation(r.must(`,"request":{"operation":`))
	fingerprintKey := r.may(`,"fingerprint_key":`)
	body := r.must(`,"body":`)
	r.skip("}")
	c.FromLabel = r.has(`,"from_label":true`)
	c.Naming = r.may(`,"naming":`)
	c.DisplayName = r.may(`,"display_name":`)
	c.FromPlace = r.may(`,"from_place":`)
	c.ToPlace = r.may(`,"to_place":`)
	c.DuplicateWithin = r.duration(`,"duplicate_within":`)
	c.Again = r.has(`,"again":true`)
	c.Until = r.time(`,"until":`)
	c.Never = r.has(`,"never":true`)
	c.Expires = r.time(`,"expires":`)
	c.Due = r.time(`,"due":`)
	c.CatchUp = r.duration(`,"catch_up":`)
	c.Occurrence = r.may(`,"occurrence":`)
	c.Windows = r.list(`,"windows":[`)
	c.Reason = r.may(`,"reason":`)
	c.Next = r.may(`,"next":`)
	c.Signals = r.signals()
	afterAs = r.may(`,"after_as":`)
	r.skip("}\n")
	if r.broken || r.rest != "" {
		return Change{}, "", false
	}
	request, err := transfer.ParseRequest(operation, []byte(body), fingerprintKey)
	if err != nil || request.FingerprintKey != fingerprintKey {
		return Change{}, "", false
	}
	c.Request = request
	if buffers[0], ok = appendPlain(buffers[0][:0], &c, afterAs, &buffers[1]); !ok {
		return Change{}, "", false
	}
	return c, afterAs, bytes.Equal(buffers[0], line)
}

// plainReader reads JSON whose order is known. Once broken, nothing that it read counts.
type plainReader struct {
	rest   string
	broken bool
}

// has goes past text where that comes next.
func (r *plainReader) has(text string) bool {
	rest, ok := strings.CutPrefix(r.rest, text)
	r.rest = rest
	return ok
}

func (r *plainReader) skip(text string) {
	if !r.has(text) {
		r.broken = true
	}
}

// must reads the string of a member that has to be there.
func (r *plainReader) must(name string) string {
	r.skip(name)
	return r.text()
}

// may reads the string of a member that need not be there.
func (r *plainReader) may(name string) string {
	if !r.has(name) {
		return ""
	}
	return r.text()
}

func (r *plainReader) text() string {
	text, rest, ok := jsontext.Cut(r.rest)
	r.rest, r.broken = rest, r.broken || !ok
	return text
}

func (r *plainReader) duration(name string) time.Duration {
	if !r.has(name) {
		return 0
	}
	digits := len(r.rest) - len(strings.TrimLeft(r.rest, "0123456789-"))
	n, err := strconv.ParseInt(r.rest[:digits], 10, 64)
	r.rest, r.broken = r.rest[digits:], r.broken || err != nil
	return time.Duration(n)
}

func (r *plainReader) time(name string) time.Time {
	text := r.may(name)
	if text == "" {
		return time.Time{}
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		r.broken = true
	}
	return t
}

func (r *plainReader) list(name string) []string {
	var all []string
	for next := name; r.has(next); next = "," {
		all = append(all, r.text())
	}
	if all != nil {
		r.skip("]")
	}
	return all
}

func (r *plainReader) signals() []Signal {
	var all []Signal
	for next := `,"signals":[{"kind":`; r.has(next); next = `,{"kind":` {
		all = append(all, Signal{
			Kind: SignalKind(r.text()), RefID: r.may(`,"ref_id":`), Place: r.may(`,"place":`),
			Detail: r.may(`,"detail":`), Accepted: r.may(`,"accepted":`),
		})
		r.skip("}")
	}
	if all != nil {
		r.skip("]")
	}
	return all
}
