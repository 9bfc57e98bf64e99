package sqlite

// NetworkFS names the network or user-space file system that path stands on, such as "NFS";
// "" where it stands on none of those, or where that can't be found out. SQLite's locks and
// its write-ahead log need a file system of this machine: on others two runs may hold a lock
// at once, and what was acknowledged may be lost.
func NetworkFS(path string) string { return networkName(magicOf(path)) }

// networkName names the file systems of statfs(2) that are not of this machine; 0 is unknown.
func networkName(magic uint32) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "SMB"
	case 0x65735546:
		return "FUSE"
	case 0x01021997:
		return "9P"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x00c36400:
		return "Ceph"
	case 0x0bd00bd0:
		return "Lustre"
	}
	return ""
}
