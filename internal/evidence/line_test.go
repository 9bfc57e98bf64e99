package evidence

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/proof/suite"
	"remit/state"
)

// anyLines draws lines as a pack has them, and others.
func anyLines() *rapid.Generator[line] {
	texts := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9 {}:",\\\\/<>&\x7f]{0,12}`),
		rapid.StringMatching(`[äß—€🙂\x{2028}"]{0,4}`),
		rapid.SampledFrom([]string{"", "\x00", "a\nb", "\xff"}),
	)
	payloads := rapid.SampledFrom([]string{
		"", `{"a":"b"}`, ` {"a": [1, 2.0e3]}`, `{"a":1,"previous":"b","hash":"c"}`, `"\",\"previous\":\"b"`, `{"a":"<\u2028é"}`, `{"a":`, `null`, "{\"a\":\"\xff\"}", `{"a":1,"a":2}`,
	})
	return rapid.Custom(func(t *rapid.T) line {
		text := func(name string) string { return texts.Draw(t, name) }
		l := line{
			Seq: rapid.Int64().Draw(t, "seq"), Digest: text("digest"), Kind: state.Kind(text("kind")), RefID: text("ref_id"), RunID: text("run_id"),
			Data: json.RawMessage(payloads.Draw(t, "data")), Previous: text("previous"), Hash: text("hash"),
		}
		if rapid.Bool().Draw(t, "has a time") {
			l.Time = time.UnixMilli(rapid.Int64Range(-1<<47, 1<<48).Draw(t, "time")).UTC() // some are beyond the years that JSON has
		}
		return l
	})
}

func TestLinesAreWrittenAndReadAsByPackageJSON(t *testing.T) {
	plain := 0
	suite.CheckUntil(t, func() bool { return plain > 0 }, func(t *rapid.T) {
		l := anyLines().Draw(t, "line")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		wanted := encoder.Encode(l)
		got, err := newLineWriter(nil).encode(&l)
		if (err == nil) != (wanted == nil) || err == nil && !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%v: %s\npackage json: %v: %s", err, got, wanted, &want)
		}
		if err != nil {
			return
		}
		var expected line
		if err := json.Unmarshal(got, &expected); err != nil {
			t.Fatal(err)
		}
		read, err := newLineReader(bytes.NewReader(got)).read()
		if again, err := newLineWriter(nil).encode(&expected); err != nil || !bytes.Equal(again, got) {
			return // of invalid UTF-8
		}
		if diff := cmp.Diff(expected, read); err != nil || diff != "" {
			t.Fatalf("%v, -package json +ours:\n%s", err, diff)
		}
		trusted, ok := plainLine(string(got))
		if !ok {
			return
		}
		plain++
		if diff := cmp.Diff(expected, trusted); diff != "" {
			t.Fatalf("read again, -package json +ours:\n%s", diff)
		}
	})
}

func TestALineThatIsWrittenOtherwiseIsRefused(t *testing.T) {
	genuine := line{Seq: 7, Time: time.UnixMilli(1).UTC(), Kind: "intent", RefID: "a", RunID: "r", Data: json.RawMessage(`{"a":"b"}`), Previous: "p", Hash: "h"}
	text, err := newLineWriter(nil).encode(&genuine)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"a":"b"`, `"a": "b"`},
		{`"a":"b"`, `"a":"b`},
		{`"a":"b"`, "\"a\":\"\xff\""},
		{`"a":"b"`, `"a":"b"}{`},
		{`"seq":7`, `"seq":07`},
		{`"r"`, `"\u0072"`},
		{`.001Z`, `.0010Z`},
		{`Z"`, `+00:00"`},
		{`"hash"`, `"more":1,"hash"`},
		{`"p"`, `"p","previous":"p"`},
		{`"intent"`, "\"int\xff\""},
		{"}\n", "} \n"},
	} {
		other := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(other, text) {
			t.Fatalf("there is no %s in %s", change[0], text)
		}
		if _, err := newLineReader(bytes.NewReader(other)).read(); err == nil && change[1] != "\"a\":\"\xff\"" {
			t.Errorf("it is read: %s", other)
		}
	}
	if _, err := newLineReader(bytes.NewReader(text)).read(); err != nil {
		t.Errorf("what was written is refused: %v", err)
	}
}
