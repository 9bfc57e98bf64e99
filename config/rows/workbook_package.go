package rows

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// workbookPackage is an .xlsx file as a package of parts (ECMA-376, part 2): an archive, and in
// it relationships that say which part is what. A name says nothing.
type workbookPackage struct {
	files map[string]*zip.File // by their exact names
	folds map[string]string    // those names by what they are without regard to case
}

const (
	workbookBytesMax    = 64 << 20  // of the file
	workbookUnzippedMax = 512 << 20 // of all its parts
	workbookPartsMax    = 10_000
	workbookDepthMax    = 64 // of elements in a part
)

var errNoPart = errors.New("is no whole workbook: a part of it is missing or damaged")

// openPackage refuses a file that is no workbook, or unpacks to more than workbookBytesMax. The
// error tells the author what the file is instead.
func openPackage(content []byte) (*workbookPackage, error) {
	if begin := bytes.ToLower(bytes.TrimSpace(content[:min(len(content), sniffedBytes)])); bytes.HasPrefix(begin, []byte("<html")) || bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<table")) {
		return nil, errors.New("is a page of the web, which some programs name as a workbook. Open it in a spreadsheet program, and save it as .xlsx")
	}
	if !bytes.HasPrefix(content, []byte("PK")) {
		return nil, errors.New("is no workbook of the kind .xlsx. Text is read by data \"csv\"")
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, errors.New("is no whole workbook: it cannot be unpacked")
	}
	if len(archive.File) > workbookPartsMax {
		return nil, fmt.Errorf("has more than %d parts", workbookPartsMax)
	}
	p := &workbookPackage{files: map[string]*zip.File{}, folds: map[string]string{}}
	var size uint64
	for _, file := range archive.File {
		fold := strings.ToLower(strings.TrimPrefix(path.Clean(strings.ReplaceAll(file.Name, "\\", "/")), "/"))
		if p.folds[fold] != "" {
			return nil, fmt.Errorf("is damaged: it has the part %q twice", file.Name)
		}
		p.folds[fold], p.files[file.Name] = file.Name, file
		if file.UncompressedSize64 > workbookUnzippedMax-size {
			return nil, fmt.Errorf("unpacks to more than %d MiB", workbookUnzippedMax>>20)
		}
		size += file.UncompressedSize64
	}
	switch {
	case p.folds["xl/workbook.bin"] != "":
		return nil, errors.New("is a binary workbook (.xlsb). Save it as .xlsx")
	case p.folds["mimetype"] != "" && p.folds["content.xml"] != "":
		return nil, errors.New("is an OpenDocument spreadsheet (.ods). Save it as .xlsx")
	case p.folds["word/document.xml"] != "":
		return nil, errors.New("is a document of Word. Put its rows into a workbook, and save that as .xlsx")
	case p.folds["index.zip"] != "" || p.folds["index/document.iwa"] != "":
		return nil, errors.New("is a workbook of Numbers. Export it there as Excel (.xlsx)")
	case p.folds["[content_types].xml"] == "" && p.folds["_rels/.rels"] == "":
		return nil, errors.New("is an archive, and no workbook. Unpack it, and name the file that comes out")
	}
	return p, nil
}

// part unpacks a part. A name in other letters than its own is an error: one program finds such
// a part, and another does not.
func (p *workbookPackage) part(name string) ([]byte, error) {
	file := p.files[name]
	if file == nil {
		if other := p.folds[strings.ToLower(name)]; other != "" {
			return nil, fmt.Errorf("is damaged: it refers to the part %q, and has %q, which not every program takes for the same. Save it anew in a spreadsheet program", name, other)
		}
		return nil, errNoPart
	}
	from, err := file.Open()
	if err != nil {
		return nil, errNoPart
	}
	defer func() { _ = from.Close() }()
	var content bytes.Buffer
	n, err := io.Copy(&content, io.LimitReader(from, int64(file.UncompressedSize64)+1))
	if err != nil || n != int64(file.UncompressedSize64) {
		return nil, errNoPart
	}
	return content.Bytes(), nil
}

// relation is one relationship of a part.
type relation struct {
	id, kind, target string
}

