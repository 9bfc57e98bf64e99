// Package gitfiles reads the files of a git repository without starting git.
//
// Its one invariant: it starts no program, follows no link and no setting out of the repository
// but to a working tree that names it back, and what it returns of the repository is hashes and
// names, those of objects held against the hash that git knows each by. A repository's own configuration, hooks, filters and attributes are
// never read. ADR 23 says why.
package gitfiles

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"remit/internal/files/access"
	"remit/internal/files/confined"
)

// Checkout is a directory in the working tree of a repository, at one commit.
type Checkout struct {
	// Commit is the hash of the commit, in hexadecimal.
	Commit string
	// Top is the directory of the working tree that has the .git.
	Top string

	common  string // the directory of the repository
	objects *objects
	dir     string     // of the commit's tree, with slashes; "" for all of it
	top     *treeEntry // of the commit's tree; nil until it is read
}

// ErrNone says that a directory is in no working tree that can be read, or that the working tree
// has no commit yet.
var ErrNone = errors.New("no commit")

// Find returns the checkout that a directory is in: that of the first .git in or above it. It is
// [ErrNone] where there is none, where the .git is not one of a working tree, and where it belongs
// to somebody who is neither this process's user, nor root, nor the directory's owner. The caller
// closes it.
func Find(dir string) (*Checkout, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	for top := dir; ; top = filepath.Dir(top) {
		info, err := os.Lstat(filepath.Join(top, ".git"))
		if err == nil {
			return open(dir, top, info)
		}
		if top == filepath.Dir(top) {
			return nil, ErrNone
		}
	}
}

// open opens the repository of a .git, which info is of.
func open(dir, top string, info os.FileInfo) (*Checkout, error) {
	common, private := filepath.Join(top, ".git"), "."
	switch {
	case info.Mode().IsRegular():
		var err error
		if common, private, err = linked(top); err != nil {
			return nil, err
		}
	case !info.IsDir():
		return nil, fmt.Errorf("%w: .git is neither a directory nor a file", ErrNone)
	}
	if !access.IsTrusted(common, dir) {
		return nil, fmt.Errorf("%w: %s belongs to somebody else", ErrNone, common)
	}
	root, err := os.OpenRoot(common)
	if err != nil {
		return nil, err
	}
	commit, err := head(root, private)
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	below, err := filepath.Rel(top, dir)
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	if below = filepath.ToSlash(below); below == "." {
		below = ""
	}
	return &Checkout{Commit: commit, Top: top, common: common, objects: newObjects(root, len(commit)), dir: below}, nil
}

// Close frees what the checkout holds.
func (c *Checkout) Close() { c.objects.close() }

// linked is the repository that a .git file names, and the directory in it that has HEAD. The
// author of the file could name any directory, so the repository has to agree: a linked working
// tree's names the file, and a submodule's is in the .git above.
func linked(top string) (common, private string, err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = root.Close() }()
	text, err := confined.Read(root, ".git", lineMax)
	if err != nil {
		return "", "", err
	}
	target, isLink := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !isLink {
		return "", "", fmt.Errorf("%w: .git names no repository", ErrNone)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(top, target)
	}
	target = filepath.Clean(target)
	if name := filepath.Base(target); filepath.Base(filepath.Dir(target)) == "worktrees" {
		common := filepath.Dir(filepath.Dir(target))
		if !namesBack(common, path.Join("worktrees", name, "gitdir"), filepath.Join(top, ".git")) {
			return "", "", fmt.Errorf("%w: the repository that .git names has no such working tree", ErrNone)
		}
		return common, path.Join("worktrees", name), nil
	}
	for above := filepath.Dir(top); ; above = filepath.Dir(above) {
		modules := filepath.Join(above, ".git", "modules")
		if below, err := filepath.Rel(modules, target); err == nil && filepath.IsLocal(below) && below != "." {
			physical, err := filepath.EvalSymlinks(target)
			if err != nil || physical != target {
				return "", "", fmt.Errorf("%w: .git names a link", ErrNone)
			}
			return target, ".", nil
		}
		if above == filepath.Dir(above) {
			return "", "", fmt.Errorf("%w: .git names a repository elsewhere", ErrNone)
		}
	}
}

