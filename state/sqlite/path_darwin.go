package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"

	"remit/state"
)

// checkAlone returns an error wrapped around [state.ErrLinked] where another path leads to the same file. A
// file can't be a mount point of macOS.
func checkAlone(path string) error {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if stat.Nlink > 1 {
		return fmt.Errorf("%s has %d names: %w", path, stat.Nlink, state.ErrLinked)
	}
	return nil
}
