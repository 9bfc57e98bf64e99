package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"remit/config"
	"remit/internal/approval/sshkey"
	"remit/internal/view"
)

// keygenVariables are what ssh-keygen needs of the environment, besides [childVariables], to find a
// security key and to ask a person for its PIN.
var keygenVariables = []string{
	"SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_AUTH_SOCK", "SSH_SK_HELPER", "SSH_SK_PROVIDER", "DISPLAY", "WAYLAND_DISPLAY", "TERM",
}

// keyring is where this process finds keys; flag names one.
func (w *workspace) keyring(flag string) *sshkey.Keyring {
	ring := &sshkey.Keyring{
		Getenv: w.getenv, Dir: w.dir, Flag: flag, Stderr: beneath(w.stderr), Exposed: config.ReadableByOthers,
		Environ: w.childEnvironment(keygenVariables...),
	}
	if w.interactive() {
		ring.Passphrase = w.askPassphrase
	}
	return ring
}

func (p *process) askPassphrase(ctx context.Context, file string) ([]byte, error) {
	terminal, ok := p.stdin.(*os.File)
	if !ok {
		return nil, errors.New("there is no terminal")
	}
	if _, err := fmt.Fprintf(p.stderr, "Passphrase of %s: ", view.Visible(file)); err != nil {
		return nil, err
	}
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return nil, fmt.Errorf("ask for the passphrase: %w", err)
	}
	var passphrase []byte
	err = orInterrupted(ctx, func() (err error) {
		passphrase, err = term.ReadPassword(int(terminal.Fd()))
		return err
	})
	_ = term.Restore(int(terminal.Fd()), before) // an interrupted question leaves it without echo
	_, _ = fmt.Fprintln(p.stderr)
	if err != nil {
		return nil, fmt.Errorf("ask for the passphrase: %w", err)
	}
	return passphrase, nil
}
