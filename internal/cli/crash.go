package cli

import "runtime/debug"

// AbortOnCrash has a crash, which is a bug of remit's, end the process as one: by SIGABRT, or by an exception of
// Windows. Go's own way, exit code 2, means changes to a reader of the exit code of plan --detailed-exitcode.
// It is called before anything else is begun.
func AbortOnCrash() {
	debug.SetTraceback("crash")
	keepMemory()
}
