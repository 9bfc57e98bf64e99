package confined

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// File is a regular file that is open for reading, or an unsaved text that is read in its place.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	// Stat has the size in bytes. An unsaved text has the zero time, and mode 0600.
	Stat() (fs.FileInfo, error)
}

// Unsaved are texts that are read in the place of files, as an editor holds them. They open no way out of a
// directory: a text stands for a file that could be read without it, or for one that is not there yet.
// It is not changed once it is made, and several goroutines may use it.
type Unsaved struct {
	texts []unsavedText
}

type unsavedText struct {
	path    string      // absolute and clean
	info    fs.FileInfo // nil where there is no such file
	content []byte
}

// NewUnsaved returns texts by the paths of their files.
func NewUnsaved(texts map[string][]byte) *Unsaved {
	u := &Unsaved{}
	for name, content := range texts {
		absolute, err := filepath.Abs(name)
		if err != nil {
			absolute = filepath.Clean(name) // then it stands for a file that is there
		}
		t := unsavedText{path: absolute, content: content}
		if info, err := os.Stat(name); err == nil {
			t.info = info
		}
		u.texts = append(u.texts, t)
	}
	return u
}

// of is the text of a file that is there; nil where it has none.
func (u *Unsaved) of(info fs.FileInfo) *unsavedText {
	if u == nil {
		return nil
	}
	for i, t := range u.texts {
		if t.info != nil && os.SameFile(t.info, info) {
			return &u.texts[i]
		}
	}
	return nil
}

// at is the text of a file that is not there yet, by its absolute path; nil where there is none.
func (u *Unsaved) at(name string) *unsavedText {
	if u == nil {
		return nil
	}
	for i, t := range u.texts {
		if t.info == nil && t.path == name {
			return &u.texts[i]
		}
	}
	return nil
}

// Directory is a directory that is open. Nothing outside of it is read through it, and unsaved texts are read in
// the place of their files.
type Directory struct {
	root    *os.Root
	path    string // absolute; "" where it could not be found out
	unsaved *Unsaved
	seen    *sync.Map // fs.FileInfo of each file when it was first opened, by its name
}

// ErrChanged says that a file is another one than when it was first opened.
var ErrChanged = errors.New("it changed while it was read; type the same command again")

// OpenDirectory opens a directory; unsaved is nil where all texts are those of the files. The error is the operating
// system's.
func OpenDirectory(name string, unsaved *Unsaved) (*Directory, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		absolute = "" // then no text stands for a file that is not there
	}
	return &Directory{root, absolute, unsaved, new(sync.Map)}, nil
}

// Directory opens a directory below d, through links that stay below d.
func (d *Directory) Directory(name string) (*Directory, error) {
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Directory{root, d.absolute(name), d.unsaved, new(sync.Map)}, nil
}

func (d *Directory) absolute(name string) string {
	if d.path == "" {
		return ""
	}
	return filepath.Join(d.path, filepath.FromSlash(name))
}

// Open is [Open] of a file below d, or of its unsaved text.
func (d *Directory) Open(name string) (File, error) {
	file, err := Open(d.root, name)
	if d.unsaved == nil {
		if err != nil {
			return nil, err // and no file of no type
		}
		if info, err := file.Stat(); err == nil {
			d.seen.LoadOrStore(name, info)
		}
		return file, nil
	}
	if errors.Is(err, fs.ErrNotExist) && filepath.IsLocal(name) {
		if t := d.unsaved.at(d.absolute(name)); t != nil {
			return t.open(), nil
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	if t := d.unsaved.of(info); t != nil {
		_ = file.Close() // only looked at
		return t.open(), nil
	}
	return file, nil
}

// OpenUnchanged is Open of a file that was opened before. The error is [ErrChanged] where it is another file now, or was written to.
func (d *Directory) OpenUnchanged(name string) (File, error) {
	file, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = d.isUnchanged(name, info)
	}
	if err != nil {
		_ = file.Close() // only looked at
		return nil, err
	}
	return file, nil
}

func (d *Directory) isUnchanged(name string, now fs.FileInfo) error {
	seen, ok := d.seen.Load(name)
	if !ok {
		return nil // an unsaved text
	}
	if was := seen.(fs.FileInfo); !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime()) {
		return ErrChanged
	}
	return nil
}

// Read is [Read] of a file below d, or of its unsaved text.
func (d *Directory) Read(name string, limit int64) ([]byte, error) {
	file, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return ReadAtMost(file, limit)
}

// Names are the names in d, or in a directory below it, in order: those of files that are not saved yet as well.
func (d *Directory) Names(below string) ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), path.Clean(below))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if d.unsaved != nil && d.path != "" {
		for _, t := range d.unsaved.texts {
			if name := filepath.Base(t.path); t.info == nil && filepath.Dir(t.path) == d.absolute(below) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	return names, nil
}

// Stat says what is in the file system, whatever texts are unsaved.
func (d *Directory) Stat(name string) (fs.FileInfo, error) { return d.root.Stat(name) }

// FS is the directory in the file system, whatever texts are unsaved.
func (d *Directory) FS() fs.FS { return d.root.FS() }

// Close closes the directory; what was opened through it stays open.
func (d *Directory) Close() error { return d.root.Close() }

// open reads the text as its file would be read.
func (t *unsavedText) open() File {
	return &unsavedFile{bytes.NewReader(t.content), t}
}

type unsavedFile struct {
	*bytes.Reader
	text *unsavedText
}

func (f *unsavedFile) Close() error { return nil }

// Stat implements [File]; it returns no error.
func (f *unsavedFile) Stat() (fs.FileInfo, error) { return unsavedInfo{f.text}, nil }

// unsavedInfo implements [fs.FileInfo] for a text that has no file of its own.
type unsavedInfo struct{ text *unsavedText }

func (i unsavedInfo) Name() string       { return filepath.Base(i.text.path) }
func (i unsavedInfo) Size() int64        { return int64(len(i.text.content)) }
func (i unsavedInfo) Mode() fs.FileMode  { return 0o600 }
func (i unsavedInfo) ModTime() time.Time { return time.Time{} }
func (i unsavedInfo) IsDir() bool        { return false }
func (i unsavedInfo) Sys() any           { return nil }
