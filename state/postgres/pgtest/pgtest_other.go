//go:build !linux

package pgtest

import "syscall"

func endingWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
