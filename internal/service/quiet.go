package service

import (
	"errors"
	"net"
	"time"
)

// isQuietPipe is isQuiet for a [net.Pipe], which sees its end before its deadline.
func isQuietPipe(conn net.Conn) bool {
	var b [1]byte
	if conn.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	_, err := conn.Read(b[:])
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() && conn.SetReadDeadline(time.Time{}) == nil
}
