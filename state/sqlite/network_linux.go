package sqlite

import (
	"path/filepath"
	"syscall"
)

// magicOf is the type of the file system of path, or else of its directory.
func magicOf(path string) uint32 {
	var stat syscall.Statfs_t
	if syscall.Statfs(path, &stat) != nil && syscall.Statfs(filepath.Dir(path), &stat) != nil {
		return 0
	}
	return uint32(stat.Type)
}
