package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// parseObject returns the fields of one JSON object, as parts of raw. It refuses a field
// that stands twice: which of the two is meant is not guessed.
func parseObject(raw []byte) (map[string]json.RawMessage, error) {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		if fields, ok := splitObject(raw); ok {
			return fields, nil
		}
	}
	return decodeObject(raw)
}

// fieldsUsual is how many fields a record usually has.
const fieldsUsual = 24

// splitObject finds the fields of a JSON object that is valid, without reading their
// values. It returns false where one stands twice.
func splitObject(raw []byte) (map[string]json.RawMessage, bool) {
	fields := make(map[string]json.RawMessage, fieldsUsual)
	for i := skipSpace(raw, 1); raw[i] != '}'; {
		end := endOfValue(raw, i)
		name, ok := plainString(raw[i:end])
		if !ok && json.Unmarshal(raw[i:end], &name) != nil {
			return nil, false
		}
		i = skipSpace(raw, end)
		i = skipSpace(raw, i+1) // after the colon
		end = endOfValue(raw, i)
		if _, twice := fields[name]; twice {
			return nil, false
		}
		fields[name] = raw[i:end:end]
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return fields, true
}

func skipSpace(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r' {
		i++
	}
	return i
}

// endOfValue returns where the value that begins at i ends, within a larger valid one.
func endOfValue(raw []byte, i int) int {
	depth := 0
	for ; ; i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
}

// plainString returns the text of a valid JSON string that says each of its characters as
// it is, in ASCII.
func plainString(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	for _, c := range raw[1 : len(raw)-1] {
		if c == '\\' || c >= 0x80 {
			return "", false
		}
	}
	return string(raw[1 : len(raw)-1]), true
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
