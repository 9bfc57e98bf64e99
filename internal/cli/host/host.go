// Package host is the machine that a command runs on: its environment, its clocks, its user and its child
// processes.
//
// Its one invariant: a child process gets no secret of the environment.
package host

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"time"

	"remit/executor"
	"remit/internal/clock/boot"
	"remit/state"
)

// Host is the machine of one command. Every field but Environ is set, but for tests of text.
type Host struct {
	LookupEnv func(string) (string, bool)
	Environ   func() []string // nil where nobody can list the environment
	Now       func() time.Time
	Boot      func() boot.Reading
	Version   string // of remit
}

// Clock is the time of an executor.
func (h *Host) Clock() Clock { return Clock{h.Now, h.Boot} }

// Getenv is the value of an environment variable; "" where it is not set.
func (h *Host) Getenv(name string) string {
	value, _ := h.LookupEnv(name)
	return value
}

// Holder names this process and its user in locks and in the journal.
func (h *Host) Holder(command string) state.Holder {
	name := h.Getenv("USER")
	if account, err := user.Current(); err == nil {
		name = account.Username
	}
	if id := os.Geteuid(); name == "" && id >= 0 { // the machine has no entry for the user, as in a container
		name = strconv.Itoa(id)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return state.Holder{
		Command: command, User: name, Host: host, PID: os.Getpid(),
		Since: h.Now().UTC(), Version: h.Version,
	}
}

// Clocks are the clocks of this machine that nobody can set.
func (h *Host) Clocks() state.Clocks {
	b := h.Boot()
	return state.Clocks{Boot: b.ID, BootMS: b.Up.Milliseconds(), Machine: b.Machine}
}

// Clock tells the time to an executor.
type Clock struct {
	now  func() time.Time
	boot func() boot.Reading
}

// Now tells the time, as the host sets it.
func (c Clock) Now() time.Time { return c.now() }

// Boot tells the time since the machine booted.
func (c Clock) Boot() executor.Boot { return executor.Boot(c.boot()) }

// Sleep waits for d, or until ctx ends, whose cause is then the error.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
