package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/text/jsontext"
)

// texts draws what people write, and what they do not.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("a\"\\/<>&é\u2028\u2029\x7f\n\t\x00\x1f😀"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

func TestAppendWritesAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := texts().Draw(rt, "text")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(text); err != nil {
			rt.Fatal(err)
		}
		got := string(jsontext.Append([]byte("before"), text)) + "\n"
		if got != "before"+want.String() {
			rt.Errorf("%q is written as %q, and by encoding/json as %q", text, got, &want)
		}
		if of := string(jsontext.Append([]byte("before"), []byte(text))) + "\n"; of != got {
			rt.Errorf("as bytes it is written as %q", of)
		}
	})
}

func TestAppendFewestEscapesNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.ToValidUTF8(texts().Draw(rt, "text"), "?")
		written := jsontext.AppendFewest(nil, text)
		var read string
		if err := json.Unmarshal(written, &read); err != nil || read != text {
			rt.Errorf("%q is written as %s, which reads as %q (%v)", text, written, read, err)
		}
		escapes := strings.Count(strings.ReplaceAll(string(written), `\\`, "\x00"), `\`) + strings.Count(string(written), `\\`)
		wanted := 0
		for _, r := range text {
			if r < ' ' || r == '"' || r == '\\' {
				wanted++
			}
		}
		if escapes != wanted {
			rt.Errorf("%q has %d escapes, it needs %d", written, escapes, wanted)
		}
	})
}

func TestCutReadsPlainTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, behind := texts().Draw(rt, "text"), rapid.String().Draw(rt, "behind")
		text = strings.Map(func(r rune) rune { return max(r, ' ') }, strings.ToValidUTF8(text, "?"))
		got, rest, ok := jsontext.Cut(string(jsontext.AppendFewest(nil, text)) + behind)
		if !ok || got != text || rest != behind {
			rt.Errorf("%q before %q is read as %q before %q (%t)", text, behind, got, rest, ok)
		}
	})
}

func TestCutRefusesWhatItCannotRead(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":              "",
		"no quotation mark":    "a",
		"no end":               `"a`,
		"no end of an escape":  `"a\`,
		"an escaped line feed": `"a\nb"`,
		"an escaped character": `"\u0041"`,
	} {
		t.Run(name, func(t *testing.T) {
			if text, rest, ok := jsontext.Cut(in); ok {
				t.Errorf("it reads %q before %q", text, rest)
			}
		})
	}
}
