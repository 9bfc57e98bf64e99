package view

import (
	"fmt"
	"slices"
	"strings"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
)

// placeWidthMin is how far a place may be cut before a line is split in two.
const placeWidthMin = 14

// layout is how the lines of some changes are arranged: one line a transfer in aligned
// columns where that fits the screen, else two, else three.
type layout struct {
	screen    Screen
	group     *lineGroup // whose heading says the rest; nil where there is none
	shape     shape
	names     map[string]string
	operation bool // both operations occur, so each line says which
	stacked   bool // sender and destination are below the ref_id
	split     bool // and the destination below the sender
	noPlace   bool // where it is declared is left out
	metadata  bool // is below each line; else only where letters of it may pass for others

	ref, from, to, asset, place int
	amount                      point
}

// newLayout measures changes of a group; nil is none. No ID is shorter than shape whole. These are
// given up first where room is short: the ends of IDs, then where a line is declared in a file that
// the heading has, then names, then the single line.
func newLayout(changes []planner.Change, o PlanOptions, g *lineGroup, least shape) layout {
	operation := mixesOperations(changes)
	room := o.width()
	var l layout
	for _, try := range []layout{
		{shape: shapeEnds, names: o.Names},
		{shape: shapeHead, names: o.Names},
		{shape: shapeHead, names: o.Names, noPlace: g != nil && g.file != ""},
	} {
		l = try
		l.screen, l.group, l.operation = o.Screen, g, operation
		l.shape = max(l.shape, least)
		l.measure(changes)
		if l.width() <= room {
			return l
		}
		if over := l.width() - room; !l.noPlace && (g == nil || g.file == "") && l.place-over >= placeWidthMin {
			l.place -= over
			return l
		}
	}
	return newStackedLayout(changes, o, operation, g, least)
}

func newStackedLayout(changes []planner.Change, o PlanOptions, operation bool, g *lineGroup, least shape) layout {
	room := o.width()
	var l layout
	for _, try := range []layout{
		{shape: shapeEnds, names: o.Names},
		{shape: shapeHead, names: o.Names},
		{shape: shapeEnds, names: o.Names, split: true},
		{shape: shapeHead, names: o.Names, split: true},
	} {
		l = try
		l.screen, l.group, l.operation, l.stacked = o.Screen, g, operation, true
		l.shape = max(l.shape, least)
		l.measure(changes)
		if l.widthBelow() <= room {
			break
		}
	}
	l.ref = min(l.ref, max(20, room-2-2-l.amount.width()-1-l.asset))
	return l
}

// widthBelow is the width of a stacked layout's second and third lines.
func (l *layout) widthBelow() int {
	width := 4 + l.fromWidth() + 3 + l.to + 2 + l.place
	if l.split {
		width = max(4+l.from, 4+3+l.to+2+l.place)
	}
	if l.operation {
		width += operationWidth + 2
	}
	return width
}

func mixesOperations(changes []planner.Change) bool {
	for i := range changes {
		if changes[i].Request.Operation != changes[0].Request.Operation {
			return true
		}
	}
	return false
}

func (l *layout) measure(changes []planner.Change) {
	l.shape = shapeFor(changes, l.shape)
	hasSender := l.hasSender()
	for i := range changes {
		c := &changes[i]
		l.ref = max(l.ref, displayWidth(c.RefID))
		if hasSender {
			l.from = max(l.from, displayWidth(sender(c.Request).show(l.shape, l.names)))
		}
		l.to = max(l.to, displayWidth(l.destination(c)))
		l.amount.fit(l.screen.amount(c.Request.Amount, c.Request.Asset))
		l.asset = max(l.asset, displayWidth(c.Request.Asset))
		l.place = max(l.place, displayWidth(l.placeOf(c)))
	}
}

// hasSender reports whether each line says who pays.
func (l *layout) hasSender() bool { return l.group == nil || l.group.from == nil }

// placeOf is where a change is declared, as far as its line says so.
func (l *layout) placeOf(c *planner.Change) string {
	if l.noPlace {
		return ""
	}
	return l.group.ownPlace(c)
}

