package sqlite

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// SharedFS names the file system of path where several machines use it at once, "" elsewhere, and where that
// can't be found out.
func SharedFS(path string) string {
	const lengthMax = windows.MAX_PATH + 1
	volume := filepath.VolumeName(path)
	if strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(volume, `\\?\`) && !strings.HasPrefix(volume, `\\.\`) ||
		strings.HasPrefix(strings.ToUpper(volume), `\\?\UNC\`) {
		return "SMB"
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return ""
	}
	var root [lengthMax]uint16
	if windows.GetVolumePathName(name, &root[0], lengthMax) == nil && windows.GetDriveType(&root[0]) == windows.DRIVE_REMOTE {
		return "SMB"
	}
	return ""
}

// UserFS names the file system of path where a program serves it, "" elsewhere, and where that can't be found
// out. Windows shows such a file system by a name of its own.
func UserFS(path string) string {
	const lengthMax = windows.MAX_PATH + 1
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return ""
	}
	var root, kind [lengthMax]uint16
	if windows.GetVolumePathName(name, &root[0], lengthMax) != nil ||
		windows.GetVolumeInformation(&root[0], nil, 0, nil, nil, nil, &kind[0], lengthMax) != nil {
		return ""
	}
	switch text := windows.UTF16ToString(kind[:]); strings.ToUpper(text) {
	case "", "NTFS", "REFS", "FAT", "FAT32", "EXFAT", "UDF", "CDFS":
		return ""
	default:
		return text
	}
}
