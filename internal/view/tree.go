package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/internal/tree"
	"remit/planner"
)

// treeNames is how many names of directories a list has before it counts the rest.
const treeNames = 20

// Tree writes what the configurations of a tree come to, for a person: a table with the actions of each, or with the
// groups of a status; the configurations that need action; the sums by environment, by entity and by asset; and the
// configurations that were left out. It returns only errors of w.
func Tree(w io.Writer, t *tree.Tree, s Screen) error {
	s.Scales = t.Scales()
	p := newPage(w, s)
	if t.Sandbox {
		p.line(span{"SANDBOX: no money moves", toneGood})
	}
	p.line(strong(treeTitle(t)))
	p.line()
	if len(t.Entries) > 0 {
		shownTree{t}.writeTable(p)
		p.line()
	}
	shownTree{t}.writeNeeds(p)
	shownTree{t}.writeSums(p)
	for _, note := range treeNotes(t) {
		p.paragraph("", note, toneDim)
	}
	counts := treeCounts(t)
	p.paragraph("", counts, toneStrong)
	p.paragraph("", treeApplies, toneNone)
	return p.Flush()
}

// treeApplies says what such a command never does.
const treeApplies = "Nothing was sent. remit applies one configuration at a time."

// TreeTold writes what one configuration told a person besides its result, under its name.
func TreeTold(w io.Writer, e *tree.Entry, s Screen) error {
	p := newPage(w, s)
	p.line(span{Visible(entryName(e)) + ":", entryNameTone(e, toneStrong)})
	for line := range strings.Lines(strings.Trim(e.Told, "\n")) {
		p.line(plain("  "), plain(strings.TrimRight(line, "\n")))
	}
	p.line()
	return p.Flush()
}

// treeTitle has the question, and of how many configurations it was asked.
func treeTitle(t *tree.Tree) string {
	top := t.Top
	if top == "." {
		top = "this directory"
	}
	asked := "Plans"
	if t.Asked == tree.Status {
		asked = "Status"
	}
	return Visible(fmt.Sprintf("%s of %s in %s and below it, as of %s", asked, english.Plural(len(t.Entries), "configuration"), top, moment(t.At)))
}

// entryName names a configuration: its directory, and the environment where somebody knows it.
func entryName(e *tree.Entry) string {
	if e.Environment == "" {
		return e.Directory
	}
	if e.Protected {
		return e.Directory + " [" + e.Environment + ", protected]"
	}
	return e.Directory + " [" + e.Environment + "]"
}

// entryNameTone is the tone of the name of a configuration: one of its own where its environment is protected, as in
// [page.environmentLine].
func entryNameTone(e *tree.Entry, otherwise tone) tone {
	if e.Protected {
		return toneDoubt
	}
	return otherwise
}

// treeRow is one line of the table.
type treeRow struct {
	label  span
	symbol string
	total  transfer.Total
	isSum  bool
}

// rowsOf are the lines of an entry: one for each asset of each action, or of each group.
func rowsOf(t *tree.Tree, e *tree.Entry) []treeRow {
	var rows []treeRow
	add := func(symbol, word string, tone tone, totals *transfer.Totals) {
		for total := range totals.All() {
			rows = append(rows, treeRow{span{word, tone}, symbol, total, true})
		}
	}
	switch {
	case e.Brief == nil:
		return []treeRow{{label: span{"no plan", toneBad}, symbol: "!"}}
	case t.Asked == tree.Status:
		for i := range e.Brief.Groups {
			g := &e.Brief.Groups[i]
			add(" ", string(g.Group), groupTone(g.Group), &g.Totals)
		}
	default:
		for _, a := range listed() {
			if totals := e.Brief.Actions[a]; totals != nil && a != planner.None {
				add(a.Symbol(), string(a), actionTone(a), totals)
			}
		}
	}
	if !e.Brief.Applicable {
		rows = append(rows, treeRow{label: span{"blocked", toneBad}, symbol: "!"})
	}
	if len(rows) == 0 {
		word := "no changes"
		if t.Asked == tree.Status {
			word = "nothing waits"
		}
		rows = append(rows, treeRow{label: dim(word), symbol: " "})
	}
	return rows
}

