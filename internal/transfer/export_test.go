package transfer

import "encoding/json"

// ParseObject is parseObject, as a map; texts are the values that it has read.
func ParseObject(raw []byte) (fields map[string]json.RawMessage, texts map[string]string, err error) {
	members, err := parseObject(raw, nil)
	if err != nil {
		return nil, nil, err
	}
	fields, texts = make(map[string]json.RawMessage), make(map[string]string)
	for _, m := range members {
		fields[m.name] = m.raw
		if m.isText {
			texts[m.name] = m.text
		}
	}
	return fields, texts, nil
}

// DecodeObject is the same by encoding/json alone.
func DecodeObject(raw []byte) (map[string]json.RawMessage, error) { return decodeObject(raw) }
