package approval_test

import (
	"strings"
	"testing"
	"time"

	"remit/internal/approval"
)

// TestNoLineOfKeysShowsThatIsAComment has a line behind an end of a line that an editor knows and the file does not: who reads it
// takes the key for revoked, or the person for one who may approve.
func TestNoLineOfKeysShowsThatIsAComment(t *testing.T) {
	bob := keyLine(signer(t, "bob"))
	for name, parse := range map[string]func([]byte) []approval.Mistake{
		"allowed_signers": func(content []byte) []approval.Mistake {
			_, mistakes := approval.ParseSigners(content, time.UTC)
			return mistakes
		},
		"revoked_keys": func(content []byte) []approval.Mistake {
			_, mistakes := approval.ParseRevoked(content)
			return mistakes
		},
		"allowed_passkeys": func(content []byte) []approval.Mistake {
			_, mistakes := approval.ParsePasskeys(content, time.UTC)
			return mistakes
		},
		"revoked_passkeys": func(content []byte) []approval.Mistake {
			_, mistakes := approval.ParseRevokedPasskeys(content)
			return mistakes
		},
	} {
		for end, want := range map[string]string{
			"\r": "U+000D, a carriage return", "\u2028": "U+2028, at which", "\u2029": "U+2029, at which", "\u0085": "U+0085, at which", "\v": "U+000B, at which", "\f": "U+000C, at which",
			"\u202e": "U+202E, which does not show", "\U000e0041": "U+E0041, which does not show",
		} {
			mistakes := parse([]byte("\r\n# left in May" + end + bob + "\r\n"))
			if len(mistakes) != 1 || mistakes[0].Line != 2 || !strings.Contains(mistakes[0].Text, want) {
				t.Errorf("%s: got %v, want %q on line 2", name, mistakes, want)
			}
		}
	}
	if _, mistakes := approval.ParseRevoked([]byte("# \u26a0\ufe0f left in May\r\n" + bob + "\r\n")); len(mistakes) > 0 {
		t.Errorf("an emoji in a comment is refused: %v", mistakes)
	}
}
