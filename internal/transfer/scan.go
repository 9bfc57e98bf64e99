package transfer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"remit/internal/text/jsontext"
)

// scanRequest reads a body that has nothing but what Body writes of plain texts; false where
// it may have more, or less. Its result is right only where Body of it is the same bytes.
func scanRequest(op Operation, body string) (Request, bool) {
	s := scanner{rest: body, sound: utf8.ValidString(body)}
	var r Request
	for f := range FieldCount {
		switch fields[f].role {
		case isSent, isAmount:
			*r.text(f) = s.field(fields[f].member)
		case isMetadata, isMetadataPlatform:
			r.SetPairs(f, s.pairs(fields[f].member))
		case isOperation, isSetting:
		}
	}
	r.Operation = op
	var err error
	r.Amount, err = ParseAmount(r.Amount.text)
	return r, err == nil && s.sound && s.rest == "}"
}

// scanner reads JSON whose order is known. After the first surprise nothing counts any more.
type scanner struct {
	rest  string
	inner bool // something of the object was read
	sound bool
}

// member goes to the value of a member that comes next; false where it does not.
func (s *scanner) member(name string) bool {
	before := "{"
	if s.inner {
		before = ","
	}
	rest, ok := strings.CutPrefix(s.rest, before)
	if ok {
		rest, ok = strings.CutPrefix(rest, name)
	}
	if ok {
		s.rest, s.inner = rest, true
	}
	return ok
}

func (s *scanner) field(name string) string {
	if !s.member(name) {
		return ""
	}
	return s.text()
}

func (s *scanner) text() string {
	text, rest, ok := jsontext.Cut(s.rest)
	s.rest, s.sound = rest, s.sound && ok
	return text
}

func (s *scanner) pairs(name string) Metadata {
	if !s.member(name) {
		return nil
	}
	var m Metadata
	inner := scanner{rest: s.rest, sound: true}
	for inner.sound && inner.member("") {
		key := inner.text()
		rest, ok := strings.CutPrefix(inner.rest, ":")
		inner.rest, inner.sound = rest, inner.sound && ok
		inner.sound = inner.sound && (len(m) == 0 || m[len(m)-1].Key < key)
		m = append(m, Pair{key, inner.text()})
	}
	rest, ok := strings.CutPrefix(inner.rest, "}")
	s.rest, s.sound = rest, s.sound && ok && inner.sound
	return slices.Clip(m)
}
