package sqlite

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// freeAt is how many bytes this user can still write to the volume of path; unknown where the volume doesn't say.
func freeAt(path string) (bytes int64, known bool) {
	var stat unix.Statfs_t
	if unix.Statfs(path, &stat) != nil {
		return 0, false
	}
	blocks, size := stat.Bavail, uint64(max(stat.Bsize, 1))
	if os.Geteuid() == 0 { // it has a share of its own
		blocks = stat.Bfree
	}
	return int64(min(blocks, math.MaxInt64/size) * size), stat.Blocks > 0
}
