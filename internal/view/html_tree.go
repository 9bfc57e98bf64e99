package view

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"remit/internal/text/english"
	"remit/internal/tree"
)

// TreeStart is how a file of [TreeHTML] begins, so that one is known again.
const TreeStart = "<!doctype html>\n<html lang=\"en\" data-remit=\"tree\">"

// TreeHTML writes what the configurations of a tree come to as a page like that of [PlanHTML]: a row for each, which
// its script filters; the facts and steps of each configuration; and the sums. It returns only errors of w.
func TreeHTML(w io.Writer, t *tree.Tree, s Screen) error {
	s.Scales, s.Here = t.Scales(), nil // commands of a tree are whole
	h := &htmlTree{htmlPage: newHTMLPage(w, s), tree: t}
	h.begin("tree", treeTitle(t))
	h.head(h.pageHead())
	h.entries()
	h.needs()
	h.sums()
	return h.end(treeCounts(t) + " " + treeApplies)
}

// htmlTree is the page of one tree.
type htmlTree struct {
	htmlPage
	tree *tree.Tree
}

func (h *htmlTree) pageHead() *pageHead {
	head := &pageHead{
		isSandbox: h.tree.Sandbox, place: h.tree.Top, title: treeHeading(h.tree), said: plain(treeCounts(h.tree)),
		counted: "Count and sum of what would be submitted or resolved", none: "Nothing would be sent.",
		sums: sumRows(h.tree.ByEnvironment(), environmentSumName),
		calm: "Nothing blocks a plan, and no transfer needs you.", notes: treeNotes(h.tree),
	}
	if h.tree.Top != "." {
		head.about = []field{{"directory", h.tree.Top}}
	}
	head.about = append(head.about, field{"as of", moment(h.tree.At)})
	for i := range h.tree.Entries {
		e := &h.tree.Entries[i]
		if e.NeedsAction() {
			n := entryNeeds(e)[0]
			head.needs = append(head.needs, need{text: entryName(e) + ": " + firstSentence(n.text), tone: n.tone, command: e.Next})
		}
	}
	if more := len(head.needs) - largeObstacles; more > 0 {
		head.needs = append(head.needs[:largeObstacles], need{text: english.Plural(more, "more configuration"), tone: toneDoubt})
	}
	return head
}

// resultOf is the word by which a filter knows how a configuration stands.
func resultOf(e *tree.Entry) string {
	switch {
	case e.Brief == nil:
		return "without a plan"
	case !e.Brief.Applicable:
		return "blocked"
	case e.NeedsAction():
		return "action needed"
	case e.Brief.Empty:
		return "nothing to send"
	}
	return "something to send"
}

// numbered are the different words of the entries, each with a number, as a filter has them: a word may have spaces.
func (h *htmlTree) numbered(id, label string, wordOf func(*tree.Entry) string) htmlFilter {
	f := htmlFilter{id: id, label: label}
	for i := range h.tree.Entries {
		if word := wordOf(&h.tree.Entries[i]); !slices.ContainsFunc(f.choices, func(c htmlChoice) bool { return c.name == word }) {
			f.choices = append(f.choices, htmlChoice{strconv.Itoa(len(f.choices)), word})
		}
	}
	return f
}

// valueOf is the number of a word.
func (f htmlFilter) valueOf(word string) string {
	for _, c := range f.choices {
		if c.name == word {
			return c.value
		}
	}
	return ""
}

func environmentOf(e *tree.Entry) string {
	if e.Environment == "" {
		return "not known"
	}
	return e.Environment
}

// entries writes a row for each configuration.
func (h *htmlTree) entries() {
	if len(h.tree.Entries) == 0 {
		return
	}
	h.put("<section>\n<h2 id=\"configurations\">Configurations</h2>\n")
	environments, entities := h.numbered("environment", "Environment", environmentOf), h.numbered("entity", "Entity", func(e *tree.Entry) string { return e.Entity })
	results := h.numbered("result", "Result", resultOf)
	h.filters("Search directory or reason", len(h.tree.Entries), "configuration", environments, entities, results)
	word := treeWord(h.tree)
	t := h.wideTable("Configurations", "rows stack", "", column{title: "Configuration"}, column{title: "Environment"}, column{title: "Result"},
		column{title: strings.ToUpper(word[:1]) + word[1:] + "s", isNumber: true}, column{title: "Exit code", isNumber: true})
	for i := range h.tree.Entries {
		e := &h.tree.Entries[i]
		t.rowAs("<tr data-environment=\"%\" data-entity=\"%\" data-result=\"%\">", environments.valueOf(environmentOf(e)), entities.valueOf(e.Entity), results.valueOf(resultOf(e)))
		t.headOf(func() { h.put("<b>%</b> <small>%</small>", e.Directory, e.Entity) })
		t.cellOf("", func() {
			h.put("%", environmentOf(e))
			if e.Protected {
				h.put(" <span class=\"%\">protected</span>", toneDoubt.class())
			}
		})
		t.cellOf("", func() { h.put("<span class=\"%\">%</span>", entryTone(e).class(), resultOf(e)) })
		t.cellOf("number", func() { h.actions(e) })
		t.count(e.ExitCode)
	}
	t.end()
	h.put("</section>\n")
}

// entryTone is that of how a configuration stands.
func entryTone(e *tree.Entry) tone {
	switch {
	case e.Brief == nil || !e.Brief.Applicable:
		return toneBad
	case e.NeedsAction():
		return toneDoubt
	case e.Brief.Empty:
		return toneDim
	}
	return toneGood
}

// actions writes a line for each asset of each action.
func (h *htmlTree) actions(e *tree.Entry) {
	for _, r := range rowsOf(h.tree, e) {
		if !r.isSum {
			continue
		}
		h.put("<p><span class=\"%\">% %</span>: % %</p>", r.label.tone.class(), strconv.Itoa(r.total.Count), r.label.text, h.screen.money(r.total.Sum, r.total.Asset), r.total.Asset)
	}
}

// needs writes the facts and steps of each configuration.
func (h *htmlTree) needs() {
	isFirst := true
	for i := range h.tree.Entries {
		e := &h.tree.Entries[i]
		needs := entryNeeds(e)
		if len(needs) == 0 && e.Next == "" && e.Told == "" {
			continue
		}
		if isFirst {
			h.put("<section>\n<h2>What to know and do</h2>\n")
			isFirst = false
		}
		h.put("<h3>%</h3>\n", entryName(e))
		for _, n := range needs {
			h.put("<p class=\"%\">%</p>\n", n.tone.class(), n.text)
		}
		if e.Next != "" {
			h.put("<p class=\"command\"><code>%</code></p>\n", Command(e.Next))
		}
		if e.Told != "" {
			h.put("<details><summary>What it told</summary>\n")
			for line := range strings.Lines(e.Told) {
				if line = strings.TrimSpace(line); line != "" {
					h.put("<p><code>%</code></p>\n", line)
				}
			}
			h.put("</details>\n")
		}
	}
	if !isFirst {
		h.put("</section>\n")
	}
}

// sums writes the money that would be sent, added up by entity and by asset; the head has it by
// environment.
func (h *htmlTree) sums() {
	if len(h.tree.ByEnvironment()) == 0 {
		return
	}
	h.put("<section>\n<h2>To submit or resolve</h2>\n")
	h.totals("Entity", "By entity", sumRows(h.tree.ByEntity(), entitySumName))
	h.totals("Environment", "By asset", sumRows(assetSums(h.tree), environmentSumName))
	h.put("</section>\n")
}