// shownTree is a tree as a page shows it.
type shownTree struct{ *tree.Tree }

// writeTable writes a line for each asset of each action of each entry.
func (t shownTree) writeTable(p *page) {
	var numbers point
	name, label := displayWidth("configuration"), 0
	for i := range t.Entries {
		e := &t.Entries[i]
		name = max(name, displayWidth(Visible(entryName(e))))
		for _, r := range rowsOf(t.Tree, e) {
			label = max(label, displayWidth(r.label.text))
			if r.isSum {
				numbers.fit(p.money(r.total.Sum, r.total.Asset))
			}
		}
	}
	const exit, count = 4, 6
	name = min(name, max(24, p.width()-exit-count-label-numbers.width()-20))
	p.line(dim("  " + pad("configuration", name) + "  exit  " + pad(treeWord(t.Tree), label+2) + "   count  asset  sum"))
	for i := range t.Entries {
		e := &t.Entries[i]
		shown := Visible(entryName(e))
		if displayWidth(shown) > name {
			p.line(span{"  " + shown, entryNameTone(e, toneNone)})
			shown = ""
		}
		code := strconv.Itoa(e.ExitCode)
		for _, r := range rowsOf(t.Tree, e) {
			cells := []span{{"  " + pad(shown, name), entryNameTone(e, toneNone)}, plain("  " + gap(code, exit) + code + "  "), {r.symbol + " ", r.label.tone}, {pad(r.label.text, label), r.label.tone}}
			if r.isSum {
				number := strconv.Itoa(r.total.Count)
				cells = append(cells, strong("  "+gap(number, count)+number+"  "), plain(pad(Visible(r.total.Asset), 5)+"  "), strong(numbers.align(p.money(r.total.Sum, r.total.Asset))))
			}
			p.line(cells...)
			shown, code = "", ""
		}
	}
}

// treeWord is the title of the column of actions or groups.
func treeWord(t *tree.Tree) string {
	if t.Asked == tree.Status {
		return "group"
	}
	return "action"
}

// entryNeeds is what somebody should know or do about a configuration; nothing where an apply does all.
func entryNeeds(e *tree.Entry) []need {
	if e.Brief == nil {
		return []need{{text: e.Error, tone: toneBad}}
	}
	var needs []need
	for _, o := range e.Brief.Obstacles {
		needs = append(needs, need{text: fmt.Sprintf("Blocked: %s%s. %s", string(o.Kind), obstacleScope(o), o.Detail), tone: toneBad})
	}
	if more := e.Brief.Blocked - len(e.Brief.Obstacles); more > 0 {
		needs = append(needs, need{text: "Blocked: " + english.Plural(more, "more obstacle"), tone: toneBad})
	}
	for _, g := range e.Brief.Groups {
		if g.Group.NeedsPerson() {
			needs = append(needs, need{text: fmt.Sprintf("%s: %s", string(g.Group), english.Plural(g.Totals.Count(), "transfer")), tone: toneDoubt})
		}
	}
	for _, text := range e.Brief.Approvals {
		needs = append(needs, need{text: text, tone: toneDoubt})
	}
	if signals := entrySignals(e.Brief); len(signals) > 0 {
		needs = append(needs, need{text: "Signals: " + strings.Join(signals, ", "), tone: toneNone})
	}
	return needs
}

// entrySignals are the counted marks of a plan.
func entrySignals(b *tree.Brief) []string {
	signals := countSignals(b.Signals, false)
	if b.Shortened > 0 {
		signals = append(signals, fmt.Sprintf("%d with a shorter duplicate check", b.Shortened))
	}
	return signals
}

// writeNeeds writes, for each entry about which something is to be known or done, what that is and the next command.
func (t shownTree) writeNeeds(p *page) {
	for i := range t.Entries {
		writeNeed(p, &t.Entries[i])
	}
}

