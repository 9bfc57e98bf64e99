package cli

import (
	"fmt"

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
	flags.StringArrayVar(&s.PolicyDirs, "policy-dir", nil, "check against the controls of this `directory` as well; may be repeated")
	flags.Var(assignment{&s.Assignments, false}, "var", "set a variable, as `NAME=VALUE`; may be repeated")
	flags.Var(assignment{&s.Assignments, true}, "var-file", "set variables from a `file`; may be repeated")
}

// assignment is a flag whose order among its kin matters: the last one wins.
type assignment struct {
	all  *[]config.Assignment
	file bool
}

func (a assignment) Set(text string) error {
	next := config.Assignment{Var: text}
	if a.file {
		next = config.Assignment{File: text}
	}
	*a.all = append(*a.all, next)
	return nil
}

func (a assignment) String() string { return "" }

func (a assignment) Type() string { return "string" }

// readNamed reads a file that somebody named to a command that works in dir.
func readNamed(dir, name string, limit int64) ([]byte, error) {
	file, err := confined.OpenNamed(dir, name)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	defer func() { _ = file.Close() }() // only read
	content, err := confined.ReadAtMost(file, limit)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return content, nil
}
