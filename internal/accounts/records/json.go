package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"remit/internal/transfer"
)

// errCut says that a file ends where it can't.
var errCut = errors.New("the file ends in the middle of its records: it was cut off. Export it again")

// errTooLong says that something that should be one record has no end.
var errTooLong = fmt.Errorf("this object has more than %d bytes, which no transfer record has", recordMax)

// jsonReader cuts a stream into its records without decoding it.
type jsonReader struct {
	*Reader
	in   *bufio.Reader
	line int // of the next byte
	each func(Record) bool
	done bool   // nothing more is wanted
	text []byte // of one object
}

func (r *Reader) readJSON(in *bufio.Reader, line int, each func(Record) bool) error {
	j := &jsonReader{Reader: r, in: in, line: line, each: each}
	for !j.done {
		first, err := j.first()
		if errors.Is(err, errCut) {
			return nil // between two values is where a file ends
		}
		if err != nil {
			return err
		}
		switch first {
		case '{':
			err = j.objectOrPage()
		case '[':
			err = j.array()
		default:
			err = j.wrong(j.line, fmt.Errorf("here stands %q where a record, an array of records or the end should be", string(first)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// first reads the next byte that is not white space; [errCut] at the end.
func (j *jsonReader) first() (byte, error) {
	for {
		b, err := j.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, j.wrong(j.line, errCut)
		case err != nil:
			return 0, fmt.Errorf("read %s: %w", j.name, err)
		case b == '\n':
			j.line++
		case b != ' ' && b != '\t' && b != '\r':
			return b, nil
		}
	}
}

// array reads an array after its opening bracket, through the closing one.
func (j *jsonReader) array() error {
	for n := 0; !j.done; n++ {
		b, err := j.first()
		if err != nil {
			return err
		}
		if b == ']' {
			if n == 0 {
				return nil
			}
			return j.wrong(j.line, errors.New("a comma stands before the end of the array: the record behind it is missing"))
		}
		if b != '{' {
			return j.wrong(j.line, fmt.Errorf("here stands %q where a record, an object, should be", string(b)))
		}
		line := j.line
		if _, err := j.object(false); err != nil {
			return err
		}
		if err := j.record(line); err != nil {
			return err
		}
		if b, err = j.first(); err != nil {
			return err
		}
		if b == ']' {
			return nil
		}
		if b != ',' {
			return j.wrong(j.line, fmt.Errorf("here stands %q where a comma or the end of the array should be", string(b)))
		}
	}
	return nil
}

// objectOrPage reads a record, or a page of the lookup, behind its opening brace.
func (j *jsonReader) objectOrPage() error {
	line := j.line
	isPage, err := j.object(true)
	if err != nil {
		return err
	}
	if !isPage {
		return j.record(line)
	}
	around := append(bytes.Clone(j.text), "null"...) // {…"items":null
	before := j.count
	if err := j.array(); err != nil || j.done {
		return err
	}
	if _, err := j.object(false); err != nil {
		return err
	}
	around = append(around, j.text[1:]...) // without the brace that it begins with
	if err := j.page(around, j.count-before); err != nil {
		return j.wrong(line, fmt.Errorf("read the page of records: %w", err))
	}
	return nil
}

// page takes in what a page of so many records says of itself.
func (j *jsonReader) page(around []byte, count int) error {
	fields, err := transfer.ObjectFields(around)
	if err != nil {
		return err
	}
	j.continues = ""
	var next string
	if raw, ok := fields["next_page_cursor"]; ok && json.Unmarshal(raw, &next) != nil {
		return errors.New("next_page_cursor is not a string")
	}
	if next != "" {
		j.continues = "next_page_cursor"
	}
	part := transfer.PartOf(fields, next)
	switch {
	case part != "" && transfer.PartOf(fields, "any") == "": // of the next page alone
		j.continues = part
	case part != "":
		return fmt.Errorf("by its field %s it is not whole, or has other records than its items. Export it again", part)
	}
	if field, says := transfer.FailureOf(fields); field != "" {
		return fmt.Errorf("by its field %s (%s) the request for it did not go well. Export it again", field, says)
	}
	if total := transfer.TotalOf(fields); total > 0 {
		j.promise = total
	}
	if j.promise > 0 {
		if j.promised == nil {
			j.promised = make(map[int]int)
		}
		j.promised[j.promise] += count
	}
	if j.continues == "" {
		j.promise = 0
	}
	return nil
}

// object reads the rest of an object, of which the opening brace was read, into j.text. With
// pages it stops behind the bracket that opens the member items, and returns true; j.text then
// ends with the colon. An object with an id before it is a record, whatever it has else.
func (j *jsonReader) object(pages bool) (isPage bool, err error) {
	j.text = append(j.text[:0], '{')
	begun := j.line
	s := objectState{depth: 1, texts: pages}
	for {
		chunk, err := j.in.Peek(max(1, j.in.Buffered()))
		if len(chunk) == 0 {
			if errors.Is(err, io.EOF) {
				return false, j.wrong(begun, errCut)
			}
			return false, fmt.Errorf("read %s: %w", j.name, err)
		}
		used, event := s.scan(chunk)
		j.line += s.newlines
		s.newlines = 0
		j.text = append(j.text, chunk[:used]...)
		_, _ = j.in.Discard(used) // they were peeked at
		if len(j.text) > recordMax {
			return false, j.wrong(begun, errTooLong)
		}
		switch {
		case event == eventEnd:
			return false, nil
		case event == eventText && bytes.HasSuffix(j.text, []byte(`"items"`)) && !bytes.Contains(j.text, []byte(`"id"`)):
			if isPage, err := j.items(); isPage || err != nil {
				return isPage, err
			}
		}
	}
}

// items reads the colon and the opening bracket that follow the text "items".
func (j *jsonReader) items() (bool, error) {
	b, err := j.first()
	if err == nil && b == ':' {
		j.text = append(j.text, ':')
		b, err = j.first()
	}
	if err != nil {
		return false, err
	}
	if b == '[' && j.text[len(j.text)-1] == ':' {
		return true, nil
	}
	_ = j.in.UnreadByte() // it was read
	return false, nil
}

// objectState is a reader's place in an object.
type objectState struct {
	depth    int
	texts    bool // eventText is wanted
	inText   bool
	escaped  bool
	newlines int
}

type event int

const (
	eventMore event = iota // the bytes are used up
	eventEnd               // the object is closed
	eventText              // a string of the object itself, not of one in it, is closed
)

// scan goes on through text up to an event, and returns how many bytes that took.
func (s *objectState) scan(text []byte) (int, event) {
	for i, b := range text {
		switch {
		case b == '\n':
			s.newlines++
		case s.escaped:
			s.escaped = false
		case s.inText:
			switch b {
			case '\\':
				s.escaped = true
			case '"':
				s.inText = false
				if s.texts && s.depth == 1 {
					return i + 1, eventText
				}
			}
		case b == '"':
			s.inText = true
		case b == '{' || b == '[':
			s.depth++
		case b == '}' || b == ']':
			if s.depth--; s.depth == 0 {
				return i + 1, eventEnd
			}
		}
	}
	return len(text), eventMore
}

// record yields j.text.
func (j *jsonReader) record(line int) error {
	if !utf8.Valid(j.text) {
		return j.wrong(line, errNotUTF8)
	}
	record, err := transfer.ParseRecord(j.text)
	if err != nil {
		if none := lacking(j.text); none != "" {
			return j.wrong(line, errors.New(none))
		}
		quoted, ok := quoteMoney(j.text)
		if !ok {
			return j.wrong(line, err)
		}
		if record, err = transfer.ParseRecord(quoted); err != nil {
			return j.wrong(line, err)
		}
	}
	j.done = !j.each(Record{record, line})
	return nil
}
