package sqlite

// The commands of fcntl(2) for locks of open file descriptions: F_OFD_SETLK and F_OFD_GETLK of sys/fcntl.h. A
// kernel that does not know them makes [descriptor.hasLocks] fail, and then nothing is written.
const (
	setLock = 90
	getLock = 92
)
