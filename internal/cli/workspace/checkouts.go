package workspace

import (
	"slices"
	"strconv"

	"remit/config"
	"remit/internal/files/gitfiles"
	"remit/internal/text/shell"
)

// OtherTree is the directory of another working tree of the same git repository that has the state of a lineage; "" for
// none. Git gives each working tree the lock file, and the state to none.
func (s *Directory) OtherTree(lineage string) string {
	checkout, err := gitfiles.Find(s.Path)
	if err != nil || s.Sandbox || s.loaded == nil {
		return ""
	}
	defer checkout.Close()
	for _, other := range checkout.Others() {
		there := *s
		there.Path = other
		if there.FileOfState(lineage) != "" {
			return other
		}
		if s.loaded.State.Kind != config.StateSQLite {
			continue
		}
		if meta, err := metaAt(there.Within(s.loaded.State.Path)); err == nil && meta.Lineage == lineage {
			return other
		}
	}
	return ""
}

// noteOfClone says that git brings the lock file without the state, where the commit has it; "" where it does not.
func noteOfClone(s *Directory) string {
	checkout, err := gitfiles.Find(s.Path)
	if err != nil {
		return ""
	}
	defer checkout.Close()
	names, err := checkout.Names(".")
	if err != nil || !slices.Contains(names, s.LockName()) {
		return ""
	}
	return "Git brings " + s.LockName() + " to each checkout, and the state to none: where another checkout or machine has it, work there, " +
		"as a second state does not know the payments of the first. "
}

// earlierLock is the nearest commit of which the lock file named a lineage, and the command that shows its changes since;
// "" where none did.
func earlierLock(s *Directory, lineage string) (commit, shown string) {
	checkout, err := gitfiles.Find(s.Path)
	if err != nil {
		return "", ""
	}
	defer checkout.Close()
	commit, err = checkout.Had(s.LockName(), strconv.Quote(lineage))
	if err != nil || commit == "" {
		return "", ""
	}
	shown = "git"
	if s.Path != "." {
		shown += " -C " + shell.Word(s.Path)
	}
	if commit == checkout.Commit {
		return commit, shown + " diff HEAD -- " + shell.Word(s.LockName())
	}
	return commit, shown + " log -p -- " + shell.Word(s.LockName())
}
