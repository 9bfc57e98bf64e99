package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/exit"
	"remit/internal/files/confined"
	"remit/internal/text/shell"
)

// source is where a command finds its configuration: a directory and assignments to its
// variables.
type source struct {
	dir         string
	sandbox     bool
	practice    bool // approvals are waited for in the sandbox too
	policyDirs  []string
	assignments []config.Assignment
	need        config.Need
	loaded      *config.Configuration // nil until load has read it
}

func (s *source) flags(cmd *cobra.Command) {
	s.configurationFlags(cmd)
	cmd.Flags().BoolVar(&s.sandbox, "sandbox", false, "use the embedded service, with a state of its own: no money moves")
}

// configurationFlags are those that say which configuration is meant.
func (s *source) configurationFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.dir, "chdir", ".", "work in this `directory`")
	flags.StringArrayVar(&s.policyDirs, "policy-dir", nil, "check against the controls of this `directory` as well; may be repeated")
	flags.Var(assignment{&s.assignments, false}, "var", "set a variable, as `NAME=VALUE`; may be repeated")
	flags.Var(assignment{&s.assignments, true}, "var-file", "set variables from a `file`; may be repeated")
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

// load reads the configuration. What its author got wrong is shown, as text or as JSON;
// the error then is only the exit code.
func load(p *process, s *source, asJSON bool) (*config.Configuration, error) {
	if asJSON {
		p.streams.JSON() // what goes wrong is told there too
	}
	if err := s.checkDirectory(); err != nil {
		return nil, err
	}
	p.streams.Begin("reading the configuration")
	defer p.streams.Quiet()
	var loaded *config.Configuration
	var diags hcl.Diagnostics
	if err := exit.OrInterrupted(p.ctx, func() error {
		loaded, diags = config.Load(s.dir, s.options(p))
		return context.Cause(p.ctx) // for which what was found may be no mistake
	}); err != nil {
		return nil, err
	}
	s.loaded, p.streams.Here = loaded, s.here
	if loaded != nil {
		p.streams.Hide(loaded.SensitiveTexts())
		p.streams.Scales = loaded.Scales()
	}
	if err := p.streams.Report(loaded, diags, asJSON); err != nil {
		return nil, err
	}
	return loaded, nil
}

// options say what the configuration is loaded with.
func (s *source) options(p *process) config.Options {
	policyDirs := slices.Clone(s.policyDirs)
	if dir, isSet := p.host.LookupEnv("REMIT_POLICY_DIR"); isSet {
		policyDirs = append(policyDirs, dir) // an empty one is a mistake: a control is not lost to a variable that is missing
	}
	return config.Options{
		PolicyDirs: policyDirs, Assignments: s.assignments, Getenv: p.host.Getenv, Done: p.ctx.Done(), Sandbox: s.sandbox, Need: s.need, Version: p.host.Version, Zone: p.host.Now().Location(),
	}
}

func (s *source) checkDirectory() error {
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		return fmt.Errorf("--chdir=%s is not a directory", s.dir)
	}
	return nil
}

// declared streams the transfers to consume and gathers what is wrong with them. The caller
// looks at the mistakes afterwards.
func declared(ctx context.Context, loaded *config.Configuration, mistakes *mistake.Set) func(func(config.Transfer) bool) {
	return func(yield func(config.Transfer) bool) {
		for transfer, diags := range loaded.Transfers(ctx) {
			mistakes.Add(diags)
			if len(diags) > 0 {
				continue
			}
			if ctx.Err() != nil || !yield(transfer) {
				return
			}
		}
	}
}

// command is a command line that works on the same directory with the same service and
// variables. What was assigned to a sensitive variable is left out: it is shown nowhere.
func (s *source) command(words string) string {
	line := "remit " + words
	if s.sandbox {
		line += " --sandbox"
	}
	for _, a := range s.assignments {
		name, _, _ := strings.Cut(a.Var, "=")
		switch {
		case a.File != "":
			line += " --var-file=" + shell.Word(a.File)
		case s.loaded != nil && s.loaded.Open(name):
			line += " --var=" + shell.Word(a.Var)
		}
	}
	for _, dir := range s.policyDirs {
		line += " --policy-dir=" + shell.Word(dir)
	}
	if s.dir != "." {
		line += " --chdir=" + shell.Word(s.dir)
	}
	return line
}

// here is command for a whole command line.
func (s *source) here(line string) string {
	return s.command(strings.TrimPrefix(line, "remit "))
}

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

// within is where a file is that the command line names: relative to --chdir.
func (s *source) within(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}
