// Package rows reads data files: CSV, workbooks, JSON and pain.001. It turns a file into rows of
// text, and knows the place of each text in the file.
//
// Its one invariant: a text is read as it is written or as a workbook shows it, or it is a mistake
// at its place. Nothing is guessed, and nothing is left out in silence. It knows no HCL beside the
// places and diagnostics of its author.
package rows

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/files/bankfile"
	"remit/internal/files/confined"
	"remit/internal/text/lazyregexp"
)

// File is a data file as a data block declares it.
type File struct {
	Name    string                   // relative to the directory; diagnostics use it too
	Key     string                   // the column by whose text a row is known
	Columns []Column                 // nil for all columns
	Formats map[string]*NumberFormat // by column
	BlockAt hcl.Range                // of the header of the data block
	NamedAt hcl.Range                // where the file is named
	Places  map[string]hcl.Range     // of the values of arguments, by their names, and of headers in columns, such as columns.net
}

// Column is a column that is read, and the name that the file has for it.
type Column struct{ Name, Header string }

// At is the place of an argument, or that of the block where it is absent.
func (f *File) At(argument string) hcl.Range {
	if place, ok := f.Places[argument]; ok {
		return place
	}
	return f.BlockAt
}

// atPick is the place of a header in the argument columns, or that of the argument.
func (f *File) atPick(name string) hcl.Range {
	if place, ok := f.Places["columns."+name]; ok {
		return place
	}
	return f.At("columns")
}

// HeaderOf is the name that the file has for a column.
func (f *File) HeaderOf(column string) string {
	for _, p := range f.Columns {
		if p.Name == column {
			return p.Header
		}
	}
	return column
}

// isRead reports whether a column is read, by the name that the file has for it.
func (f *File) isRead(header string) bool {
	for _, p := range f.Columns {
		if p.Header == header {
			return true
		}
	}
	return f.Columns == nil
}

// Format is a kind of data file, with the settings that only this kind has.
type Format interface {
	// open reads the header of a file.
	open(d *Directory, f *File, content fileReader) (records, hcl.Diagnostics)
	// kind is the type of data that reads it, such as csv.
	kind() string
}

// snippetBytesMax bounds how much of a data file is read again for snippets.
const snippetBytesMax = 256 << 20

// Directory is the directory of the data files. It keeps workbooks, which are read once, and
// notes which files the snippets of diagnostics need. It is not for use by several goroutines
// at once.
type Directory struct {
	root    *confined.Directory
	needed  map[string]int    // up to which byte, by file
	encoded map[string]string // encodings other than UTF-8, by file
	books   map[string]*workbook
	shown   map[string]*snippets // of workbooks
}

// NewDirectory returns the directory below root. Nothing outside of root is read.
func NewDirectory(root *confined.Directory) *Directory {
	return &Directory{
		root: root, needed: map[string]int{}, encoded: map[string]string{},
		books: map[string]*workbook{}, shown: map[string]*snippets{},
	}
}

// Open opens a data file and reads its header. The caller closes the file, where it is not nil.
func (d *Directory) Open(f *File, format Format) (*Table, io.Closer, hcl.Diagnostics) {
	if workbook, isMark := strings.CutPrefix(path.Base(f.Name), "~$"); isMark {
		return nil, nil, hcl.Diagnostics{mistake.New(f.NamedAt, "Data file cannot be read",
			"%s is what Excel writes beside a workbook while that is open. Name the workbook:\n\n  file = %s", f.Name, mistake.QuotedHCL(path.Join(path.Dir(f.Name), workbook)))}
	}
	file, err := d.root.Open(f.Name)
	if err != nil {
		return nil, nil, hcl.Diagnostics{mistake.New(f.NamedAt, "Data file cannot be read", "%s%s", mistake.OfFile(f.Name, err), d.nearby(f.Name))}
	}
	head := make([]byte, bankfile.SniffedBytes)
	n, _ := file.ReadAt(head, 0)
	if kind := foreignKind(head[:n], format.kind()); kind != "" {
		return nil, file, hcl.Diagnostics{mistake.New(f.NamedAt, "File has no rows", "%s %s", f.Name, mistake.Sentence(errors.New(kind)))}
	}
	from, diags := format.open(d, f, file)
	if diags.HasErrors() {
		return nil, file, diags
	}
	table, more := newTable(f, from)
	return table, file, append(diags, more...)
}

