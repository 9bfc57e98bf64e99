package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
	"remit/config/syntax"
	"remit/internal/files/confined"
	"remit/internal/files/lockfile"
)

// folderOf is the folder of the editor that has a file: the innermost, "" for none.
func (s *server) folderOf(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folderHolding(path)
}

// folderHolding is folderOf with mu held.
func (s *server) folderHolding(path string) string {
	best := ""
	for _, folder := range s.folders {
		if isBelow(folder, path) && len(folder) > len(best) {
			best = folder
		}
	}
	return best
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

// sourceBytesMax bounds a file that is read to see whether a directory is one of remit.
const sourceBytesMax = 16 << 20

// isOurs reports whether a directory is a configuration of remit: whether it has a lock file, or declares a transfer, a
// service or what remit itself is to do. Files of HCL are other programs' as well.
func (s *server) isOurs(directory string) bool {
	folder := s.folderOf(directory)
	if folder == "" || !staysBelow(folder, directory) {
		return false
	}
	at, err := confined.OpenDirectory(directory, s.unsaved())
	if err != nil {
		return false
	}
	defer func() { _ = at.Close() }() // only read
	names, err := at.Names(".")
	if err != nil {
		return false
	}
	if slices.Contains(names, lockfile.Name) {
		return true
	}
	for _, name := range names {
		if !config.IsSource(name) {
			continue
		}
		content, err := at.Read(name, sourceBytesMax)
		if err == nil && declaresOurs(name, string(content)) {
			return true
		}
	}
	return false
}

// ownKinds are the blocks that only remit has, or that make a directory one of remit.
var ownKinds = []string{"remit", "service", "transfer"}

// declaresOurs reports whether a source declares one of ownKinds.
func declaresOurs(name, text string) bool {
	if strings.HasSuffix(name, ".json") {
		file, _ := syntax.ParseJSON([]byte(text), name)
		if file == nil {
			return false
		}
		attributes, _ := file.Body.JustAttributes()
		return slices.ContainsFunc(ownKinds, func(kind string) bool { return attributes[kind] != nil })
	}
	kinds := map[string]bool{}
	for _, kind := range ownKinds {
		kinds[kind] = true
	}
	for p := range piecesOf(text, piece{}, config.Language()) {
		if isHeader(text[p.at:min(len(text), p.at+headerBytesMax)], kinds) {
			return true
		}
	}
	if len(text) > wholeBytesMax {
		return false
	}
	return slices.ContainsFunc(treeOf(text).body.Blocks, func(b *hclsyntax.Block) bool { return kinds[b.Type] }) // behind blanks
}

// headerBytesMax is as much of a block as says what it is.
const headerBytesMax = 64

// unsaved are the open texts that their files do not have.
func (s *server) unsaved() *confined.Unsaved {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := map[string][]byte{}
	for _, d := range s.documents {
		if !d.saved && d.path != "" {
			texts[d.path] = []byte(d.text)
		}
	}
	return confined.NewUnsaved(texts)
}
