//go:build unix

package access_test

import (
	"os"
	"path/filepath"
	"testing"

	"remit/internal/files/access"
)

func TestFilesThatOthersMayRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, isOpen := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o660: true, 0o644: true, 0o604: true, 0o601: true, 0o620: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if why := access.Exposed(path); (why != "") != isOpen {
			t.Errorf("%o: %q", mode, why)
		}
	}
	if os.Geteuid() != 0 {
		return // only root can give a file away, as systemd and Kubernetes do
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	for mode, isOpen := range map[os.FileMode]bool{0o440: false, 0o660: true, 0o444: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if why := access.Exposed(path); (why != "") != isOpen {
			t.Errorf("of somebody else, %o: %q", mode, why)
		}
	}
}
