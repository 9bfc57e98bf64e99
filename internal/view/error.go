package view

import (
	"io"
	"strings"
)

// Error writes what went wrong in the world and, where there is one, a command that helps,
// alone on an indented line. It returns only errors of w.
func Error(w io.Writer, err error, hint string, s Screen) error {
	p := newPage(w, s)
	p.open(toneBad)
	head, rest, _ := strings.Cut(err.Error(), "\n")
	lines := wrap(Visible(cutRunes(head, paragraphRunesMax)), p.width()-displayWidth("Error: ")-displayWidth(p.gutter.text))
	p.line(span{"Error: ", toneBad}, plain(lines[0]))
	for _, line := range lines[1:] {
		p.line(plain(p.inset() + line))
	}
	if rest != "" {
		p.paragraph(p.inset(), rest, toneNone)
	}
	if hint != "" {
		p.line()
		for line := range strings.SplitSeq(strings.TrimRight(hint, "\n"), "\n") {
			p.command("", line)
		}
	}
	p.close(toneBad)
	return p.Flush()
}
