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

func TestAnArgumentThatBeginsWithAHyphenIsTheLastOfItsLine(t *testing.T) {
	for line, want := range map[string]string{
		"remit resolve " + shell.Word("--help") + ` --reason "it's gone" --sandbox`: `remit resolve --reason "it's gone" --sandbox -- --help`,
		"remit why " + shell.Word("-q 1's") + " --sandbox":                          `remit why --sandbox -- '-q 1'\''s'`,
		"remit show $'-a\\'b \\u00e9' --json":                                       "remit show --json -- $'-a\\'b \\u00e9'",
		"remit show " + shell.File("-q.plan") + " --json":                           "remit show ./-q.plan --json",
		"remit why rent --reason='-x' --var='a=-b c'":                               "remit why rent --reason='-x' --var='a=-b c'",
		"remit why -- " + shell.Word("--help"):                                      "remit why -- '--help'",
		"mkdir " + shell.File("-x") + " && remit init --chdir=" + shell.Word("-x"):  "mkdir ./-x && remit init --chdir='-x'",
		"remit " + shell.Typed("--reason=a b") + " " + shell.Typed("-y"):            "remit --reason='a b' -y",
		"remit import -": "remit import -",
		"remit open '-x": "remit open '-x",
	} {
		if got := shell.Line(line); got != want {
			t.Errorf("%s\nis  %s\nnot %s", line, got, want)
		}
	}
}
