package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a small disk with a server on it.
type Disk struct {
	*Server
	Room
}

// Room is the free space of a small disk.
type Room struct{ dir string }

// ErrNoMount says that this machine lets this user mount nothing.
var ErrNoMount = errors.New("this machine does not let this user mount a disk of its own")

// StartOnDisk starts a server on a disk of its own, of so many MB; both end with the test. It
// skips the test where PostgreSQL is not installed, and where this machine lets nobody mount.
func StartOnDisk(t *testing.T, size int) *Disk {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := mount(dir, size); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := unmount(dir); err != nil {
			t.Error(err)
		}
	})
	for above := dir; above != "/" && above != "."; above = filepath.Dir(above) { // another user's server goes through
		info, err := os.Stat(above)
		if err == nil && info.Mode().Perm()&0o001 == 0 {
			err = os.Chmod(above, info.Mode().Perm()|0o011)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := newIn(bin, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &Disk{s, Room{dir}}
}

// mount puts a disk of so many MB in the place of a directory. The error is [ErrNoMount] where this machine lets this
// user mount nothing.
func mount(dir string, size int) error {
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=755", size), "remit-pgtest", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w %s", ErrNoMount, err, out)
	}
	return nil
}

func unmount(dir string) error {
	if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("unmount: %w %s", err, out)
	}
	return nil
}

func (r Room) filler() string { return filepath.Join(r.dir, "filler") }

// Fill leaves so many bytes free.
func (r Room) Fill(left int64) error {
	var err error
	for range fillsMax {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(r.dir, &fs); err != nil {
			return err
		}
		free := int64(fs.Bavail) * fs.Bsize
		if free < left {
			return fmt.Errorf("%d bytes are free, fewer than %d", free, left)
		}
		var f *os.File
		if f, err = os.OpenFile(r.filler(), os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return err
		}
		err = errors.Join(syscall.Fallocate(int(f.Fd()), 0, 0, free-left), f.Close())
		if !errors.Is(err, syscall.ENOSPC) { // the server took room meanwhile
			return err
		}
	}
	return err
}

// fillsMax is how often Fill tries.
const fillsMax = 20

// Empty gives the room back that Fill took.
func (r Room) Empty() error { return os.Remove(r.filler()) }
