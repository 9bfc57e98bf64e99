//go:build unix && !linux

package pgtest

import "syscall"

func endingWithUs(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
