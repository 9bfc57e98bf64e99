package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// counted are the nouns that remit counts in front of people.
var counted = []string{
	"approver", "argument", "asset", "batch", "block", "column", "day", "destination", "error", "event", "field", "file", "hour", "key", "limit",
	"line", "minute", "mistake", "notice", "occurrence", "plan", "profile", "record", "ref_id", "request", "row", "run", "second", "signal",
	"signature", "step", "test", "transfer", "warning",
}

var (
	nouns     = strings.Join(counted, "|")
	oneOfMany = regexp.MustCompile(`(?m)(?:^|[\s(])1 (?:` + nouns + `)(?:s|es)\b(?:[^.]|$)`)
	manyOfOne = regexp.MustCompile(`(?m)(?:^|[\s(])(?:0|[2-9]|[1-9][0-9,]*[0-9]) (?:` + nouns + `)(?:[,.;:)]|$| (?:is|are|was|were|has|have)\b)`)
)

// wrongPlurals finds "1 transfers" and "3 transfer" in text. A noun that another noun follows, as in "2 transfer
// records", and the name of a file, as in "1 records.txt", are left alone.
func wrongPlurals(text []byte) []string {
	var found []string
	for _, match := range slices.Concat(oneOfMany.FindAll(text, -1), manyOfOne.FindAll(text, -1)) {
		found = append(found, strings.TrimSpace(string(match)))
	}
	return found
}

// TestPlurals reads what people see, in golden files, scripts and pages, and finds no "1 transfers".
func TestPlurals(t *testing.T) {
	for text, want := range map[string]bool{
		"1 transfers": true, "(0 mistake)": true, "left 12 transfer.": true, "2 signature are missing": true,
		"1 transfer": false, "2 transfers": false, "2 transfer records": false, "11 rows": false, "head -n 1 records.txt": false,
	} {
		if got := len(wrongPlurals([]byte(text))) > 0; got != want {
			t.Errorf("%q is wrong: %v, want %v", text, got, want)
		}
	}
	read := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == ".git" || name == "adr" || name == "compat" || name == "fuzz" {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".golden", ".txt", ".html", ".md", ".txtar"}, filepath.Ext(path)) || filepath.Base(path) == "CHANGELOG.md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for _, wrong := range wrongPlurals(text) {
			t.Errorf("%s says %q", path, wrong)
		}
		return nil
	})
	if err != nil || read < 300 {
		t.Errorf("%d files were read: %v", read, err)
	}
}
