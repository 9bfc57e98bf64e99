package transfer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
)

// FuzzObject holds the fields of an object against those that encoding/json finds, and the
// words of each refusal.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { } `, `{"a":1}`, "{\"a\" :\t[1, {\"b\":\"}\"}] ,\n\"c\": \"\\\"]\" }", `{"a":null,"b":-1.5e3,"c":true}`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"ä":"ö","\ud800":"\u0000"}`, "{\"\xff\":1,\"\xfe\":2}", `{"a":{"a":[]},"":"\\"}`,
		``, `null`, `[]`, `{"a":1}x`, `{"a":1}{}`, `{"a"}`, `{"a":1,}`, `{a:1}`, `{"a":"` + "\n" + `"}`, "\x00{}", "\u00a0{}",
		`{"a":"b","c":{"d":"e","d":"f"},"g":null,"h":true,"i":false}`, `{"a":{"b":{}}}`, `{"a":nul}`, `{"a":truefalse}`, `{"é":"ü","x":{"ß":"—"}}`, `{"a":{"b":"c"}`,
		`{"a":"true}`, `{"a":"null,"b":"c"}`, `{"a":"{"b":"c"}}`, `{"a":"{}}`, `{"a":{"b":"false}}`, `{"a":"true\"}`, // a value that lacks its last quote
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, texts, err := transfer.ParseObject([]byte(raw))
		want, wrong := transfer.DecodeObject([]byte(raw))
		if fmt.Sprint(err) != fmt.Sprint(wrong) {
			t.Fatalf("%q: got %v, want %v", raw, err, wrong)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", raw, diff)
		}
		if transfer.IsPlainObject(raw) && wrong != nil && !strings.Contains(wrong.Error(), "stands twice") {
			t.Errorf("%q is no plain object: %v", raw, wrong)
		}
		for name, text := range texts {
			var value string
			if err := json.Unmarshal(got[name], &value); err != nil || value != text {
				t.Errorf("%q: %s is read as %q, not %q (%v)", raw, name, text, value, err)
			}
		}
	})
}

func TestPlainObjects(t *testing.T) {
	for text, want := range map[string]bool{
		`{"id":"1","fee":null,"metadata":{"a":"b"},"final":true}`: true, `{}`: true, `{ "a" : "ä" }`: true, `{"a":{"b":{}}}`: false,
		` {}`: false, `{} `: false, `[{}]`: false, `{"a":1}`: false, `{"a":[]}`: false, `{"a":"\n"}`: false, `{"a":"\"}`: false, `{"a":"b"}{}`: false, ``: false,
	} {
		if got := transfer.IsPlainObject(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
