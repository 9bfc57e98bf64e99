package transfer

import "encoding/json"

// ParseObject is parseObject.
func ParseObject(raw []byte) (map[string]json.RawMessage, error) { return parseObject(raw) }

// DecodeObject is the same by encoding/json alone.
func DecodeObject(raw []byte) (map[string]json.RawMessage, error) { return decodeObject(raw) }
