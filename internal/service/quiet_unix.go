//go:build unix

package service

import (
	"errors"
	"net"
	"syscall"
)

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
	err = raw.Read(func(descriptor uintptr) (done bool) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(descriptor), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return quiet && err == nil
}
