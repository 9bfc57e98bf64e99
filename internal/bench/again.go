//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"remit/internal/bench/measure"
)

// copyVariable names the program of a bench that was begun again.
const copyVariable = "BENCH_COPY"

// beginAgain begins this process again from a copy of its program that was read from the disk, see [measure.Cold]: the peak of
// a child begins with that of its parent. In the process that was begun so it returns the copy, which is to be removed.
func beginAgain() (copied string, err error) {
	if copied = os.Getenv(copyVariable); copied != "" {
		return copied, os.Unsetenv(copyVariable) // no child is begun so
	}
	copied, err = copyOfProgram()
	if err == nil {
		err = measure.Cold(copied)
	}
	if err == nil {
		err = syscall.Exec(copied, os.Args, append(os.Environ(), copyVariable+"="+copied))
	}
	return copied, fmt.Errorf("begin the bench again from a copy: %w", err)
}

// copyOfProgram is the path of a copy of the program of this process.
func copyOfProgram() (path string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	from, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer func() { _ = from.Close() }() // only read
	to, err := os.CreateTemp("", "remit-bench-program-")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	return to.Name(), errors.Join(err, to.Chmod(0o700), to.Close())
}
