package host

import (
	"fmt"

	"github.com/mattn/go-shellwords"
)

// SplitWords splits a text at its spaces, as a shell does with quotes and backslashes; nothing is
// expanded, and a character that would begin another command is an error.
func SplitWords(text string) ([]string, error) {
	parser := shellwords.NewParser()
	words, err := parser.Parse(text)
	switch {
	case err != nil:
		return nil, err
	case parser.Position >= 0: // it stops there, without an error
		return nil, fmt.Errorf("there is no shell here, so %q has to be quoted", text[parser.Position:parser.Position+1])
	}
	return words, nil
}
