package transfer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParseRequest has package json as the oracle of the reader without it.
func FuzzParseRequest(f *testing.F) {
	for _, body := range []string{
		`{"amount":"1.50","asset":"USD","from_profile_id":"a","metadata":{"k":"v","m":"\"\\"},"ref_id":"r","to_profile_id":"b"}`,
		`{"amount":"1","asset":"USD","from_account_id":"x","from_identity_id":"y","from_profile_id":"a","ref_id":"ré","to_profile_id":"b"}`,
		`{"amount":"1","metadata":{},"ref_id":"r"}`,
		`{"amount":"1","metadata":{"b":"1","a":"2"},"ref_id":"r"}`,
		`{"amount":"1","ref_id":"\u0041"}`, `{"amount":"1","ref_id":"` + "\xff" + `"}`, `{"amount":"1"}x`, `{"amount":"1","amount":"1"}`, `{}`, ``,
	} {
		f.Add(body, true)
		f.Add(body, false)
	}
	f.Fuzz(func(t *testing.T, body string, platform bool) {
		op := Internal
		if platform {
			op = Platform
		}
		want, wantErr := parseRequest(op, []byte(body), "k")
		got, err := ParseRequest(op, []byte(body), "k")
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, want %v", body, err, wantErr)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Amount{})); diff != "" {
			t.Fatalf("%q (-json +got):\n%s", body, diff)
		}
	})
}
