package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"remit/state"
)

// checkAlone returns an error wrapped around [state.ErrLinked] or [state.ErrMounted] where another
// path leads to the same file.
func checkAlone(path string) error {
	var stat unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_NLINK, &stat); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	isMounted := stat.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
	if stat.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT == 0 { // before Linux 5.8
		isMounted = isMountPoint(path)
	}
	switch {
	case isMounted:
		return fmt.Errorf("%s: %w", path, state.ErrMounted)
	case stat.Nlink > 1:
		return fmt.Errorf("%s has %d names: %w", path, stat.Nlink, state.ErrLinked)
	}
	return nil
}

// isMountPoint looks for path among the mounts of this process (proc(5)). An unreadable line is not
// taken for one.
func isMountPoint(path string) bool {
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	defer mounts.Close()
	escaped := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(path)
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 4 && fields[4] == escaped {
			return true
		}
	}
	return false
}
