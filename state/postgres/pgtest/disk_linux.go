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
	dir string
}

// StartOnDisk starts a server on a disk of its own, of so many MB; both end with the test. It
// skips the test where PostgreSQL is not installed, and where this machine lets nobody mount.
func StartOnDisk(t *testing.T, size int) *Disk {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=755", size), "remit-pgtest", dir).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let this user mount a disk of its own: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v %s", err, out)
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
	return &Disk{Server: s, dir: dir}
}

func (d *Disk) filler() string { return filepath.Join(d.dir, "filler") }

// Fill leaves so many bytes free.
func (d *Disk) Fill(left int64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &fs); err != nil {
		return err
	}
	free := int64(fs.Bavail) * fs.Bsize
	if free < left {
		return fmt.Errorf("%d bytes are free, fewer than %d", free, left)
	}
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Fallocate(int(f.Fd()), 0, 0, free-left), f.Close())
}

// Empty gives the room back that Fill took.
func (d *Disk) Empty() error { return os.Remove(d.filler()) }
