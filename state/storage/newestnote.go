package storage

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"remit/internal/files/filelock"
	"remit/state"
)

// Noted is what a file outside of a state says of it: which event of a lineage was durable last. A state can't say itself
// that a part of it is gone, as an older copy of it is whole. The zero value is that of a file that is missing or can't be
// read.
type Noted struct {
	Lineage string
	Seq     int64
	Hash    string
}

// Notebook is where a user's own notes of states are: directories that no state is in.
type Notebook struct {
	Kept []string // those in which notes are made
	Read []string // further ones: a note there counts, and is kept up
}

// All are all directories.
func (n Notebook) All() []string { return slices.Concat(n.Kept, n.Read) }

// LineageNote is the file in the directory dir that says of a lineage which of its events was durable last.
func LineageNote(dir, lineage string) string { return filepath.Join(dir, "newest-"+lineage) }

// BranchSuffix ends the names of the notes of a state that lacks an event of the others, and from which payments were begun since.
const BranchSuffix = ".branch"

// noteLayout is one line of always the same length, so that a write leaves nothing of an earlier one.
const noteLayout = "%-36s %019d %-64s"

// noteMax is the size of a file that is read.
const noteMax = 256

// String is the line with its checksum.
func (n Noted) String() string {
	line := fmt.Sprintf(noteLayout, n.Lineage, n.Seq, n.Hash)
	return fmt.Sprintf("%s %08x\n", line, crc32.ChecksumIEEE([]byte(line)))
}

// ReadNote reads the file at path. It follows no link.
func ReadNote(path string) Noted {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return Noted{}
	}
	f, err := filelock.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return Noted{}
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, noteMax))
	if err != nil {
		return Noted{}
	}
	var n Noted
	if _, err := fmt.Sscanf(string(content), "%s %d %s", &n.Lineage, &n.Seq, &n.Hash); err != nil || n.String() != string(content) {
		return Noted{}
	}
	return n
}

// Lacks returns the number of the noted event, where the state with this tip does not have it; 0 where it has, and for a
// note of another state. hashOf returns the hash of an event, hexadecimal; "" where there is no such event.
func (n Noted) Lacks(tip Tip, hashOf func(seq int64) (string, error)) (int64, error) {
	if n.Lineage != tip.Lineage || n.Seq == tip.Serial && n.Hash == tip.Head {
		return 0, nil
	}
	switch hash, err := hashOf(n.Seq); {
	case err != nil:
		return 0, err
	case hash != n.Hash:
		return n.Seq, nil
	}
	return 0, nil
}

// HadMore reports whether the note is of a state that had more than its first event, or that was made in place of one that had.
func (n Noted) HadMore() bool {
	all, none := state.LackAll()
	return n.Seq > 1 || n.Seq == all && n.Hash == none
}

// errNoFile is the error of a note that is a link, a directory or the like: nothing is written over it.
var errNoFile = errors.New("it is not a regular file")

// NoteFile is such a file, open for writing. A nil one is of a state that has none.
type NoteFile struct {
	file    *os.File
	path    string
	lineage string
	isSeen  bool // it is in a directory of the user
	failed  *Unnoted
}

// OpenNote opens the file at path, and makes it where there is none. The caller has made sure that no link is there. A write that
// fails later is told to failed.
func OpenNote(path, lineage string, failed *Unnoted) (*NoteFile, error) {
	file, err := filelock.Open(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &NoteFile{file: file, path: path, lineage: lineage, failed: failed}, nil
}

// OpenSeen opens the file at path, in a directory of the user that it makes where there is none; where isKept is false, only a file
// that is there. It is nil where it can't be written, and where a link is there: failed is told, and nothing stops for it.
func OpenSeen(path, lineage string, isKept bool, failed *Unnoted) *NoteFile {
	if info, err := os.Lstat(path); !isKept && (err != nil || !info.Mode().IsRegular()) {
		return nil
	}
	file, err := openSeen(path, lineage, failed)
	if err != nil {
		failed.add(path, err)
		return nil
	}
	file.isSeen = true
	return file
}

func openSeen(path, lineage string, failed *Unnoted) (*NoteFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return OpenNote(path, lineage, failed)
}

// Write notes an event that is durable. Where that fails, the file names an earlier event, which a backup may have as well: who
// used the state is told. Nothing waits for the disk: the file is for a state that was changed, and not for a lost power.
func (n *NoteFile) Write(seq int64, hash string) {
	if n == nil {
		return
	}
	if _, err := n.file.WriteAt([]byte(Noted{n.lineage, seq, hash}.String()), 0); err != nil {
		n.failed.add(n.path, err)
		return
	}
	n.failed.remove(n.path, n.isSeen)
}

// Close gives the file back.
func (n *NoteFile) Close() error {
	if n == nil {
		return nil
	}
	err := n.file.Close() // some file systems say here first that they are full
	if err != nil {
		n.failed.add(n.path, err)
	}
	return err
}
