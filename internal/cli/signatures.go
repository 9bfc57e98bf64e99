package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"remit/internal/approval"
	"remit/internal/files/confined"
	"remit/internal/files/wholefile"
)

// signatures reads every FILE.sig, FILE.*.sig and FILE.*.passkey beside a plan. One that can't be read is told
// with the reason; a file's name says nothing about whose signature it is.
func (s *savedPlan) signatures() ([]approval.File, error) {
	beside, err := os.OpenRoot(filepath.Dir(s.path))
	if err != nil {
		return nil, fmt.Errorf("look for signatures beside the plan: %w", err)
	}
	defer func() { _ = beside.Close() }() // only read
	entries, err := fs.ReadDir(beside.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("look for signatures beside the plan: %w", err)
	}
	var files []approval.File
	base := filepath.Base(s.path)
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), base+".")
		if !ok || rest != "sig" && !strings.HasSuffix(rest, ".sig") && !strings.HasSuffix("."+rest, approval.PasskeySuffix) {
			continue
		}
		if len(files) == approval.SignaturesMax {
			return nil, fmt.Errorf("there are more than %d signatures beside %s; remove those that are not needed", approval.SignaturesMax, s.name)
		}
		file := approval.File{Name: entry.Name()}
		content, err := readSignature(beside, entry.Name())
		if file.Content = content; err != nil {
			file.Problem = "it cannot be read: " + err.Error()
		}
		files = append(files, file)
	}
	return files, nil
}

// readSignature reads a file that is taken because of its name and its place beside a plan: a link
// out is not followed.
func readSignature(beside *os.Root, name string) ([]byte, error) {
	return confined.Read(beside, name, approval.SignatureBytesMax)
}

// writeSignature writes a signature's file beside a plan and returns its name. It replaces an
// earlier signature by the same key, which was of another plan in that file, and nothing else.
func writeSignature(path, who string, key approval.Key, text []byte) (string, error) {
	const most = 100
	suffix := ".sig"
	if key.Passkey() != nil {
		suffix = approval.PasskeySuffix
	}
	for n := range most {
		name := path + "." + fileWord(who)
		if n > 0 {
			name += "-" + strconv.Itoa(n+1)
		}
		name += suffix
		if isSignatureBy(name, key) {
			return filepath.Base(name), orWriting(wholefile.Replace(name, 0o644, func(to io.Writer) error {
				_, err := to.Write(text)
				return err
			}))
		}
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", orWriting(err)
		}
		_, err = file.Write(text)
		if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
			_ = os.Remove(name) // it counts for nothing
		}
		return filepath.Base(name), orWriting(err)
	}
	return "", fmt.Errorf("write the signature: there are %d files %s.%s-…%s already; remove those that are not needed", most, path, fileWord(who), suffix)
}

func orWriting(err error) error {
	if err != nil {
		return fmt.Errorf("write the signature: %w", err)
	}
	return nil
}

// isSignatureBy reports whether a file is a signature by a key.
func isSignatureBy(path string, key approval.Key) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	content, err := confined.ReadAnywhere(path, approval.SignatureBytesMax)
	if err != nil {
		return false
	}
	if p := key.Passkey(); p != nil {
		a, err := approval.ParseAssertion(content)
		return err == nil && a.RPID == p.RPID && bytes.Equal(a.CredentialID, p.ID)
	}
	sig, err := approval.ParseSignature(content)
	return err == nil && bytes.Equal(sig.Key().Marshal(), key.SSH().Marshal())
}

// fileWord is a name as a part of a file's name.
func fileWord(name string) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("@._-+", r):
			return r
		}
		return '-'
	}, name)
	const most = 64
	if word = strings.Trim(word, ".-"); word == "" {
		return "approval"
	}
	return word[:min(len(word), most)]
}
