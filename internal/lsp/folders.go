package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"remit/internal/files/confined"
)

// folders are what the editor has open, and which of their directories include which, as far as a search has found that.
type folders struct {
	mu        sync.Mutex
	open      []string            // absolute
	includers map[string][]string // the directories that include one
}

func newFolders() *folders { return &folders{includers: map[string][]string{}} }

// add opens a folder by its URI, if it is a directory of this machine.
func (f *folders) add(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if path := pathOf(uri); path != "" && !slices.Contains(f.open, path) {
		f.open = append(f.open, path)
	}
}

// addFirst opens a folder by its path where none is open.
func (f *folders) addFirst(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.open) == 0 {
		f.open = append(f.open, path)
	}
}

func (f *folders) remove(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = slices.DeleteFunc(f.open, func(path string) bool { return path == pathOf(uri) })
}

func (f *folders) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.open)
}

// holding is the folder that has a file: the innermost, "" for none.
func (f *folders) holding(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	best := ""
	for _, folder := range f.open {
		if isBelow(folder, path) && len(folder) > len(best) {
			best = folder
		}
	}
	return best
}

// concerned are the directories that may read a file: its own, those above it in the folder, and those that include its
// own.
func (f *folders) concerned(path string) []string {
	folder := f.holding(path)
	if folder == "" {
		return nil
	}
	var all []string
	for at := filepath.Dir(path); isBelow(folder, at); at = filepath.Dir(at) {
		all = append(all, at)
		if at == folder || at == filepath.Dir(at) {
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, includer := range f.includers[filepath.Dir(path)] {
		if !slices.Contains(all, includer) {
			all = append(all, includer)
		}
	}
	return all
}

// noteInclude notes that a directory includes another one, and reports whether that is news.
func (f *folders) noteInclude(directory, included string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.includers[included], directory) {
		return false
	}
	f.includers[included] = append(f.includers[included], directory)
	return true
}

// included are the directories that a directory includes.
func (f *folders) included(directory string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for included, by := range f.includers {
		if slices.Contains(by, directory) {
			all = append(all, included)
		}
	}
	slices.Sort(all)
	return all
}

// directory opens a directory in or below a folder, for [confined.Directory.Close]; false where it is in none, also by its links, or cannot be
// opened. The unsaved texts stand in the place of their files; nil for none.
func (f *folders) directory(path string, unsaved *confined.Unsaved) (*confined.Directory, bool) {
	folder := f.holding(path)
	if folder == "" || !staysBelow(folder, path) {
		return nil, false
	}
	at, err := confined.OpenDirectory(path, unsaved)
	return at, err == nil
}

// namesIn are the names in a directory; nil where it cannot be read.
func (f *folders) namesIn(directory string) []string {
	at, ok := f.directory(directory, nil)
	if !ok {
		return nil
	}
	defer func() { _ = at.Close() }() // only read
	names, _ := at.Names(".")
	return names
}

// savedBytesMax bounds a file that is compared with a text that was opened.
const savedBytesMax = 64 << 20

// have reports whether the file of a document has its text, whatever mark of byte order and encoding it has: a text that an
// editor shows of a file that is not UTF-8 is not what the file says, and is not read in its place.
func (f *folders) have(d *document) bool {
	folder := f.holding(d.path)
	if folder == "" {
		return false
	}
	content, err := readBelow(folder, d.path, savedBytesMax)
	if err != nil {
		return !os.IsNotExist(err)
	}
	const mark = "\ufeff"
	return !utf8.Valid(content) || strings.TrimPrefix(string(content), mark) == strings.TrimPrefix(d.text, mark)
}

// isBelow reports whether a path is a directory, or in or below it, by its words.
func isBelow(directory, path string) bool {
	below, err := filepath.Rel(directory, path)
	return path != "" && err == nil && filepath.IsLocal(below)
}

// staysBelow reports whether a directory is in a folder when all links are followed as well.
func staysBelow(folder, directory string) bool {
	from, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	to, err := filepath.EvalSymlinks(directory)
	return err == nil && isBelow(from, to)
}

// readBelow reads a file of a folder, and follows no link out of it.
func readBelow(folder, path string, limit int64) ([]byte, error) {
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, err
	}
	directory, err := confined.OpenDirectory(folder, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = directory.Close() }() // only read
	return directory.Read(filepath.ToSlash(name), limit)
}
