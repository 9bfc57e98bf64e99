package view

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

const dotArrowsMax = 500

// DOT writes the flow in the language of Graphviz, in at most 500 arrows. It returns only
// errors of w.
func (f *Flow) DOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	money, order := f.money(dotArrowsMax), f.order.diagram()
	title := slices.Concat(f.title, money.notes)
	_, _ = fmt.Fprintf(b, "digraph flow {\n  rankdir=LR;\n  labelloc=t;\n  label=%s;\n", dotText(title...))
	_, _ = b.WriteString("  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	money.writeDOT(b, "  ", "p", "")
	if len(order.arrows) > 0 {
		_, _ = fmt.Fprintf(b, "  subgraph cluster_order {\n    label=%s;\n    style=dashed;\n", dotText(append([]string{"Order"}, order.notes...)...))
		order.writeDOT(b, "    ", "g", ", style=dashed")
		_, _ = b.WriteString("  }\n")
	}
	_, _ = b.WriteString("}\n")
	return b.Flush()
}

func (d diagram) writeDOT(b *bufio.Writer, indent, prefix, style string) {
	for i, box := range d.boxes {
		_, _ = fmt.Fprintf(b, "%s%s%d [label=%s];\n", indent, prefix, i, dotText(box.lines...))
	}
	for _, a := range d.arrows {
		_, _ = fmt.Fprintf(b, "%s%s%d -> %s%d [label=%s%s];\n", indent, prefix, a.from, prefix, a.to, dotText(a.label), style)
	}
}

// dotText is a quoted string of visible lines. Graphviz reads escapes and HTML's entities in
// one.
func dotText(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(line)
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}
