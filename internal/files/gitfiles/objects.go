package gitfiles

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names objects by it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"remit/internal/files/confined"
)

// objectMax bounds the bytes of a commit, a tree or the target of a link, and of each object that one
// of these is packed as a difference to.
const objectMax = 64 << 20

// ErrAbsent says that the repository itself does not hold an object: it may be at a remote, as in a
// partial clone, or in another repository, as after git clone --shared. Neither is looked for.
var ErrAbsent = errors.New("the repository does not hold it")

// objects are those of a repository: files of their own, and packs.
type objects struct {
	root   *os.Root
	newSum func() hash.Hash
	packs  []*pack // nil until they are needed
	listed bool
	trees  map[string]map[string]treeEntry // that were read, by their hashes
	held   int                             // entries of them
}

// newObjects are those below root whose hashes have so many hexadecimal digits.
func newObjects(root *os.Root, digits int) *objects {
	newSum := sha1.New
	if digits == hex.EncodedLen(sha256.Size) {
		newSum = sha256.New
	}
	return &objects{root: root, newSum: newSum}
}

func (o *objects) close() {
	for _, p := range o.packs {
		p.close()
	}
	_ = o.root.Close()
}

// newHash is the hash that names an object of that kind and size, begun.
func (o *objects) newHash(kind string, size int64) hash.Hash {
	sum := o.newSum()
	_, _ = fmt.Fprintf(sum, "%s %d\x00", kind, size) // a hash has no error
	return sum
}

// read returns the content of an object of that kind, which was held against its hash.
func (o *objects) read(id []byte, kind string) ([]byte, error) {
	found, content, err := o.loose(id)
	if errors.Is(err, fs.ErrNotExist) {
		found, content, err = o.packed(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %x: %w", kind, id, err)
	}
	if found != kind {
		return nil, fmt.Errorf("%x is a %s and no %s", id, found, kind)
	}
	sum := o.newHash(kind, int64(len(content)))
	_, _ = sum.Write(content)
	if !bytes.Equal(sum.Sum(nil), id) {
		return nil, fmt.Errorf("%s %x is damaged", kind, id)
	}
	return content, nil
}

// loose reads an object that has a file of its own.
func (o *objects) loose(id []byte) (kind string, content []byte, err error) {
	name := hex.EncodeToString(id)
	file, err := confined.Open(o.root, "objects/"+name[:2]+"/"+name[2:])
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = file.Close() }() // only read
	plain, err := zlib.NewReader(file)
	if err != nil {
		return "", nil, err
	}
	in := bufio.NewReader(io.LimitReader(plain, objectMax))
	header, err := in.ReadString(0)
	if err != nil {
		return "", nil, err
	}
	kind, digits, _ := strings.Cut(strings.TrimSuffix(header, "\x00"), " ")
	size, err := strconv.Atoi(digits)
	if err != nil || size < 0 {
		return "", nil, errors.New("it has no size")
	}
	content, err = io.ReadAll(in)
	if err == nil && len(content) != size {
		err = fmt.Errorf("it has not %d bytes, or more than %d", size, objectMax)
	}
	return kind, content, err
}

// packed reads an object of a pack.
func (o *objects) packed(id []byte) (kind string, content []byte, err error) {
	if err := o.list(); err != nil {
		return "", nil, err
	}
	for _, p := range o.packs {
		at, ok, err := p.offset(id)
		if err != nil {
			return "", nil, err
		}
		if ok {
			return p.object(at)
		}
	}
	return "", nil, ErrAbsent
}

// list opens all packs.
func (o *objects) list() error {
	const most = 10000
	if o.listed {
		return nil
	}
	o.listed = true
	dir, err := o.root.Open("objects/pack")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(most)
	_ = dir.Close() // only read
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, entry := range entries {
		name, isIndex := strings.CutSuffix(entry.Name(), ".idx")
		if !isIndex {
			continue
		}
		p, err := openPack(o.root, "objects/pack/"+name, o.newSum().Size())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		o.packs = append(o.packs, p)
	}
	return nil
}

// treeEntry is a line of a tree.
type treeEntry struct {
	mode, name string
	id         []byte
}

// treeMode is the mode of a directory.
const treeMode = "40000"

func (e *treeEntry) isTree() bool { return e.mode == treeMode }
func (e *treeEntry) isLink() bool { return e.mode == "120000" }
func (e *treeEntry) isFile() bool { return strings.HasPrefix(e.mode, "100") }

// nextEntry is the first entry of a tree, and the rest of it.
func (o *objects) nextEntry(tree []byte) (treeEntry, []byte, error) {
	head, rest, ok := bytes.Cut(tree, []byte{0})
	mode, name, isEntry := strings.Cut(string(head), " ")
	size := o.newSum().Size()
	if !ok || !isEntry || len(rest) < size {
		return treeEntry{}, nil, errors.New("a tree is damaged")
	}
	return treeEntry{mode, name, rest[:size]}, rest[size:], nil
}

// treesMax bounds the entries of trees that are held.
const treesMax = 1 << 20

// tree returns the entries of a tree by their names. Nobody changes them.
func (o *objects) tree(id []byte) (map[string]treeEntry, error) {
	if entries, isHeld := o.trees[string(id)]; isHeld {
		return entries, nil
	}
	text, err := o.read(id, "tree")
	if err != nil {
		return nil, err
	}
	entries := map[string]treeEntry{}
	for len(text) > 0 {
		var entry treeEntry
		if entry, text, err = o.nextEntry(text); err != nil {
			return nil, err
		}
		entries[entry.name] = entry
	}
	if o.held += len(entries); o.trees == nil || o.held > treesMax {
		o.trees, o.held = map[string]map[string]treeEntry{}, len(entries)
	}
	o.trees[string(id)] = entries
	return entries, nil
}
