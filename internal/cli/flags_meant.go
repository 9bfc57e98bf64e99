package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/internal/cli/exit"
	"remit/internal/text/shell"
	"remit/internal/text/terraform"
)

// fileEndings are the ends of names of files that somebody may hand to a command that takes none.
var fileEndings = []string{".plan", ".csv", ".xlsx", ".xls", ".json", ".jsonl", ".html", ".journal", ".txt", ".db", ".sig", ".hclvars", ".xml", ".md"}

// misplacedWord refuses the one argument of a command that takes none: a directory, or what one of its flags
// takes. Again is the command without it.
func misplacedWord(cmd *cobra.Command, word, again string) error {
	_, noMonth := time.Parse(monthForm, word)
	isFile := slices.Contains(fileEndings, strings.ToLower(filepath.Ext(word)))
	switch {
	case noMonth == nil && lookupFlag(cmd, "month") != nil:
		return exit.WithHint(fmt.Errorf("%s takes no arguments. A month is named by a flag", cmd.CommandPath()), again+" --month="+word)
	case isFile && strings.HasSuffix(word, ".hclvars"):
		return exit.WithHint(fmt.Errorf("%s takes no files. A file of variables is named by a flag", cmd.CommandPath()), again+" --var-file="+shell.Word(word))
	case isFile && lookupFlag(cmd, "out") != nil && strings.HasSuffix(word, ".plan") == (cmd.Name() == "plan") && !strings.HasSuffix(word, ".csv") && !strings.HasSuffix(word, ".xlsx"):
		return exit.WithHint(fmt.Errorf("%s takes no files. Where %s is to be written, name it by a flag", cmd.CommandPath(), word), again+" --out="+shell.Word(word))
	case isFile:
		return exit.WithHint(fmt.Errorf("%s takes no files. It reads the configuration of the directory, whose data blocks name the data files", cmd.CommandPath()), again)
	}
	return exit.WithHint(fmt.Errorf("%s takes no arguments, and %q is one. Where it is a directory, write", cmd.CommandPath(), word), again+" --chdir="+shell.Word(word))
}

// otherWay answers flags that other programs have for something that is a command here; no text for any other.
func otherWay(cmd *cobra.Command, name string) terraform.Answer {
	switch {
	case slices.Contains([]string{"dry-run", "dryrun", "check", "what-if", "whatif", "noop", "n"}, name) && cmd.Name() == "apply":
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": plan shows what an apply would do, and sends nothing", Next: "remit plan"}
	case (name == "force" || name == "f") && cmd.Name() == "apply":
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": apply sends only what its plan and its approvals allow. The plan names what keeps it from being applied, and the flag that accepts it where there is one", Next: "remit plan"}
	case name == "y" && cmd.Name() == "apply":
		return terraform.Answer{Text: "there is no -y. Did you mean \"--auto-approve\"?", Next: "remit apply --auto-approve"}
	}
	return terraform.Answer{}
}

// flagWord is a flag as somebody types it.
func flagWord(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
