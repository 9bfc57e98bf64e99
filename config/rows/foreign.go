package rows

import (
	"bytes"
	"path"
	"strings"
)

// foreignKinds are files that have no rows, by their first bytes, with what each is and what to do. Kinds
// that only one reader can tell are told by that reader.
var foreignKinds = []struct{ begins, is string }{
	{"version https://git-lfs.github.com/spec/", "is the pointer that Git LFS leaves in the place of a file. Get the file itself:\n\n  git lfs pull"},
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

const compressed = "is compressed. Unpack it, and name the file that comes out"

// foreignKind says behind its name what a file without rows is; "" for one that may have some.
func foreignKind(head []byte) string {
	for _, kind := range foreignKinds {
		if bytes.HasPrefix(head, []byte(kind.begins)) {
			return kind.is
		}
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
