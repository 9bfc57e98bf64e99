//go:build unix

package host

import (
	"os"
	"syscall"
)

// apart puts a child into a process group of its own, so that all of it can be ended.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// detached puts a child into a session of its own, away from the terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// endWhole ends a child with its process group.
func endWhole(child *os.Process) error { return syscall.Kill(-child.Pid, syscall.SIGKILL) }
