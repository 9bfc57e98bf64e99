package state

import "encoding/json"

// Encode is how entries are written.
func Encode(entry Entry) (json.RawMessage, error) { return encode(entry) }

// EncodeAny is the same by package json alone.
func EncodeAny(entry Entry) (json.RawMessage, error) { return encodeAny(entry) }

// EncodePlain is the same without reflection, where that can be done.
func EncodePlain(entry Entry) (json.RawMessage, bool) {
	switch e := entry.(type) {
	case Intent:
		return e.encodePlain()
	case Outcome:
		return e.encodePlain()
	}
	return nil, false
}

// DecodePlain is how an entry is read without reflection, where that can be done.
func DecodePlain(e Event) (Entry, bool) { return decodePlain(e) }
