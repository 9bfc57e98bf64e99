package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEvidenceByHand runs the commands of docs/evidence.md, with the real tools that it names.
func TestEvidenceByHand(t *testing.T) {
	for _, tool := range []string{"sha256sum", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	page := readDocument(t, "evidence.md").text
	dir := t.TempDir()
	copyExample(t, "../../examples/quickstart", dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "remit"), "remit")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	run(t, 0, "plan", "--sandbox", "--out=november.plan", "--chdir="+dir)
	run(t, 0, "apply", "--sandbox", "november.plan", "--chdir="+dir)
	program := regexp.MustCompile("(?s)<!-- chain.py -->\n```python\n(.*?)```").FindStringSubmatch(page)
	if program == nil {
		t.Fatal("evidence.md shows no chain.py")
	}
	writeFile(t, filepath.Join(dir, "chain.py"), program[1])
	runPage(t, page, dir)

	// It is a check: a byte that is changed ends it.
	journal := filepath.Join(dir, "pack", "journal.jsonl")
	for _, change := range [][2]string{{`"8200.00"`, `"9200.00"`}, {`"kind":"intent"`, `"kind":"intend"`}} {
		content := readFile(t, journal)
		writeFile(t, journal, strings.Replace(content, change[0], change[1], 1))
		out, err := exec.Command("python3", filepath.Join(dir, "chain.py"), journal).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "was changed") {
			t.Errorf("chain.py takes %s for %s:\n%s", change[1], change[0], out)
		}
		writeFile(t, journal, content)
	}
}

// runPage runs the commands of a page, one after the other, and compares what they print with
// what the page shows, in which … stands for the rest of a line.
func runPage(t *testing.T, page, dir string) {
	t.Helper()
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("the page shows no command")
	}
	for _, block := range blocks {
		for _, step := range strings.Split(block[1], "$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			shell := exec.Command("sh", "-c", command)
			shell.Dir = dir
			shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
			got, _ := shell.CombinedOutput() // an exit code other than 0 is shown with echo $?
			shown := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", ".*")
			if !regexp.MustCompile("^" + shown + "$").MatchString(strings.TrimSpace(string(got))) {
				t.Errorf("$ %s\nthe page shows something else (-page +real):\n%s", command, cmp.Diff(want, string(got)))
			}
		}
	}
}
