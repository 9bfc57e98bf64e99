package rows

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/internal/text/lazyregexp"
)

// painSpaces are the namespaces of pain.001, of ISO and of those who restrict it.
var painSpaces = lazyregexp.New(`(?:^|[^a-z])pain\.001\.\d{3}\.(\d{2})(\D.*)?$`)

// stop is a mistake that ends the reading.
func (f *pain001File) stop(at span, summary, detail string, args ...any) hcl.Diagnostics {
	f.stopped = true
	return f.wrongRecord(at, summary, detail, args...)
}

// checkText refuses text that no element of pain.001 has: outside of the document, and beside
// other elements. Two readers of such a file can read different payments.
func (f *pain001File) checkText(from int64, text []byte) hcl.Diagnostics {
	trimmed := bytes.TrimSpace(text)
	at := span{from + int64(max(bytes.Index(text, trimmed), 0)), int64(len(trimmed))}
	switch {
	case len(trimmed) == 0:
	case len(f.path) == 0 && from == 0:
		return f.stop(at, "Text outside of the document", "A file of pain.001 is XML and begins with <. If this one has rows of text, read it as what it is, such as:\n\n  data \"csv\" \"payroll\" {\n  }")
	case len(f.path) == 0:
		return f.stop(at, "Text outside of the document", "A file of ISO 20022 is one Document, and has nothing before or after it.")
	case f.isMixed && f.isKnown():
		return f.stop(at, "Text beside elements", "Text stands in %s beside other elements. An element of pain.001 has either.", f.path[len(f.path)-1])
	}
	return nil
}

// isKnown says whether the innermost element is of pain.001, and not in some extension.
func (f *pain001File) isKnown() bool {
	return !slices.ContainsFunc(f.path, func(name string) bool { return strings.HasPrefix(name, "{") })
}

// checkElement refuses XML that the decoder takes although it is not well formed, and an
// instruction that would not be read.
func (f *pain001File) checkElement(element xml.StartElement, at span) hcl.Diagnostics {
	if twice := repeatedAttribute(element); twice != "" {
		return f.stop(at, "Attribute stands twice", "The %s has the attribute %s twice. Which one is meant?", element.Name.Local, twice)
	}
	if len(f.path) > 0 && f.isKnown() && strings.TrimSpace(f.text.String()) != "" {
		return f.stop(at, "Text beside elements", "Text stands in %s beside other elements. An element of pain.001 has either.", f.path[len(f.path)-1])
	}
	name := element.Name.Local
	where := map[string]string{"PmtInf": painInformation, "CdtTrfTxInf": painInstruction}[name]
	if where != "" && element.Name.Space == f.space && f.at()+"/"+name+"/" != where {
		return f.stop(at, "Element in a wrong place", "A %s stands here, where it is not read: it belongs into %s.", name, strings.TrimSuffix(where, "/"+name+"/"))
	}
	return nil
}

// singleElements are the paths of the elements that may occur once: those that are read, and those
// around them, but for the elements of the file's lists.
func singleElements() map[string]bool {
	single := map[string]bool{}
	add := func(path string) {
		for end := strings.IndexByte(path, '/'); end >= 0 && end < len(path); {
			next := strings.IndexByte(path[end+1:], '/')
			if next < 0 {
				end = len(path)
			} else {
				end += 1 + next
			}
			single[path[:end]] = true
		}
	}
	for _, column := range painColumns() {
		for _, path := range column.paths {
			if !strings.HasPrefix(column.name, "remittance") { // of which there may be more
				add(path)
			}
		}
	}
	for _, above := range []string{painGroup, painInformation} {
		add(above + "NbOfTxs")
		add(above + "CtrlSum")
	}
	add(painInformation + "PmtMtd")
	delete(single, strings.TrimSuffix(painInformation, "/"))
	delete(single, strings.TrimSuffix(painInstruction, "/"))
	return single
}

// checkSingle refuses a repeated element that ISO 20022 has once, and an account that is said by an
// IBAN and in another way: another reader of the file may take the other one.
func (f *pain001File) checkSingle(name string, at span) hcl.Diagnostics {
	if len(f.path) == 0 || !f.single[f.at()+"/"+name] {
		return nil
	}
	seen := f.within[len(f.within)-1]
	if seen == nil {
		seen = map[string]bool{}
		f.within[len(f.within)-1] = seen
	}
	other := map[string]string{"IBAN": "Othr", "Othr": "IBAN", "Cd": "Prtry", "Prtry": "Cd"}[name]
	switch {
	case seen[name]:
		return f.stop(at, "Element stands twice", "The %s has a %s already. Which one is meant?", f.path[len(f.path)-1], name)
	case other != "" && seen[other]:
		return f.stop(at, "Two of which one is allowed", "Here stand %s and %s, and ISO 20022 allows one of them: they could name two accounts or purposes. Which one is meant?", other, name)
	}
	seen[name] = true
	return nil
}

func (f *pain001File) checkDocument(element xml.StartElement, at span) hcl.Diagnostics {
	f.documents++
	version := painSpaces.FindStringSubmatch(element.Name.Space)
	f.space = element.Name.Space
	switch {
	case f.documents > 1:
		return f.wrongRecord(at, "Not a pain.001 file", "A second document begins here, and a file has one.")
	case element.Name.Local != "Document":
		return f.wrongRecord(at, "Not a pain.001 file", "The file is a %q, and a pain.001 file is a Document.", element.Name.Local)
	case version == nil || version[1] < "03":
		return f.wrongRecord(at, "Not a pain.001 file",
			"The namespace of the document is %q, and that of a pain.001 file is such as \"urn:iso:std:iso:20022:tech:xsd:pain.001.001.09\", of version 03 or later.", element.Name.Space)
	}
	return nil
}