// relationKind is the type of a relationship without its beginning (ECMA-376, transitional and strict).
func relationKind(address string) string {
	for _, space := range []string{
		"http://schemas.openxmlformats.org/officeDocument/2006/relationships/", "http://purl.oclc.org/ooxml/officeDocument/relationships/",
	} {
		if kind, ok := strings.CutPrefix(address, space); ok {
			return kind
		}
	}
	return ""
}

const relationSpace = "http://schemas.openxmlformats.org/package/2006/relationships"

// relations are the relationships of a part, and of the package itself for "". Their targets are
// names of parts; one that is no such name is "".
func (p *workbookPackage) relations(of string) ([]relation, error) {
	errWrong := errors.New("is no whole workbook: it does not say where its parts are")
	name := path.Join(path.Dir(of), "_rels", path.Base(of)+".rels")
	if of == "" {
		name = "_rels/.rels"
	}
	content, err := p.part(name)
	if err != nil {
		return nil, errWrong
	}
	var all []relation
	err = eachElement(content, func(path string, element xml.StartElement) error {
		if path != "Relationships/Relationship" || element.Name.Space != relationSpace {
			return nil
		}
		r := relation{id: attribute(element, "Id"), kind: relationKind(attribute(element, "Type"))}
		if attribute(element, "TargetMode") != "External" {
			r.target = partName(of, attribute(element, "Target"))
		}
		all = append(all, r)
		return nil
	})
	if err != nil {
		return nil, errWrong
	}
	return all, nil
}

// partName is the name of the part that a relationship of another one leads to; "" where it is
// written in a way that programs might read differently.
func partName(from, target string) string {
	if target == "" || strings.ContainsAny(target, `%\:?#`) {
		return ""
	}
	if rooted, isRooted := strings.CutPrefix(target, "/"); isRooted {
		return path.Clean(rooted)
	}
	return path.Join(path.Dir(from), target)
}

// related is the part of a kind, such as "styles"; "" where there is none.
func related(relations []relation, kind string) (string, error) {
	target, found := "", false
	for _, r := range relations {
		switch {
		case r.kind != kind:
		case found:
			return "", fmt.Errorf("is damaged: it has two parts that are its %s", kind)
		case r.target == "":
			return "", fmt.Errorf("is damaged: its %s are in no part of it", kind)
		default:
			target, found = r.target, true
		}
	}
	return target, nil
}

// partDecoder reads the XML of a part, and refuses what programs read differently: a document
// type, a repeated attribute, elements that nest deeper than any do.
type partDecoder struct {
	*xml.Decoder
	depth int
}

var errPartDamaged = errors.New("is damaged: a part of it cannot be read")

func newPartDecoder(from io.Reader) *partDecoder { return &partDecoder{Decoder: xml.NewDecoder(from)} }

// Token is that of the decoder.
func (d *partDecoder) Token() (xml.Token, error) {
	token, err := d.Decoder.Token()
	if err != nil {
		return token, err
	}
	switch t := token.(type) {
	case xml.Directive:
		return nil, errPartDamaged
	case xml.StartElement:
		if d.depth++; d.depth > workbookDepthMax || repeatedAttribute(t) != "" {
			return nil, errPartDamaged
		}
	case xml.EndElement:
		d.depth--
	}
	return token, nil
}

// Skip reads up to the end of the element that was begun last.
func (d *partDecoder) Skip() error {
	for outer := d.depth - 1; d.depth > outer; {
		if _, err := d.Token(); err != nil {
			return err
		}
	}
	return nil
}

// eachElement visits the elements of a part, which has one root, with their paths: names of
// elements from the root on. The namespace of one that is not the root's is in braces.
func eachElement(content []byte, visit func(path string, element xml.StartElement) error) error {
	decoder := newPartDecoder(bytes.NewReader(content))
	var open []string
	roots, space := 0, ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && roots == 1 {
			return nil
		}
		if err != nil {
			return errPartDamaged
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) == 0 {
				roots, space = roots+1, t.Name.Space
			}
			name := t.Name.Local
			if t.Name.Space != space {
				name = "{" + name + "}"
			}
			open = append(open, name)
			if roots > 1 {
				return errPartDamaged
			}
			if err := visit(strings.Join(open, "/"), t); err != nil {
				return err
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}
