package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// FileDigest is a file of the configuration and the SHA-256 of its bytes.
type FileDigest struct {
	Name   string // relative to the directory, with slashes
	SHA256 string // hexadecimal
}

// Digests returns the files from which what was declared so far was made, in order of their
// names: those of the language with the bytes that were parsed, and data files and what the
// file functions read, as they are now. Files of variables are left out, because the digest of
// a short secret tells it. The error is that of a file which can't be read any more.
func (c *Configuration) Digests() ([]FileDigest, error) {
	s := c.sources
	digests := make(map[string]string, len(s.files))
	for name, file := range s.files {
		sum := sha256.Sum256(file.Bytes)
		digests[name] = hex.EncodeToString(sum[:])
	}
	for _, name := range c.otherFiles() {
		if _, ok := digests[name]; ok || isVariables(name) {
			continue
		}
		sum, err := s.digest(name)
		if err != nil {
			return nil, fmt.Errorf("read %s again for its digest: %w", name, err)
		}
		digests[name] = sum
	}
	list := make([]FileDigest, 0, len(digests))
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		list = append(list, FileDigest{name, digests[name]})
	}
	return list, nil
}

// isVariables reports whether a file assigns variables.
func isVariables(name string) bool {
	return strings.HasSuffix(name, ".hclvars") || strings.HasSuffix(name, ".hclvars.json")
}

// otherFiles are the names of files that are not of the language, some of them perhaps twice.
func (c *Configuration) otherFiles() []string {
	var names []string
	if c.scope != nil {
		for _, n := range c.scope.inOrder {
			if n.data != nil && n.data.file != "" {
				names = append(names, n.data.file)
			}
		}
	}
	c.sources.mu.Lock()
	defer c.sources.mu.Unlock()
	return slices.AppendSeq(names, maps.Keys(c.sources.read))
}

// noteRead keeps the name of a file that a function has read.
func (s *sources) noteRead(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read[name] = true
}

func (s *sources) digest(name string) (string, error) {
	file, err := openBelow(s.root, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
