package sqlite

import (
	"fmt"

	"golang.org/x/sys/windows"

	"remit/state"
)

// checkAlone returns an error wrapped around [state.ErrLinked] where another path leads to the same file. A
// volume is mounted at a directory, never at a file.
func checkAlone(path string) error {
	info, err := infoAt(path, windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if info.NumberOfLinks > 1 {
		return fmt.Errorf("%s has %d names: %w", path, info.NumberOfLinks, state.ErrLinked)
	}
	return nil
}
