package tree_test

import (
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
