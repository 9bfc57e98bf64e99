package functions

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// Search is what fileset or fileexists looked for by name, and found.
type Search struct {
	Path    string   // the directory of fileset, or the file of fileexists
	Pattern string   // of fileset; "" of fileexists
	Found   []string // below that directory, or the name of that file in its own
}

// Agrees reports whether the search finds the same in other directories, which of gives by their names.
func (s Search) Agrees(of func(dir string) fs.FS) (bool, error) {
	var files fs.FS
	var names []string
	var err error
	if s.Pattern == "" {
		files, names = of(path.Dir(s.Path)), []string{path.Base(s.Path)}
	} else {
		files = of(s.Path)
		names, err = glob(files, s.Pattern)
	}
	var found []string
	for _, name := range names {
		info, failed := fs.Stat(files, name)
		switch {
		case failed == nil && info.Mode().IsRegular():
			found = append(found, name)
		case failed != nil && !errors.Is(failed, fs.ErrNotExist):
			err = failed
		}
	}
	return err == nil && slices.Equal(ordered(found), ordered(s.Found)), err
}

// ordered are names in their order, each once.
func ordered(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// glob are the files, directories and links whose names match a pattern. It does not look into directories behind links.
func glob(files fs.FS, pattern string) ([]string, error) {
	return doublestar.Glob(files, path.Clean(pattern), doublestar.WithFailOnIOErrors(), doublestar.WithNoFollow())
}
