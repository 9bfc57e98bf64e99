package lsp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"remit/internal/cli"
	"remit/internal/proof/suite"
)

// mistakesMin is how many mistakes of the corpus are shown by an editor, at least.
const mistakesMin = 400

// TestDiagnosticsAreThoseOfValidate holds the server to the command over the corpus of mistakes: the same texts at the same places.
// Half of the files are what they are on disk; the other half are open with a text that is not saved. The quick set has a share of each kind.
func TestDiagnosticsAreThoseOfValidate(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../testdata/mistakes/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`\A(# [^\n]+\n)+(! )?type remit validate\ncmp (stderr|stdout) said\n\n?\z`)
	share := suite.Dose(16, 4, 1)
	held := 0
	for i, name := range suite.Spread(names, share) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !form.Match(archive.Comment) {
			continue
		}
		files, source := sourcesOf(archive)
		if source == "" || !utf8.ValidString(files[source]) {
			continue // no source can be open in an editor
		}
		held++
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			compareWithValidate(t, files, source, i%2 == 1)
		})
	}
	if held < mistakesMin/share {
		t.Errorf("%d mistakes were compared, and at least %d are in the corpus", held, mistakesMin/share)
	}
}

// sourcesOf are the files of a mistake, and the name of the one that is open in the editor; "" where there is none.
func sourcesOf(archive *txtar.Archive) (files map[string]string, source string) {
	files = make(map[string]string)
	for _, f := range archive.Files {
		if f.Name == "said" {
			continue
		}
		files[f.Name] = string(f.Data)
		if strings.HasSuffix(f.Name, ".hcl") && !strings.Contains(f.Name, "/") && !strings.HasPrefix(f.Name, ".") {
			source = cmp.Or(source, f.Name)
		}
	}
	return files, source
}

func compareWithValidate(t *testing.T, files map[string]string, source string, isUnsaved bool) {
	// The server heeds directories of remit alone, which the lock file makes of any.
	files[".remit.lock.hcl"] = ""
	folder := t.TempDir()
	write(t, folder, files)
	want := validated(t, folder)
	if isUnsaved {
		write(t, folder, map[string]string{source: "# what was saved last\n"})
	}
	e := newEditor(t, folder)
	e.open(source, files[source])
	got := []told{}
	for name, found := range e.all(source) {
		for _, d := range found {
			got = append(got, told{name, d.Severity, d.Message, d.Range})
		}
	}
	for i, d := range want { // an editor shows each at some file
		if d.File == "" {
			want[i].File = source
		}
	}
	slices.SortFunc(got, compareTold)
	slices.SortFunc(want, compareTold)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("remit validate (-) and the editor (+) differ:\n%s", diff)
	}
}

// told is a diagnostic as an editor shows it.
type told struct {
	File     string
	Severity int
	Message  string
	Range    span
}

func compareTold(a, b told) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character), cmp.Compare(a.Message, b.Message))
}

// validated are the diagnostics of remit validate, their places counted as an editor counts. Files of data whose text is no UTF-8 have
// the lines and columns that validate says.
func validated(t *testing.T, folder string) []told {
	t.Helper()
	var out strings.Builder
	cli.Run(context.Background(), []string{"validate", "--json", "--chdir=" + folder}, strings.NewReader(""), &out, io.Discard, func(string) (string, bool) { return "", false })
	list := []told{}
	for line := range strings.Lines(out.String()) {
		var d struct {
			Type, Severity, Summary, Detail string
			Range                           *struct {
				Filename   string
				Start, End struct{ Line, Column, Byte int }
			}
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d.Type != "diagnostic" {
			continue
		}
		one := told{Severity: map[string]int{"error": 1, "warning": 2}[d.Severity], Message: strings.TrimSpace(d.Summary + "\n" + d.Detail)}
		if r := d.Range; r != nil {
			one.File = r.Filename
			text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(r.Filename)))
			if err != nil {
				t.Fatal(err)
			}
			one.Range.Start = placeOf(text, r.Start.Line, r.Start.Column, r.Start.Byte)
			one.Range.End = placeOf(text, r.End.Line, r.End.Column, r.End.Byte)
		}
		list = append(list, one)
	}
	return list
}

// placeOf counts anew: the units of UTF-16 between the beginning of the line and a byte.
func placeOf(text []byte, line, column, offset int) position {
	if !utf8.Valid(text) {
		return position{line - 1, column - 1}
	}
	before := string(text[:min(offset, len(text))])
	from := strings.LastIndexByte(before, '\n') + 1
	n := strings.Count(before, "\n")
	if n != line-1 { // a place behind the end of a line that is shown as the line's end
		return position{line - 1, column - 1}
	}
	return position{n, len(utf16.Encode([]rune(strings.TrimPrefix(before[from:], "\ufeff"))))}
}
