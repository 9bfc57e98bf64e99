package config

import (
	"bytes"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"

	"remit/config/functions"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/rows"
	"remit/config/syntax"
	"remit/internal/files/confined"
	"remit/internal/transfer"
)

// sourceBytesMax bounds one file of HCL, and the part of a data file that a snippet needs.
const sourceBytesMax = 256 << 20

// sourceFiles are the files of one directory. Nothing outside of it is read through root.
type sourceFiles struct {
	root   *confined.Directory
	whole  bool          // no file is split
	pieces syntax.Pieces // that are known to be right; nil where nothing is kept
	parsed []sourceFile  // in order of their names
	// files are the parsed ones, for snippets. Files of variables are not among them: a
	// snippet could show a secret.
	files map[string]*hcl.File
	// data are the data files; nil where the directory could not be opened.
	data *rows.Directory

	mu   sync.Mutex          // functions may be called by several goroutines
	read map[string]readFile // that functions have read, by the names that diagnostics use; guarded by mu
	// searches are what functions have looked for by name, by paths that diagnostics use and patterns; guarded by mu.
	searches map[searchKey]functions.Search
	// reading notes them once more while readBy runs; nil elsewhere. It is guarded by mu.
	reading map[string]bool
}

// searchKey is what a search was for.
type searchKey struct{ path, pattern string }

// readFile is a file below a directory: the configuration's or an included one.
type readFile struct {
	root *confined.Directory
	name string
}

// sourceFile is one file that was parsed, whole or in parts.
type sourceFile struct {
	name  string
	file  *hcl.File
	parts []*syntax.Part // instead of the file's body
}

// openSources opens the directory and parses its configuration. On an error that left
// nothing to read, root is nil.
func openSources(dir string, whole bool, unsaved *confined.Unsaved, pieces syntax.Pieces) (*sourceFiles, hcl.Diagnostics) {
	s := &sourceFiles{whole: whole, pieces: pieces, files: map[string]*hcl.File{}, data: rows.NewDirectory(nil), read: map[string]readFile{}, searches: map[searchKey]functions.Search{}}
	root, err := confined.OpenDirectory(dir, unsaved)
	if err != nil {
		return s, hcl.Diagnostics{mistake.Placeless("Directory cannot be read", "%s", mistake.Sentence(err))}
	}
	names, err := root.Names(".")
	if err != nil {
		_ = root.Close()
		return s, hcl.Diagnostics{mistake.Placeless("Directory cannot be read", "%s", mistake.Sentence(err))}
	}
	s.root, s.data = root, rows.NewDirectory(root)
	all := slices.Clone(names)
	names = slices.DeleteFunc(names, func(name string) bool { return !IsSource(name) })
	parse := func(name string) parsed { return parseFile(s.root, name, name, s.split, s.pieces) }
	var diags hcl.Diagnostics
	for parsed := range syntax.Parallel(names, parse) {
		diags = append(diags, parsed.diags...)
		if parsed.file == nil {
			continue
		}
		s.files[parsed.name] = parsed.file
		if !parsed.diags.HasErrors() {
			s.parsed = append(s.parsed, parsed.sourceFile)
		}
	}
	if len(names) > 0 && !diags.HasErrors() && !slices.ContainsFunc(s.parsed, sourceFile.hasText) {
		d := mistake.Placeless("Nothing is declared", "%s has no block, only blanks or comments. A file that declares one transfer is made by remit init in an empty directory; docs/tutorial.md explains it.", s.parsed[0].name)
		d.Severity = hcl.DiagWarning
		diags = append(diags, d)
	}
	if len(names) == 0 {
		diags = append(diags, mistake.Placeless("No configuration", "%s", noConfiguration(root, dir, all)))
	} else {
		diags = append(diags, missed(root, all, "")...)
	}
	return s, diags
}

// hasText reports whether a file has more than blanks and comments.
func (s sourceFile) hasText() bool {
	body, isNative := s.file.Body.(*hclsyntax.Body)
	return s.parts != nil || !isNative || len(body.Blocks)+len(body.Attributes) > 0
}

// IsSource reports whether a file of that name, in the directory, is part of a configuration.
func IsSource(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasSuffix(name, testSuffix) {
		return false
	}
	return strings.HasSuffix(name, ".hcl") || isJSON(name)
}

func isJSON(name string) bool { return strings.HasSuffix(name, ".hcl.json") }

// parsed is a source with its mistakes. The file is nil where it cannot be read.
type parsed struct {
	sourceFile
	diags hcl.Diagnostics
}

