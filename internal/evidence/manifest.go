package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifestBytesMax bounds a manifest: a line for each of a few files and of each approval.
const manifestBytesMax = 1 << 20

// manifest is the SHA-256 of each file, by its name.
type manifest map[string]string

// text is the manifest as sha256sum writes it, and reads it with -c.
func (m manifest) text() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s  %s\n", m[name], name)
	}
	return b.Bytes()
}

// parseManifest reads what text wrote, and nothing else.
func parseManifest(text []byte) (manifest, error) {
	m := manifest{}
	for number, line := range enumerate(text) {
		sum, name, ok := strings.Cut(line, "  ")
		raw, err := hex.DecodeString(sum)
		switch {
		case !ok || err != nil || len(raw) != sha256.Size:
			return nil, fmt.Errorf("line %d is not a SHA-256 and the name of a file", number)
		case name == "" || name != filepath.Base(name) || name == "." || name == "..":
			return nil, fmt.Errorf("line %d does not name a file of the pack", number)
		case m[name] != "":
			return nil, fmt.Errorf("line %d names %s again", number, name)
		}
		m[name] = sum
	}
	if !bytes.Equal(m.text(), text) {
		return nil, errors.New("it is not as remit writes it: sorted by name, in lower case, each line ended")
	}
	return m, nil
}

// enumerate yields lines without their ends, counted from 1.
func enumerate(text []byte) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if !yield(n, strings.TrimSuffix(line, "\n")) {
				return
			}
		}
	}
}

// sumOf is the SHA-256 of bytes.
func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// sumOfFile is the SHA-256 of a file.
func sumOfFile(path string) (string, error) {
	file, err := os.Open(path)
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

// errTooLong is of a file that is longer than any that remit writes.
var errTooLong = errors.New("it is too long")

// readAtMost reads a file of at most limit bytes; the error of a longer one is errTooLong.
func readAtMost(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%w: it has more than %d bytes", errTooLong, limit)
	}
	return content, err
}
