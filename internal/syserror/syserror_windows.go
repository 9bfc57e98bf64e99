package syserror

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// The numbers of winerror.h: what package syscall calls ENOSPC on Windows is no number that Windows returns.
var (
	noRoom       = []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED, windows.ERROR_FILE_TOO_LARGE}
	readOnly     = []syscall.Errno{windows.ERROR_WRITE_PROTECT}
	throughFile  = []syscall.Errno{windows.ERROR_DIRECTORY}
	notListening = []syscall.Errno{windows.WSAECONNREFUSED}
	cut          = []syscall.Errno{windows.WSAECONNRESET, windows.WSAECONNABORTED, windows.ERROR_BROKEN_PIPE, windows.ERROR_NETNAME_DELETED}
	taken        = []syscall.Errno{windows.WSAEADDRINUSE, windows.WSAEACCES} // the latter of a range that Windows keeps
	unread       = []syscall.Errno{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA}
)
