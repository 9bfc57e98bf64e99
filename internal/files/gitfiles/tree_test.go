package gitfiles_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"remit/config/functions"
	"remit/internal/files/confined"
	"remit/internal/files/gitfiles"
)

// searches are calls of the functions that find files by their names.
var searches = map[string][]string{
	"all":                     {"fileset", ".", "**"},
	"of a directory":          {"fileset", "pay", "*.txt"},
	"of one by a pattern":     {"fileset", ".", "pay/*.txt"},
	"of deeper ones":          {"fileset", "pay", "**/*.txt"},
	"of alternatives":         {"fileset", "./pay/", "{bob,b*}.txt"},
	"of hidden ones":          {"fileset", "pay", ".*"},
	"behind a link":           {"fileset", "linked", "*.txt"},
	"not behind links":        {"fileset", ".", "*/bob.txt"},
	"of one name":             {"fileset", "pay", "bob.txt"},
	"of a link":               {"fileset", ".", "link.*"},
	"of nothing":              {"fileset", "pay", "*.csv"},
	"of an empty directory":   {"fileset", "empty", "**"},
	"of none in a directory":  {"fileset", ".", "empty/*"},
	"whether a file is there": {"fileexists", "pay/bob.txt"},
	"whether a link is there": {"fileexists", "link.txt"},
	"whether one is missing":  {"fileexists", "pay/nobody.txt"},
}

// TestASearchFindsTheSameInACommit searches a working tree as it is committed, and then as it is not.
func TestASearchFindsTheSameInACommit(t *testing.T) {
	r := newRepository(t)
	for _, name := range []string{"main.hcl", "pay/alice.txt", "pay/bob.txt", "pay/.hidden", "pay/deep/carol.txt", "pay/deep.txt", "pay-b/x.txt"} {
		r.write("entity/"+name, name)
	}
	for name, target := range map[string]string{"link.txt": "pay/alice.txt", "linked": "pay", "here": "."} {
		if err := os.Symlink(target, filepath.Join(r.dir, "entity", name)); err != nil {
			t.Fatal(err)
		}
	}
	r.commit()
	dir := filepath.Join(r.dir, "entity")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil { // git commits none
		t.Fatal(err)
	}
	checkout, err := gitfiles.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer checkout.Close()
	check := func(when string, others ...string) {
		t.Helper()
		isOther := map[string]bool{}
		for _, name := range others {
			isOther[name] = true
		}
		for name, words := range searches {
			agrees, err := search(t, dir, words).Agrees(checkout.Tree)
			if err != nil || agrees == isOther[name] {
				t.Errorf("%s, the search %s agrees with the commit: %t, %v", when, name, agrees, err)
			}
		}
	}
	check("as committed")
	bob := filepath.Join(dir, "pay", "bob.txt")
	if err := os.Rename(bob, filepath.Join(dir, "pay", "bobby.txt")); err != nil {
		t.Fatal(err)
	}
	check("with bob by another name", "all", "of a directory", "of one by a pattern", "of deeper ones", "of alternatives", "behind a link", "not behind links", "of one name", "whether a file is there")
	r.write("entity/pay/bob.txt", "other bytes")
	check("with one more", "all", "of a directory", "of one by a pattern", "of deeper ones", "of alternatives", "behind a link")
	r.git("checkout", "-q", ".")
	r.git("clean", "-qfd", "entity/pay")
	r.write("entity/pay/nobody.txt", "new")
	r.write("entity/empty/new.txt", "new")
	check("with new ones", "all", "of a directory", "of one by a pattern", "of deeper ones", "behind a link", "of an empty directory", "of none in a directory", "whether one is missing")
}

// search calls a function, and returns what it looked for and found.
func search(t *testing.T, dir string, words []string) functions.Search {
	t.Helper()
	root, err := confined.OpenDirectory(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }() // only read
	var searched []functions.Search
	table := functions.TableOf(functions.Directory{Root: root, Searched: func(s functions.Search) { searched = append(searched, s) }}, nil)
	var args []cty.Value
	for _, word := range words[1:] {
		args = append(args, cty.StringVal(word))
	}
	if _, err := table[words[0]].Call(args); err != nil || len(searched) != 1 {
		t.Fatalf("%v: it searched %v, %v", words, searched, err)
	}
	return searched[0]
}
