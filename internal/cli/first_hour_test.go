package cli_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFirstHour holds the page of the first hour to the tests that it names: each test, script and mistake is there.
func TestFirstHour(t *testing.T) {
	tests := map[string]bool{}
	for _, pattern := range []string{"*_test.go", "../view/*_test.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(readFile(t, name), -1) {
				tests[match[1]] = true
			}
		}
	}
	named := 0
	for _, match := range regexp.MustCompile("`(Test\\w+|[\\w-]+\\.txtar)`").FindAllStringSubmatch(readFile(t, "../../docs/first-hour.md"), -1) {
		named++
		if script, isScript := strings.CutSuffix(match[1], ".txtar"); isScript {
			_, err := os.Stat(filepath.Join("..", "..", "testdata", "script", script+".txtar"))
			if _, other := os.Stat(filepath.Join("..", "..", "testdata", "mistakes", script+".txtar")); err != nil && other != nil {
				t.Errorf("docs/first-hour.md names %s, and there is none", match[1])
			}
		} else if !tests[match[1]] {
			t.Errorf("docs/first-hour.md names %s, and there is none", match[1])
		}
	}
	if named < 40 {
		t.Errorf("docs/first-hour.md names %d tests", named)
	}
}

// firstHourSentences are parts of sentences that newcomers stopped at, and that were replaced.
var firstHourSentences = []string{
	"Nothing of this plan will be sent", "with a shortened duplicate_within", "not waited for here", "not everything of its plan has an outcome",
	"is settled: tombstone", "Something needs a person", "Nothing needs a person", "or a person settles it: remit", "where its author does not sign it", "if unsigned by its author", "Who approves it types",
	"the state is not here", "Only a part of the declaration", "Nothing that is recorded is PENDING", "the lookup before first sending failed", "get a token: get a token",
	"the journal has the number and nothing else", "There is nothing to send in it", "so there is nobody to send to", "made for another lineage", "takes exactly PLAN",
	"Text that has a", "mistakes are alike. The other", "nobody was given the client", "None is in doubt, in conflict", "Every transfer of the period stands in one line",
	"as they say of themselves", "What each profile that pays loses or gains", "Show which remit this is", "Whose key it is, the allowed_signers", "Hold the service's records against",
	"see the handbook", "ask where something must be answered", "The same by steps", "a question or a line of count", "and so are the next two", "SIGHUP is nothing",
	"is shown in no face", "A notice names what the plan does not have", "whoever wrote the file mends it", "only a person can say what became of it", "this way of settling it is not for that",
	"That never changes: a state", "path escapes from parent",
}

// TestFirstHourSentences holds that no message, help text or page has a sentence that was replaced.
func TestFirstHourSentences(t *testing.T) {
	check := func(where, text string) {
		for _, sentence := range firstHourSentences {
			if strings.Contains(text, sentence) {
				t.Errorf("%s says %q", where, sentence)
			}
		}
	}
	for _, s := range productionFiles(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if literal, isLiteral := n.(*ast.BasicLit); isLiteral && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					check(s.path, text)
				}
			}
			return true
		})
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(append(pages, below...), "../../README.md", "starter.hcl") {
		if strings.Contains(name, "/adr/") || strings.HasSuffix(name, "first-hour.md") {
			continue
		}
		check(name, strings.Join(strings.Fields(readFile(t, name)), " "))
	}
}
