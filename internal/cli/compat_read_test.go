package cli_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/cli"
	"remit/internal/proof/suite"
)

// TestAnOlderProgramRefusesANewerState says what 0.1.0 does with a state that this version
// made: it reads one of its own schema, and refuses a newer one in the words that are kept.
func TestAnOlderProgramRefusesANewerState(t *testing.T) {
	const lastSchema = 2 // of SQLite in 0.1.0
	dir := t.TempDir()
	for _, name := range []string{"main.hcl", "october.csv", "november.csv", "allowed_signers", "bank.pem"} {
		text := readFile(t, filepath.Join("../../testdata/compat/0.1.0/office", name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var output bytes.Buffer
	args := []string{"init", "--chdir=" + dir, "--var=client_secret=x"}
	code := cli.Run(t.Context(), args, strings.NewReader(""), &output, &output, func(string) (string, bool) { return "", false })
	if code != 0 {
		t.Fatalf("init ends with %d: %s", code, &output)
	}
	path := filepath.Join(dir, "remit.db")
	schema := schemaOf(t, path)
	frozen := readFile(t, "../../testdata/compat/0.1.0/newer/state.txt")
	if want := "written by a newer version of remit; nothing was sent"; !strings.Contains(plain(frozen), want) {
		t.Errorf("what 0.1.0 says of a newer state does not have %q:\n%s", want, frozen)
	}
	if schema < lastSchema {
		t.Fatalf("the schema is %d, that of 0.1.0 was %d: it would not refuse what it can't read", schema, lastSchema)
	}
	if suite.Dose(0, 0, 1) == 0 {
		return // the full dose builds 0.1.0 from the repository's history, which takes as long as all else here
	}
	said, err := asOlder(t, olderProgram(t, "88944bc"), dir)
	switch {
	case schema == lastSchema && err != nil:
		t.Errorf("0.1.0 refuses a state of its own schema: %v\n%s", err, said)
	case schema > lastSchema && err == nil:
		t.Errorf("0.1.0 takes a state of schema %d", schema)
	case schema > lastSchema:
		want := strings.NewReplacer("WORK/newer/office/remit.db", path, "1000", fmt.Sprint(schema)).Replace(frozen)
		if diff := cmp.Diff(plain(want), plain(said)); diff != "" {
			t.Errorf("what 0.1.0 says (-kept +now):\n%s", diff)
		}
	}
}

// plain is a message without its line breaks, which follow from the length of names.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// schemaOf reads the number of a file's schema where SQLite keeps it.
func schemaOf(t *testing.T, path string) int {
	t.Helper()
	head := readFile(t, path)
	if len(head) < 64 {
		t.Fatalf("%s is no database", path)
	}
	return int(binary.BigEndian.Uint32([]byte(head[60:64])))
}

// olderProgram builds the program of a commit, where the clone has it.
func olderProgram(t *testing.T, commit string) string {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Skipf("this clone does not have %s: %v", commit, err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "remit")
	script := `set -e; git -C ../.. archive "$1" | tar -x -C "$2"; cd "$2"; go build -o "$3" .`
	if text, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", commit, dir, program+"-0.1.0").CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", commit, err, text)
	}
	return program + "-0.1.0"
}

// asOlder runs remit plan of an older program over a directory.
func asOlder(t *testing.T, program, dir string) (said string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, "plan", "--target=batch.october", "--var=client_secret=x")
	command.Dir = dir
	var stderr bytes.Buffer
	command.Stderr = &stderr
	err = command.Run()
	return stderr.String(), err
}
