// Command mutants writes plausible bugs into the product, one at a time, and says which tests catch
// each. The bugs are listed in mutants.txt; the tree stays as it is, since the compiler is handed the
// changed file as an overlay.
//
//	go run ./internal/proof/mutants [-run REGEXP] [-list]
//
// It exits with 1 where a bug survives, is no longer found in its file, or does not compile.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed mutants.txt
var listed string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	only := flag.String("run", "", "take the bugs alone whose name matches this regular expression")
	list := flag.Bool("list", false, "list the bugs and their tests, and run nothing")
	flag.Parse()
	if err := run(ctx, os.Stdout, *only, *list); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is a main
	}
}

// run writes to out which test caught each bug.
func run(ctx context.Context, out io.Writer, only string, list bool) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	mutants, err := parse(listed)
	if err != nil {
		return err
	}
	var taken, caught int
	for _, m := range mutants {
		if !wanted.MatchString(m.name) {
			continue
		}
		if taken++; list {
			fmt.Fprintf(out, "%s\n  %s, go test %s\n", m.name, m.file, strings.Join(m.tests, " "))
			continue
		}
		began := time.Now()
		by, err := m.try(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(out, "NO TEST   %s: %v\n", m.name, err)
			continue
		}
		if len(by) == 0 {
			fmt.Fprintf(out, "SURVIVES  %s (%s)\n", m.name, m.file)
			continue
		}
		caught++
		fmt.Fprintf(out, "caught    %s by %s (%.0f s)\n", m.name, strings.Join(by, ", "), time.Since(began).Seconds())
	}
	if list {
		return nil
	}
	fmt.Fprintf(out, "%d of %d caught\n", caught, taken)
	if caught < taken {
		return errors.New("a bug survives, or could not be tried")
	}
	return nil
}

// try runs the tests of a bug and returns the names of those that fail; none where it survives.
func (m *mutant) try(ctx context.Context) (by []string, err error) {
	changed, err := m.changed()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := writeOverlay(dir, m.file, changed)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-timeout=10m"}, m.tests...)...)
	command.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay) // for programs that a test builds as well
	output, err := command.CombinedOutput()
	switch {
	case err == nil:
		return nil, nil
	case bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")):
		return nil, fmt.Errorf("it does not compile:\n%s", output)
	}
	return failed(output), nil
}

// changed is the text of the file with the bug in it.
func (m *mutant) changed() (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.before); n != 1 {
		return "", fmt.Errorf("what it replaces stands %d times in %s, and has to stand there once", n, m.file)
	}
	return strings.Replace(string(text), m.before, m.after, 1), nil
}

// writeOverlay writes what the flag -overlay of go test takes, and returns its path.
func writeOverlay(dir, file, text string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	mutated := filepath.Join(dir, filepath.Base(file))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	return at, errors.Join(os.WriteFile(mutated, []byte(text), 0o600), os.WriteFile(at, overlay, 0o600))
}

var failure = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)|^(panic: .*)`)

// failed names the first tests that go test says have failed.
func failed(output []byte) []string {
	const most = 3
	var names []string
	for _, found := range failure.FindAllSubmatch(output, -1) {
		if len(names) == most {
			return append(names, "…")
		}
		names = append(names, string(found[1])+string(found[2]))
	}
	if len(names) == 0 {
		return []string{"its end"}
	}
	return names
}
