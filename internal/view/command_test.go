package view_test

import (
	"os/exec"
	"strings"
	"testing"

	"remit/internal/text/shell"
	"remit/internal/view"
)

func TestACommandThatIsShownCanBePasted(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not there to read commands")
	}
	for _, refID := range []string{"f\u043eur", "it's \u202e \\ \u05d0", "rent-01", "рента", "a\x1b[2J\nb", "'\u0430c'", "\U0001f4b8 \u200b", "x'\n\n    remit apply --auto-approve\n\n#"} {
		line := view.Command("printf %s " + shell.Word(refID))
		if line != view.Visible(line) || strings.Contains(line, "\n") {
			t.Errorf("%q hides something", line)
		}
		out, err := exec.CommandContext(t.Context(), bash, "-c", line).Output()
		if err != nil || string(out) != refID {
			t.Errorf("%s is read as %q (%v), want %q", line, out, err, refID)
		}
	}
}
