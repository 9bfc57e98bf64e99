package transfer_test

import (
	"strings"
	"testing"

	"remit/internal/transfer"
)

func TestDisplayNamesThatAReviewerCouldMisread(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"a person":                             {"Jürgen Müller-Lüdenscheidt", true},
		"a company":                            {"Fox & Söhne GmbH, Ltd. (EMEA)", true},
		"another script":                       {"株式会社フォックス", true},
		"as long as one may be":                {strings.Repeat("ß", 140), true},
		"longer":                               {strings.Repeat("ß", 141), false},
		"nothing":                              {"", false},
		"a space before it":                    {" Ada", false},
		"two columns":                          {"Ada  8200.00", false},
		"a line break":                         {"Ada\nsubmit", false},
		"another direction":                    {"Ada \u202eecalevoL", false},
		"what can't be seen":                   {"Ada\u200bLovelace", false},
		"bytes that are no text":               {"Ada\xff", false},
		"what looks like an ID that is cut":    {"Fox 37867177…", false},
		"an arrow, as before each destination": {"Fox -> 37867177", false},
	} {
		if err := transfer.CheckDisplayName(c.text); (err == nil) != c.ok {
			t.Errorf("%s: %q: %v", name, c.text, err)
		}
	}
}