// firstMark marks a destination to which nothing was paid before.
const firstMark = "*"

func (l *layout) destination(c *planner.Change) string {
	text := payee(c, c.Request).show(l.shape, l.names)
	if slices.ContainsFunc(c.Signals, isFirst) {
		text += firstMark
	}
	return text
}

func isFirst(s planner.Signal) bool { return s.Kind == planner.FirstDestination }

// fromWidth is the width of the sender and the space behind it.
func (l *layout) fromWidth() int {
	if !l.hasSender() {
		return 0
	}
	return l.from + 1
}

func (l *layout) width() int {
	width := 2 + l.ref + 2 + l.fromWidth() + 3 + l.to + 2 + l.amount.width() + 1 + l.asset
	if l.operation {
		width += 2 + operationWidth
	}
	if l.place > 0 {
		width += 2 + l.place
	}
	return width
}

const operationWidth = len(transfer.Internal)

// changes writes the lines of some transfers in one layout.
func (p *page) changes(changes []planner.Change, o PlanOptions) {
	l := newLayout(changes, o, nil, shapeHead)
	l.metadata = o.ShowAll
	p.layOut(changes, &l)
}

// layOut writes changes in a layout.
func (p *page) layOut(changes []planner.Change, l *layout) {
	for i := 0; i < len(changes); {
		alike := doubtsAlike(changes[i:])
		for k := range alike {
			c := changes[i+k]
			if alike > 1 {
				c.Reason, c.Next = "", ""
			}
			if alike > 1 && k == 0 {
				c.Reason, c.Next = fmt.Sprintf("Each of these %d: %s", alike, changes[i].Reason), nextOfAll(changes[i:i+alike])
			}
			p.change(&c, l)
		}
		i += alike
	}
}

// doubtsAlike is how many changes from the first on are doubts of which the same is said; 1 where none
// is.
func doubtsAlike(changes []planner.Change) int {
	n := 1
	for n < len(changes) && changes[n].Action == planner.Resolve && changes[0].Action == planner.Resolve && changes[n].Reason == changes[0].Reason {
		n++
	}
	return n
}

// nextOfAll is the one command for some doubts.
func nextOfAll(changes []planner.Change) string {
	nexts := make([]string, len(changes))
	for i := range changes {
		nexts[i] = changes[i].Next
	}
	return doubt.NextOfAll(nexts)
}

func (p *page) change(c *planner.Change, l *layout) {
	symbol := span{c.Action.Symbol() + " ", actionTone(c.Action)}
	amount := l.amount.align(p.amount(c.Request.Amount, c.Request.Asset))
	asset := pad(c.Request.Asset, l.asset)
	from := ""
	if l.hasSender() {
		from = pad(sender(c.Request).show(l.shape, l.names), l.from) + " "
	}
	to := "-> " + pad(l.destination(c), l.to)
	operation := ""
	if l.operation {
		operation = pad(string(c.Request.Operation), operationWidth) + "  "
	}
	notes := l.group.ownNotes(c)
	place := l.placeOf(c)
	ref := plain(pad(cutMiddle(Visible(c.RefID), l.ref), l.ref))
	switch {
	case l.stacked:
		p.line(symbol, ref, plain("  "+amount+" "+asset))
		if l.split {
			p.line(plain("    " + operation + from))
			from, operation = "", strings.Repeat(" ", displayWidth(operation))
		}
		p.line(plain("    "+operation+from+to), dim("  "+Visible(place)))
	default:
		place = pad(cutStart(Visible(place), l.place), l.place)
		spans := []span{symbol, ref, plain("  " + operation + from + to + "  " + amount + " " + asset)}
		if l.place > 0 {
			spans = append(spans, dim("  "+place))
		}
		if len(notes) == 1 && l.width()+2+displayWidth(notes[0].text) <= p.width() {
			notes[0].text = "  " + notes[0].text
			spans, notes = append(spans, notes[0]), nil
		}
		p.line(spans...)
	}
	p.changeBelow(c, l, notes)
}

