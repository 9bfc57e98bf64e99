package cli

import (
	"bytes"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"strings"

	"remit/config"
	"remit/config/functions"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/files/confined"
	"remit/internal/files/gitfiles"
	"remit/state"
)

// originOf says from which files of which commit the configuration was made, for the plan and the
// journal. It starts no git: a repository can name programs that git runs.
func originOf(dir *workspace.Directory, loaded *config.Configuration) (state.Origin, error) {
	var newBlob func(size int64) hash.Hash
	checkout, err := gitfiles.Find(dir.Path)
	if err == nil {
		defer checkout.Close()
		newBlob = checkout.NewBlob
	}
	files, searches, err := loaded.Digests(newBlob)
	if err != nil {
		return state.Origin{}, fmt.Errorf("tell what the plan was made from: %w", err)
	}
	var o state.Origin
	blobs := make(map[string][]byte, len(files))
	for _, file := range files {
		blobs[file.Name] = file.Blob
		if len(o.Files) < state.OriginFilesMax {
			o.Files = append(o.Files, state.FileDigest{Name: file.Name, SHA256: file.SHA256})
		}
	}
	o.FilesLeftOut = len(files) - len(o.Files)
	if checkout != nil {
		o.Commit, o.Modified = checkout.Commit, !isCommitted(checkout, dir.Path, loaded.Includes, blobs) || !findsTheSame(checkout, searches)
	}
	return o, nil
}

// isCommitted reports whether a commit has the files of the configuration as they are: those that
// were read, whose hashes are blobs, and those of the directory that would be read if they were
// named or were there.
func isCommitted(checkout *gitfiles.Checkout, dir string, includes []string, blobs map[string][]byte) bool {
	names, err := checkout.Names(".")
	if err != nil || lacksOf(checkout, includes, blobs) {
		return false // nothing shows that the commit has the files
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // only read
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	for _, name := range names {
		if _, isRead := blobs[name]; isRead || !isConfiguration(name) {
			continue
		}
		if blobs[name], err = blobOf(checkout, root, name); err != nil {
			return false
		}
	}
	for name, blob := range blobs {
		committed, err := checkout.Blob(name)
		if err != nil || !bytes.Equal(committed, blob) {
			return false
		}
	}
	return true
}

// findsTheSame reports whether functions that find files by their names find the same in the commit.
func findsTheSame(checkout *gitfiles.Checkout, searches []functions.Search) bool {
	for _, search := range searches {
		if agrees, err := search.Agrees(checkout.Tree); err != nil || !agrees {
			return false
		}
	}
	return true
}

// lacksOf reports whether the commit has a source in an included directory that was not read, or can't say so: somebody removed it.
func lacksOf(checkout *gitfiles.Checkout, includes []string, blobs map[string][]byte) bool {
	for _, dir := range includes {
		names, err := checkout.Names(dir)
		if err != nil {
			return true
		}
		for _, name := range names {
			if _, isRead := blobs[path.Join(dir, name)]; !isRead && config.IsSource(name) {
				return true
			}
		}
	}
	return false
}

// blobOf is the hash of a file as git makes it.
func blobOf(checkout *gitfiles.Checkout, root *os.Root, name string) ([]byte, error) {
	file, err := confined.Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	sum := checkout.NewBlob(info.Size())
	_, err = io.Copy(sum, file)
	return sum.Sum(nil), err
}

// isConfiguration reports whether a file of the directory can be read as configuration.
func isConfiguration(name string) bool {
	for _, suffix := range []string{".hcl", ".hcl.json", ".hclvars", ".hclvars.json"} {
		if strings.HasSuffix(name, suffix) && !strings.HasPrefix(name, ".") {
			return true
		}
	}
	return false
}

// gitEmail is user.email of git's configuration, as far as the files that remit reads could not
// write it: the user's own, outside of the working tree.
func gitEmail(h *host.Host, dir string) string {
	id := gitfiles.Identity{Home: h.Getenv("HOME"), XDG: h.Getenv("XDG_CONFIG_HOME"), Apart: dir}
	if checkout, err := gitfiles.Find(dir); err == nil {
		id.Apart = checkout.Top
		checkout.Close()
	}
	return strings.TrimSpace(id.Email())
}
