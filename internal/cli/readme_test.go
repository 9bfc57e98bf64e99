package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/suite"
)

// TestReadme runs the commands of README.md, in order, on a copy of the examples, and
// compares what they print with what README.md shows. A block is a fenced console block:
// lines that begin with "$ " are commands, the lines below are their output; a line "…" stands for lines
// left out, "…" at the end of a line for what is another text in each run, and IDs, hashes, times and durations may be others.
func TestReadme(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyExample(t, "../../examples", filepath.Join(dir, "examples"))
	bin := filepath.Dir(product.Build(t))
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) == 0 {
		t.Fatal("README.md shows no command")
	}
	for _, block := range blocks {
		for _, step := range strings.Split(block[1], "$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			shell := exec.Command("sh", "-c", strings.Replace(command, "go run .", "remit", 1))
			shell.Dir = dir
			shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir)
			got, _ := shell.CombinedOutput() // an exit code other than 0 is shown with echo $?
			if diff := cmp.Diff(pattern(want), pattern(match(want, string(got)))); diff != "" {
				t.Errorf("$ %s\nREADME.md shows something else (-README +real):\n%s", command, diff)
			}
		}
	}
}

// match cuts from got what a line "…" in want stands for.
func match(want, got string) string {
	head, tail, elided := strings.Cut("\n"+want, "\n…\n")
	if !elided {
		return got
	}
	lines := strings.SplitAfter(got, "\n")
	first, last := strings.Count(head, "\n"), strings.Count(tail, "\n")
	if len(lines) < first+last+1 {
		return got
	}
	return strings.Join(lines[:first], "") + "…\n" + strings.Join(lines[len(lines)-1-last:], "")
}

// pattern replaces text that differs from run to run.
func pattern(text string) string {
	for _, p := range []string{
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
		`\b[0-9a-f]{64}\b`, `\d{4}-\d\d-\d\dT[0-9:.]+Z`,
	} {
		text = regexp.MustCompile(p).ReplaceAllString(text, "*")
	}
	return strings.TrimSpace(strings.ReplaceAll(text, ": …\n", ": *\n"))
}
