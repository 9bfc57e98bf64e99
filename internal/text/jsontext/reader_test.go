package jsontext_test

import (
	"slices"
	"testing"
	"time"

	"remit/internal/text/jsontext"
)

func TestAReaderReadsWhatAWriterLeft(t *testing.T) {
	r := jsontext.NewReader(`{"a":"x\"y","raw":{"b":[]},"b":true,"n":-17,"at":"2026-11-28T09:00:00Z","list":["1","2"],"rest":[{"c":1}]}`)
	due := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	switch {
	case r.Must(`{"a":`) != `x"y`, !r.Has(`,"raw":`), r.Until(`,"b":true`) != `{"b":[]}`, r.May(`,"absent":`) != "", !r.Has(`,"b":true`), r.Has(`,"c":true`), r.Int(`,"n":`) != -17, r.Int(`,"m":`) != 0,
		!r.Time(`,"at":`).Equal(due), !r.Time(`,"then":`).IsZero(), !slices.Equal(r.List(`,"list":[`), []string{"1", "2"}), r.List(`,"none":[`) != nil:
		t.Error("a member is read wrongly")
	}
	r.Skip(`,"rest":[`)
	if got := r.Value(`]}`); got != `{"c":1}` || !r.Done() {
		t.Errorf("the last value is %q, and all is read: %t", got, r.Done())
	}
}

func TestAReaderIsNotDoneAfterASurprise(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		read func(*jsontext.Reader)
	}{
		"more":                    {`{"a":"x"} `, func(r *jsontext.Reader) { r.Must(`{"a":`); r.Skip(`}`) }},
		"another member":          {`{"b":"x"}`, func(r *jsontext.Reader) { r.Must(`{"a":`); r.Skip(`}`) }},
		"no text":                 {`{"a":1}`, func(r *jsontext.Reader) { r.Must(`{"a":`); r.Skip(`}`) }},
		"no number":               {`{"n":"1"}`, func(r *jsontext.Reader) { r.Int(`{"n":`); r.Skip(`}`) }},
		"a number with a zero":    {`{"n":01}`, func(r *jsontext.Reader) { r.Int(`{"n":`); r.Skip(`}`) }},
		"a number with two signs": {`{"n":--1}`, func(r *jsontext.Reader) { r.Int(`{"n":`); r.Skip(`}`) }},
		"no time":                 {`{"t":"today"}`, func(r *jsontext.Reader) { r.Time(`{"t":`); r.Skip(`}`) }},
		"an empty time":           {`{"t":""}`, func(r *jsontext.Reader) { r.Time(`{"t":`); r.Skip(`}`) }},
		"a list without an end":   {`{"l":["1"}`, func(r *jsontext.Reader) { r.List(`{"l":[`); r.Skip(`}`) }},
		"an empty list":           {`{"l":[]}`, func(r *jsontext.Reader) { r.List(`{"l":[`); r.Skip(`}`) }},
		"a value before nothing":  {`{"v":[1]}`, func(r *jsontext.Reader) { r.Skip(`{"v":`); r.Until(`,"w":`); r.Skip(`[1]}`) }},
		"a value without its end": {`{"v":[1}`, func(r *jsontext.Reader) { r.Skip(`{"v":[`); r.Value(`]}`) }},
	} {
		r := jsontext.NewReader(c.text)
		if c.read(&r); r.Done() {
			t.Errorf("%s: %s is read", name, c.text)
		}
	}
}
