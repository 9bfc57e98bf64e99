package sqlite

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

// sharedFS names a file system of statfs(2) that several machines use at once; 0 is unknown.
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
