package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestDocsLaws holds that each law of CONTRIBUTING.md names a test of its package, and that no comment names a law that
// the page lacks.
func TestDocsLaws(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (\\d+)\\. .* \\| `(Test\\w+)`, `([a-z/]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) == 0 {
		t.Fatal("CONTRIBUTING.md has no law")
	}
	tests := map[string]bool{} // package and name
	named := regexp.MustCompile(`(?i)\blaw (\d+)\b`)
	for _, s := range goFiles(t) {
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(s.path)), "../../")
		for _, d := range s.declared() {
			tests[dir+"."+d.name] = true
		}
		for _, comment := range s.file.Comments {
			for _, law := range named.FindAllStringSubmatch(comment.Text(), -1) {
				if n, err := strconv.Atoi(law[1]); err != nil || n < 1 || n > len(rows) {
					t.Errorf("%s:%d names law %s, which CONTRIBUTING.md lacks", s.path, s.line(comment.Pos()), law[1])
				}
			}
		}
	}
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Errorf("CONTRIBUTING.md has law %s in the place of law %d", row[1], i+1)
		}
		if !tests[row[3]+"."+row[2]] {
			t.Errorf("CONTRIBUTING.md, law %s: %s has no test %s", row[1], row[3], row[2])
		}
	}
}
