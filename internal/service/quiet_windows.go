package service

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// pollReadable asks WSAPoll for bytes to read; that the other side closed is told unasked.
const pollReadable = 0x0100 | 0x0200 // POLLRDNORM | POLLRDBAND

// pollfd is WSAPOLLFD of winsock2.h.
type pollfd struct {
	socket          uintptr
	events, happens int16
}

// isQuiet reports whether there is nothing to read on a connection, without reading it.
func isQuiet(conn net.Conn) bool {
	socket, isSocket := conn.(syscall.Conn)
	if !isSocket {
		return isQuietPipe(conn)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Control(func(descriptor uintptr) {
		asked := pollfd{socket: descriptor, events: pollReadable}
		ready, _, _ := windows.NewLazySystemDLL("ws2_32.dll").NewProc("WSAPoll").Call(uintptr(unsafe.Pointer(&asked)), 1, 0)
		quiet = ready == 0 // SOCKET_ERROR is no 0
	})
	return quiet && err == nil
}
