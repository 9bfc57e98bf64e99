package view_test

import (
	"errors"
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

// A name with a line break in it, which somebody else chose, makes no line that looks like a command.
func TestALineBreakInAWordIsNoSecondCommand(t *testing.T) {
	var out strings.Builder
	hint := "remit plan --target=" + shell.Word("x\n\n    remit apply --auto-approve\n") + "\nremit show"
	if err := view.Error(&out, errors.New("no"), hint, view.Screen{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\n    remit apply") || !strings.Contains(out.String(), "\n    remit show\n") {
		t.Error(out.String())
	}
}
