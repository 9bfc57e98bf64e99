package host

import (
	"cmp"
	"path/filepath"
)

// StateDir is the directory in which programs of this user keep what they have seen: that of a unit of systemd, that of the
// XDG Base Directory Specification, or that of Windows. It is "" where the environment names none. No file under review can
// choose it.
func (h *Host) StateDir() string {
	if dirs := filepath.SplitList(h.Getenv("STATE_DIRECTORY")); len(dirs) > 0 && filepath.IsAbs(dirs[0]) {
		return filepath.Join(dirs[0], "remit")
	}
	home := h.Getenv("HOME")
	if home != "" {
		home = filepath.Join(home, ".local", "state")
	}
	if dir := cmp.Or(h.Getenv("XDG_STATE_HOME"), home, h.Getenv("LOCALAPPDATA")); filepath.IsAbs(dir) {
		return filepath.Join(dir, "remit")
	}
	return ""
}
