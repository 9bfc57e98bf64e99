// Package shell writes words for a POSIX shell.
//
// Its one invariant: whatever a word has in it, the shell reads it as one, and as it is.
package shell

import "strings"

// Word returns text as a word of a command line that a person may paste.
func Word(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
