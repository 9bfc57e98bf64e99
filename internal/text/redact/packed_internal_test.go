package redact

import (
	"bytes"
	"encoding/base64"
	"testing"

	"pgregory.net/rapid"
)

// TestWhatIsSkippedUnpacksToNoText draws runs as identifiers have them, with text of every length packed into them
// at every place. The runs that the look at the digits skips have no text that a secret could be.
func TestWhatIsSkippedUnpacksToNoText(t *testing.T) {
	s := &search{needles: newNeedles([]string{"a secret of text"})}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
	digits := rapid.SliceOfN(rapid.SampledFrom([]byte(alphabet)), 0, 24)
	texts := rapid.SliceOfN(rapid.OneOf(rapid.ByteRange(' ', '~'), rapid.SampledFrom([]byte("\t\r\n\x1f\x7f\x80"))), 0, 14)
	rapid.Check(t, func(t *rapid.T) {
		run := bytes.Join([][]byte{
			digits.Draw(t, "before"),
			[]byte(base64.RawStdEncoding.EncodeToString(texts.Draw(t, "text"))),
			digits.Draw(t, "after"),
		}, nil)
		isText := false
		for start := range min(4, len(run)) {
			isText = isText || s.worthALook(appendBase64(nil, run[start:]))
		}
		if isText && !mayUnpackToText(run) {
			t.Fatalf("%q unpacks to text and is skipped", run)
		}
	})
}
