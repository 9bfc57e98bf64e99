//go:build unix && !linux

package pgtest

import "syscall"

func endingWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
