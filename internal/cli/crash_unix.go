//go:build unix

package cli

import "syscall"

// coreNone is the size of a core file that Linux takes for none, even where it would hand the core
// to a program (core(5)).
const coreNone = 1

// keepMemory has a crash leave no core, which would hold the client's secret.
func keepMemory() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = min(limit.Max, coreNone)
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // it can always be lowered
	}
}
