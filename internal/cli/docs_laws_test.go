package cli_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestDocsLaws holds that each law of CONTRIBUTING.md names a test of its package, of the quick set, and that no comment names a law that
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
		for _, decl := range s.file.Decls {
			if f, isFunc := decl.(*ast.FuncDecl); isFunc && !isSlow(f) {
				tests[dir+"."+f.Name.Name] = true
			}
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
			t.Errorf("CONTRIBUTING.md, law %s: %s has no test %s that the quick set runs", row[1], row[3], row[2])
		}
	}
}

// isSlow reports whether a test begins with suite.Slow, so that the quick set skips it.
func isSlow(f *ast.FuncDecl) bool {
	if f.Body == nil || len(f.Body.List) == 0 {
		return false
	}
	first, isCall := f.Body.List[0].(*ast.ExprStmt)
	if !isCall {
		return false
	}
	call, isCall := first.X.(*ast.CallExpr)
	if !isCall {
		return false
	}
	selector, isSelector := call.Fun.(*ast.SelectorExpr)
	return isSelector && selector.Sel.Name == "Slow"
}
