package view

import (
	"io"
	"strings"
)

// Error writes a failure of the world and, where there is one, a command that helps, alone on an
// indented line. It returns only errors of w.
func Error(w io.Writer, err error, hint string, s Screen) error {
	return said(w, span{"Error: ", toneBad}, err, hint, s)
}

// Warning writes an error beside the command's own task. It returns only errors of w.
func Warning(w io.Writer, err error, s Screen) error {
	return said(w, span{"Warning: ", toneDoubt}, err, "", s)
}

func said(w io.Writer, word span, err error, hint string, s Screen) error {
	p := newPage(w, s)
	p.open(word.tone)
	head, rest, _ := strings.Cut(err.Error(), "\n")
	lines := Wrap(Visible(cutRunes(head, paragraphRunesMax)), p.width()-displayWidth(word.text)-displayWidth(p.gutter.text))
	p.line(word, plain(lines[0]))
	for _, line := range lines[1:] {
		p.line(plain(p.inset() + line))
	}
	if rest != "" {
		p.paragraph(p.inset(), rest, toneNone)
	}
	if hint != "" {
		p.line()
		for line := range strings.SplitSeq(strings.TrimRight(Command(hint), "\n"), "\n") { // those within a word are written as escapes
			p.command("", line)
		}
	}
	p.close(word.tone)
	return p.Flush()
}
