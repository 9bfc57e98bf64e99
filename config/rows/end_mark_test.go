package rows_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"remit/config/rows"
)

// TestEndMarksAreLeftOut reads texts with a Ctrl-Z, in pieces of any size.
func TestEndMarksAreLeftOut(t *testing.T) {
	many := strings.Repeat("\x1a", 600)
	for text, want := range map[string]string{
		"":              "",
		"\x1a":          "",
		"a\n":           "a\n",
		"a\n\x1a":       "a\n",
		"a\n\x1a\r\n":   "a\n",
		"a\x1a\x1a\n":   "a",
		"a\x1ab\n\x1a":  "a\x1ab\n",
		"a\x1a\nb\x1a ": "a\x1a\nb\x1a ",
		many + "a":      many + "a",
	} {
		for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			if got, err := io.ReadAll(rows.WithoutEndMark(from)); err != nil || string(got) != want {
				t.Errorf("%q is read as %q, %v", text, got, err)
			}
		}
	}
}
