package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/spf13/cobra"

	"remit/config"
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
	at := word
	if !filepath.IsAbs(at) {
		at = filepath.Join(lookupFlag(cmd, "chdir").Value.String(), word)
	}
	isDir := isDirectory(at)
	switch {
	case strings.Contains(cmd.Use, "--out=") && (isFile || isDir):
		if name := outFiles["out"][cmd.Name()]; isDir && name != "" && cmd.CommandPath() != "remit audit export" {
			word = filepath.Join(word, name)
		}
		return exit.WithHint(fmt.Errorf("%s takes no arguments. What it writes is named by a flag", cmd.CommandPath()), again+" --out="+shell.Word(word))
	case noMonth == nil && lookupFlag(cmd, "month") != nil:
		return exit.WithHint(fmt.Errorf("%s takes no arguments. A month is named by a flag", cmd.CommandPath()), again+" --month="+word)
	case isFile && strings.HasSuffix(word, ".hclvars"):
		return exit.WithHint(fmt.Errorf("%s takes no files. A file of variables is named by a flag", cmd.CommandPath()), again+" --var-file="+shell.Word(word))
	case isFile && lookupFlag(cmd, "out") != nil && strings.HasSuffix(word, ".plan") == (cmd.Name() == "plan") && !strings.HasSuffix(word, ".csv") && !strings.HasSuffix(word, ".xlsx"):
		return exit.WithHint(fmt.Errorf("%s takes no files. Where %s is to be written, name it by a flag", cmd.CommandPath(), word), again+" --out="+shell.Word(word))
	case isFile:
		return exit.WithHint(fmt.Errorf("%s takes no files. It reads the configuration of the directory, whose data blocks name the data files", cmd.CommandPath()), again)
	}
	if !isDir {
		return strayWord(cmd, word, again)
	}
	return exit.WithHint(fmt.Errorf("%s takes no arguments, and %q is one. Where it is a directory, write", cmd.CommandPath(), word), againIn(cmd, word))
}

// assignedVar is the variable to which a word such as NAME=VALUE gives a value, for a command that takes them by a flag; "" for none.
func assignedVar(cmd *cobra.Command, word string) string {
	name, _, isAssignment := strings.Cut(word, "=")
	if !isAssignment || !hclsyntax.ValidIdentifier(name) || lookupFlag(cmd, "var") == nil {
		return ""
	}
	return name
}

// unfinishedVar is the last variable that --var names without a value; "" where each has one.
func unfinishedVar(cmd *cobra.Command) string {
	f := lookupFlag(cmd, "var")
	if f == nil {
		return ""
	}
	given := *f.Value.(assignment).all
	if len(given) == 0 || strings.Contains(given[len(given)-1].Var, "=") {
		return ""
	}
	return given[len(given)-1].Var
}

// refuseUnfinishedVar says how the variable gets its value that --var names without one.
func refuseUnfinishedVar(cmd *cobra.Command) error {
	name := unfinishedVar(cmd)
	return exit.WithHint(fmt.Errorf("--var=%s has no value, and another word stands beside it, which may be a secret and is not shown. Write them as one word", name),
		againIn(cmd, "")+" --var="+name+"=VALUE")
}

// isDirectory reports whether there is a directory of a name.
func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// strayWord refuses an argument that is neither a file nor a directory.
func strayWord(cmd *cobra.Command, word, again string) error {
	err := fmt.Errorf("%s takes no arguments, and there is no directory %q", cmd.CommandPath(), word)
	switch first, _, _ := strings.Cut(word, "."); {
	case cmd.Name() == "init" && cmd.Parent() == cmd.Root():
		return exit.WithHint(fmt.Errorf("%w: init works in a directory that exists. Make it first", err), "mkdir "+shell.File(word)+" && "+again+" --chdir="+shell.Word(word))
	case lookupFlag(cmd, "target") != nil && (first == "transfer" || first == "batch"):
		return exit.WithHint(fmt.Errorf("%s takes no arguments. A part of the configuration is named by a flag", cmd.CommandPath()), again+" --target="+shell.Word(word))
	case lookupFlag(cmd, "environment") != nil && environmentNamed(cmd, word) != "":
		return exit.WithHint(fmt.Errorf("%s takes no arguments. An environment is named by a flag", cmd.CommandPath()), again+" --environment="+shell.Word(environmentNamed(cmd, word)))
	case lookupFlag(cmd, "target") != nil:
		return exit.WithHint(fmt.Errorf("%w. A block or a batch alone is planned with --target, such as --target=batch.%s", err, word), cmd.CommandPath()+" --help")
	}
	return exit.WithHint(err, cmd.CommandPath()+" --help")
}

