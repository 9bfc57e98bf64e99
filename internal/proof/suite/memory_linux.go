package suite

import (
	"os"
	"syscall"
)

// memory is a file system in memory, and memoryMin how many of its bytes have to be free.
const (
	memory    = "/dev/shm"
	memoryMin = 1 << 30
)

// InMemory has the temporary files of a package's tests in memory, where this machine has room there, programs may be
// run from there and TMPDIR names no other place. It is for tests whose subject is no disk: they make and remove so
// many files that a file system is most of what they wait for. A TestMain calls it before all else.
func InMemory() {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &fs) != nil {
		return
	}
	const noExec = 8 // ST_NOEXEC of statvfs(3), as containers mount it
	if fs.Flags&noExec != 0 || fs.Bavail*uint64(fs.Bsize) < memoryMin {
		return
	}
	if mine, err := os.MkdirTemp(memory, ""); err == nil && os.Remove(mine) == nil {
		_ = os.Setenv("TMPDIR", memory) // a name and a text without NUL
	}
}
