package planner

import (
	"encoding/json"
	"strconv"
	"time"

	"remit/internal/text/jsontext"
)

// appendPlain writes a change that has no parts but texts, as [savedChange] is written by
// package json without its escapes for HTML: the test holds the two against each other. It
// reports false, and appends nothing, for other changes. A plan has a million such lines.
func appendPlain(b []byte, c *Change, afterAs string, body *[]byte) ([]byte, bool) {
	if c.Recorded != nil || len(c.Differences) > 0 || len(c.After) > 0 || len(c.AcceptOf) > 0 || c.Reverses != "" {
		return b, false
	}
	r := &c.Request
	*body = r.AppendBody((*body)[:0])
	b = jsontext.Append(append(b, `{"action":`...), string(c.Action))
	b = jsontext.Append(append(b, `,"ref_id":`...), c.RefID)
	b = appendOptional(b, `,"address":`, c.Address)
	b = appendOptional(b, `,"place":`, c.Place)
	b = appendOptional(b, `,"batch":`, c.Batch)
	b = jsontext.Append(append(b, `,"request":{"operation":`...), string(r.Operation))
	b = appendOptional(b, `,"fingerprint_key":`, r.FingerprintKey)
	b = jsontext.Append(append(b, `,"body":`...), *body)
	b = append(b, '}')
	if c.FromLabel {
		b = append(b, `,"from_label":true`...)
	}
	b = appendOptional(b, `,"naming":`, c.Naming)
	b = appendOptional(b, `,"display_name":`, c.DisplayName)
	b = appendOptional(b, `,"from_place":`, c.FromPlace)
	b = appendOptional(b, `,"to_place":`, c.ToPlace)
	if c.DuplicateWithin != 0 {
		b = strconv.AppendInt(append(b, `,"duplicate_within":`...), int64(c.DuplicateWithin), 10)
	}
	if c.Again {
		b = append(b, `,"again":true`...)
	}
	b = appendTime(b, `,"until":`, c.Until)
	if c.Never {
		b = append(b, `,"never":true`...)
	}
	b = appendTime(b, `,"expires":`, c.Expires)
	b = appendTime(b, `,"due":`, c.Due)
	if c.CatchUp != 0 {
		b = strconv.AppendInt(append(b, `,"catch_up":`...), int64(c.CatchUp), 10)
	}
	b = appendOptional(b, `,"occurrence":`, c.Occurrence)
	b = appendList(b, `,"windows":[`, c.Windows)
	b = appendOptional(b, `,"reason":`, c.Reason)
	b = appendOptional(b, `,"next":`, c.Next)
	b = appendSignals(b, c.Signals)
	b = appendOptional(b, `,"after_as":`, afterAs)
	return append(b, '}', '\n'), true
}

func appendList(b []byte, name string, texts []string) []byte {
	if len(texts) == 0 {
		return b
	}
	b = append(b, name...)
	for _, text := range texts {
		b = append(jsontext.Append(b, text), ',')
	}
	b[len(b)-1] = ']'
	return b
}

func appendSignals(b []byte, signals []Signal) []byte {
	if len(signals) == 0 {
		return b
	}
	b = append(b, `,"signals":[`...)
	for i := range signals {
		s := &signals[i]
		b = jsontext.Append(append(b, `{"kind":`...), string(s.Kind))
		b = appendOptional(b, `,"ref_id":`, s.RefID)
		b = appendOptional(b, `,"place":`, s.Place)
		b = appendOptional(b, `,"detail":`, s.Detail)
		b = appendOptional(b, `,"accepted":`, s.Accepted)
		b = append(b, '}', ',')
	}
	b[len(b)-1] = ']'
	return b
}

func appendOptional(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return jsontext.Append(append(b, name...), text)
}

func appendTime(b []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // config reads no year that RFC 3339 can't write
	}
	return append(append(b, name...), text...)
}
