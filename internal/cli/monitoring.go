package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/view"
	"remit/planner"
)

// monitoring tells others how an apply ended. It does so after the lock is free, and can't change the exit
// code.
type monitoring struct {
	metricsFile   string
	notifyCommand string
	of            *workspace.Directory
	facts         applyFacts
}

func (m *monitoring) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.metricsFile, "metrics-file", "", "write what a monitor wants to know into this `file` at the end, in the Prometheus text format")
	cmd.Flags().StringVar(&m.notifyCommand, "notify-command", "", "run this `command` once at the end, with how the run ended as JSON on its standard input")
}

// check refuses, before anything is done, flags that would tell nobody.
func (m *monitoring) check(cmd *cobra.Command, isRehearsal bool) error {
	for _, name := range []string{"metrics-file", "notify-command"} {
		flag := cmd.Flags().Lookup(name)
		switch {
		case flag.Changed && flag.Value.String() == "":
			return fmt.Errorf("--%s is empty; nothing was sent. Is a variable of the shell not set?", name)
		case flag.Changed && isRehearsal:
			return fmt.Errorf("--%s tells how a run ended, and --rehearse is none", name)
		}
	}
	if _, err := m.words(); err != nil {
		return err
	}
	return nil
}

// words are those of --notify-command, quoted as in a shell; nothing in them is expanded.
func (m *monitoring) words() ([]string, error) {
	words, err := host.SplitWords(m.notifyCommand)
	if err == nil && m.notifyCommand != "" && len(words) == 0 {
		err = errors.New("it has no word")
	}
	if err != nil {
		return nil, fmt.Errorf("--notify-command=%s is not one command: %w; nothing was sent", m.notifyCommand, err)
	}
	return words, nil
}

// applyFacts are known of an apply when it ends, however far it came.
type applyFacts struct {
	runID   string // "" for a command that is no apply
	began   time.Time
	plan    *planner.Plan
	opened  *opened // nil where the configuration could not be read
	summary *executor.Summary
	options view.SummaryOptions // of summary
}

// tellAtEnd has the end of this apply told to all that is asked for.
func (m *monitoring) tellAtEnd(p *process) {
	m.facts.began, m.facts.runID = p.host.Now(), uuid.NewString()
	trace := m.beginTrace(p)
	p.atEnd = func(ctx context.Context, code int) {
		ended := m.ended(p, code)
		logEnd(p, m.facts.runID, ended)
		if m.metricsFile != "" {
			m.warn(p, m.writeMetrics(ctx, ended))
		}
		if m.notifyCommand != "" {
			m.warn(p, m.notify(ctx, p, ended))
		}
		m.warn(p, endTrace(ctx, trace, ended))
	}
}

// warn tells an error that can't be told elsewhere. Nobody reads it where it can't be written.
func (m *monitoring) warn(p *process, err error) {
	if err != nil {
		_ = view.Warning(p.streams.Err, err, p.streams.Screen(p.streams.Err))
	}
}

// ended describes an apply that ended with this code.
func (m *monitoring) ended(p *process, code int) view.Ended {
	e := view.Ended{
		Environment: m.environment(), Sandbox: m.of.Sandbox, Directory: m.directory(), RunID: m.facts.runID,
		Began: m.facts.began.UTC(), Ended: p.host.Now().UTC(), ExitCode: code,
		Summary: m.facts.summary, Options: m.facts.options,
	}
	if e.Summary == nil || e.Summary.RunID == "" {
		e.RunID = "" // the journal knows no such run
	}
	if plan := m.facts.plan; plan != nil && !plan.Applicable() {
		e.Obstacles = plan.Obstacles
	}
	if code != exit.Done && p.streams.Failed != nil {
		e.Error, e.Hint = p.streams.Failed.Error(), p.streams.FailedHint
	}
	return e
}

// environment is the name of it that is known, however little of the configuration could be
// read; "" for none.
func (m *monitoring) environment() string {
	switch {
	case m.of.Sandbox:
		return m.of.SandboxEnvironment()
	case m.facts.opened != nil:
		return m.facts.opened.config.Environment
	}
	return m.of.BoundEnvironment()
}

// directory is the last part of the name of the configuration's directory.
func (m *monitoring) directory() string {
	whole, err := filepath.Abs(m.of.Path)
	if err != nil {
		whole = m.of.Path
	}
	return filepath.Base(whole)
}
