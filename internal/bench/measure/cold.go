//go:build linux

package measure

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Cold drops a program that was just written from the page cache. A linker leaves it there in large pieces, each of which the
// kernel maps whole, and the program then has twice the memory resident that it has of a file read from a disk.
func Cold(program string) error {
	f, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("drop %s from the page cache: %w", program, err)
	}
	err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
	if err != nil {
		return fmt.Errorf("drop %s from the page cache: %w", program, err)
	}
	return nil
}
