package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
)

// How many lines of a group are listed where the rest may be counted: the first ones. Those that a
// reviewer must see are listed beside them, however many they are.
const (
	groupFirst = 8
	groupWhole = 12 // a group of so many is listed whole
)

// oneDestination is said of lines that all pay one: a column that was filled down by mistake looks like this.
const oneDestination = "all to one destination"

// lineGroup are neighbouring lines of a plan: those of one block, or of blocks without for_each
// that follow each other, in one batch and one file. Their common facts are said once.
type lineGroup struct {
	lines []planner.Change
	title string // "" where there is none
	sharing
}

// groupLines cuts the lines of a plan into groups, in their order.
func groupLines(changes []planner.Change) []lineGroup {
	var groups []lineGroup
	for len(changes) > 0 {
		n := sameBlock(changes)
		if n == 1 { // a block by itself is grouped with those like it that follow
			for n < len(changes) && isBeside(&changes[0], &changes[n]) && sameBlock(changes[n:]) == 1 {
				n++
			}
		}
		groups = append(groups, newLineGroup(changes[:n]))
		changes = changes[n:]
	}
	nameBatches(groups)
	return groups
}

// nameBatches puts the batch into the title of its groups: alone where it has one group, so that
// what the title counts is the batch.
func nameBatches(groups []lineGroup) {
	count := make(map[string]int)
	for i := range groups {
		count[groups[i].lines[0].Batch]++
	}
	for i := range groups {
		g := &groups[i]
		batch := g.lines[0].Batch
		switch {
		case batch == "" || len(g.lines) == 1:
		case count[batch] == 1:
			g.title = "Batch " + batch
		case g.title == "":
			g.title = "Of batch " + batch
		default:
			g.title = "Of batch " + batch + ", b" + strings.TrimPrefix(g.title, "B")
		}
	}
}

// isOfBlock reports whether two lines are of one block.
func isOfBlock(a, b *planner.Change) bool {
	return isBeside(a, b) && blockOf(a) != "" && blockOf(a) == blockOf(b)
}

// sameBlock is how many lines from the first on are of one block.
func sameBlock(changes []planner.Change) int {
	n := 1
	for n < len(changes) && isOfBlock(&changes[0], &changes[n]) {
		n++
	}
	return n
}

// isBeside reports whether one group may have both lines.
func isBeside(a, b *planner.Change) bool {
	return a.Batch == b.Batch && fileOf(a.Place) == fileOf(b.Place) && a.Declared() == b.Declared()
}

// blockOf is the block that declares a transfer: its address without a key.
func blockOf(c *planner.Change) string {
	block, _, _ := strings.Cut(c.Address, "[")
	return block
}

// fileOf is the file of a place.
func fileOf(place string) string {
	if at := strings.LastIndexByte(place, ':'); at >= 0 {
		return place[:at]
	}
	return ""
}

func newLineGroup(lines []planner.Change) lineGroup {
	g := lineGroup{lines: lines}
	for i := range lines {
		g.add(&lines[i])
	}
	g.finish()
	if block := blockOf(&lines[0]); len(lines) > 1 && block != "" && blockOf(&lines[1]) == block {
		g.title = "Block " + block
	}
	return g
}

// ownNotes are the notes of a line that the heading of its group does not have.
func (g *lineGroup) ownNotes(c *planner.Change) []span {
	if g == nil {
		return changeNotes(c)
	}
	return g.sharing.ownNotes(c)
}

// ownNotes are the notes of a line that not all have.
func (s *sharing) ownNotes(c *planner.Change) []span {
	return slices.DeleteFunc(changeNotes(c), func(note span) bool { return s.notes[string(c.Action)+" "+note.text] })
}

// ownPlace is what the heading of its group does not say of where a line is declared.
func (g *lineGroup) ownPlace(c *planner.Change) string {
	if g == nil {
		return c.Place
	}
	return g.sharing.ownPlace(c.Place)
}

