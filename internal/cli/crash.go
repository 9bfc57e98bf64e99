package cli

import (
	"runtime/debug"
	"syscall"
)

// coreNone is the size of a core file that Linux takes for none, even where it would hand the core
// to a program (core(5)): a core would hold the client's secret.
const coreNone = 1

// AbortOnCrash has a crash, which is a bug of remit's, end the process by SIGABRT. Go's own way,
// exit code 2, means changes to a reader of the exit code of plan --detailed-exitcode. It is called
// before anything else is begun.
func AbortOnCrash() {
	debug.SetTraceback("crash")
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = min(limit.Max, coreNone)
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // it can always be lowered
	}
}
