package sqlite

import "golang.org/x/sys/unix"

// The commands of fcntl(2) for locks of open file descriptions.
const (
	setLock = unix.F_OFD_SETLK
	getLock = unix.F_OFD_GETLK
)
