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

// NoteFile is such a file, open for writing. A nil one is of a state that has none.
type NoteFile struct {
	file    *os.File
	lineage string
}

// OpenNote opens the file at path, and makes it where there is none. The caller has made sure that no link is there.
func OpenNote(path, lineage string) (*NoteFile, error) {
	file, err := filelock.Open(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &NoteFile{file, lineage}, nil
}

// OpenSeen opens the file at path, in a directory of the user that it makes where there is none; where isKept is false, only a file
// that is there. A complete state needs no such note, so it is nil where it can't be written, and where a link is there.
func OpenSeen(path, lineage string, isKept bool) *NoteFile {
	if info, err := os.Lstat(path); !isKept && (err != nil || !info.Mode().IsRegular()) {
		return nil
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return nil
	}
	if info, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) && (err != nil || !info.Mode().IsRegular()) {
		return nil
	}
	file, err := OpenNote(path, lineage)
	if err != nil {
		return nil
	}
	return file
}

// Write notes an event that is durable. Where that fails, the file names an earlier event, of which it is true as well.
// For the same reason nothing waits for the disk: the file is for a state that was changed, and not for a lost power.
func (n *NoteFile) Write(seq int64, hash string) {
	if n != nil {
		_, _ = n.file.WriteAt([]byte(Noted{n.lineage, seq, hash}.String()), 0)
	}
}

// Close gives the file back.
func (n *NoteFile) Close() error {
	if n == nil {
		return nil
	}
	return n.file.Close()
}
