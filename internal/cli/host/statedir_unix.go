//go:build unix

package host

import (
	"os"
	"syscall"
)

// isStrange reports whether a home is that of another user than root, who runs this program.
func isStrange(home string) bool {
	if os.Geteuid() != 0 {
		return false
	}
	info, err := os.Stat(home)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0
}
