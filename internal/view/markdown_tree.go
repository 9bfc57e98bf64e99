package view

import (
	"bytes"
	"fmt"
	"io"

	"remit/internal/text/english"
	"remit/internal/tree"
)

// TreeMarkdownStart is how a file of [TreeMarkdown] begins, so that one is known again. A reader does not see it.
const TreeMarkdownStart = "<!-- remit tree -->\n"

// How much of a tree its Markdown has.
const (
	markdownTreeTable = 25_000 // bytes
	markdownTreeNeeds = 20_000
)

// TreeMarkdown writes what the configurations of a tree come to for a comment of a pull request, of at most 60,000
// characters: a table with a row for each asset of each action, the facts and steps of each configuration, and the
// sums. It returns only errors of w.
func TreeMarkdown(w io.Writer, t *tree.Tree, s Screen) error {
	s.Width, s.Scales = markdownWidth, t.Scales()
	m := &markdownTree{tree: t, screen: s}
	m.printf("%s### %s\n\n", TreeMarkdownStart, treeHeading(t))
	if t.Sandbox {
		m.printf("**SANDBOX: no money moves**\n\n")
	}
	if c := t.Counts(); c.NeedAction > 0 {
		m.printf("> [!CAUTION]\n> **%s**\n\n", treeCounts(t))
	} else {
		m.printf("%s\n\n", treeCounts(t))
	}
	m.table()
	m.needs()
	m.sums()
	for _, note := range treeNotes(t) {
		m.printf("%s", codeBlock(note, markdownSection))
	}
	m.printf("%s\n", treeApplies)
	_, err := m.WriteTo(w)
	return err
}

// treeHeading has the question, and of how many configurations it was asked, in remit's own words.
func treeHeading(t *tree.Tree) string {
	if t.Asked == tree.Status {
		return "Status of " + english.Plural(len(t.Entries), "configuration")
	}
	return "Plans of " + english.Plural(len(t.Entries), "configuration")
}

// markdownTree is the Markdown of a tree in the making.
type markdownTree struct {
	bytes.Buffer
	tree   *tree.Tree
	screen Screen
}

func (m *markdownTree) printf(format string, args ...any) { _, _ = fmt.Fprintf(m, format, args...) }

// table writes the rows of as many entries as there is room for.
func (m *markdownTree) table() {
	if len(m.tree.Entries) == 0 {
		return
	}
	m.printf("| configuration | exit code | %s | count | asset | sum |\n|---|---:|---|---:|---|---:|\n", treeWord(m.tree))
	for i := range m.tree.Entries {
		e := &m.tree.Entries[i]
		if m.Len() > markdownTreeTable {
			m.printf("| and %d more | | | | | |\n", len(m.tree.Entries)-i)
			break
		}
		name, code := codeSpan(entryName(e)), fmt.Sprint(e.ExitCode)
		for _, r := range rowsOf(m.tree, e) {
			label := r.label.text
			if r.symbol != " " {
				label = codeSpan(r.symbol) + " " + label
			}
			m.printf("| %s | %s | %s |", name, code, label)
			if r.isSum {
				m.printf(" %d | %s | %s |\n", r.total.Count, codeSpan(r.total.Asset), m.screen.money(r.total.Sum, r.total.Asset))
			} else {
				m.printf(" | | |\n")
			}
			name, code = "", ""
		}
	}
	m.printf("\n")
}

// needs writes the facts and steps of each configuration, folded where they are not about action.
func (m *markdownTree) needs() {
	var action, more bytes.Buffer
	for i := range m.tree.Entries {
		e := &m.tree.Entries[i]
		to := &more
		if e.NeedsAction() {
			to = &action
		}
		p := newPage(to, m.screen)
		writeNeed(p, e)
		_ = p.Flush() // into memory
	}
	if action.Len() > 0 {
		m.printf("**Action needed:**\n\n%s", codeBlock(action.String(), markdownTreeNeeds))
	}
	if more.Len() > 0 {
		m.printf("<details>\n<summary>What to know, and the next commands</summary>\n\n%s</details>\n\n", codeBlock(more.String(), markdownSection))
	}
}

// sums writes the money that would be sent.
func (m *markdownTree) sums() {
	var b bytes.Buffer
	p := newPage(&b, m.screen)
	shownTree{m.tree}.writeSums(p)
	_ = p.Flush() // into memory
	if b.Len() > 0 {
		m.printf("%s", codeBlock(b.String(), markdownSection))
	}
}
