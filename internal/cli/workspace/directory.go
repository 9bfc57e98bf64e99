package workspace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/files/confined"
	"remit/internal/text/shell"
)

// Directory is the configuration that a command line names: a directory and assignments to its variables.
type Directory struct {
	Path        string
	Sandbox     bool
	Practice    bool // apply waits for approvals in the sandbox too
	PolicyDirs  []string
	Root        string // out of which no include leads, relative to Path unless absolute; "" where the command line names none
	Assignments []config.Assignment
	Need        config.Need
	Unsaved     *confined.Unsaved // texts in the place of files; nil for none
	Memory      *config.Memory    // of the checks of an editor; nil everywhere else
	Environment string            // that the command line names; "" for none
	// OneOfSeveral says that the command reads other directories too, whose variables the environment may be meant for.
	OneOfSeveral bool

	asked  string                // Environment, or what the environment variable names
	loaded *config.Configuration // nil before [Load]
	plain  map[string]bool       // the variables that may be shown; nil while nobody asked before [Load]
}

// Load reads the configuration. It shows the author's mistakes, as text or as JSON; the error is then only an
// exit code.
func Load(ctx context.Context, h *host.Host, streams *terminal.Streams, s *Directory) (*config.Configuration, error) {
	if streams.AsJSON {
		streams.JSON() // errors are told there too
	}
	if err := s.CheckDirectory(); err != nil {
		return nil, err
	}
	loaded, diags, err := s.Read(ctx, h, streams)
	if err != nil {
		return nil, err
	}
	if err := streams.Report(loaded, diags); err != nil {
		return nil, err
	}
	return loaded, nil
}

// Read is [Load] that shows nothing. An error is an interrupt.
func (s *Directory) Read(ctx context.Context, h *host.Host, streams *terminal.Streams) (*config.Configuration, hcl.Diagnostics, error) {
	s.asked = cmp.Or(s.Environment, h.Getenv(config.EnvironmentVariable))
	streams.Begin("reading the configuration")
	defer streams.Quiet()
	var loaded *config.Configuration
	var diags hcl.Diagnostics
	if err := exit.OrInterrupted(ctx, func() error {
		loaded, diags = config.Load(s.Path, s.Options(ctx, h))
		return context.Cause(ctx) // an interrupted load may find mistakes that are none
	}); err != nil {
		return nil, nil, err
	}
	s.loaded, streams.Here = loaded, s.Here
	if loaded != nil {
		streams.Hide(loaded.SensitiveTexts())
		streams.Scales, streams.Protected = loaded.Scales(), loaded.Protected && !s.Sandbox
	}
	return loaded, diags, nil
}

// Options are those with which the configuration is loaded.
func (s *Directory) Options(ctx context.Context, h *host.Host) config.Options {
	policyDirs := slices.Clone(s.PolicyDirs)
	if dir, isSet := h.LookupEnv("REMIT_POLICY_DIR"); isSet {
		policyDirs = append(policyDirs, dir) // an empty one is a mistake: a control is not lost to a variable that is missing
	}
	return config.Options{
		Environment: s.Environment, Root: cmp.Or(s.Root, h.Getenv("REMIT_ROOT")), PolicyDirs: policyDirs, Assignments: s.Assignments, Getenv: h.Getenv, Environ: h.Environ, ElsewhereToo: s.OneOfSeveral, Done: ctx.Done(), Sandbox: s.Sandbox, Need: s.Need, Unsaved: s.Unsaved, Memory: s.Memory, Version: h.Version, Zone: h.Now().Location(),
	}
}

// CheckDirectory refuses a path that is no directory.
func (s *Directory) CheckDirectory() error {
	if info, err := os.Stat(s.Path); err != nil || !info.IsDir() {
		return fmt.Errorf("--chdir=%s: there is no such directory", s.Path)
	}
	return nil
}

// Command is a command line that works on the same directory with the same environment, service and variables. It
// leaves out assignments to sensitive variables.
func (s *Directory) Command(words string) string {
	line := "remit " + words
	if asked := cmp.Or(s.Environment, s.asked); asked != "" {
		line += " --environment=" + shell.Word(asked)
	}
	if s.Sandbox && words != "init" { // the sandbox needs none
		line += " --sandbox"
	}
	for _, a := range s.Assignments {
		name, _, _ := strings.Cut(a.Var, "=")
		switch {
		case a.File != "":
			line += " --var-file=" + shell.Word(a.File)
		case s.isPlain(name):
			line += " --var=" + shell.Word(a.Var)
		}
	}
	for _, dir := range s.PolicyDirs {
		line += " --policy-dir=" + shell.Word(dir)
	}
	if s.Root != "" {
		line += " --root=" + shell.Word(s.Root)
	}
	if s.Path != "." && !strings.Contains(words, " --chdir=") {
		line += " --chdir=" + shell.Word(s.Path)
	}
	return line
}

// isPlain reports whether the value of a variable may be shown. Before the configuration was loaded, its files say so.
func (s *Directory) isPlain(variable string) bool {
	if s.loaded != nil {
		return s.loaded.Open(variable)
	}
	if s.plain == nil {
		s.plain = config.PlainVariables(s.Path)
	}
	return s.plain[variable]
}

// Here is [Directory.Command] for a whole command line.
func (s *Directory) Here(line string) string {
	return s.Command(strings.TrimPrefix(line, "remit "))
}

// Within is the path of a file that the command line names: relative to --chdir.
func (s *Directory) Within(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.Path, name)
}
