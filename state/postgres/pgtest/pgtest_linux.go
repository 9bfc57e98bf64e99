package pgtest

import "syscall"

// endingWithUs has the kernel stop a server whose test was killed.
func endingWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
}
