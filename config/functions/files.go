package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"remit/internal/files/confined"
)

// fileSizeMax bounds what a file function reads.
const fileSizeMax = 64 << 20

// Directory is the one whose files functions read.
type Directory struct {
	Root *confined.Directory // nil where there is none
	// Name is what a message calls an included directory; "" is the configuration's.
	Name string
	Note func(name string) // is told of each file whose content was read; nil for nobody
	// Searched is told of each search by name alone; nil for nobody.
	Searched func(Search)
}

// called is the directory in a message.
func (d Directory) called() string {
	if d.Name == "" {
		return "the configuration's directory"
	}
	return "the included directory " + d.Name
}

// files reads below one directory.
type files struct{ Directory }

func fileFunctions(f files) map[string]entry {
	return map[string]entry{
		"file":             {f.function(cty.String, text), "The text of a file of the directory, in UTF-8."},
		"filebase64":       {f.function(cty.String, encoded), "The bytes of a file of the directory, in Base64."},
		"filebase64sha256": {f.hash(sha256.New, base64.StdEncoding.EncodeToString), "The SHA-256 of a file of the directory, in Base64."},
		"filebase64sha512": {f.hash(sha512.New, base64.StdEncoding.EncodeToString), "The SHA-512 of a file of the directory, in Base64."},
		"fileexists":       {simple(cty.Bool, f.exists, "path"), "Whether a file is in the directory."},
		"filemd5":          {f.hash(md5.New, hex.EncodeToString), "The MD5 of a file of the directory, in hexadecimal digits. Not secure."},
		"fileset":          {simple(cty.Set(cty.String), f.set, "path", "pattern"), "The files below a path of the directory whose names match a pattern with *, ?, **, [a-z] and {a,b}."},
		"filesha1":         {f.hash(sha1.New, hex.EncodeToString), "The SHA-1 of a file of the directory, in hexadecimal digits. Not secure."},
		"filesha256":       {f.hash(sha256.New, hex.EncodeToString), "The SHA-256 of a file of the directory, in hexadecimal digits."},
		"filesha512":       {f.hash(sha512.New, hex.EncodeToString), "The SHA-512 of a file of the directory, in hexadecimal digits."},
	}
}

// function makes a function of a file's path from one of its content.
func (f files) function(result cty.Type, of func(content []byte) (cty.Value, error)) function.Function {
	return simple(result, func(args []string) (cty.Value, error) {
		content, err := f.read(args[0])
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		value, err := of(content)
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "file %q: %w", args[0], err)
		}
		return value, nil
	}, "path")
}

func (f files) hash(algorithm func() hash.Hash, write func([]byte) string) function.Function {
	return f.function(cty.String, func(content []byte) (cty.Value, error) {
		return cty.StringVal(write(digest(algorithm, content))), nil
	})
}

func text(content []byte) (cty.Value, error) {
	if !utf8.Valid(content) {
		return cty.NilVal, errors.New("is not UTF-8 text; filebase64 reads any bytes")
	}
	return cty.StringVal(string(content)), nil
}

func encoded(content []byte) (cty.Value, error) {
	return cty.StringVal(base64.StdEncoding.EncodeToString(content)), nil
}

// read returns the whole content of a regular file.
func (f files) read(name string) ([]byte, error) {
	if err := f.check(name); err != nil {
		return nil, err
	}
	content, err := f.Root.Read(name, fileSizeMax)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %q in %s", name, f.called())
	case err != nil:
		return nil, fmt.Errorf("%q %w", name, err)
	}
	if f.Note != nil {
		f.Note(path.Clean(name))
	}
	return content, nil
}

// stat finds a file, also behind links that stay in the directory. It wraps
// [fs.ErrNotExist] where there is none.
func (f files) stat(name string) (fs.FileInfo, error) {
	if err := f.check(name); err != nil {
		return nil, err
	}
	info, err := f.Root.Stat(name)
	if err = confined.Plain(err); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q %w", name, err)
	}
	return info, err
}

// check refuses a path that would leave the directory by its words.
func (f files) check(name string) error {
	switch {
	case f.Root == nil:
		return errors.New("there is no directory here from which files can be read")
	case name == "":
		return errors.New("the path is empty")
	case path.IsAbs(name) || name[0] == '~':
		return fmt.Errorf("%q is not a path within %s, which is all that can be read", name, f.called())
	case slices.Contains(strings.FieldsFunc(name, isSeparator), ".."):
		return fmt.Errorf("%q has \"..\" in it; only files within %s can be read", name, f.called())
	}
	return nil
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

func (f files) exists(args []string) (cty.Value, error) {
	info, err := f.stat(args[0])
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.searched(args[0], "", nil)
		return cty.False, nil
	case err != nil:
		return cty.NilVal, function.NewArgError(0, err)
	case !info.Mode().IsRegular():
		return cty.NilVal, function.NewArgErrorf(0, "%q is not a regular file", args[0])
	}
	f.searched(args[0], "", []string{path.Base(path.Clean(args[0]))})
	return cty.True, nil
}

func (f files) searched(name, pattern string, found []string) {
	if f.Searched != nil {
		f.Searched(Search{path.Clean(name), pattern, found})
	}
}

// set finds regular files. It does not look into directories behind links.
func (f files) set(args []string) (cty.Value, error) {
	dir, pattern := args[0], args[1]
	if err := f.check(dir); err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	if err := f.check(pattern); err != nil {
		return cty.NilVal, function.NewArgError(1, err)
	}
	if !doublestar.ValidatePattern(pattern) {
		return cty.NilVal, function.NewArgErrorf(1, "%q is not a pattern", pattern)
	}
	below, err := f.Root.Directory(dir)
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "%q is not a directory within %s: %w", dir, f.called(), confined.Plain(err))
	}
	defer below.Close() // nothing was written that could be lost
	matches, err := glob(below.FS(), pattern)
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(1, "look for %q in %q: %w", pattern, dir, err)
	}
	var names []cty.Value
	var found []string
	for _, match := range matches {
		info, err := files{Directory{Root: below, Name: f.Name}}.stat(match)
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		if info.Mode().IsRegular() {
			names, found = append(names, cty.StringVal(match)), append(found, match)
		}
	}
	f.searched(dir, pattern, found)
	if len(names) == 0 {
		return cty.SetValEmpty(cty.String), nil
	}
	return cty.SetVal(names), nil
}

func pathFunctions() map[string]entry {
	return map[string]entry{
		"basename": {simple(cty.String, func(args []string) (cty.Value, error) {
			return cty.StringVal(path.Base(args[0])), nil
		}, "path"), "The last part of a path with slashes."},
		"dirname": {simple(cty.String, func(args []string) (cty.Value, error) {
			return cty.StringVal(path.Dir(args[0])), nil
		}, "path"), "A path with slashes without its last part."},
	}
}
