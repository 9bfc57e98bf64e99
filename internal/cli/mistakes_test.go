package cli_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"

	"remit/internal/cli"
	"remit/internal/proof/machine"
	"remit/internal/proof/scripts"
	"remit/internal/proof/suite"
)

// mistakesMin is how many mistakes the corpus has at least.
const mistakesMin = 165

// TestMistakes holds all that remit says to each mistake of the corpus, word by word. The mistakes
// are scripts whose remit runs in this process: one after the other, because each has its directory. The quick set has a share of
// each kind: one remit says them all, and one that says a wrong thing pays no one.
func TestMistakes(t *testing.T) {
	dir, err := filepath.Abs("../../testdata/mistakes")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	params := scripts.Params(t)
	params.Files = suite.Spread(files, suite.Dose(8, 1, 1))
	params.Cmds["type"] = typeHere
	t.Chdir(dir) // and back, after the mistakes have changed it
	testscript.RunT(inTurn{t}, params)
}

// inTurn runs scripts one after the other.
type inTurn struct{ *testing.T }

func (t inTurn) Parallel() {}

func (t inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(inTurn{t}) })
}

// typeHere is the script command "type remit …", which runs remit in the process of the test. Text
// that differs from run to run has one name.
func typeHere(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || args[0] != "remit" {
		ts.Fatalf("usage: type remit …")
	}
	args = args[1:]
	ts.Check(os.Chdir(ts.MkAbs(".")))
	lookupEnv := func(name string) (string, bool) {
		value := ts.Getenv(name)
		return value, value != ""
	}
	var stdout, stderr strings.Builder
	code := cli.RunOn(context.Background(), machine.Of(ts.Getenv), args, strings.NewReader(""), &stdout, &stderr, lookupEnv)
	steady := func(text string) string {
		text = strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")
		text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "127.0.0.1:PORT")
		return regexp.MustCompile(`(recorded [A-Z]+), \S+Z, run\s+\S+,`).ReplaceAllString(text, "$1, TIME, run RUN,")
	}
	for to, text := range map[io.Writer]string{ts.Stdout(): stdout.String(), ts.Stderr(): stderr.String()} {
		_, err := io.WriteString(to, steady(text))
		ts.Check(err)
	}
	if (code != 0) != neg {
		ts.Fatalf("remit %s: exit code %d\n%s%s", strings.Join(args, " "), code, &stdout, &stderr)
	}
}

// TestMistakesAreWhole holds the corpus to its README: one directory level, a sentence first, and
// the last command's message compared with the section said.
func TestMistakesAreWhole(t *testing.T) {
	names, err := filepath.Glob("../../testdata/mistakes/*.txtar")
	if err != nil || len(names) < mistakesMin {
		t.Fatalf("the corpus has %d mistakes, and at least %d are promised: %v", len(names), mistakesMin, err)
	}
	form := regexp.MustCompile(`\A# [^\n]+\.\n(# [^\n]+\n)*([^#\n]+\n)*(! )?type remit [^\n]+\ncmp (stderr|stdout) (\$WORK/)?said\n\n?\z`)
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !form.Match(archive.Comment) {
			t.Errorf("%s is no sentence, commands, and a last one whose message is compared:\n%s", name, archive.Comment)
		}
		if last := archive.Files[len(archive.Files)-1]; last.Name != "said" || len(strings.TrimSpace(string(last.Data))) == 0 {
			t.Errorf("%s does not end with what remit said", name)
		}
	}
}
