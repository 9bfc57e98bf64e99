package sqlite_test

import (
	"path/filepath"
	"testing"

	"remit/state/sqlite"
)

func TestNetworkFileSystemsAreKnown(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x7461636f: "OCFS2",
		0xef53: "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x65735546: "", 0: "", // ext4, XFS, Btrfs, tmpfs, FUSE, unknown
	} {
		if got := sqlite.SharedMagic(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	if got := sqlite.UserFS(filepath.Join(t.TempDir(), "remit.db")); got != "" {
		t.Skipf("the directory of the tests is on %s", got)
	}
}
