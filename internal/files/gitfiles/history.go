package gitfiles

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"remit/internal/files/confined"
)

// Bounds of the search beside the commit and the working tree of a checkout.
const (
	commitsMax = 1000
	treesOfMax = 1000 // working trees of a repository
)

// Had returns the nearest commit, of the checkout's and up to a thousand that led to it, in which a file of the directory had a
// text; "" for none. Commits that the repository does not hold, as in a shallow clone, are passed over.
func (c *Checkout) Had(name, text string) (commit string, err error) {
	queue, seen := []string{c.Commit}, map[string]bool{c.Commit: true}
	has := map[string]bool{} // by the hash of the content
	for n := 0; n < len(queue) && n < commitsMax; n++ {
		at := Checkout{Commit: queue[n], objects: c.objects, dir: c.dir}
		blob, parents, err := at.blobAndParents(name)
		switch {
		case isAbsent(err):
			continue
		case err != nil:
			return "", err
		}
		if _, isKnown := has[string(blob)]; blob != nil && !isKnown {
			content, err := c.objects.read(blob, "blob")
			if err != nil && !isAbsent(err) {
				return "", err
			}
			has[string(blob)] = bytes.Contains(content, []byte(text))
		}
		if has[string(blob)] {
			return queue[n], nil
		}
		for _, parent := range parents {
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
	}
	return "", nil
}

func isAbsent(err error) bool { return errors.Is(err, ErrAbsent) || errors.Is(err, fs.ErrNotExist) }

// blobAndParents are the hash of a file's content in the commit, nil for no such file, and the commits before.
func (c *Checkout) blobAndParents(name string) (blob []byte, parents []string, err error) {
	commit, err := c.commit()
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(commit)) {
		parent, isParent := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "parent ")
		if _, err := parseID(parent); isParent && err == nil {
			parents = append(parents, parent)
		}
		if line == "\n" { // its message follows
			break
		}
	}
	blob, err = c.Blob(name)
	return blob, parents, err
}

// Others are the directories that stand where the checkout's does in the other working trees of its repository: that with the
// repository itself, and those that git worktree added. Each has named the repository as its own.
func (c *Checkout) Others() []string {
	tops := c.linkedTrees()
	if filepath.Base(c.common) == ".git" {
		tops = append(tops, filepath.Dir(c.common))
	}
	var others []string
	for _, top := range tops {
		dir := filepath.Join(top, filepath.FromSlash(c.dir))
		if info, err := os.Stat(dir); top != c.Top && err == nil && info.IsDir() {
			others = append(others, dir)
		}
	}
	slices.Sort(others)
	return slices.Compact(others)
}

// linkedTrees are the working trees that a repository lists and that name it back.
func (c *Checkout) linkedTrees() []string {
	list, err := c.objects.root.Open("worktrees")
	if err != nil {
		return nil
	}
	names, _ := list.Readdirnames(treesOfMax) // those that were read count
	_ = list.Close()
	var tops []string
	for _, name := range names {
		text, err := confined.Read(c.objects.root, path.Join("worktrees", name, "gitdir"), lineMax)
		at := filepath.FromSlash(strings.TrimRight(string(text), "\r\n"))
		if err != nil || at == "" {
			continue
		}
		if !filepath.IsAbs(at) { // extensions.relativeWorktrees
			at = filepath.Join(c.common, "worktrees", name, at)
		}
		top, err := filepath.EvalSymlinks(filepath.Dir(at))
		if err != nil {
			continue
		}
		if common, private, err := linked(top); err == nil && common == c.common && private == path.Join("worktrees", name) {
			tops = append(tops, top)
		}
	}
	return tops
}