// environmentNamed is the environment of the directory that a word names, in whatever case; "" for none.
func environmentNamed(cmd *cobra.Command, word string) string {
	declared, _ := config.Environments(cmp.Or(lookupFlag(cmd, "chdir").Value.String(), "."), config.Options{}) // the readable ones are offered
	for _, e := range declared {
		if strings.EqualFold(e.Name, word) {
			return e.Name
		}
	}
	return ""
}

// otherWay answers flags that other programs have for something that is a command here; no text for any other.
func otherWay(cmd *cobra.Command, name string) terraform.Answer {
	switch {
	case slices.Contains([]string{"out", "output", "o"}, name) && slices.Contains([]string{"graph", "show", "list", "log", "why", "status", "records"}, cmd.Name()) && (name == "out" || len(formFlags(cmd)) < 2):
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": the result goes to standard output, which the shell sends to a file", Next: cmd.CommandPath() + " >FILE"}
	case slices.Contains([]string{"dry-run", "dryrun", "check", "what-if", "whatif", "noop", "n"}, name) && cmd.Name() == "apply":
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": plan shows what an apply would do, and sends nothing", Next: "remit plan"}
	case slices.Contains([]string{"dry-run", "dryrun", "what-if", "whatif", "noop", "n"}, name) && cmd.Name() == "plan":
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": plan sends nothing, with or without a flag", Next: "remit plan"}
	case slices.Contains([]string{"workspace", "profile", "stage", "env", "e"}, name) && lookupFlag(cmd, "environment") != nil:
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": --environment names the environment", Next: cmd.CommandPath() + " --environment=NAME"}
	case slices.Contains([]string{"yes", "y", "auto-approve", "force"}, name) && cmd.Name() == "approve":
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": an approver says how many transfers the plan has and what they add up to, which shows that somebody looked", Next: "remit approve PLAN --count=NUMBER --total=SUM"}
	case slices.Contains([]string{"user", "as", "email", "identity", "i"}, name) && cmd.Name() == "approve":
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": allowed_signers maps keys to people, and --key names the key", Next: "remit approve PLAN --key=FILE"}
	case (name == "force" || name == "f") && cmd.Name() == "apply":
		return terraform.Answer{Text: "there is no " + flagWord(name) + ": apply sends only what its plan and its approvals allow. The plan names what keeps it from being applied, and the flag that accepts it where there is one", Next: "remit plan"}
	case name == "plan" && cmd.Name() == "console":
		return terraform.Answer{Text: "there is no --plan: console evaluates what the files declare. show reads a saved plan", Next: "remit show PLAN"}
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

// againIn is the command line of a command again, as far as it names a directory, an environment and variables: in another directory where one is named,
// relative to the one on the command line.
func againIn(cmd *cobra.Command, dir string) string {
	from := directoryOf(cmd)
	if dir != "" {
		from.Path = from.Within(dir)
	}
	from.Assignments = slices.DeleteFunc(slices.Clone(from.Assignments), func(a config.Assignment) bool {
		return a.File == "" && !strings.Contains(a.Var, "=") // an unfinished one
	})
	return from.Command(strings.TrimPrefix(cmd.CommandPath(), "remit ") + planFlagsOf(cmd))
}
