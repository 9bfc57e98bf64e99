package approval_test

import (
	"strings"
	"testing"

	"remit/internal/approval"
)

// TestAnEmptyFileRevokesNothingInSilence has what a full disk, a merge or a failed ssh-keygen -k leaves of a file of revoked keys.
func TestAnEmptyFileRevokesNothingInSilence(t *testing.T) {
	for content, isRefused := range map[string]bool{
		"": true, "\n": true, " \t\r\n\r\n": true, "# none\n": false, "\n  # none": false,
	} {
		_, mistakes := approval.ParseRevoked([]byte(content))
		_, more := approval.ParseRevokedPasskeys([]byte(content))
		for of, found := range map[string][]approval.Mistake{"keys": mistakes, "passkeys": more} {
			if isRefused != (len(found) == 1 && found[0].Line == 0 && strings.Contains(found[0].Text, "it is empty")) || !isRefused && len(found) > 0 {
				t.Errorf("%q as a file of revoked %s: %v", content, of, found)
			}
		}
	}
}
