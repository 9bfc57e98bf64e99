package tree

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"remit/config"
)

// ParseChanged reads a list of changed paths as git diff --name-only writes it: a path in each line, of which one with
// special characters is in quotation marks, or with -z each path before a NUL. Paths have slashes.
func ParseChanged(list []byte) ([]string, error) {
	var paths []string
	if bytes.IndexByte(list, 0) >= 0 {
		for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
			paths = append(paths, name)
		}
	} else {
		for line := range strings.Lines(string(list)) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if strings.HasPrefix(line, `"`) {
				name, err := unquoted(line)
				if err != nil {
					return nil, fmt.Errorf("%s is no path as git writes it", strconv.Quote(line))
				}
				line = name
			}
			if line != "" {
				paths = append(paths, line)
			}
		}
	}
	for i, name := range paths {
		if name == "" || path.IsAbs(name) || !isBelow(path.Clean(name), ".") {
			return nil, fmt.Errorf("%s is no path in the repository: one is relative to its top, as git diff --name-only writes it", strconv.Quote(name))
		}
		paths[i] = path.Clean(name)
	}
	return paths, nil
}

// unquoted reads a path in quotation marks: git writes the escapes of C, and octal digits for a byte.
func unquoted(line string) (string, error) { return strconv.Unquote(line) }

// isBelow reports whether a clean path is a directory or below it.
func isBelow(name, dir string) bool {
	if dir == "." {
		return name != ".." && !strings.HasPrefix(name, "../")
	}
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// Change names the configurations that changed paths touch. Root is the top of the repository, to which the paths and Top, the directory of the
// search, are relative.
type Change struct {
	Root  string
	Top   string
	Paths []string
	Also  []string // directories that touch every configuration, relative to Root, such as those of policies
}

// Touches reports whether a change touches a configuration: whether a path is in its directory, in a directory below that,
// or in one that it includes, by whatever links these are reached. A link on the way to one of them touches it too, and so
// does the commit of a submodule that holds it. Includes are relative to the configuration's directory.
func (c *Change) Touches(directory string, includes []string) bool {
	at := path.Join(c.Top, directory)
	dirs := append([]string{at}, c.Also...)
	for _, include := range includes {
		dirs = append(dirs, path.Join(at, include))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return slices.ContainsFunc(trail(c.Root, dir), func(passed string) bool {
			return slices.ContainsFunc(c.Paths, func(name string) bool { return isBelow(name, passed) || isBelow(passed, name) })
		})
	})
}

// linksMax bounds the links of one way, as systems do.
const linksMax = 40

// trail is a directory, each link on the way to it, and what it is without links, all relative to the root and with slashes.
// A way that leads out of the root ends there: nothing is read beyond it.
func trail(root, dir string) []string {
	passed, at := []string{dir}, "."
	ahead := strings.Split(path.Clean(dir), "/")
	for links := 0; len(ahead) > 0; {
		next := path.Join(at, ahead[0])
		ahead = ahead[1:]
		if !filepath.IsLocal(next) {
			return passed
		}
		target, err := os.Readlink(filepath.Join(root, filepath.FromSlash(next)))
		if err != nil { // no link, or nothing
			at = next
			continue
		}
		if links++; links > linksMax {
			return passed
		}
		passed = append(passed, next)
		if filepath.IsAbs(target) {
			if target, err = filepath.Rel(root, target); err != nil {
				return passed
			}
			at = "."
		}
		ahead = append(strings.Split(path.Clean(filepath.ToSlash(target)), "/"), ahead...)
	}
	return append(passed, at)
}

// Split parts configurations into those that the change touches and the others. One of which nobody knows what it includes
// is touched.
func (c *Change) Split(configurations []string, includesOf func(string) (includes []string, isKnown bool)) (touched, others []string) {
	for _, name := range configurations {
		if includes, isKnown := includesOf(name); !isKnown || c.Touches(name, includes) {
			touched = append(touched, name)
		} else {
			others = append(others, name)
		}
	}
	return touched, others
}

// Gone are the directories, relative to Top, of changed files of the language and of lock files that are no
// configuration and no shared directory any more, in order.
func (c *Change) Gone(found *Found, isLock func(name string) bool) []string {
	var gone []string
	passed := trail(c.Root, c.Top)
	top := passed[len(passed)-1]
	for _, name := range c.Paths {
		dir, file := path.Split(name)
		dir = path.Clean(dir)
		if !isLock(file) && !config.IsSource(file) || !isBelow(dir, top) || isPassedOver(dir) {
			continue
		}
		below := strings.TrimPrefix(strings.TrimPrefix(dir, top), "/")
		if top == "." {
			below = dir
		}
		if below = path.Clean(below); !slices.Contains(found.Configurations, below) && !slices.Contains(found.Shared, below) {
			gone = append(gone, below)
		}
	}
	slices.Sort(gone)
	return slices.Compact(gone)
}

// isPassedOver reports whether a search looks into no directory of the name.
func isPassedOver(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "node_modules" || len(part) > 1 && part[0] == '.' && part != ".." {
			return true
		}
	}
	return false
}
