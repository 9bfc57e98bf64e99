package pgtest

import "syscall"

// endingWithUs has the kernel send a signal to a program whose test was killed.
func endingWithUs(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
