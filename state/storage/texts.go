package storage

import "strings"

// Texts keeps texts that repeat from row to row, so that a million rows do not hold a
// million copies, nor the pages of which they are parts.
type Texts struct {
	last string
	kept map[string]string
}

// textsMax bounds how many different texts are kept.
const textsMax = 256

// Intern returns a text that is equal to raw and shares no memory with it.
func (t *Texts) Intern(raw string) string {
	if raw == t.last {
		return t.last
	}
	text, ok := t.kept[raw]
	if !ok {
		text = t.keep(strings.Clone(raw))
	}
	t.last = text
	return text
}

// InternBytes is Intern of bytes.
func (t *Texts) InternBytes(raw []byte) string {
	if string(raw) == t.last {
		return t.last
	}
	text, ok := t.kept[string(raw)]
	if !ok {
		text = t.keep(string(raw))
	}
	t.last = text
	return text
}

func (t *Texts) keep(text string) string {
	if t.kept == nil || len(t.kept) == textsMax {
		t.kept = make(map[string]string)
	}
	t.kept[text] = text
	return text
}
