package sqlite

import (
	"path/filepath"
	"syscall"
)

// SharedFS names the file system of path where several machines use it at once, "" elsewhere, and where that
// can't be found out.
func SharedFS(path string) string { return sharedFS(magicOf(path)) }

// UserFS names the file system of path where a program serves it, or another machine may, such as
// "FUSE"; "" elsewhere, and where that can't be found out. Locks are tried there before a state is
// opened for writing, which says nothing about other machines.
func UserFS(path string) string {
	switch magicOf(path) {
	case 0x65735546:
		return "FUSE"
	case 0x01021997:
		return "9P"
	}
	return ""
}

// magicOf is the type of the file system of path, or else of its directory; 0 is unknown.
func magicOf(path string) uint32 {
	var stat syscall.Statfs_t
	if syscall.Statfs(path, &stat) != nil && syscall.Statfs(filepath.Dir(path), &stat) != nil {
		return 0
	}
	return uint32(stat.Type)
}

// sharedFS names a file system of statfs(2) that several machines use at once.
// SQLite's log needs memory that all who use it share, which no two machines do.
func sharedFS(magic uint32) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "SMB"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x00c36400:
		return "Ceph"
	case 0x0bd00bd0:
		return "Lustre"
	case 0x01161970:
		return "GFS2"
	case 0x7461636f:
		return "OCFS2"
	case 0x47504653:
		return "GPFS"
	}
	return ""
}
