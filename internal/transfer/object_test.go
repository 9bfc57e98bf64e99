package transfer_test

import (
	"fmt"
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
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := transfer.ParseObject([]byte(raw))
		want, wrong := transfer.DecodeObject([]byte(raw))
		if fmt.Sprint(err) != fmt.Sprint(wrong) {
			t.Fatalf("%q: got %v, want %v", raw, err, wrong)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", raw, diff)
		}
	})
}
