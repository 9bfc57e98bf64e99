package lsp

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"remit/config"
)

// directoriesMax bounds the directories of a folder in which the server looks for configurations that include others.
const directoriesMax = 5000

// search finds in the background which directories of the folders include which: a file of an address book is checked as part of
// the configurations that use it.
type search struct {
	ctx       context.Context
	folders   *folders
	documents *documents
	checks    *checks
	running   sync.WaitGroup
}

// begin goes through the folders that are open now.
func (s *search) begin() {
	folders := s.folders.all()
	s.running.Go(func() {
		for _, folder := range folders {
			s.in(s.ctx, folder)
		}
	})
}

func (s *search) in(ctx context.Context, folder string) {
	count := 0
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error { // what cannot be read is left out
		if ctx.Err() != nil || count >= directoriesMax {
			return filepath.SkipAll
		}
		if err != nil || !entry.IsDir() {
			return nil
		}
		if name := entry.Name(); path != folder && (strings.HasPrefix(name, ".") || name == "node_modules") {
			return filepath.SkipDir
		}
		count++
		s.noteIncludes(folder, path)
		return nil
	})
}

// noteIncludes notes which directories a configuration includes, and checks it where one of their files is open.
func (s *search) noteIncludes(folder, directory string) {
	if !mayInclude(folder, directory) {
		return
	}
	names, _ := config.Includes(directory)
	for _, name := range names {
		included := filepath.Join(directory, filepath.FromSlash(name))
		if isBelow(folder, included) && s.folders.noteInclude(directory, included) && s.documents.firstIn(included) != "" {
			s.checks.begin(directory)
		}
	}
}

// mayInclude reports whether a source of a directory has the word.
func mayInclude(folder, directory string) bool {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if !config.IsSource(entry.Name()) {
			continue
		}
		content, err := readBelow(folder, filepath.Join(directory, entry.Name()), sourceBytesMax)
		if err == nil && bytes.Contains(content, []byte("include")) {
			return true
		}
	}
	return false
}
