package main

import (
	"fmt"
	"path"
	"strings"
)

// mutant is one bug: a piece of a file and the piece that takes its place.
type mutant struct {
	name, file    string
	before, after string
	tests         []string // arguments of go test
}

// parse reads a list of bugs. A blank line ends each; a line that begins with # is a comment.
//
//	= a name, in words that say which mistake it makes
//	file config/amount.go
//	- a line of the file, without its indent
//	+ the line in its place
//	test ./config -run TestArchives
//
// Several lines of - and + are one piece. Without test, the tests are those of the file's package.
func parse(text string) ([]mutant, error) {
	var mutants []mutant
	names := make(map[string]bool)
	for _, paragraph := range strings.Split(text, "\n\n") {
		m, err := parseOne(paragraph)
		switch {
		case err != nil:
			return nil, err
		case m.name == "":
			continue // comments
		case m.file == "" || m.before == m.after || names[m.name]:
			return nil, fmt.Errorf("%q has no file, changes nothing, or stands twice", m.name)
		}
		names[m.name] = true
		if len(m.tests) == 0 {
			m.tests = []string{"./" + path.Dir(m.file)}
		}
		mutants = append(mutants, m)
	}
	return mutants, nil
}

func parseOne(paragraph string) (mutant, error) {
	var m mutant
	var before, after []string
	for line := range strings.Lines(paragraph) {
		mark, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch mark {
		case "=":
			m.name = rest
		case "file":
			m.file = rest
		case "-":
			before = append(before, rest)
		case "+":
			after = append(after, rest)
		case "test":
			m.tests = strings.Fields(rest)
		case "#", "":
		default:
			return m, fmt.Errorf("a list of bugs has no line that begins with %q", mark)
		}
	}
	m.before, m.after = strings.Join(before, "\n"), strings.Join(after, "\n")
	return m, nil
}
