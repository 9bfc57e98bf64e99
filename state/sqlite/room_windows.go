package sqlite

import (
	"math"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeAt is how many bytes this user can still write to the volume of path; unknown where the volume doesn't say.
func freeAt(path string) (bytes int64, known bool) {
	name, err := windows.UTF16PtrFromString(filepath.Dir(path))
	if err != nil {
		return 0, false
	}
	var free, total uint64
	if windows.GetDiskFreeSpaceEx(name, &free, &total, nil) != nil {
		return 0, false
	}
	return int64(min(free, math.MaxInt64)), total > 0
}
