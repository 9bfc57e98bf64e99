package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"remit/state"
)

// origin says from which files of which commit the configuration was made, for the plan and
// the journal.
func (w *workspace) origin(ctx context.Context) (state.Origin, error) {
	files, err := w.config.Digests()
	if err != nil {
		return state.Origin{}, fmt.Errorf("tell what the plan was made from: %w", err)
	}
	var o state.Origin
	names := make(map[string]bool, len(files))
	for _, file := range files {
		names[file.Name] = true
		if len(o.Files) < state.OriginFilesMax {
			o.Files = append(o.Files, state.FileDigest(file))
		}
	}
	o.FilesLeftOut = len(files) - len(o.Files)
	o.Commit, o.Modified = commitOf(ctx, w.dir, names)
	return o, nil
}

// commitOf is the git commit that a directory stands at, "" where git knows none, and whether
// that commit has the files of the configuration otherwise than they are, or not at all.
func commitOf(ctx context.Context, dir string, files map[string]bool) (commit string, modified bool) {
	at, err := git(ctx, dir, "rev-parse", "HEAD", "--show-prefix")
	if err != nil {
		return "", false
	}
	commit, prefix, _ := strings.Cut(at, "\n")
	prefix = strings.TrimSuffix(prefix, "\n")
	// Ignored files are asked for as well: a data file that git ignores is in no commit.
	status, err := git(ctx, dir, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored", "--", ".")
	if err != nil {
		return commit, true // nothing shows that the commit has what was read
	}
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) < len("XY f") {
			continue
		}
		name := strings.TrimPrefix(entry[len("XY "):], prefix)
		if files[name] || isConfiguration(name) {
			return commit, true
		}
	}
	return commit, false
}

// isConfiguration reports whether a file that may be gone would be read as configuration.
func isConfiguration(name string) bool {
	if strings.ContainsAny(name, "/") {
		return false
	}
	for _, suffix := range []string{".hcl", ".hcl.json", ".hclvars", ".hclvars.json"} {
		if strings.HasSuffix(name, suffix) && !strings.HasPrefix(name, ".") {
			return true
		}
	}
	return false
}

// git is what git prints. It takes none of the locks that it can do without.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return string(out), err
}
