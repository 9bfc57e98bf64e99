package state

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"remit/internal/text/jsontext"
	"remit/internal/transfer"
)

// decodePlain reads an entry that [encode] wrote without reflection, and reports false of any other, which may
// be an entry all the same. Long commands read two for each transfer. Package json is the oracle of its tests.
// No text shares the memory of the event, so that a caller who keeps a ref_id of each keeps no more than that.
func decodePlain(e Event) (Entry, bool) {
	if e.Kind != KindIntent && e.Kind != KindOutcome {
		return nil, false
	}
	text := string(e.Data)
	if !isPlainText(text) {
		return nil, false
	}
	p := plainReader{jsontext.NewReader(text)}
	if e.Kind == KindIntent {
		i := p.intent()
		return i, p.Done()
	}
	o, ok := p.outcome()
	return o, ok && p.Done()
}

// isPlainText reports whether a text has no control characters and is valid UTF-8, as all but rare entries.
func isPlainText(text string) bool {
	if transfer.Plain(text) {
		return true
	}
	for i := range len(text) {
		if text[i] < ' ' {
			return false
		}
	}
	return utf8.ValidString(text)
}

// plainReader reads what a plainWriter wrote.
type plainReader struct{ jsontext.Reader }

func (p *plainReader) field(name string) string    { return strings.Clone(p.Must(name)) }
func (p *plainReader) optional(name string) string { return strings.Clone(p.May(name)) }

func (p *plainReader) intent() Intent {
	i := Intent{
		RefID:       p.field(`{"ref_id":`),
		RunID:       p.field(`,"run_id":`),
		Operation:   transfer.Operation(p.field(`,"operation":`)),
		Path:        p.field(`,"path":`),
		Body:        p.Must(`,"body":`), // Cut copies a text with escapes, and a request has them
		Fingerprint: p.field(`,"fingerprint":`),
		Address:     p.field(`,"address":`),
		Place:       p.field(`,"place":`),
		Batch:       p.optional(`,"batch":`),
		FromLabel:   p.Has(`,"from_label":true`),
		Naming:      p.optional(`,"naming":`),
		Reverses:    p.optional(`,"reverses":`),
		Due:         p.Time(`,"due":`),
		Occurrence:  p.optional(`,"occurrence":`),
		Found:       p.Has(`,"found":true`),
		AfterMS:     p.Int(`,"after_ms":`),
	}
	p.Skip(`}`)
	return i
}

func (p *plainReader) outcome() (Outcome, bool) {
	o := Outcome{RefID: p.field(`{"ref_id":`), RunID: p.optional(`,"run_id":`)}
	err := o.Status.UnmarshalText([]byte(p.Must(`,"status":`)))
	o.Source = Source(p.field(`,"source":`))
	o.Reason = p.optional(`,"reason":`)
	status := p.Int(`,"http_status":`)
	o.HTTPStatus = int(status)
	if p.Has(`,"records":[`) {
		record := p.Value(`]}`)
		o.Records = []json.RawMessage{json.RawMessage(record)}
		return o, err == nil && int64(o.HTTPStatus) == status && transfer.IsPlainObject(record)
	}
	p.Skip(`}`)
	return o, err == nil && int64(o.HTTPStatus) == status
}
