package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzEntriesAreReadAsByTheStandardLibrary holds the decoder of payloads against encoding/json, which wrote
// the journals of earlier versions and reads them in other programs.
func FuzzEntriesAreReadAsByTheStandardLibrary(f *testing.F) {
	f.Add([]byte(`{"ref_id":"a","run_id":"r","status":"recorded","source":"answer","http_status":201,"records":[{"id":"1","n":1e400}]}`))
	f.Add([]byte(`{"REF_ID":"a","ref_id":"b","body":"{\"amount\":\"1\"}","due":"2026-11-27T00:00:00.5+01:00","found":true,"after_ms":9007199254740993}`))
	f.Add([]byte("{\"records\":[\"\xff\",{\"a\":1,\"a\":2}, \"\\ud800\", null],\"by\":null,\"problem\":\"\xed\xa0\x80\"}"))
	f.Add([]byte(` {"listed":{"amount":"1"},"differences":[{"field":"a"}],"http_status":1.0} `))
	f.Add([]byte(`{"due":"2026\u002d11-27T00:00:00Z"}`))
	const intent = `{"ref_id":"a","run_id":"r","operation":"internal","path":"/p","body":"{\"amount\":\"1\\\\\"}","fingerprint":"f","address":"a","place":"p:1"`
	for _, rest := range []string{
		`}`, `,"batch":"ä","from_label":true,"naming":"n","reverses":"b","due":"2026-11-27T00:00:00.5+01:00","occurrence":"s 2026-11-27","found":true,"after_ms":17}`,
		`,"found":true,"batch":"b"}`, `,"after_ms":017}`, `,"after_ms":1.0}`, `,"after_ms":-0}`, `,"after_ms":}`, `,"due":"2026-11-27"}`, `,"due":""}`,
		`,"place":"q"}`, `,"more":1}`, `} `, `}}`, ``, ",\"batch\":\"\n\"}", ",\"batch\":\"\xff\"}", `,"batch":"\u00e4"}`, `,"clocks":{}}`,
	} {
		f.Add([]byte(intent + rest))
	}
	for _, rest := range []string{
		`}`, `,"records":[{"id":"1","fee":null}]}`, `,"records":[{"id":"1"},{"id":"2"}]}`, `,"records":[]}`, `,"records":[{"id":"1"}],"records":[{"id":"2"}]}`,
		`,"records":[{"id":"1}]}`, `,"records":[{"id":1}]}`, `,"records":[{"id":"1"}]`, `,"records":[ {"id":"1"} ]}`, `,"problem":{"a":1}}`,
	} {
		f.Add([]byte(`{"ref_id":"a","run_id":"r","status":"in_doubt","source":"answer","reason":"x","http_status":201` + rest))
	}
	f.Add([]byte(`{"ref_id":"a","status":"unknown","source":"answer"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sameDecoded[Intent](t, data)
		sameDecoded[Outcome](t, data)
		sameDecoded[Begun](t, data)
		for _, kind := range []Kind{KindIntent, KindOutcome, KindBegun} {
			e := Event{Kind: kind, Data: data}
			got, ok := decodePlain(e)
			if !ok {
				continue
			}
			want, err := decode[Intent](e)
			if kind == KindOutcome {
				want, err = decode[Outcome](e)
			}
			if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); err != nil || diff != "" {
				t.Errorf("%q: %v (-any +plain):\n%s", data, err, diff)
			}
		}
	})
}

func sameDecoded[E Entry](t *testing.T, data []byte) {
	t.Helper()
	var want E
	wanted := json.Unmarshal(data, &want)
	got, err := decode[E](Event{Data: data})
	var noTime *time.ParseError // of a time with an escape in it, which remit writes nowhere: read here, and not there
	if err == nil && errors.As(wanted, &noTime) && bytes.ContainsRune(data, '\\') {
		return
	}
	if (err == nil) != (wanted == nil) {
		t.Fatalf("%T of %q: %v, where the standard library says %v", want, data, err, wanted)
	}
	if err == nil {
		if diff := cmp.Diff(want, got.(E), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%T of %q (-standard library +ours):\n%s", want, data, diff)
		}
	}
}