func writeNeed(p *page, e *tree.Entry) {
	needs := entryNeeds(e)
	if len(needs) == 0 && e.Next == "" {
		return
	}
	p.line(span{Visible(entryName(e)), entryNameTone(e, toneStrong)})
	for _, n := range needs {
		p.paragraph("  ", Visible(firstLine(n.text)), n.tone)
	}
	if e.Next != "" {
		p.command("", e.Next)
	}
	p.line()
}

// firstLine is text up to its first line break.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// writeSums writes the money that would be sent, added up in three ways.
func (t shownTree) writeSums(p *page) {
	environments := t.ByEnvironment()
	if len(environments) == 0 {
		return
	}
	writeSumsTable(p, "To submit or resolve, by environment", environments, environmentSumName)
	writeSumsTable(p, "By entity", t.ByEntity(), entitySumName)
	writeSumsTable(p, "By asset", assetSums(t.Tree), environmentSumName)
}

func environmentSumName(s *tree.Sum) string { return s.Environment }

func entitySumName(s *tree.Sum) string { return s.Name + " [" + s.Environment + "]" }

// assetSums are the sums by asset, as sums of one asset each.
func assetSums(t *tree.Tree) []tree.Sum {
	var sums []tree.Sum
	for _, a := range t.ByAsset() {
		s := tree.Sum{Name: a.Asset, Environment: a.Environment}
		for of, total := range map[*transfer.Totals]transfer.Total{&s.Sent: a.Sent, &s.Blocked: a.Blocked} {
			if total.Count > 0 {
				of.AddTotal(total)
			}
		}
		sums = append(sums, s)
	}
	return sums
}

// sumRows are the rows of sums: of the money that would be sent, and of the money that plans hold
// back that are not applicable.
func sumRows(sums []tree.Sum, nameOf func(*tree.Sum) string) []totalsRow {
	var rows []totalsRow
	for i := range sums {
		s := &sums[i]
		rows = append(rows, totalsRow{[]span{plain(Visible(nameOf(s)))}, &s.Sent}, totalsRow{[]span{{Visible(nameOf(s)) + ", blocked", toneBad}}, &s.Blocked})
	}
	return slices.DeleteFunc(rows, func(r totalsRow) bool { return r.totals.Count() == 0 })
}

func writeSumsTable(p *page, title string, sums []tree.Sum, nameOf func(*tree.Sum) string) {
	p.line(plain(title))
	p.totalsTable(sumRows(sums, nameOf), 0)
	p.line()
}

// treeNotes say which directories were left out, and why.
func treeNotes(t *tree.Tree) []string {
	var notes []string
	note := func(names []string, said string) {
		if len(names) == 0 {
			return
		}
		shown := make([]string, 0, treeNames)
		for _, name := range names[:min(len(names), treeNames)] {
			shown = append(shown, Visible(name))
		}
		text := said + ": " + strings.Join(shown, ", ")
		if more := len(names) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, text+".")
	}
	note(t.Others, "Has another environment alone")
	note(t.Untouched, "Left out, because no changed path touches it")
	note(t.Gone, "No configuration any more, though a changed path was in one")
	note(t.Unread, "Its state could not be read, so its payments under the same ref_ids are not known")
	note(t.Found.Shared, "Declares nothing to pay, and is for others to use")
	note(t.Found.Links, "A link, which was not followed")
	return notes
}

// treeCounts says how the configurations stand, in a sentence.
func treeCounts(t *tree.Tree) string {
	c := t.Counts()
	parts := []string{english.Plural(c.All, "configuration")}
	for _, of := range []struct {
		count  int
		phrase string
	}{
		{c.Sending, "with something to send"}, {c.Quiet, "with nothing to send"}, {c.Blocked, "blocked"}, {c.Failed, "without a plan"},
	} {
		if of.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.count, of.phrase))
		}
	}
	if c.All == 0 {
		return "No configuration is touched."
	}
	text := parts[0] + ": " + strings.Join(parts[1:], ", ") + "."
	if c.NeedAction > 0 {
		text += fmt.Sprintf(" Action needed in %d.", c.NeedAction)
	}
	return text
}
