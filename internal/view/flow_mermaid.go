package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

const mermaidArrowsMax = 30

// Mermaid writes the flow as a flowchart for Markdown, in at most 30 arrows and those of the
// order. It returns only errors of w.
func (f *Flow) Mermaid(w io.Writer) error {
	b := bufio.NewWriter(w)
	money, order := f.money(mermaidArrowsMax), f.order.diagram()
	_, _ = b.WriteString("flowchart LR\n  accTitle: Flow of funds\n")
	_, _ = fmt.Fprintf(b, "  title[\"%s\"]\n", mermaidText(f.title...))
	money.writeMermaid(b, "  ", "p", "-->")
	if len(order.arrows) > 0 {
		_, _ = b.WriteString("  subgraph order [\"Order\"]\n")
		order.writeMermaid(b, "    ", "g", "-.->")
		_, _ = b.WriteString("  end\n")
	}
	for i, note := range append(money.notes, order.notes...) {
		_, _ = fmt.Fprintf(b, "  note%d[\"%s\"]\n", i, mermaidText(note))
	}
	return b.Flush()
}

func (d diagram) writeMermaid(b *bufio.Writer, indent, prefix, line string) {
	for i, box := range d.boxes {
		_, _ = fmt.Fprintf(b, "%s%s%d[\"%s\"]\n", indent, prefix, i, mermaidText(box.lines...))
	}
	for _, a := range d.arrows {
		_, _ = fmt.Fprintf(b, "%s%s%d %s|\"%s\"| %s%d\n", indent, prefix, a.from, line, mermaidText(a.label), prefix, a.to)
	}
}

// mermaidText is visible lines as they may stand between quotation marks. All but letters,
// digits and what stands between two of them are entities, as nothing else is sure to mean
// neither Mermaid, nor Markdown, nor HTML.
func mermaidText(lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString("<br/>")
		}
		runes := []rune(line)
		for j, r := range runes {
			inside := j > 0 && j+1 < len(runes) && isWord(runes[j-1]) && isWord(runes[j+1])
			if isWord(r) || r == ' ' || r == ',' || inside && (r == '.' || r == '-') {
				b.WriteRune(r)
				continue
			}
			_, _ = fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }
