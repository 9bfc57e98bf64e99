//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The processors of the pinned programs, of those that this process may use.
const (
	clientCore  = 0 // of remit, and of the floor
	serviceCore = 1
)

// pinned is the command line that runs another one on one processor alone.
func (s *session) pinned(core int, args []string) []string {
	return append([]string{s.self, "pinned", strconv.Itoa(core)}, args...)
}

// needsCores is the need for a processor for each side.
func needsCores(*session) error {
	if cores, err := allowed(); err != nil || len(cores) > serviceCore {
		return err
	}
	return errors.New("there is one processor alone, and each side takes one")
}

// allowed are the processors that this process may use.
func allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("ask for the processors: %w", err)
	}
	var cores []int
	for core := range len(set) * strconv.IntSize {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// runPinned becomes another program, which has one processor alone from its first thread on.
func runPinned(core string, args []string) error {
	n, err := strconv.Atoi(core)
	if err != nil {
		return err
	}
	cores, err := allowed()
	if err != nil {
		return err
	}
	if n >= len(cores) {
		return fmt.Errorf("there is no processor %d", n)
	}
	runtime.LockOSThread() // exec keeps the processors of the thread that calls it
	var set unix.CPUSet
	set.Set(cores[n])
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("take one processor: %w", err)
	}
	return syscall.Exec(args[0], args, os.Environ()) //nolint:gosec // the bench's own command lines
}
