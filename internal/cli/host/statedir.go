package host

import (
	"os/user"
	"path/filepath"
	"slices"
)

// StateDir is a directory in which programs of this user keep what they have seen.
type StateDir struct {
	Base   string // that the environment or the system names
	IsKept bool   // notes are made there; in any other they are only read, and kept up where they are
}

// Path is where remit keeps its own.
func (d StateDir) Path() string { return filepath.Join(d.Base, "remit") }

// StateDirs are those of a unit of systemd, of the XDG Base Directory Specification, of the home that the environment names, of the
// home that the system has for this user, and that of Windows: a shell and a timer of one user need not have the same environment.
// Root keeps nothing in the home of another user, who could not read it. There are none where nothing names one. No file under
// review can choose them.
func (h *Host) StateDirs() []StateDir {
	var all []StateDir
	add := func(isKept bool, base ...string) {
		dir := StateDir{filepath.Join(base...), isKept}
		isThere := slices.ContainsFunc(all, func(other StateDir) bool { return other.Base == dir.Base })
		if base[0] != "" && filepath.IsAbs(dir.Base) && !isThere {
			all = append(all, dir)
		}
	}
	for _, dir := range filepath.SplitList(h.Getenv("STATE_DIRECTORY")) {
		add(true, dir)
	}
	add(true, h.Getenv("XDG_STATE_HOME"))
	home := h.Getenv("HOME")
	isOurs := home != "" && !isStrange(home)
	add(isOurs, home, ".local", "state")
	if account, err := user.Current(); err == nil && h.Environ != nil { // else the environment is one that a test made up
		add(!isOurs && h.Getenv("LOCALAPPDATA") == "", account.HomeDir, ".local", "state")
	}
	add(true, h.Getenv("LOCALAPPDATA"))
	return all
}

// StateDir is the first in which notes are made; "" where there is none.
func (h *Host) StateDir() string {
	for _, dir := range h.StateDirs() {
		if dir.IsKept {
			return dir.Path()
		}
	}
	return ""
}
