package sqlite

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// SharedFS names the file system of path where several machines use it at once, "" elsewhere, and where that
// can't be found out.
func SharedFS(path string) string {
	switch stat := fileSystem(path); kindOf(stat) {
	case "nfs":
		return "NFS"
	case "smbfs":
		return "SMB"
	case "afpfs":
		return "AFP"
	case "webdav":
		return "WebDAV"
	case "acfs", "xsanfs":
		return "Xsan"
	}
	return ""
}

// UserFS names the file system of path where a program serves it, or another machine may, such as
// "FUSE"; "" elsewhere, and where that can't be found out. Locks are tried there before a state is
// opened for writing, which says nothing about other machines.
func UserFS(path string) string {
	stat := fileSystem(path)
	switch kind := kindOf(stat); {
	case strings.Contains(kind, "fuse"), kind == "fskit":
		return "FUSE"
	case kind != "" && stat.Flags&unix.MNT_LOCAL == 0:
		return kind
	}
	return ""
}

// fileSystem is that of path, or else of its directory; zero is unknown.
func fileSystem(path string) unix.Statfs_t {
	var stat unix.Statfs_t
	if unix.Statfs(path, &stat) != nil && unix.Statfs(filepath.Dir(path), &stat) != nil {
		return unix.Statfs_t{}
	}
	return stat
}

// kindOf is the name of its type (statfs(2)).
func kindOf(stat unix.Statfs_t) string { return unix.ByteSliceToString(stat.Fstypename[:]) }
