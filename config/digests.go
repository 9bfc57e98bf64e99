package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"remit/config/functions"
)

// FileDigest is a file of the configuration and the SHA-256 of its bytes.
type FileDigest struct {
	Name   string // relative to the directory, with slashes
	SHA256 string // hexadecimal
	Blob   []byte // the sum that another hash makes of the bytes, where one was asked for
}

// Digests returns the files from which the transfers so far were made, in order of their
// names: those of the language with the bytes that were parsed, and data files and what the
// file functions read, as they are now. Files of variables are left out, because the digest of
// a short secret tells it. NewBlob returns another hash for a file of that many bytes; it may be
// nil. The error is that of a file which can't be read any more, or which changed since its rows were read. Searches are what functions found by name until now, in any
// order, by paths relative to the directory.
func (c *Configuration) Digests(newBlob func(size int64) hash.Hash) (files []FileDigest, searches []functions.Search, err error) {
	s := c.sources
	digests := make(map[string]FileDigest, len(s.files))
	for name, file := range s.files {
		digest, err := digestOf(name, bytes.NewReader(file.Bytes), int64(len(file.Bytes)), newBlob)
		if err != nil {
			return nil, nil, err
		}
		digests[name] = digest
	}
	for _, name := range c.otherFiles() {
		if _, ok := digests[name]; ok || isVariables(name) {
			continue
		}
		digest, err := s.digest(name, newBlob)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s again for its digest: %w", name, err)
		}
		digests[name] = digest
	}
	files = make([]FileDigest, 0, len(digests))
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		files = append(files, digests[name])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return files, slices.Collect(maps.Values(s.searches)), nil
}

// isVariables reports whether a file assigns variables.
func isVariables(name string) bool {
	return strings.HasSuffix(name, ".hclvars") || strings.HasSuffix(name, ".hclvars.json")
}

// otherFiles are the names of files that are not of the language, some of them perhaps twice.
func (c *Configuration) otherFiles() []string {
	var names []string
	if c.scope != nil {
		for _, n := range c.scope.InOrder {
			if d := c.data[n]; d != nil && d.file.Name != "" {
				names = append(names, d.file.Name)
			}
		}
	}
	c.sources.mu.Lock()
	defer c.sources.mu.Unlock()
	return slices.AppendSeq(names, maps.Keys(c.sources.read))
}

func (s *sourceFiles) digest(name string, newBlob func(size int64) hash.Hash) (FileDigest, error) {
	at := readFile{s.root, name}
	s.mu.Lock()
	if other, isNoted := s.read[name]; isNoted {
		at = other
	}
	s.mu.Unlock()
	file, err := at.root.OpenUnchanged(at.name)
	if err != nil {
		return FileDigest{}, err
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return FileDigest{}, err
	}
	return digestOf(name, file, info.Size(), newBlob)
}

func digestOf(name string, from io.Reader, size int64, newBlob func(size int64) hash.Hash) (FileDigest, error) {
	sum := sha256.New()
	if newBlob == nil {
		_, err := io.Copy(sum, from)
		return FileDigest{Name: name, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
	}
	blob := newBlob(size)
	_, err := io.Copy(io.MultiWriter(sum, blob), from)
	return FileDigest{name, hex.EncodeToString(sum.Sum(nil)), blob.Sum(nil)}, err
}
