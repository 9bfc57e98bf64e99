package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/state"
)

// TestDocsWords holds the words that json.md lists for a field against those that the code has for it: the
// kinds of signals, obstacles and events, statuses, results.
func TestDocsWords(t *testing.T) {
	var statuses []string
	for _, s := range state.Statuses() {
		word, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		statuses = append(statuses, string(word))
	}
	doc := readPages(t, "commands")
	for name, c := range map[string]struct {
		section, opening string // of the list
		want             []string
	}{
		"kinds of signals":   {"Parts of lines", "`signals`: `kind` (", constantsOf(t, "planner", "SignalKind")},
		"kinds of obstacles": {"`obstacle`", "`kind`: ", constantsOf(t, "planner", "ObstacleKind")},
		"kinds of events":    {"Parts of lines", "`kind` of an event: ", constantsOf(t, "state", "Kind")},
		"statuses":           {"Parts of lines", "`status`: ", statuses},
		"results":            {"Parts of lines", "`result`: ", constantsOf(t, "executor", "Result")},
	} {
		got := wordsBehind(doc.sections[c.section], c.opening)
		slices.Sort(got)
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("docs/commands/json.md, %q: has other %s behind %q (-code +docs):\n%s", c.section, name, c.opening, diff)
		}
	}
}

// wordsBehind are the words in backticks behind the opening of an item of a list, up to its end or a parenthesis.
func wordsBehind(section, opening string) []string {
	_, list, _ := strings.Cut(section, "\n- "+opening)
	if end := strings.IndexAny(list, ")."); end >= 0 {
		list = list[:end]
	}
	list, _, _ = strings.Cut(list, "\n- ")
	var words []string
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		words = append(words, match[1])
	}
	return words
}

// constantsOf are the texts that a package gives to constants of a type.
func constantsOf(t *testing.T, dir, typeName string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, isValue := n.(*ast.ValueSpec)
			if !isValue {
				return true
			}
			if of, isNamed := spec.Type.(*ast.Ident); !isNamed || of.Name != typeName {
				return true
			}
			for _, value := range spec.Values {
				if literal, isLiteral := value.(*ast.BasicLit); isLiteral && literal.Kind == token.STRING {
					text, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	if len(texts) == 0 {
		t.Fatalf("no constant of %s.%s found", dir, typeName)
	}
	return texts
}
