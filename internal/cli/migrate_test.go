package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"remit/internal/cli"
)

// TestAStateIsNotMovedToANameThatIsNoText has a script's arguments be bytes that no script can hold:
// the mark that is left in PostgreSQL says where the state is now, and is text.
func TestAStateIsNotMovedToANameThatIsNoText(t *testing.T) {
	var stderr bytes.Buffer
	args := []string{"state", "migrate", "--chdir=" + t.TempDir(), "--to=remit-\xff.db"}
	code := cli.Run(t.Context(), args, strings.NewReader(""), &bytes.Buffer{}, &stderr, func(string) (string, bool) { return "", false })
	if code != 1 || !strings.Contains(stderr.String(), "--to is not valid UTF-8") {
		t.Errorf("got %d: %s", code, &stderr)
	}
}
