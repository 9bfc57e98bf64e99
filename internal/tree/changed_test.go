package tree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/tree"
)

func TestParseChanged(t *testing.T) {
	for name, test := range map[string]struct {
		list string
		want []string
		err  string
	}{
		"nothing changed":               {"", nil, ""},
		"a path in each line":           {"acme/main.hcl\nbook/a b.hcl\n", []string{"acme/main.hcl", "book/a b.hcl"}, ""},
		"no line break at the end":      {"acme/main.hcl", []string{"acme/main.hcl"}, ""},
		"lines of another system":       {"acme/main.hcl\r\n\r\nb\r\n", []string{"acme/main.hcl", "b"}, ""},
		"what git writes with -z":       {"acme/main.hcl\x00a\nb\x00", []string{"acme/main.hcl", "a\nb"}, ""},
		"what git puts into quotations": {`"acme/caf\303\251 \"x\".hcl"` + "\n", []string{`acme/café "x".hcl`}, ""},
		"quotations that don't end":     {`"acme`, nil, `"\"acme" is no path as git writes it`},
		"a path out of the repository":  {"../acme/main.hcl\n", nil, `"../acme/main.hcl" is no path in the repository: one is relative to its top, as git diff --name-only writes it`},
		"an absolute path":              {"/etc/passwd\n", nil, `"/etc/passwd" is no path in the repository: one is relative to its top, as git diff --name-only writes it`},
		"an empty path":                 {"a\x00\x00b\x00", nil, `"" is no path in the repository: one is relative to its top, as git diff --name-only writes it`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tree.ParseChanged([]byte(test.list))
			said := ""
			if err != nil {
				said = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" || said != test.err {
				t.Errorf("error %q; paths (-want +got):\n%s", said, diff)
			}
		})
	}
}

func FuzzParseChanged(f *testing.F) {
	f.Add([]byte("a\n\"b\\303\"\nc"))
	f.Add([]byte("a\x00b"))
	f.Fuzz(func(_ *testing.T, list []byte) {
		paths, err := tree.ParseChanged(list)
		if err == nil {
			(&tree.Change{Top: "finance", Paths: paths}).Gone(&tree.Found{}, isLock)
		}
	})
}

func TestTouches(t *testing.T) {
	for name, test := range map[string]struct {
		top, changed, directory string
		includes, also          []string
		want                    bool
	}{
		"a file of the directory":                    {".", "acme/pay/main.hcl", "acme/pay", nil, nil, true},
		"a data file below it":                       {".", "acme/pay/data/november.csv", "acme/pay", nil, nil, true},
		"a file of a directory whose name begins so": {".", "acme/payroll/main.hcl", "acme/pay", nil, nil, false},
		"a file of the directory above":              {".", "acme/main.hcl", "acme/pay", nil, nil, false},
		"a file of an included directory":            {".", "book/people.hcl", "acme/pay", []string{"../../book"}, nil, true},
		"a file of a directory that others include":  {".", "book/people.hcl", "acme/pay", []string{"../../calendar"}, nil, false},
		"a file of a policy directory":               {".", "policy/limits.hcl", "acme/pay", nil, []string{"policy"}, true},
		"the commit of a submodule with the book":    {".", "shared", "acme/pay", []string{"../../shared/book"}, nil, true},
		"the commit of one with the directory":       {".", "acme", "acme/pay", nil, nil, true},
		"all belongs to the directory of the search": {".", "readme.md", ".", nil, nil, true},
		"a tree within a repository":                 {"finance", "finance/acme/pay/main.hcl", "acme/pay", nil, nil, true},
		"and what is beside it":                      {"finance", "acme/pay/main.hcl", "acme/pay", nil, nil, false},
		"and what is included from beside it":        {"finance", "book/x.hcl", "acme/pay", []string{"../../../book"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := tree.Change{Top: test.top, Paths: []string{"other.txt", test.changed}, Also: test.also}
			if test.directory == "." {
				c.Paths = []string{test.changed}
			}
			if got := c.Touches(test.directory, test.includes); got != test.want {
				t.Errorf("touched: %v, want %v", got, test.want)
			}
		})
	}
}

// TestSplit has a configuration of which nobody knows what it includes: a change may be in there.
func TestSplit(t *testing.T) {
	c := tree.Change{Top: ".", Paths: []string{"book/people.hcl"}}
	touched, others := c.Split([]string{"acme", "broken", "globex"}, func(name string) ([]string, bool) {
		return map[string][]string{"acme": {"../book"}}[name], name != "broken"
	})
	if diff := cmp.Diff([][]string{{"acme", "broken"}, {"globex"}}, [][]string{touched, others}); diff != "" {
		t.Errorf("touched, and others (-want +got):\n%s", diff)
	}
}

// TestGone names directories that lost what made them a configuration: no plan says so.
func TestGone(t *testing.T) {
	found := &tree.Found{Configurations: []string{"acme", "."}, Shared: []string{"book"}}
	c := tree.Change{Top: "finance", Paths: []string{
		"finance/acme/main.hcl", "finance/book/people.hcl", "finance/globex/main.hcl", "finance/globex/more.hcl", "finance/initech/.remit.lock.hcl",
		"finance/umbrella/data.csv", "finance/.github/x.hcl", "elsewhere/main.hcl", "finance/main.hcl",
	}}
	if diff := cmp.Diff([]string{"globex", "initech"}, c.Gone(found, isLock)); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
}

// TestTouchesThroughLinks holds that no link hides a change: neither of what is behind it, nor of one on the way.
func TestTouchesThroughLinks(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"teams/acme", "books/eu", "books/us"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"finance": "teams", "current": "eu-now", "eu-now": "books/eu", "books/all": "../books", "absolute": filepath.Join(root, "books"),
		"round": "round", "out": "../..",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		top, changed, include string
		want                  bool
	}{
		"a file behind two links":               {"teams", "books/eu/people.hcl", "../../current", true},
		"a file beside what is behind them":     {"teams", "books/us/people.hcl", "../../current", false},
		"the first link leads elsewhere":        {"teams", "current", "../../current", true},
		"the second link leads elsewhere":       {"teams", "eu-now", "../../current", true},
		"a file behind a link on the way":       {"teams", "books/us/people.hcl", "../../books/all/us", true},
		"a file behind an absolute link":        {"teams", "books/us/people.hcl", "../../absolute/us", true},
		"the tree's directory is a link":        {"finance", "teams/acme/main.hcl", "", true},
		"which leads elsewhere":                 {"finance", "finance", "", true},
		"a link to itself":                      {"teams", "books/eu/people.hcl", "../../round", false},
		"which was changed":                     {"teams", "round", "../../round", true},
		"a link out of the root reads nothing":  {"teams", "books/eu/people.hcl", "../../out/x", false},
		"another link, which nothing passes by": {"teams", "eu-now", "../../books/eu", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := tree.Change{Root: root, Top: test.top, Paths: []string{"other.txt", test.changed}}
			var includes []string
			if test.include != "" {
				includes = []string{test.include}
			}
			if got := c.Touches("acme", includes); got != test.want {
				t.Errorf("touched: %v, want %v", got, test.want)
			}
		})
	}
	c := tree.Change{Root: root, Top: "finance", Paths: []string{"teams/globex/main.hcl"}}
	if diff := cmp.Diff([]string{"globex"}, c.Gone(&tree.Found{}, isLock)); diff != "" {
		t.Errorf("gone behind a link (-want +got):\n%s", diff)
	}
}
