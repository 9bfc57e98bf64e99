package sqlite

import (
	"path/filepath"
	"syscall"
)

// magicOf is the type of the file system that path, or else its directory, stands on.
func magicOf(path string) uint32 {
	var stat syscall.Statfs_t
	if syscall.Statfs(path, &stat) != nil && syscall.Statfs(filepath.Dir(path), &stat) != nil {
		return 0
	}
	return uint32(stat.Type)
}
