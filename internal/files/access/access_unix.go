//go:build unix

package access

import (
	"os"
	"strings"
	"syscall"
)

// Exposed says why a file of secrets is not one person's; "" where it is. Where it
// belongs to somebody else, as what systemd or Kubernetes hands to a service does, a group may
// read it: the service is in it alone.
func Exposed(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "" // who reads it, says why that failed; a pipe is read once
	}
	owner, isKnown := ownerOf(path)
	switch mode := info.Mode().Perm(); {
	case mode&0o007 != 0:
		return "is open to everybody on this machine"
	case mode&0o020 != 0:
		return "can be written by its group"
	case mode&0o040 != 0 && isKnown && owner == os.Geteuid():
		return "can be read by its group"
	}
	return ""
}

// Closing is the command that makes a file its owner's alone; of "", without the file's name.
func Closing(path string) string { return strings.TrimSuffix("chmod 600 "+path, " ") }

// IsTrusted reports whether a file or directory belongs to this process's user, to root, or to whom another
// belongs.
func IsTrusted(path, other string) bool {
	owner, isKnown := ownerOf(path)
	if !isKnown {
		return false
	}
	trusted, isKnown := ownerOf(other)
	return owner == 0 || owner == os.Geteuid() || isKnown && owner == trusted
}

func ownerOf(path string) (int, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(status.Uid), true
}
