package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/text/redact"
)

const secret = `AbC/d+eF=g%41h\x"i`

// writers are the ways in which a service may repeat a text.
var writers = map[string]func(string) string{
	"as it is":           func(text string) string { return text },
	"in JSON":            inJSON,
	"in JSON of PHP":     func(text string) string { return strings.ReplaceAll(inJSON(text), "/", `\/`) },
	"each as an escape":  func(text string) string { return each(text, `\u%04x`) },
	"each as \\U":        func(text string) string { return each(text, `\U%08X`) },
	"each as \\x":        func(text string) string { return each(text, `\x%02x`) },
	"each in octal":      func(text string) string { return each(text, `\%03o`) },
	"in a query":         url.QueryEscape,
	"in a path":          url.PathEscape,
	"each in percent":    func(text string) string { return each(text, "%%%02x") },
	"each as an entity":  func(text string) string { return each(text, "&#x%x;") },
	"in HTML":            html.EscapeString,
	"in base64":          func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
	"in base64url":       func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) },
	"one later":          func(text string) string { return base64.StdEncoding.EncodeToString([]byte(":" + text + ".")) },
	"two later":          func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte("a:" + text + "..")) },
	"in base64 of lines": func(text string) string { return lines(base64.StdEncoding.EncodeToString([]byte(text)), 11) },
	"in hexadecimal":     func(text string) string { return hex.EncodeToString([]byte(text)) },
	"in HEXADECIMAL":     func(text string) string { return strings.ToUpper(hex.EncodeToString([]byte("x" + text))) },
}

func inJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted[1 : len(quoted)-1])
}

func each(text, format string) string {
	var out strings.Builder
	for _, c := range text {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

func lines(text string, width int) string {
	var out []string
	for len(text) > width {
		out, text = append(out, text[:width]), text[width:]
	}
	return strings.Join(append(out, text), "\r\n ")
}

func newSet(secrets ...string) *redact.Set {
	set := new(redact.Set)
	for _, secret := range secrets {
		set.Add(secret)
	}
	return set
}

func TestASecretIsRemovedHoweverItIsWritten(t *testing.T) {
	set := newSet(secret)
	for first, write := range writers {
		for second, again := range writers {
			t.Run(first+", then "+second, func(t *testing.T) {
				written := again(write(secret))
				for _, around := range []string{"%s", "Authorization: Basic %s\nUser-Agent: remit", "x=%s&y=1", "/a/b/%s/c", "(%s)", "abcde%s", "ab%s"} {
					text := fmt.Sprintf(around, written)
					got := set.ScrubText(text)
					if !strings.Contains(got, redact.Removed) || strings.Contains(got, written) {
						t.Errorf("%q became %q", text, got)
					}
				}
			})
		}
	}
}

// TestALineBreakOfASecretIsPartOfIt has secrets of eight bytes, and of fewer where lines are joined.
func TestALineBreakOfASecretIsPartOfIt(t *testing.T) {
	for _, secret := range []string{"AAAAAA&\r", "AAAAAA&\n", "A\r\nAAAA&", "AAAAAAA\n", "%AAAAAA\r", " AAAAAA<", "+AAAAAA<"} {
		set := newSet(secret)
		for first, write := range writers {
			for second, again := range writers {
				if written := again(write(secret)); !strings.Contains(set.ScrubText("x\r\n"+written+" y"), redact.Removed) {
					t.Errorf("%s, then %s: %q is kept", first, second, written)
				}
			}
		}
	}
}

func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(redact.LengthMin, 40, 200).Filter(func(s string) bool { return len(s) >= redact.LengthMin }).Draw(t, "secret")
		set := newSet(text)
		written := text
		for range rapid.IntRange(0, 2).Draw(t, "times") {
			way := rapid.SampledFrom([]string{"in JSON", "in a query", "in base64", "in base64url", "in HTML", "in hexadecimal"}).Draw(t, "way")
			written = writers[way](written)
		}
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		body, err := json.Marshal(map[string]any{"group_id": "g-1", "detail": before + " " + written + " " + after, "list": []string{written}})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(set.Scrub(bytes.Clone(body)), &got); err != nil {
			t.Fatalf("%s is no JSON any more: %v", body, err)
		}
		if told := fmt.Sprint(got); strings.Contains(told, written) && !strings.Contains("map[detail: group_id:g-1 list:]", text) {
			t.Errorf("%s still holds it: %s", body, told)
		}
	})
}

