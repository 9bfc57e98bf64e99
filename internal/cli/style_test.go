package cli_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// clausesMax is how many clauses such as "what is recorded" 10,000 words of comments may have: see docs/style.md.
const clausesMax = 5

// TestCommentsNameTheirSubjects counts clauses that stand where a noun could.
func TestCommentsNameTheirSubjects(t *testing.T) {
	clause := regexp.MustCompile(`(?i)\bwhat(ever)?\s+(is|are|was|were|has|have|had|stands?|stood)\b`)
	words, found := 0, []string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			text := group.Text()
			words += len(strings.Fields(text))
			for _, match := range clause.FindAllString(text, -1) {
				found = append(found, fset.Position(group.Pos()).String()+": "+match)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found)*10_000 > clausesMax*words {
		t.Errorf("%d clauses in %d words of comments, and at most %d in 10,000 may be: name the subject\n%s", len(found), words, clausesMax, strings.Join(found, "\n"))
	}
	t.Logf("%d clauses in %d words of comments", len(found), words)
}
