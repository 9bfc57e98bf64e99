// Package address reads paths as systems do.
//
// Its one invariant: what Windows keeps for a device, or reads as a stream in a file, is no path of a file.
package address

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// Check refuses a path with a name in it that leads to no file of its own where remit runs. On Windows those are the
// names of devices, such as NUL, COM1 and CON.db, in any directory, and names with a colon, which name a stream
// in a file. Other systems have no such names.
func Check(path string) error {
	rest := path[len(filepath.VolumeName(path)):]
	for name := range strings.FieldsFuncSeq(rest, isSeparator) {
		if name != ".." && !filepath.IsLocal(name) {
			return fmt.Errorf("the path %s leads to no file: Windows reads %s as a device or as a stream in a file; choose another name", path, name)
		}
	}
	return nil
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }

// SQLite is a path as SQLite reads it in a URI. A volume of Windows, such as C:, has a slash before it there.
func SQLite(path string) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		slashed = "/" + slashed
	}
	return "file:" + (&url.URL{Path: slashed}).EscapedPath()
}
