package gitfiles

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Tree is what the commit has in a directory, which is relative to the checkout's: names and kinds of files, none of which it opens.
// Links lead to what the commit has at their targets. A directory that the commit does not have is empty.
func (c *Checkout) Tree(dir string) fs.FS { return tree{c, path.Join(c.dir, dir)} }

type tree struct {
	checkout *Checkout
	at       string // of the commit's tree; "" for all of it
}

// Open implements [fs.FS]. It opens nothing.
func (t tree) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}

// ReadDir returns what a directory has, in order of the names.
func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := t.checkout.entries(path.Join(t.at, name))
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	list := make([]fs.DirEntry, 0, len(entries))
	for name, entry := range entries {
		list = append(list, fs.FileInfoToDirEntry(&treeInfo{name, entry}))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Stat returns the name and the kind of a file.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	entry, err := t.checkout.behindLinks(path.Join(t.at, name))
	if err == nil && entry == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return &treeInfo{path.Base(name), *entry}, nil
}

// treeInfo is what a tree says of a file: its name and its kind.
type treeInfo struct {
	name  string
	entry treeEntry
}

func (i *treeInfo) Name() string       { return i.name }
func (i *treeInfo) Size() int64        { return 0 }
func (i *treeInfo) ModTime() time.Time { return time.Time{} }
func (i *treeInfo) IsDir() bool        { return i.entry.isTree() }
func (i *treeInfo) Sys() any           { return nil }

// Mode implements [fs.FileInfo]. A submodule is none of what the commit has files of.
func (i *treeInfo) Mode() fs.FileMode {
	switch {
	case i.entry.isFile():
		return 0o644
	case i.entry.isTree():
		return fs.ModeDir | 0o755
	case i.entry.isLink():
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}