// otherReference is a reference to a variable as shells, templates and Windows have them.
var otherReference = lazyregexp.New(`\$\(\w|\{\{|%\w+%|<\w+>`)

// nearby says which file of the same directory a name may mean that none has.
func (d *Directory) nearby(name string) string {
	if d.root == nil {
		return ""
	}
	if strings.HasPrefix(name, "~") || strings.Contains(name, ":/") {
		return " Name a file relative to the directory of the configuration. It must be in it or below it."
	}
	if otherReference.MatchString(name) {
		return " A reference in a text is written in ${ }, such as ${var.period}."
	}
	dir := path.Dir(name)
	if _, err := d.root.Stat(name); err == nil {
		return ""
	}
	entries, err := d.root.Names(dir)
	if err != nil {
		return ""
	}
	var names []string
	for _, entry := range entries {
		names = append(names, path.Join(dir, entry))
	}
	if other := ofOtherNumber(name, names); other != "" {
		return fmt.Sprintf(" There is %s, of another month or number. Save the file of this one under the name that is asked for, or correct the name where it is written, such as in a variable.", other)
	}
	if hint := mistake.DidYouMean(name, names); hint != "" || slices.Contains(names, path.Clean(name)) {
		return hint
	}
	alike := slices.DeleteFunc(names, func(other string) bool { return !strings.EqualFold(path.Ext(other), path.Ext(name)) })
	if len(alike) == 0 {
		return ""
	}
	return " There are: " + mistake.Listed(alike, 5) + "."
}

// ofOtherNumber is the first name that has the same letters as another one and other digits, as the file of another month has; "" for none.
func ofOtherNumber(name string, names []string) string {
	letters := withoutDigits(name)
	if letters == name || slices.Contains(names, path.Clean(name)) {
		return ""
	}
	i := slices.IndexFunc(names, func(other string) bool { return withoutDigits(other) == letters })
	if i < 0 {
		return ""
	}
	return names[i]
}

func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}

// NeedSnippet notes that a snippet of a data file may be asked for, up to its byte end.
func (d *Directory) NeedSnippet(name string, end int) {
	d.needed[name] = max(d.needed[name], end)
}

// snippetsOf are those of a workbook.
func (d *Directory) snippetsOf(name string) *snippets {
	if d.shown[name] == nil {
		d.shown[name] = &snippets{}
	}
	return d.shown[name]
}

// Snippets are the data files that had mistakes, as far as snippets need them. A file that became
// unreadable or is too large is left out.
func (d *Directory) Snippets() map[string]*hcl.File {
	files := map[string]*hcl.File{}
	for name, end := range d.needed {
		if d.shown[name] != nil {
			continue
		}
		if content, ok := d.readPrefix(name, end); ok {
			files[name] = &hcl.File{Body: hcl.EmptyBody(), Bytes: content}
		}
	}
	for name, shown := range d.shown {
		files[name] = shown.file()
	}
	return files
}

// readPrefix reads a file again up to the line of the byte end.
func (d *Directory) readPrefix(name string, end int) ([]byte, bool) {
	const contextBytes = 4096 // the rest of the line
	if end > snippetBytesMax-contextBytes {
		return nil, false
	}
	file, err := d.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer func() { _ = file.Close() }()
	text, err := decoded(file, cmp.Or(d.encoded[name], encodingUTF8))
	if err != nil {
		return nil, false
	}
	content, err := io.ReadAll(io.LimitReader(text, int64(end+contextBytes)))
	return content, err == nil
}
