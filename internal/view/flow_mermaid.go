package view

import (
	"bufio"
	"fmt"
	"io"
	"slices"
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
	if len(money.arrows) == 0 {
		_, _ = fmt.Fprintf(b, "  title[\"%s\"]\n", mermaidText(f.title...))
		return b.Flush()
	}
	money.writeMermaid(b, "money", slices.Delete(slices.Clone(f.title), 1, 2), "p", "-->") // without the counts
	if len(order.arrows) > 0 {
		order.writeMermaid(b, "order", []string{"Order"}, "g", "-.->")
	}
	return b.Flush()
}

// writeMermaid writes a diagram in a frame with a title and the rest that is not drawn, for which it has one
// line.
func (d diagram) writeMermaid(b *bufio.Writer, name string, title []string, prefix, line string) {
	_, _ = fmt.Fprintf(b, "  subgraph %s [\"%s\"]\n    direction LR\n", name, mermaidText(strings.Join(slices.Concat(title, d.notes), " · ")))
	for i, box := range d.boxes {
		_, _ = fmt.Fprintf(b, "    %s%d[\"%s\"]\n", prefix, i, mermaidText(box.lines...))
	}
	for _, a := range d.arrows {
		_, _ = fmt.Fprintf(b, "    %s%d %s|\"%s\"| %s%d\n", prefix, a.from, line, mermaidText(a.label), prefix, a.to)
	}
	_, _ = b.WriteString("  end\n")
}

// mermaidText is visible lines as quotation marks may enclose them. All but letters, digits and a
// character between two of them are entities, as nothing else is sure to mean neither Mermaid, nor
// Markdown, nor HTML.
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
