// Package exit is how a command ends: the exit code, the error that is shown, and the command that helps.
//
// Its one invariant: code 1 and code 5 mean that nothing was sent.
package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"remit/internal/syserror"
)

// The exit codes: docs/operations.md says what to do after each.
const (
	Done    = 0
	Error   = 1 // nothing was sent
	Changes = 2 // plan --detailed-exitcode
	Partial = 3 // some refused, failed or not attempted; fmt --check: unformatted
	Look    = 4 // a person should look
	Control = 5 // nothing was sent: a control said no
	Signal  = 128
	Unread  = Signal + int(syscall.SIGPIPE) // the reader of the result went away
)

// Code is an error that only sets the exit code, after everything was shown.
type Code int

// Error says the number.
func (c Code) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// hinted is an error with a command that helps, and an exit code of its own.
type hinted struct {
	error
	hint string // a line to type; "" for none
	code int
}

func (h hinted) Unwrap() error { return h.error }

// New gives err a command to type, "" for none, and an exit code.
func New(err error, hint string, code int) error { return hinted{err, hint, code} }

// WithHint gives err a command to type, and the exit code 1.
func WithHint(err error, hint string) error { return hinted{err, hint, Error} }

// WithCode gives err another exit code and keeps its hint. A nil err becomes a [Code].
func WithCode(err error, code int) error {
	var silent Code
	var hint hinted
	switch {
	case err == nil, errors.As(err, &silent):
		return Code(code)
	case !errors.As(err, &hint):
		return hinted{err, "", code}
	}
	hint.code = code
	return hint
}

// End is how a command ended.
type End struct {
	Err  error  // to be shown; nil for nothing to show
	Hint string // a command that helps; "" for none
	Code int
}

// Of tells how a command ended that returned err.
func Of(err error) End {
	var code Code
	var hint hinted
	switch {
	case err == nil:
		return End{Code: Done}
	case errors.As(err, &code):
		return End{Code: int(code)}
	case errors.As(err, &hint):
		return End{hint.error, hint.hint, hint.code}
	case IsUnread(err):
		return End{Code: Unread} // nobody reads a complaint
	}
	return End{err, "", Error}
}

// IsUnread reports whether err says that the reader of standard output went away, or of standard error beside it.
func IsUnread(err error) bool {
	var write *fs.PathError
	if !errors.As(err, &write) || !syserror.IsUnread(write) {
		return false
	}
	return write.Path == os.Stdout.Name() || write.Path == os.Stderr.Name()
}

// Explain shows err as text. [errors.Is] and [errors.As] still find err.
func Explain(err error, text string) error { return &explained{err, text} }

type explained struct {
	error
	text string
}

func (e *explained) Error() string { return e.text }

func (e *explained) Unwrap() error { return e.error }
