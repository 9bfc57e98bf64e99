package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
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

// parseObject returns the fields of one JSON object, as parts of raw. It refuses a field
// that stands twice: which of the two is meant is not guessed.
func parseObject(raw []byte) ([]member, error) {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	members, ok := scanObject(raw, string(raw), membersUsual)
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
// objects of such strings, true, false or null. Of anything else, and of what is not valid,
// it returns false. It keeps members in their order, and those that stand twice. text is raw;
// room is how many members are expected.
func scanObject(raw []byte, text string, room int) ([]member, bool) {
	s := objectScanner{raw: raw, text: text, members: make([]member, 0, room)}
	ok := s.object(true)
	s.space()
	return s.members, ok && s.at == len(raw)
}

// objectScanner reads JSON without escapes. Whatever it has read is valid.
type objectScanner struct {
	raw     []byte
	text    string // the same
	at      int
	utf8    bool // text is known to be valid
	members []member
}

// space skips white space.
func (s *objectScanner) space() {
	for s.at < len(s.raw) {
		switch s.raw[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// colon reads what stands between a name and its value.
func (s *objectScanner) colon() bool {
	s.space()
	ok := s.byte(':')
	s.space()
	return ok
}

func (s *objectScanner) byte(b byte) bool {
	if s.at == len(s.raw) || s.raw[s.at] != b {
		return false
	}
	s.at++
	return true
}

func (s *objectScanner) string() (string, bool) {
	if !s.byte('"') {
		return "", false
	}
	for i := s.at; i < len(s.raw); i++ {
		switch c := s.raw[i]; {
		case c == '"':
			from := s.at
			s.at = i + 1
			return s.text[from:i], true
		case c < ' ', c == '\\':
			return "", false
		case c >= utf8.RuneSelf && !s.utf8:
			if !utf8.Valid(s.raw) {
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

// object reads the outer object, of which it keeps the members, or one in it.
func (s *objectScanner) object(outer bool) bool {
	if !s.byte('{') {
		return false
	}
	s.space()
	if s.byte('}') {
		return true
	}
	for len(s.members) < membersMax {
		var m member
		var ok bool
		if m.name, ok = s.string(); !ok || !s.colon() {
			return false
		}
		from := s.at
		if m.text, m.isText = s.string(); !m.isText && !s.other(outer) {
			return false
		}
		if outer {
			m.raw = s.raw[from:s.at:s.at]
			s.members = append(s.members, m)
		}
		s.space()
		if s.byte('}') {
			return true
		}
		if !s.byte(',') {
			return false
		}
		s.space()
	}
	return false
}

// other reads a value that is not a string.
func (s *objectScanner) other(outer bool) bool {
	return s.literal("null") || s.literal("true") || s.literal("false") || outer && s.object(false)
}

// decodeObject is parseObject for anything, in as many words as it takes to say what is wrong.
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
