package gitfiles

import (
	"os"
	"path/filepath"
	"strings"

	"remit/internal/files/confined"
)

// Bounds far above git's configuration of one person.
const (
	settingsMax = 1 << 20 // bytes of a file
	filesMax    = 100     // read together
)

// Identity is where the user's own configuration of git is.
type Identity struct {
	Home string // HOME; "" for none
	XDG  string // XDG_CONFIG_HOME; "" for .config in Home
	// Apart is a directory whose files are not the user's own, wherever Home is: the working tree
	// that is planned from.
	Apart string
}

// Email returns user.email of ~/.gitconfig, else of git/config in the XDG directory, with the files
// that these include without a condition; "" where none says it. A repository's configuration, the
// system's and the environment are not asked.
func (id Identity) Email() string {
	var r emailReader
	xdg := id.XDG
	if xdg == "" && id.Home != "" {
		xdg = filepath.Join(id.Home, ".config")
	}
	for _, file := range []string{within(xdg, "git/config"), within(id.Home, ".gitconfig")} {
		id.read(&r, file)
	}
	return r.email
}

// emailReader has the values read so far.
type emailReader struct {
	email string
	files int
}

func within(dir, name string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, name)
}

// read reads a file and those that it includes. One that cannot be read says nothing.
func (id Identity) read(r *emailReader, file string) {
	r.files++
	physical, err := filepath.EvalSymlinks(file)
	if err != nil || r.files > filesMax || id.isApart(physical) {
		return
	}
	root, err := os.OpenRoot(filepath.Dir(physical))
	if err != nil {
		return
	}
	content, err := confined.Read(root, filepath.Base(physical), settingsMax)
	_ = root.Close() // only read
	if err != nil {
		return
	}
	for _, s := range settings(string(content)) {
		switch s.name {
		case "user.email":
			r.email = s.value
		case "include.path":
			id.read(r, id.included(file, s.value))
		}
	}
}

// included is the path of a file that another one includes.
func (id Identity) included(by, path string) string {
	if rest, isHome := strings.CutPrefix(path, "~/"); isHome {
		return within(id.Home, rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(by), path)
}

func (id Identity) isApart(file string) bool {
	if id.Apart == "" {
		return false
	}
	apart, err := filepath.EvalSymlinks(id.Apart)
	if err != nil {
		return true
	}
	below, err := filepath.Rel(apart, file)
	return err != nil || filepath.IsLocal(below)
}

// setting is one of git's configuration, such as user.email.
type setting struct{ name, value string }

// settings reads the syntax of git-config(1). It stops where that is broken, as git does.
func settings(text string) []setting {
	var list []setting
	section := ""
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for {
		text = strings.TrimLeft(text, " \t\n\v\f\r")
		switch {
		case text == "":
			return list
		case text[0] == '#' || text[0] == ';':
			_, text, _ = strings.Cut(text, "\n")
		case text[0] == '[':
			head, rest, ok := cutSection(text[1:])
			if !ok {
				return list
			}
			section, text = head, rest
		default:
			end := strings.IndexAny(text, "=\n#; \t")
			name := text
			if end >= 0 {
				name, text = text[:end], strings.TrimLeft(text[end:], " \t")
			} else {
				text = ""
			}
			value := ""
			if strings.HasPrefix(text, "=") {
				var ok bool
				if value, text, ok = cutValue(text[1:]); !ok {
					return list
				}
			}
			list = append(list, setting{section + "." + strings.ToLower(name), value})
		}
	}
}

// cutSection reads the name of a section up to its bracket. A subsection follows the name after a
// NUL, which no name has.
func cutSection(text string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(text, "]")
	if head, _, hasSub := strings.Cut(name, `"`); hasSub {
		quoted := text[len(head)+1:]
		for i := 0; i < len(quoted); i++ {
			switch quoted[i] {
			case '\\':
				i++
			case '\n':
				return "", "", false
			case '"':
				_, rest, ok = strings.Cut(quoted[i+1:], "]")
				return strings.ToLower(strings.TrimSpace(head)) + "\x00" + quoted[:i], rest, ok
			}
		}
		return "", "", false
	}
	return strings.ToLower(strings.TrimSpace(name)), rest, ok && !strings.Contains(name, "\n")
}

// cutValue reads a value up to the end of its line.
func cutValue(text string) (value, rest string, ok bool) {
	var b strings.Builder
	isQuoted, kept := false, 0 // kept are the bytes that are not space at the end
	i := 0
	text = strings.TrimLeft(text, " \t")
	for ; i < len(text) && text[i] != '\n'; i++ {
		c := text[i]
		switch {
		case c == '"':
			isQuoted = !isQuoted
			kept = b.Len()
			continue
		case (c == '#' || c == ';') && !isQuoted:
			_, rest, _ := strings.Cut(text[i:], "\n")
			return b.String()[:kept], rest, true
		case c == '\\':
			i++
			if i == len(text) {
				return "", "", false
			}
			if text[i] == '\n' {
				continue
			}
			at := strings.IndexByte(`ntb"\`, text[i])
			if at < 0 {
				return "", "", false
			}
			_ = b.WriteByte("\n\t\b\"\\"[at])
			kept = b.Len()
			continue
		}
		_ = b.WriteByte(c)
		if isQuoted || c != ' ' && c != '\t' {
			kept = b.Len()
		}
	}
	return b.String()[:kept], text[i:], !isQuoted
}