// namesBack reports whether a file of a repository holds the path want.
func namesBack(repository, file, want string) bool {
	root, err := os.OpenRoot(repository)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	text, err := confined.Read(root, file, lineMax)
	if err != nil {
		return false
	}
	back := strings.TrimRight(string(text), "\r\n")
	if !filepath.IsAbs(back) { // extensions.relativeWorktrees
		back = filepath.Join(repository, filepath.Dir(file), back)
	}
	physical, err := filepath.EvalSymlinks(filepath.Dir(back))
	return err == nil && filepath.Join(physical, filepath.Base(back)) == want
}

// NewBlob returns the hash by which git names a file's content of that many bytes. The sum of the bytes that
// are written to it is compared with [Checkout.Blob].
func (c *Checkout) NewBlob(size int64) hash.Hash { return c.objects.newHash("blob", size) }

// Blob returns the hash of the content that the commit has for a file of the directory, through
// links that the commit has; nil where the commit has no such file. An error says that the
// repository lacks the object, or that it is damaged.
func (c *Checkout) Blob(name string) ([]byte, error) {
	entry, err := c.behindLinks(path.Join(c.dir, name))
	if err != nil || entry == nil || !entry.isFile() {
		return nil, err
	}
	return entry.id, nil
}

// linksMax is how many links lead from a name to an entry at most.
const linksMax = 10

// behindLinks is the entry of the commit at a path, through links that the commit has; nil where it has none.
func (c *Checkout) behindLinks(at string) (*treeEntry, error) {
	for range linksMax {
		if at == "." {
			return c.root()
		}
		entry, rest, err := c.walk(at)
		switch {
		case err != nil || entry == nil:
			return nil, err
		case !entry.isLink() && rest == "":
			return entry, nil
		case !entry.isLink():
			return nil, nil
		}
		target, err := c.objects.read(entry.id, "blob")
		if err != nil {
			return nil, err
		}
		link := strings.TrimSuffix(strings.TrimSuffix(at, rest), "/")
		at = path.Join(path.Dir(link), string(target), rest)
		if path.IsAbs(string(target)) || at == ".." || strings.HasPrefix(at, "../") {
			return nil, nil
		}
	}
	return nil, nil
}

// Names returns the names of files that the commit has in a directory itself, links among them. The
// directory is relative to the checkout's; "." is that one.
func (c *Checkout) Names(dir string) ([]string, error) {
	entries, err := c.entries(path.Join(c.dir, dir))
	if err != nil {
		return nil, err
	}
	var names []string
	for name, entry := range entries {
		if entry.isFile() || entry.isLink() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// entries are those of the commit's directory at a path, through links that the commit has; none where it has no such directory.
func (c *Checkout) entries(at string) (map[string]treeEntry, error) {
	entry, err := c.behindLinks(at)
	if err != nil || entry == nil || !entry.isTree() {
		return nil, err
	}
	return c.objects.tree(entry.id)
}

// walk is the entry of the commit at a path, or the first entry on the way that is not a tree, with
// the rest of the path behind it. It is nil where the commit has none.
func (c *Checkout) walk(at string) (entry *treeEntry, rest string, err error) {
	entry, err = c.root()
	for rest = at; err == nil && rest != "" && entry.isTree(); {
		var entries map[string]treeEntry
		if entries, err = c.objects.tree(entry.id); err != nil {
			break
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next, isThere := entries[name]
		if !isThere {
			return nil, rest, nil
		}
		entry = &next
	}
	return entry, rest, err
}

// root is the tree of the commit.
func (c *Checkout) root() (*treeEntry, error) {
	if c.top != nil {
		return c.top, nil
	}
	commit, err := c.commit()
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(commit, []byte("\n"))
	name, isTree := bytes.CutPrefix(line, []byte("tree "))
	if !isTree || len(name) != len(c.Commit) {
		return nil, errors.New("the commit names no tree")
	}
	id, err := parseID(string(name))
	if err != nil {
		return nil, err
	}
	c.top = &treeEntry{mode: treeMode, id: id}
	return c.top, nil
}

// commit is the text of the commit.
func (c *Checkout) commit() ([]byte, error) {
	id, err := parseID(c.Commit)
	if err != nil {
		return nil, err
	}
	return c.objects.read(id, "commit")
}
