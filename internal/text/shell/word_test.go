package shell_test

import (
	"os/exec"
	"testing"

	"remit/internal/text/shell"
)

func TestAShellReadsAWordAsItIs(t *testing.T) {
	for _, text := range []string{"", "rent-2026-11", "a b", `it's`, `$HOME`, "*", `"\`, "'", "a;b", "рента", "~", "a\nb", "-x", `transfer.internal.p["E-1"]`} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+shell.Word(text)).Output()
		if text == "-x" { // printf would take it for an option
			out, err = exec.CommandContext(t.Context(), "sh", "-c", "printf %s%s '' "+shell.Word(text)).Output()
		}
		if err != nil || string(out) != text {
			t.Errorf("%q is read as %q (%v)", text, out, err)
		}
	}
	if got := shell.Word("rent-2026-11"); got != "rent-2026-11" {
		t.Errorf("a plain word becomes %s", got)
	}
}
