package jsontext

import (
	"strconv"
	"strings"
	"time"
)

// Reader reads JSON whose members have a known order, as a writer without reflection leaves them. Its caller
// asks [Reader.Done] at the end: after the first surprise, nothing that it read counts. It reads a text as
// [Cut] does.
type Reader struct {
	rest   string
	broken bool
}

// NewReader returns a reader of all of text.
func NewReader(text string) Reader { return Reader{rest: text} }

// Done reports whether all was read, without a surprise.
func (r *Reader) Done() bool { return !r.broken && r.rest == "" }

// Has goes past text where that comes next.
func (r *Reader) Has(text string) bool {
	rest, ok := strings.CutPrefix(r.rest, text)
	r.rest = rest
	return ok
}

// Skip goes past text, which has to be there.
func (r *Reader) Skip(text string) {
	if !r.Has(text) {
		r.broken = true
	}
}

// Must reads the text of a member that has to be there. The name comes with everything before and after it,
// as in `,"a":`.
func (r *Reader) Must(name string) string {
	r.Skip(name)
	return r.Text()
}

// May is [Reader.Must] for a member that need not be there.
func (r *Reader) May(name string) string {
	if !r.Has(name) {
		return ""
	}
	return r.Text()
}

// Text reads a text that [Cut] reads.
func (r *Reader) Text() string {
	text, rest, ok := Cut(r.rest)
	r.rest, r.broken = rest, r.broken || !ok
	return text
}

// Int reads a whole number of a member that need not be there: 0 where it is not.
func (r *Reader) Int(name string) int64 {
	if !r.Has(name) {
		return 0
	}
	digits := len(r.rest) - len(strings.TrimLeft(r.rest, "0123456789-"))
	n, err := strconv.ParseInt(r.rest[:digits], 10, 64)
	r.broken = r.broken || err != nil || strconv.FormatInt(n, 10) != r.rest[:digits]
	r.rest = r.rest[digits:]
	return n
}

// Time reads a time of a member that need not be there: zero where it is not.
func (r *Reader) Time(name string) time.Time {
	var t time.Time
	if r.Has(name) && t.UnmarshalText([]byte(r.Text())) != nil {
		r.broken = true
	}
	return t
}

// List reads a list of texts, nil where it is not there; an empty list is a surprise. The name ends with the
// bracket with which the list begins.
func (r *Reader) List(name string) []string {
	var all []string
	for next := name; r.Has(next); next = "," {
		all = append(all, r.Text())
	}
	if all != nil {
		r.Skip("]")
	}
	return all
}

// Value returns all up to end, with which the JSON has to end, and does not look at it: the caller checks that
// it is one value.
func (r *Reader) Value(end string) string {
	value, ok := strings.CutSuffix(r.rest, end)
	r.rest, r.broken = "", r.broken || !ok
	return value
}

// Until returns all up to the last place of next, and goes there. Like [Reader.Value] it does not look at what it returns.
func (r *Reader) Until(next string) string {
	at := strings.LastIndex(r.rest, next)
	if at < 0 {
		r.broken = true
		return ""
	}
	value := r.rest[:at]
	r.rest = r.rest[at:]
	return value
}
