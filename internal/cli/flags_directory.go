package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/workspace"
	"remit/internal/files/confined"
)

func directoryFlags(s *workspace.Directory, cmd *cobra.Command) {
	configurationFlags(s, cmd)
	cmd.Flags().BoolVar(&s.Sandbox, "sandbox", false, "use the embedded service, with a state of its own: no money moves")
}

// practiceFlag is the flag with which approvals count in the sandbox too.
func practiceFlag(s *workspace.Directory, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.Practice, "practice-approvals", false, "with --sandbox: wait for approvals as if money moved")
}

// configurationFlags are those that say which configuration is meant.
func configurationFlags(s *workspace.Directory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.Path, "chdir", ".", "work in this `directory`")
	flags.Var(&environmentName{&s.Environment}, "environment", "work on this `environment`, where the directory declares several")
	flags.StringArrayVar(&s.PolicyDirs, "policy-dir", nil, "check against the controls of this `directory` as well; may be repeated")
	flags.StringVar(&s.Root, "root", "", "read included directories below this `directory` only")
	flags.Var(assignment{&s.Assignments, false}, "var", "set a variable, as `NAME=VALUE`; may be repeated")
	flags.Var(assignment{&s.Assignments, true}, "var-file", "set variables from a `file`; may be repeated")
}

// environmentName is the flag that chooses an environment, a value of pflag. An empty name would leave the choice to a variable.
type environmentName struct{ name *string }

// Set takes a name. It refuses an empty one.
func (e *environmentName) Set(text string) error {
	if text == "" {
		return errEmpty
	}
	*e.name = text
	return nil
}

func (e *environmentName) String() string { return "" }

// Type is the word of the usage text.
func (e *environmentName) Type() string { return "string" }

var errEmpty = errors.New("the flag is empty")

// assignment is a flag whose order among its kin matters: the last one wins.
type assignment struct {
	all  *[]config.Assignment
	file bool
}

// Set appends an assignment behind those of earlier flags. Its text is checked with the configuration; it refuses only an empty file.
func (a assignment) Set(text string) error {
	next := config.Assignment{Var: text}
	if a.file {
		if text == "" {
			return errEmpty
		}
		next = config.Assignment{File: text}
	}
	*a.all = append(*a.all, next)
	return nil
}

func (a assignment) String() string { return "" }

// Type is the word of the usage text.
func (a assignment) Type() string { return "string" }

// valueFlags are those of [configurationFlags] that take a value.
var valueFlags = []string{"chdir", "var", "var-file", "policy-dir", "environment", "root"}

// joinLeading joins flags before the command's name with their values: -chdir DIR becomes -chdir=DIR. Otherwise
// the value would be taken for the name of the command.
func joinLeading(args []string) []string {
	var joined []string
	for len(args) > 2 && strings.HasPrefix(args[0], "-") {
		if strings.Contains(args[0], "=") || !slices.Contains(valueFlags, flagName(args[0])) {
			joined, args = append(joined, args[0]), args[1:]
			continue
		}
		joined, args = append(joined, args[0]+"="+args[1]), args[2:]
	}
	return append(joined, args...)
}

// keptFlags gives a command line that remit advises the flags of the typed one that say which directory and
// which service are meant, and which part is planned, where the advised command has them: without --sandbox or
// --target it could move money. It returns "" where one of them cannot be read.
func (p *process) keptFlags(root *cobra.Command, next string) string {
	variables, rest, isRemit := strings.Cut(next, "remit ")
	isOther := func(word string) bool { return !strings.Contains(word, "=") }
	if !isRemit || slices.ContainsFunc(strings.Fields(variables), isOther) {
		return next // of another program
	}
	advised, _, err := root.Find(strings.Fields(rest))
	if err != nil || lookupFlag(advised, "chdir") == nil {
		return next
	}
	next = "remit " + rest
	dir, planned, typed := workspace.Directory{}, controlFlags{}, &cobra.Command{}
	directoryFlags(&dir, typed)
	planned.declare(typed)
	typed.Flags().ParseErrorsAllowlist.UnknownFlags = true
	long := slices.Clone(p.typed)
	for i, word := range long {
		if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && len(word) > 2 {
			long[i] = "-" + word
		}
	}
	if err := typed.Flags().Parse(long); err != nil {
		return ""
	}
	dir.Sandbox = dir.Sandbox && lookupFlag(advised, "sandbox") != nil
	if isOfPlan := advised.Name() == "plan" || advised.Name() == "apply"; isOfPlan && !strings.Contains(next, " --recursive") {
		if len(planned.targets) > 0 {
			next = strings.TrimSuffix(next, flagAsTyped(advised, "target"))
		}
		next += planned.typed()
	}
	if advised.Name() == "apply" && p.narrows(typed, next) {
		return ""
	}
	return variables + dir.Here(next)
}

// narrows reports whether the typed apply is of a saved plan, or has a flag that keeps it from sending something and that next lacks.
// typed has the flags that are kept; the values of others are taken for a plan.
func (p *process) narrows(typed *cobra.Command, next string) bool {
	isValue := false
	for i, word := range p.typed {
		switch name := flagName(word); {
		case strings.HasPrefix(word, "-"):
			if slices.Contains([]string{"rehearse", "declared", "on-refusal", "plan-digest", "join"}, name) && !strings.Contains(next, "--"+name) {
				return true
			}
			flag := typed.Flags().Lookup(name)
			isValue = flag != nil && flag.NoOptDefVal == "" && !strings.Contains(word, "=")
		case i > 0 && !isValue: // the first is the command
			return true
		default:
			isValue = false
		}
	}
	return false
}

// readNamed reads a file that somebody named to a command that works in dir.
func readNamed(dir, name string, limit int64) ([]byte, error) {
	file, err := confined.OpenNamed(dir, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil: // says what the file is
		return nil, fmt.Errorf("%s %w", name, err)
	}
	defer func() { _ = file.Close() }() // only read
	content, err := confined.ReadAtMost(file, limit)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return content, nil
}

// directoryOf is the directory of a command, as far as its command line has been typed.
func directoryOf(cmd *cobra.Command) workspace.Directory {
	from := workspace.Directory{Path: ".", Need: config.NeedState}
	flags := cmd.Flags()
	if dir, err := flags.GetString("chdir"); err == nil {
		from.Path = dir
	}
	if flag := flags.Lookup("environment"); flag != nil {
		if named, ok := flag.Value.(*environmentName); ok {
			from.Environment = *named.name
		}
	}
	from.Sandbox, _ = flags.GetBool("sandbox") // false where there is none
	if dirs, err := flags.GetStringArray("policy-dir"); err == nil {
		from.PolicyDirs = dirs
	}
	from.Root, _ = flags.GetString("root") // "" where there is none
	if flag := flags.Lookup("var"); flag != nil {
		if assigned, ok := flag.Value.(assignment); ok {
			from.Assignments = *assigned.all
		}
	}
	return from
}
