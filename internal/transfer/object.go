package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"remit/internal/text/jsontext"
)

// member is one field of a JSON object.
type member struct {
	name string
	raw  json.RawMessage // its value, a part of the object
	text string          // what its value says, a part of one copy of the object; only where isText
	// isText says that the value is a string that was read. Others have to be decoded.
	isText bool
}

const (
	membersUsual = 16 // of a record
	membersMax   = 64 // of an object whose members are held against one another
)

// nestMax is how deep what others answer may be nested. Readers of JSON end at some depth, most at 10,000, and a journal has an answer
// deeper than it came.
const nestMax = 500

// TooDeep reports whether a JSON text is nested so deep that nothing of it may be kept: what reads the journal would end there.
func TooDeep(raw []byte) bool {
	return len(raw) > 2*nestMax && jsontext.NestedAt(raw, nestMax) >= 0 // a level has two bytes
}

// parseObject returns the fields of one JSON object, as parts of raw, in room where that
// suffices. It refuses a repeated field, and does not guess which of the two is meant.
func parseObject(raw []byte, room []member) ([]member, error) {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	members, ok := scanObject(raw, string(raw), room)
	if ok && !haveTwice(members) {
		return members, nil
	}
	fields, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	members = make([]member, 0, len(fields))
	for name, value := range fields {
		members = append(members, member{name: name, raw: value})
	}
	return members, nil
}

// ObjectFields returns the fields of one JSON object by their exact names. A repeated field, or
// anything after the object, is an error. The error names fields and no values.
func ObjectFields(raw []byte) (map[string]json.RawMessage, error) {
	var room [membersUsual]member
	members, err := parseObject(raw, room[:0])
	if err != nil {
		return nil, err
	}
	fields := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		fields[m.name] = m.raw
	}
	return fields, nil
}

func haveTwice(members []member) bool {
	for i := range members {
		for j := range i {
			if members[i].name == members[j].name {
				return true
			}
		}
	}
	return false
}

// scanObject reads an object as nearly all are: its values are strings without escapes,
// objects of such strings, true, false or null. Of anything else, and of invalid text,
// it returns false. It keeps members in their order, and repeated ones. text is raw; the members
// are put into room where that suffices.
func scanObject(raw []byte, text string, room []member) ([]member, bool) {
	s := objectScanner{text: text}
	members := room[:0]
	for more := s.begin(); more; more = s.next() {
		m, from, ok := s.member(true)
		if !ok || len(members) == membersMax {
			return nil, false
		}
		m.raw = raw[from:s.at:s.at]
		members = append(members, m)
	}
	s.space()
	return members, s.closed && s.at == len(raw)
}

// IsPlainObject reports whether a text is one JSON object as nearly all records are, with nothing around it: its
// values are strings, true, false, null, and objects of these, and no string or name has an escape. Of any
// other text, valid or not, it reports false.
func IsPlainObject(text string) bool {
	s := objectScanner{text: text}
	for more := s.begin(); more; more = s.next() {
		if _, _, ok := s.member(true); !ok {
			return false
		}
	}
	return s.closed && s.at == len(text)
}

// objectScanner reads JSON without escapes. All that it has read is valid.
type objectScanner struct {
	text   string
	at     int
	utf8   bool // text is known to be valid
	closed bool // the object that was begun last has ended
}

// space skips white space.
func (s *objectScanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// colon reads the text between a name and its value.
func (s *objectScanner) colon() bool {
	s.space()
	ok := s.byte(':')
	s.space()
	return ok
}

func (s *objectScanner) byte(b byte) bool {
	if s.at == len(s.text) || s.text[s.at] != b {
		return false
	}
	s.at++
	return true
}

// string reads a string without escapes; false where there is none, and then it has read nothing.
func (s *objectScanner) string() (string, bool) {
	if s.at == len(s.text) || s.text[s.at] != '"' {
		return "", false
	}
	from := s.at + 1
	for i := from; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return s.text[from:i], true
		case c < ' ', c == '\\':
			return "", false
		case c >= utf8.RuneSelf && !s.utf8:
			if !utf8.ValidString(s.text) {
				return "", false
			}
			s.utf8 = true
		}
	}
	return "", false
}

func (s *objectScanner) literal(word string) bool {
	if !strings.HasPrefix(s.text[s.at:], word) {
		return false
	}
	s.at += len(word)
	return true
}

// begin goes to the first member of an object; false where there is none.
func (s *objectScanner) begin() bool {
	s.closed = false
	if !s.byte('{') {
		return false
	}
	s.space()
	s.closed = s.byte('}')
	return !s.closed
}

// next goes to the next member; false where there is none.
func (s *objectScanner) next() bool {
	s.space()
	if s.closed = s.byte('}'); s.closed || !s.byte(',') {
		return false
	}
	s.space()
	return true
}

// member reads a member of the outer object, or of one in it. It leaves the raw value to its caller, and says
// where that begins.
func (s *objectScanner) member(outer bool) (m member, from int, ok bool) {
	if m.name, ok = s.string(); !ok || !s.colon() {
		return m, 0, false
	}
	from = s.at
	if m.text, m.isText = s.string(); !m.isText && !s.other(outer) {
		return m, 0, false
	}
	return m, from, true
}

// other reads a value that is not a string.
func (s *objectScanner) other(outer bool) bool {
	return s.literal("null") || s.literal("true") || s.literal("false") || outer && s.inner()
}

// inner reads an object that is a value.
func (s *objectScanner) inner() bool {
	for more := s.begin(); more; more = s.next() {
		if _, _, ok := s.member(false); !ok {
			return false
		}
	}
	return s.closed
}

// decodeObject is parseObject for anything, in as many words as it takes to describe the mistake.
func decodeObject(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := d.Token(); err != nil {
		return nil, err
	} else if begin != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	fields := make(map[string]json.RawMessage)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the decoder allows nothing else there
		if _, ok := fields[name]; ok {
			return nil, fmt.Errorf("the field %.40q stands twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		fields[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return fields, nil
}
