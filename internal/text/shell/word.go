// Package shell writes words for a POSIX shell.
//
// Its one invariant: whatever a word has in it, the shell reads it as one, and as it is.
package shell

import "strings"

// Word returns text as a word of a command line that a person may paste. One that begins with a hyphen is quoted, so
// that [Line] knows it from a flag.
func Word(text string) string {
	if text != "" && !beginsAsFlag(text) && strings.IndexFunc(text, func(r rune) bool { return !isPlain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// isPlain reports whether a shell reads a character as itself wherever it stands.
func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
}

// File returns the name of a file as such a word, and no program takes it for a flag.
func File(name string) string {
	if beginsAsFlag(name) {
		name = "./" + name
	}
	return Word(name)
}

// Typed returns a word of a typed command line as it is typed again: a flag stays one.
func Typed(word string) string {
	flag, value, hasValue := strings.Cut(word, "=")
	switch {
	case !beginsAsFlag(word), strings.ContainsAny(flag, " '"):
		return Word(word)
	case hasValue:
		return flag + "=" + Word(value)
	}
	return word
}

// beginsAsFlag reports whether a program may take a word for a flag; "-" alone is the standard input.
func beginsAsFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// Line returns a command of remit in which each argument that begins with a hyphen, as [Word] wrote it, is the last,
// behind --: remit takes it for no flag then. Other lines are as they were.
func Line(line string) string {
	if !strings.HasPrefix(line, "remit ") || !strings.Contains(line, "'-") {
		return line
	}
	var kept, last []string
	for _, word := range words(line) {
		switch {
		case word == "--", word == "&&":
			return line // it was put so by somebody who knows
		case strings.HasPrefix(strings.TrimPrefix(word, "$"), "'-"):
			last = append(last, bare(word))
		default:
			kept = append(kept, word)
		}
	}
	if len(last) == 0 {
		return line
	}
	return strings.Join(kept, " ") + " -- " + strings.Join(last, " ")
}

// bare is a quoted word without its quotes, where it needs none behind --.
func bare(word string) string {
	if inner := strings.Trim(word, "'"); strings.IndexFunc(inner, func(r rune) bool { return !isPlain(r) }) < 0 {
		return inner
	}
	return word
}

// words cuts a line at the spaces that are not quoted; not where a quote has no end.
func words(line string) (all []string) {
	begin, quote := 0, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == '\\' && quote == '$' {
				i++
			} else if c == quote || c == '\'' && quote == '$' {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' && i > begin && line[i-1] == '$':
			quote = '$' // in which a backslash begins an escape
		case c == '\'', c == '"':
			quote = c
		case c == ' ':
			all = append(all, line[begin:i])
			begin = i + 1
		}
	}
	if quote != 0 {
		return nil
	}
	return append(all, line[begin:])
}
