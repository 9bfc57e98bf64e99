package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"remit/internal/view"
)

// How long a command that is told of the end of a run may take. Who interrupted the run waits.
const (
	notifyMax     = 30 * time.Second
	notifyHurried = 5 * time.Second
	notifyGrace   = time.Second // between the end of the command and that of who holds its output
)

// childVariables are all that a command gets of the environment. Secrets reach remit
// in variables, so what is not known to be none is not handed on.
var childVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
	"XDG_RUNTIME_DIR", "CREDENTIALS_DIRECTORY", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "INVOCATION_ID", "NO_PROXY", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// notify runs the command and hands it how the run ended. What it prints goes to standard
// error.
func (a *applying) notify(ctx context.Context, p *process, ended view.Ended) error {
	words, err := a.words()
	if err != nil {
		return err
	}
	longest := notifyMax
	if ctx.Err() != nil {
		longest = notifyHurried
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	var line bytes.Buffer
	if err := view.NewJSON(&line, readVersion().Version).Ended(ended); err != nil {
		return fmt.Errorf("--notify-command: %w", err)
	}
	line = *bytes.NewBufferString(p.withoutSensitive(line.String()))
	cmd := p.child(ctx, words)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &line, beneath(p.stderr), beneath(p.stderr)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("--notify-command: %s was ended after %s", filepath.Base(words[0]), longest)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it ended well; what it left behind in the background has its own life
	case err != nil:
		return fmt.Errorf("--notify-command: %s: %w", filepath.Base(words[0]), err)
	}
	return nil
}

// child is a command without the secrets of the environment. It and all that it started in its
// process group are ended with ctx.
func (p *process) child(ctx context.Context, words []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = p.childEnvironment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all of it can be ended
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = notifyGrace
	return cmd
}

// childEnvironment is what a command gets of the environment: childVariables, and others that are
// named.
func (p *process) childEnvironment(others ...string) []string {
	environment := []string{} // nil would stand for all
	for _, name := range slices.Concat(childVariables, others) {
		if value, isSet := p.lookupEnv(name); isSet {
			environment = append(environment, name+"="+value)
		}
	}
	return environment
}
