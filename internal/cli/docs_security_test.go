package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"remit/internal/proof/suite"
)

// TestDocsSecurity holds each claim of security.md to a test or a script that exists.
func TestDocsSecurity(t *testing.T) {
	declared := map[string]bool{}
	functions := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, match := range functions.FindAllSubmatch(content, -1) {
			declared[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(root, "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		declared[filepath.Base(path)] = true
	}
	doc := readDocument(t, "security.md")
	name := regexp.MustCompile("`((?:Test|Fuzz)\\w+|[\\w-]+\\.txtar)`")
	for _, match := range name.FindAllStringSubmatch(doc.text, -1) {
		if !declared[match[1]] {
			t.Errorf("security.md names %s, which does not exist", match[1])
		}
	}
	claims := 0
	for _, heading := range doc.headings {
		if heading == "What a plan file's author says" {
			continue // planner's tests hold that one
		}
		for _, table := range suite.Tables(doc.sections[heading]) {
			checkTable(t, heading, table, "cannot", "held by")
			for _, row := range table.Rows {
				claims++
				if !name.MatchString(row[1]) {
					t.Errorf("security.md, %s: nothing holds that they cannot %s", heading, row[0])
				}
			}
		}
	}
	if claims < 20 {
		t.Errorf("security.md has %d claims", claims)
	}
}
