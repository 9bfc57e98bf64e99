package host

import (
	"context"
	"os/exec"
	"slices"
	"time"
)

// childGrace is how long a process that holds a child's output may outlive it.
const childGrace = time.Second

// childVariables are the variables that every child process gets. Secrets reach remit in variables, so
// a variable that may be a secret is not handed on.
var childVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
	"XDG_RUNTIME_DIR", "CREDENTIALS_DIRECTORY", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "INVOCATION_ID", "NO_PROXY", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
	// Of Windows, where programs don't start without some of them.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA",
}

// Command is a child process without the secrets of the environment. The end of ctx kills it with the processes
// that it started.
func (h *Host) Command(ctx context.Context, words []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = h.Environment()
	cmd.SysProcAttr = apart()
	cmd.Cancel = func() error { return endWhole(cmd.Process) }
	cmd.WaitDelay = childGrace
	return cmd
}

// Environment is the environment of a child process: childVariables, and the others.
func (h *Host) Environment(others ...string) []string {
	environment := []string{} // nil would mean all
	for _, name := range slices.Concat(childVariables, others) {
		if value, isSet := h.LookupEnv(name); isSet {
			environment = append(environment, name+"="+value)
		}
	}
	return environment
}
