package terminal_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"remit/internal/cli/terminal"
)

func TestWhatIsSensitiveIsNotPrinted(t *testing.T) {
	texts := []string{"hidden/state.db", "hush", "state.db.d", "100.00", "abc", `quo"te`}
	for name, tt := range map[string]struct{ in, want string }{
		"in the middle":              {"the state hidden/state.db is", "the state (sensitive) is"},
		"twice":                      {"hidden/state.dbhidden/state.db", "(sensitive)(sensitive)"},
		"where another could begin":  {"hidden/state.db.c", "(sensitive).c"},
		"a short one as a word":      {"a hush, hushed and unhush", "a (sensitive), hushed and unhush"},
		"a short one at the end":     {"a hush", "a (sensitive)"},
		"the beginning of one alone": {"hidden/state", "hidden/state"},
		"an amount":                  {"abc 100.00 USD", "abc 100.00 USD"},
		"in JSON":                    {`{"path":"quo\"te"}`, `{"path":"(sensitive)"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for cut := range len(tt.in) + 1 {
				var out bytes.Buffer
				streams := terminal.New(nil, &out, io.Discard, os.Getenv, "")
				streams.Hide(texts)
				for _, part := range []string{tt.in[:cut], tt.in[cut:]} {
					_, _ = io.WriteString(streams.Out, part) // into memory
				}
				_ = streams.Close() // into memory
				if got := out.String(); got != tt.want {
					t.Errorf("cut at %d: %q, want %q", cut, got, tt.want)
				}
			}
		})
	}
}