// changeBelow writes the lines below that of a change: notes, metadata, and the next command.
func (p *page) changeBelow(c *planner.Change, l *layout, notes []span) {
	for _, note := range notes {
		p.paragraph("    ", note.text, note.tone)
	}
	if l.metadata || isMixed(c) {
		for _, text := range metadataTexts(moved(c)) {
			p.paragraph("    ", text, toneDim)
		}
	}
	p.block(c)
	if c.Next != "" {
		p.command("    ", p.here(c.Next))
	}
}

func actionTone(a planner.Action) tone {
	switch a {
	case planner.Submit:
		return toneGood
	case planner.Resolve:
		return toneDoubt
	case planner.Conflict, planner.Failed, planner.Expired:
		return toneBad
	case planner.Wait, planner.Undeclared:
		return toneDim
	case planner.None:
	}
	return toneNone
}

// elsewhere says which files of other directories declare the profiles of a change.
func elsewhere(c *planner.Change) string {
	from, to := fileOf(c.FromPlace), fileOf(c.ToPlace)
	switch {
	case from == "" && to == "":
		return ""
	case from == to:
		return "sender and destination declared in " + from
	case from == "":
		return "destination declared in " + to
	case to == "":
		return "sender declared in " + from
	}
	return "sender declared in " + from + ", destination in " + to
}

// submitNotes says of a transfer that is to be sent what it follows. Its reason belongs to the first of these.
func submitNotes(c *planner.Change, add func(t tone, parts ...string)) {
	reason := c.Reason
	if c.Again {
		add(toneDoubt, "again", refusal(c), reason)
		reason = ""
	}
	if len(c.After) > 0 {
		add(toneDim, "after "+some(c.After, 0), reason)
		reason = ""
	}
	if !c.Until.IsZero() {
		add(toneDim, "due "+due(c.Until))
		add(toneDim, "the sandbox waits for no due time")
	}
	add(toneDim, reason)
}

// changeNotes says in words what the columns do not.
func changeNotes(c *planner.Change) []span {
	var notes []span
	add := func(t tone, parts ...string) {
		parts = trimEmpty(parts)
		if len(parts) > 0 {
			notes = append(notes, span{Visible(strings.Join(parts, ": ")), t})
		}
	}
	if c.Reverses != "" {
		add(toneDim, "reverses "+c.Reverses)
	}
	add(toneDim, elsewhere(c))
	if note := nowNote(c); note.text != "" {
		notes = append(notes, note)
	}
	reason := c.Reason
	switch c.Action {
	case planner.Submit:
		submitNotes(c, add)
	case planner.Wait:
		until := ""
		if !c.Until.IsZero() {
			until = "until " + due(c.Until)
		}
		add(toneDim, until, reason)
	case planner.Expired:
		if reason == "" && !c.Expires.IsZero() {
			reason = "expired " + due(c.Expires)
		}
		add(toneDim, reason)
	case planner.Resolve, planner.Conflict:
		add(toneNone, reason)
	case planner.Failed, planner.None, planner.Undeclared:
		add(toneDim, reason)
	}
	for i := range c.Signals {
		if s := &c.Signals[i]; !isFirst(*s) { // its mark says so
			notes = append(notes, signalNote(s))
		}
	}
	return notes
}

// signalNote says a signal in words.
func signalNote(s *planner.Signal) span {
	where := string(s.Kind)
	if s.RefID != "" {
		where += " of " + s.RefID
	}
	parts, t := []string{where + inBrackets(s.Place), s.Detail}, toneDoubt
	if s.Accepted != "" {
		parts, t = append(parts, "accepted by "+s.Accepted), toneDim
	}
	return span{Visible(strings.Join(trimEmpty(parts), ": ")), t}
}

// refusal says when and why an earlier request was refused.
func refusal(c *planner.Change) string {
	if c.Recorded == nil {
		return "refused before"
	}
	text := "refused"
	if !c.Recorded.At.IsZero() {
		text += " " + moment(c.Recorded.At)
	}
	if c.Recorded.Reason != "" {
		text += ": " + c.Recorded.Reason
	}
	return text
}

func trimEmpty(parts []string) []string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return kept
}