// parseFile reads and parses a file below root that diagnostics call shown. Split returns the
// parts of a file that is not parsed whole, else nil; it may be nil itself, as known may, the pieces of files that are right. Several
// goroutines may call it.
func parseFile(root *confined.Directory, name, shown string, split func(content []byte, name string) []*syntax.Part, known syntax.Pieces) parsed {
	wrong := func(summary, detail string, args ...any) parsed {
		return parsed{diags: hcl.Diagnostics{mistake.Placeless(summary, detail, args...)}}
	}
	if err := transfer.CheckText(name); err != nil { // a reviewer reads it as a place
		return wrong("Text cannot be seen as it is", "The name of the file %q %s", name, mistake.Sentence(err))
	}
	content, err := root.Read(name, sourceBytesMax)
	if err != nil {
		return wrong("File cannot be read", "%s", mistake.OfFile(shown, err))
	}
	return parseContent(content, name, shown, split, known)
}

// parseContent is [parseFile] of a content that was read.
func parseContent(content []byte, name, shown string, split func(content []byte, name string) []*syntax.Part, known syntax.Pieces) parsed {
	if split != nil {
		if parts := split(content, shown); parts != nil {
			file := &hcl.File{Body: hcl.EmptyBody(), Bytes: content, Nav: syntax.Nav(parts)}
			return parsed{sourceFile: sourceFile{shown, file, parts}}
		}
	}
	parse := syntax.Parse
	if isJSON(name) {
		parse = syntax.ParseJSON
	} else if where, diags := syntax.ExplainLong(content, shown, known); diags.HasErrors() {
		return parsed{sourceFile: sourceFile{name: shown, file: &hcl.File{Body: hcl.EmptyBody(), Bytes: content, Nav: where}}, diags: diags}
	}
	file, diags := parse(content, shown)
	diags = syntax.Explain(content, shown, diags, true)
	if file == nil {
		file = &hcl.File{Body: hcl.EmptyBody(), Bytes: content}
	}
	return parsed{sourceFile: sourceFile{name: shown, file: file}, diags: diags}
}

// split splits a file that is long enough for it, and parses the parts that have more than
// transfers. It is nil where the file is to be parsed whole.
func (s *sourceFiles) split(content []byte, name string) []*syntax.Part {
	if s.whole || isJSON(name) || len(content) < syntax.SplitAbove || bytes.HasPrefix(content, []byte(rows.ByteOrderMark)) {
		return nil
	}
	parts := syntax.Split(content, name, s.pieces != nil)
	for _, p := range parts {
		if p.TransfersOnly {
			continue
		}
		if p.Body = p.Parse(); p.Body == nil {
			return nil
		}
	}
	return parts
}

// bodies yields the parsed body of every file but parts that have transfers alone.
func (s *sourceFiles) bodies() iter.Seq[hcl.Body] {
	return func(yield func(hcl.Body) bool) {
		for _, source := range s.parsed {
			if source.parts == nil && !yield(source.file.Body) {
				return
			}
			for _, p := range source.parts {
				if !p.TransfersOnly && !yield(p.Body) {
					return
				}
			}
		}
	}
}

// noteRead keeps a file below root that a function has read, and the name that diagnostics use for it.
func (s *sourceFiles) noteRead(shown string, root *confined.Directory, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read[shown] = readFile{root, name}
	if s.reading != nil {
		s.reading[shown] = true
	}
}

// readBy are the files that functions read in f, by the names that diagnostics use for them.
func (s *sourceFiles) readBy(f func()) map[string]bool {
	note := func(reading map[string]bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reading = reading
	}
	read := map[string]bool{}
	note(read)
	f()
	note(nil)
	return read
}

// noteSearch keeps what a function has looked for below a directory of this name.
func (s *sourceFiles) noteSearch(name string, search functions.Search) {
	search.Path = path.Join(name, search.Path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches[searchKey{search.Path, search.Pattern}] = search
}

// functions are those that read files below root, a directory of this name; "" is the configuration's.
func (s *sourceFiles) functions(root *confined.Directory, name string, m *meter.Meter) map[string]function.Function {
	return functions.TableOf(functions.Directory{
		Root: root, Name: name,
		Note:     func(file string) { s.noteRead(path.Join(name, file), root, file) },
		Searched: func(search functions.Search) { s.noteSearch(name, search) },
	}, m)
}

// testSuffix ends the name of a file of tests.
const testSuffix = ".remittest.hcl"

// IsTest reports whether a file of this name has tests of a configuration.
func IsTest(name string) bool {
	return strings.HasSuffix(name, testSuffix) && !strings.HasPrefix(name, ".")
}

// readOutside reads a file that somebody named on the command line.
func readOutside(dir, name string, limit int64) ([]byte, error) {
	file, err := confined.OpenNamed(dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	content, err := confined.ReadAtMost(file, limit)
	return content, confined.Plain(err)
}
