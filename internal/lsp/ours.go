package lsp

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
	"remit/config/syntax"
	"remit/internal/files/lockfile"
)

// sourceBytesMax bounds a file that is read to see whether a directory is one of remit.
const sourceBytesMax = 16 << 20

// isOurs reports whether a directory is a configuration of remit: whether it has a lock file, or declares a transfer, a
// service or what remit itself is to do. Files of HCL are other programs' as well.
func isOurs(f *folders, open *documents, directory string) bool {
	at, ok := f.directory(directory, open.unsaved())
	if !ok {
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
		if isHeader(text[p.at:min(len(text), p.at+headerBytesMax)], kinds) && !isOfAnother(text[p.at:p.end]) {
			return true
		}
	}
	if len(text) > wholeBytesMax {
		return false
	}
	return slices.ContainsFunc(treeOf(text).body.Blocks, func(b *hclsyntax.Block) bool { // behind blanks
		return kinds[b.Type] && !config.IsServiceOfAnother(b)
	})
}

// isOfAnother reports whether the first block of a piece is a service of another program.
func isOfAnother(piece string) bool {
	if !strings.HasPrefix(piece, "service") || len(piece) > wholeBytesMax {
		return false
	}
	blocks := treeOf(piece).body.Blocks
	return len(blocks) > 0 && config.IsServiceOfAnother(blocks[0])
}

// headerBytesMax is as much of a block as says what it is.
const headerBytesMax = 64
