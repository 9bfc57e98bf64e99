// Package syserror tells the errors of the operating system apart that remit has an answer to.
//
// Its one invariant: an error that it does not know is none of them.
package syserror

import (
	"errors"
	"slices"
	"syscall"
)

// IsNoRoom reports whether a disk, a quota or a limit of a file's size is full.
func IsNoRoom(err error) bool { return isOneOf(err, noRoom) }

// IsReadOnly reports whether a file system can't be written to by anybody.
func IsReadOnly(err error) bool { return isOneOf(err, readOnly) }

// IsThroughFile reports whether a path leads through a file as if that were a directory.
func IsThroughFile(err error) bool { return isOneOf(err, throughFile) }

// IsNotListening reports whether no server listens where a connection was to go.
func IsNotListening(err error) bool { return isOneOf(err, notListening) }

// IsCut reports whether the other side ended a connection.
func IsCut(err error) bool { return isOneOf(err, cut) }

// IsTaken reports whether a port to listen at is somebody else's.
func IsTaken(err error) bool { return isOneOf(err, taken) }

// IsUnread reports whether the reader of a pipe went away.
func IsUnread(err error) bool { return isOneOf(err, unread) }

func isOneOf(err error, known []syscall.Errno) bool {
	number, is := errors.AsType[syscall.Errno](err)
	return is && slices.Contains(known, number)
}
