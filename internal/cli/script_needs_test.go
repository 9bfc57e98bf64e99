package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/text/lazyregexp"
)

// otherPrograms are started in scripts, and a machine with Go, a C compiler and git may lack them.
var otherPrograms = lazyregexp.New(`(?m)^[^#\n]*?(?:^|[\s|;('"$])(jq|ssh-keygen|python3|openssl|sqlite3|bean-check|nvim|strace|fish|zsh)\s+-*[\w.'"]`)

// TestScriptsSayWhatTheyNeed reads every script: it skips itself where a program that it starts is not installed.
func TestScriptsSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		missing := make(map[string]bool)
		for _, found := range otherPrograms.FindAllStringSubmatch(string(text), -1) {
			missing[found[1]] = !strings.Contains(string(text), "exec:"+found[1]+"]")
		}
		for name, isMissing := range missing {
			if isMissing {
				t.Errorf("%s starts %s: write [!exec:%s] skip '%s is not installed' below its first comment, and package proof/programs runs it", filepath.Base(file), name, name, name)
			}
		}
	}
}
