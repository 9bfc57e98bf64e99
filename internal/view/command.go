package view

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"remit/internal/text/shell"
)

// Command is one command line of remit or several that show what [Visible] shows and can still be pasted:
// where a quoted word has characters that would be escaped, it is quoted as $'…', in which
// bash, zsh and ksh read the escapes. An argument that begins with a hyphen is behind --.
func Command(line string) string { return asTyped(escaped(line)) }

// asTyped has each line as [shell.Line] has it.
func asTyped(text string) string {
	if !strings.Contains(text, "'-") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = shell.Line(line)
	}
	return strings.Join(lines, "\n")
}

func escaped(line string) string {
	if Visible(line) == line && !strings.Contains(line, "\n") {
		return line
	}
	var b strings.Builder
	for rest := line; ; {
		before, quoted, isQuoted := strings.Cut(rest, "'")
		inner, after, isClosed := strings.Cut(quoted, "'")
		b.WriteString(before)
		if !isQuoted {
			return b.String()
		}
		if strings.HasSuffix(before, `\`) || !isClosed { // a mark that stands for itself
			b.WriteByte('\'')
			rest = quoted
			continue
		}
		if isPlain(inner) {
			b.WriteString("'" + inner + "'")
		} else {
			b.WriteString("$'" + ansiC(inner) + "'")
		}
		rest = after
	}
}

// ansiC is text within $'…'.
func ansiC(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == '\\':
			b.WriteString(`\\`)
		case ' ' <= r && r <= '~':
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
