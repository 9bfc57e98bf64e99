package rows

import (
	"bytes"
	"path"
	"strings"

	"remit/internal/files/bankfile"
)

// foreignKinds are files that have no rows, by their first bytes, with what each is and what to do. Kinds
// that only one reader can tell are told by that reader.
var foreignKinds = []struct{ begins, is string }{
	{"version https://git-lfs.github.com/spec/", "is the pointer that Git LFS leaves in the place of a file. Get the file itself:\n\n  git lfs pull"},
	{"\xd0\xcf\x11\xe0", "is a workbook of an old kind (.xls), or one with a password. Save it as .xlsx without a password, for data \"xlsx\", or as CSV"},
	{"%PDF", "is a PDF, and has no rows. Get it as CSV or as a workbook"},
	{"{\\rtf", "was saved by a word processor with its formats. Save it as CSV in UTF-8"},
	{"\x89PNG", "is a picture, and has no rows. Get the rows as CSV or as a workbook"},
	{"\xff\xd8\xff", "is a picture, and has no rows. Get the rows as CSV or as a workbook"},
	{"\x1f\x8b", compressed},
	{"BZh", compressed},
	{"7z\xbc\xaf\x27\x1c", compressed},
	{"Rar!\x1a", compressed},
	{"\xfd7zXZ", compressed},
	{"\x28\xb5\x2f\xfd", compressed},
	{"-----BEGIN PGP MESSAGE", "is encrypted by PGP. Decrypt it, and name the file that comes out"},
}

// Kinds of formats that read files which begin as foreign ones do.
const (
	kindPain001 = "pain001"
	kindXLSX    = "xlsx"
)

const compressed = "is compressed. Unpack it, and name the file that comes out"

// foreignKind says behind its name what a file without rows for a format is; "" for one that may have some.
func foreignKind(head []byte, format string) string {
	for _, kind := range foreignKinds {
		if bytes.HasPrefix(head, []byte(kind.begins)) {
			return kind.is
		}
	}
	switch name := bankfile.Name(head); {
	case name == "", name == bankfile.Pain001() && format == kindPain001:
	case name == bankfile.Pain001():
		return "is " + name + ". It is read by:\n\n  data \"pain001\" \"payroll\" {"
	case strings.HasPrefix(name, "a file of payments "), strings.HasPrefix(name, "a message of a bank "):
		return "is " + name + ", which remit does not read. Name a file that lists the same payments as a workbook (.xlsx), CSV, JSON or pain.001"
	default:
		return "is " + name + ", and lists no payments that are to be made. Name the file that lists them: a workbook (.xlsx), CSV, JSON, or payments as pain.001"
	}
	if format == kindXLSX || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return ""
	}
	switch { // the first part of a package has its name here
	case bytes.Contains(head, []byte("application/vnd.oasis.opendocument.spreadsheet")):
		return "is an OpenDocument spreadsheet (.ods). Save it as .xlsx, for data \"xlsx\", or as CSV"
	case bytes.Contains(head, []byte(".iwa")):
		return "is a workbook of Numbers. Export it there as Excel (.xlsx), for data \"xlsx\", or as CSV"
	}
	return ""
}

// misnamedText is the name that a file of text should have where its own is that of a workbook; "" for any
// other.
func misnamedText(name string) string {
	switch ext := path.Ext(name); strings.ToLower(ext) {
	case ".xlsx", ".xls", ".xlsm", ".xlsb", ".ods":
		return strings.TrimSuffix(path.Base(name), ext) + ".csv"
	}
	return ""
}
