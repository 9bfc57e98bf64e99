package cli

import "golang.org/x/sys/windows"

// keepMemory has a crash be reported to no one: Windows would keep a dump of the memory, and that would hold the
// client's secret.
func keepMemory() {
	windows.SetErrorMode(windows.SEM_FAILCRITICALERRORS | windows.SEM_NOGPFAULTERRORBOX | windows.SEM_NOOPENFILEERRORBOX)
}
