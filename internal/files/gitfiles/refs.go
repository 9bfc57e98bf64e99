package gitfiles

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"remit/internal/files/confined"
)

// Git itself stays far below these.
const (
	lineMax       = 4 << 10 // bytes of HEAD, of a ref, of a .git file
	packedRefsMax = 256 << 20
	refsDeep      = 5 // refs that name refs
)

// head is the commit that a repository's HEAD is at. Private is the directory of the working tree
// in it.
func head(root *os.Root, private string) (string, error) {
	name := "HEAD"
	for range refsDeep {
		text, err := ref(root, private, name)
		if err != nil {
			return "", err
		}
		target, isSymbolic := strings.CutPrefix(text, "ref: ")
		if !isSymbolic {
			if _, err := parseID(text); err != nil {
				return "", fmt.Errorf("%w: %s is no commit", ErrNone, name)
			}
			return text, nil
		}
		name = strings.TrimSpace(target)
		if !strings.HasPrefix(name, "refs/") || path.Clean(name) != name {
			return "", fmt.Errorf("%w: HEAD is at no branch", ErrNone)
		}
	}
	return "", fmt.Errorf("%w: HEAD names branches that name branches", ErrNone)
}

// ref is what a ref says: a file of its own, or a line of packed-refs.
func ref(root *os.Root, private, name string) (string, error) {
	at := name
	if name == "HEAD" || strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/") {
		at = path.Join(private, name)
	}
	text, err := confined.Read(root, at, lineMax)
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) || name == "HEAD" {
		return "", fmt.Errorf("%w: %s %w", ErrNone, name, err)
	}
	return packedRef(root, name)
}

// packedRef is the line of packed-refs for a ref.
func packedRef(root *os.Root, name string) (string, error) {
	file, err := confined.Open(root, "packed-refs")
	if err != nil {
		return "", fmt.Errorf("%w: packed-refs: %w", ErrNone, err)
	}
	defer func() { _ = file.Close() }() // only read
	if info, err := file.Stat(); err != nil || info.Size() > packedRefsMax {
		return "", fmt.Errorf("%w: packed-refs has more than %d bytes", ErrNone, packedRefsMax)
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if id, of, ok := strings.Cut(lines.Text(), " "); ok && of == name {
			return id, nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("%w: packed-refs: %w", ErrNone, err)
	}
	return "", fmt.Errorf("%w: %s has no commit yet", ErrNone, name)
}

// parseID reads a hash of SHA-1 or SHA-256.
func parseID(text string) ([]byte, error) {
	if len(text) != 40 && len(text) != 64 || strings.ToLower(text) != text {
		return nil, errors.New("is no hash")
	}
	return hex.DecodeString(text)
}
