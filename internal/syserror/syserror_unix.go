//go:build unix

package syserror

import "syscall"

var (
	noRoom       = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
	readOnly     = []syscall.Errno{syscall.EROFS}
	throughFile  = []syscall.Errno{syscall.ENOTDIR}
	notListening = []syscall.Errno{syscall.ECONNREFUSED}
	cut          = []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE}
	taken        = []syscall.Errno{syscall.EADDRINUSE}
	unread       = []syscall.Errno{syscall.EPIPE}
)