// ownPlace is what of a place not all have.
func (s *sharing) ownPlace(place string) string {
	switch {
	case s.file == "":
		return place
	case s.place != "":
		return ""
	}
	return place[len(s.file):]
}

// isSeen reports whether a reviewer must see a line: it needs a person, or carries a mark that
// not all of its group carry.
func (g *lineGroup) isSeen(c *planner.Change) bool {
	return needsAttention(c) || c.Never || c.Next != "" || isMixed(c) || len(c.Differences) > 0 ||
		!g.allFirst && slices.ContainsFunc(c.Signals, isFirst)
}

// shown are the lines that are listed, and what the rest comes to: nothing that a reviewer must
// see, and not the largest amount of any asset.
func (g *lineGroup) shown(all bool) (lines, rest []planner.Change) {
	if all || len(g.lines) <= groupWhole {
		return g.lines, nil
	}
	largest := make(map[string]int)
	for i := range g.lines {
		asset := g.lines[i].Request.Asset
		if at, isKnown := largest[asset]; !isKnown || g.lines[i].Request.Amount.Cmp(g.lines[at].Request.Amount) > 0 {
			largest[asset] = i
		}
	}
	for i := range g.lines {
		c := &g.lines[i]
		if i < groupFirst || g.isSeen(c) || largest[c.Request.Asset] == i {
			lines = append(lines, *c)
		} else {
			rest = append(rest, *c)
		}
	}
	return lines, rest
}

// grouped writes the lines of a plan in groups, and says whether some of them are only counted.
func (p *page) grouped(changes []planner.Change, o PlanOptions) (isCut bool) {
	whole := shapeFor(changes, shapeHead)
	alone := true // the group before has one line
	for i, g := range groupLines(changes) {
		if i > 0 && (!alone || len(g.lines) > 1) {
			p.line()
		}
		alone = len(g.lines) == 1
		lines, rest := g.shown(o.ShowAll)
		l := newLayout(lines, o, &g, whole)
		l.metadata = o.ShowAll
		p.groupHeading(&g, &l, o)
		p.layOut(lines, &l)
		if len(rest) > 0 {
			isCut = true
			p.paragraph("  ", g.restText(rest, p.Screen), toneDim)
		}
	}
	return isCut
}

// groupHeading says once what the lines of a group share.
func (p *page) groupHeading(g *lineGroup, l *layout, o PlanOptions) {
	if len(g.lines) == 1 {
		return
	}
	var totals transfer.Totals
	for i := range g.lines {
		r := moved(&g.lines[i])
		if !r.Amount.IsZero() {
			totals.Add(r.Asset, r.Amount)
		}
	}
	if g.title != "" {
		p.paragraph("", Visible(g.title)+": "+english.Plural(len(g.lines), "transfer")+Visible(commaAnd(p.sums(&totals))), toneStrong)
	}
	var shares []string
	if g.from != nil {
		shares = append(shares, "from "+g.from.show(l.shape, o.Names))
	}
	if g.file != "" {
		shares = append(shares, "in "+Visible(cmp.Or(g.place, g.file)))
	}
	if g.isOneTo {
		shares = append(shares, oneDestination)
	}
	var long []span
	for _, note := range g.heads {
		if displayWidth(note.text) > p.width()/2 {
			long = append(long, note)
			continue
		}
		shares = append(shares, note.text)
	}
	if len(shares) > 0 {
		p.paragraph("  ", strings.Join(shares, ", "), toneNone)
	}
	for _, note := range long {
		p.paragraph("  ", note.text, note.tone)
	}
}

// restText counts the lines that are not listed, says what they come to, and which are listed.
func (g *lineGroup) restText(rest []planner.Change, s Screen) string {
	var totals transfer.Totals
	for i := range rest {
		totals.Add(rest[i].Request.Asset, rest[i].Request.Amount)
	}
	text := fmt.Sprintf("and %d more%s", len(rest), commaAnd(Visible(s.sums(&totals))))
	if g.allFirst {
		text += ", to first-time destinations as well"
	}
	return text + fmt.Sprintf(" (the first %d and the largest are shown)", groupFirst)
}
