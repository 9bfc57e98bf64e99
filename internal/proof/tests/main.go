// Command tests runs go test and lists the skipped tests at the end, which go test does for no package that
// passes: each reason once, with how many tests it kept from running, and which.
//
// Its one invariant: it fails where go test does, and shows a failure as go test shows it.
//
//	go run ./internal/proof/tests [FLAG | PACKAGE]…
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"./..."}
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is a main
	}
	skipped, err := follow(out, os.Stdout)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
	}
	failed := cmd.Wait()
	report(os.Stdout, skipped)
	if failed != nil || err != nil {
		os.Exit(1) //nolint:forbidigo // this is a main
	}
}

// event is a line of go test -json, as cmd/test2json documents it.
type event struct {
	Action, Package, Test, Output string
}

// follow shows the result of each package, and all that was printed where it failed. It returns the tests
// that were skipped, by the reason that they gave.
func follow(in io.Reader, out io.Writer) (map[string][]string, error) {
	skipped := make(map[string][]string)
	said := make(map[string]*strings.Builder) // by package, then by package and test
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if wrong := json.Unmarshal(line, &e); wrong != nil {
				_, _ = out.Write(line) // go itself says something
			} else {
				take(e, said, skipped, out)
			}
		}
		if err == io.EOF {
			return skipped, nil
		}
		if err != nil {
			return skipped, err
		}
	}
}

func take(e event, said map[string]*strings.Builder, skipped map[string][]string, out io.Writer) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		for _, key := range []string{e.Package, name} {
			if said[key] == nil {
				said[key] = new(strings.Builder)
			}
			said[key].WriteString(e.Output)
		}
		if e.Test == "" && resultLine.MatchString(e.Output) {
			_, _ = io.WriteString(out, e.Output)
		}
	case "skip":
		if e.Test != "" {
			reason := reasonOf(said[name])
			skipped[reason] = append(skipped[reason], strings.TrimPrefix(e.Package, "remit/")+" "+e.Test)
		}
		delete(said, name)
	case "fail":
		if e.Test == "" && said[e.Package] != nil {
			_, _ = io.WriteString(out, said[e.Package].String())
		}
		delete(said, name)
	case "pass":
		delete(said, name)
	}
}

var (
	resultLine = regexp.MustCompile(`^(ok|---)\s`)
	// places precede the message of a test, and of a script that skips.
	place = regexp.MustCompile(`^\s*[A-Za-z0-9_]+\.go:[0-9]+: (SKIP: )?|^\s*SKIP: `)
)

// reasonOf is the last thing that a test said before it was skipped.
func reasonOf(said *strings.Builder) string {
	reason := "without a reason"
	if said == nil {
		return reason
	}
	for line := range strings.Lines(said.String()) {
		if place.MatchString(line) {
			reason = strings.TrimSpace(place.ReplaceAllString(line, ""))
		}
	}
	return reason
}

// shownMax is how many tests of one reason are named.
const shownMax = 5

func report(out io.Writer, skipped map[string][]string) {
	total := 0
	for _, names := range skipped {
		total += len(names)
	}
	if total == 0 {
		_, _ = fmt.Fprintln(out, "\nNothing was skipped.")
		return
	}
	_, _ = fmt.Fprintf(out, "\n%d tests were skipped:\n", total)
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		names := skipped[reason]
		_, _ = fmt.Fprintf(out, "\n%5d  %s\n", len(names), reason)
		for _, name := range names[:min(len(names), shownMax)] {
			_, _ = fmt.Fprintf(out, "         %s\n", name)
		}
		if more := len(names) - shownMax; more > 0 {
			_, _ = fmt.Fprintf(out, "         and %d more\n", more)
		}
	}
}
