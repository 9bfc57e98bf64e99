package cli

import (
	"remit/internal/approval/sshkey"
	"remit/internal/cli/terminal"
	"remit/internal/files/access"
)

// keygenVariables are those that ssh-keygen needs, besides those of every child process, to find a
// security key and to ask a person for its PIN.
var keygenVariables = []string{
	"SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_AUTH_SOCK", "SSH_SK_HELPER", "SSH_SK_PROVIDER", "DISPLAY", "WAYLAND_DISPLAY", "TERM",
}

// newKeyring returns the places where this process finds keys; flag names one.
func newKeyring(w *opened, flag string) *sshkey.Keyring {
	ring := &sshkey.Keyring{
		Getenv: w.host.Getenv, Dir: w.dir.Path, Flag: flag, Stderr: terminal.Beneath(w.streams.Err), Exposed: access.Exposed,
		Environ: w.host.Environment(keygenVariables...),
	}
	if w.streams.Interactive() {
		ring.Passphrase = w.streams.AskPassphrase
	}
	return ring
}