func TestATextWithoutASecretIsKept(t *testing.T) {
	set := newSet("correct horse battery staple", "dG9rZW4tbnVtYmVyLW9uZQ")
	rapid.Check(t, func(t *rapid.T) {
		body, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "fields"))
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Scrub(body); !bytes.Equal(got, body) {
			t.Errorf("%s became %s", body, got)
		}
	})
	for _, text := range []string{
		"", record, "100%25 \\u0026 &amp; %", `\`, `\u`, `\ud83d\ude00`, "%e4%zz", "&;&", strings.Repeat("A", 4096), strings.Repeat("%25", 100),
		"dG9rZW4tbnVtYmVyLW9uZ", "correct horse battery", strings.Repeat("VVVVVVVV", 20), "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
	} {
		given := []byte(text)
		got := set.Scrub(given)
		if string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
		if len(text) > 0 && &got[0] != &given[0] {
			t.Errorf("%q was copied", text)
		}
	}
}

func TestWhatNobodyCanDecideIsRemoved(t *testing.T) {
	written := secret
	for range 5 {
		written = base64.StdEncoding.EncodeToString([]byte(written))
	}
	percent := strings.ReplaceAll(url.QueryEscape(secret), "%", "%"+strings.Repeat("25", 20))
	for name, text := range map[string]string{"base64 too often": written, "percent too often": percent} {
		t.Run(name, func(t *testing.T) {
			got := newSet(secret).ScrubText(`{"detail":"no ` + text + `","group_id":"g-1"}`)
			if strings.Contains(got, text) || !strings.HasSuffix(got, `","group_id":"g-1"}`) {
				t.Errorf("became %s", got)
			}
		})
	}
}

func TestOnlyTheNewestPassingSecretsAreLookedFor(t *testing.T) {
	set := newSet("a-secret-that-stays")
	for i := range 20 {
		set.AddPassing(fmt.Sprintf("token-number-%02d", i))
	}
	got := set.ScrubText("a-secret-that-stays token-number-19 token-number-12 token-number-11")
	if want := "[removed] [removed] [removed] token-number-11"; got != want {
		t.Errorf("became %q, want %q", got, want)
	}
}

func TestWhatIsKnownOfOneTextIsRemovedAsWell(t *testing.T) {
	if got, want := string(new(redact.Set).Scrub([]byte("a signature-of-one b"), "signature-of-one")), "a [removed] b"; got != want {
		t.Errorf("became %q, want %q", got, want)
	}
}

const record = `{"group_id":"9b2f6c1e-5f0e-4c39-9c3e-0e6a1f2b7d11","ref_id":"rent-2026-11","status":"completed","operation":"platform",` +
	`"from_profile_id":"treasury","to_profile_id":"landlord","from_destination_id":"d-0000017","amount":"8200.00","asset":"USD",` +
	`"created_at":"2026-11-23T02:38:34.123456Z","metadata":{"remit.fingerprint":"5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"}}`

func BenchmarkScrub(b *testing.B) {
	set := newSet("correct horse battery staple", "finance:correct horse battery staple")
	for i := range 8 {
		set.AddPassing(fmt.Sprintf("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJmaW5hbmNlIn0.%040d", i))
	}
	for name, body := range map[string][]byte{
		"record": []byte(record),
		"escape": []byte(strings.Replace(record, "landlord", `a \u0026 b`, 1)),
		"page":   []byte(`{"items":[` + strings.Repeat(record+",", 99) + record + `]}`),
	} {
		b.Run(name+"/scrub", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				set.Scrub(body)
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				var into map[string]any
				if err := json.Unmarshal(body, &into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
