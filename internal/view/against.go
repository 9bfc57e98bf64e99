package view

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"remit/internal/transfer"
	"remit/planner"
)

// Against is a plan that was made before, and the changes since.
type Against struct {
	*planner.Delta
	File string // of the earlier plan, as the command line has it
	All  string // the command that lists every line
}

// How many lines of each kind a face lists.
const (
	againstMarkdown = 100
	againstHTML     = 1000
)

// unchanged says that nothing changed.
func (a *Against) unchanged() string { return "Nothing changed since " + Visible(a.File) + "." }

// title counts the changes.
func (a *Against) title() string {
	var counts []string
	for _, kind := range planner.DeltaKinds() {
		if n := a.Count[kind]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, deltaWords(kind)))
		}
	}
	if len(counts) == 0 {
		counts = append(counts, "no transfer")
	}
	return "Changed since " + Visible(a.File) + ": " + strings.Join(counts, ", ")
}

// deltaWords say in a count, or above a list, how lines changed.
func deltaWords(kind planner.DeltaKind) string {
	if kind == planner.DeltaDone {
		return "done since"
	}
	return string(kind)
}

// whose says which plan that was.
func (a *Against) whose() string {
	h := &a.Before.Header
	return Visible(fmt.Sprintf("That is plan %s by %s, created %s.", h.PlanID, h.Author, moment(h.Created)))
}

// facts are the changes that are of no single line.
func (a *Against) facts() []span {
	var facts []span
	for _, d := range a.Header {
		facts = append(facts, span{fromTo(d.Field, d.Asked, d.Answered), toneBad})
	}
	for i := range a.New {
		facts = append(facts, span{"new obstacle: " + obstacleText(&a.New[i]), toneBad})
	}
	for i := range a.Gone {
		facts = append(facts, span{"obstacle gone: " + obstacleText(&a.Gone[i]), toneNone})
	}
	return facts
}

// obstacleText is an obstacle in a line.
func obstacleText(o *planner.Obstacle) string {
	return Visible(string(o.Kind) + obstacleScope(*o) + ": " + firstSentence(o.Detail))
}

// fromTo is a value before and now.
func fromTo(field, before, now string) string {
	show := func(text string) string {
		if text == "" {
			return "(none)"
		}
		return cutEnd(Visible(text), valueWidthMax)
	}
	return Visible(field) + ": " + show(before) + " -> " + show(now)
}

// deltaNotes tell the changes in a line, a change a note.
func (s Screen) deltaNotes(l *planner.LineDelta, names map[string]string) []span {
	var notes []span
	switch l.Kind {
	case planner.DeltaAdded:
		notes = append(notes, plain("from "+sender(l.After.Request).show(shapeWhole, names)+" to "+payee(l.After, l.After.Request).show(shapeWhole, names)))
		notes = append(notes, dim(strings.TrimPrefix(string(l.After.Action)+at(Visible(l.After.Place)), " ")))
	case planner.DeltaRemoved, planner.DeltaDone:
		notes = append(notes, plain(wentText(l.Went)))
	case planner.DeltaChanged:
		for _, d := range l.Fields {
			notes = append(notes, span{fromTo(d.Field, s.valueOf(d.Field, d.Asked, l.Before.Request.Asset), s.valueOf(d.Field, d.Answered, l.After.Request.Asset)), toneStrong})
		}
	}
	for i := range l.New {
		note := signalNote(&l.New[i])
		notes = append(notes, span{"new signal: " + note.text, note.tone})
	}
	for i := range l.Gone {
		notes = append(notes, dim("signal gone: "+signalNote(&l.Gone[i]).text))
	}
	return notes
}

// wentText says where a line went that a plan does not have any more.
func wentText(w planner.Went) string {
	switch w {
	case planner.WentRecorded:
		return "recorded since"
	case planner.WentPaid:
		return "recorded since; no file declares it any more"
	case planner.WentUndeclared:
		return "no file declares it any more"
	case planner.WentSettled:
		return "it was settled since"
	case planner.WentUnknown:
	}
	return "this plan does not have it"
}

// deltaRequest is the request by which a line is shown.
func deltaRequest(l *planner.LineDelta) *transfer.Request {
	if l.After != nil {
		return &l.After.Request
	}
	return &l.Before.Request
}

// against writes the changes since an earlier plan: at most so many lines of each list.
func (p *page) against(a *Against, names map[string]string, most int) {
	sections := a.sections()
	p.againstHead(a, sections)
	isCut := false
	for i := range sections {
		isCut = p.deltaLines(&sections[i], a.linesOf(&sections[i]), names, most) || isCut
	}
	p.againstAll(a, isCut)
}

// againstHead writes what is to be known before the lines.
func (p *page) againstHead(a *Against, sections []deltaSection) {
	if a.IsEmpty() {
		p.paragraph("", a.unchanged(), toneStrong)
		p.paragraph("  ", a.whose(), toneDim)
		p.line()
		return
	}
	p.paragraph("", a.title(), toneStrong)
	if text := byField(sections); text != "" {
		p.paragraph("  ", text, toneNone)
	}
	p.paragraph("  ", a.whose(), toneDim)
	p.line()
	before, after := a.Before.Sent(), a.After.Sent()
	if before.Count()+after.Count() > 0 {
		p.totalsTable([]totalsRow{{[]span{plain("to be sent then")}, &before}, {[]span{plain("to be sent now")}, &after}}, 0)
		p.line()
	}
	facts := a.facts()
	for _, fact := range facts {
		p.paragraph("  ", fact.text, fact.tone)
	}
	if len(facts) > 0 {
		p.line()
	}
}

// againstAll names the command that lists every line, where some are only counted.
func (p *page) againstAll(a *Against, isCut bool) {
	if isCut && a.All != "" {
		p.line(dim("To see all of them:"))
		p.command("", p.here(a.All))
		p.line()
	}
}

// deltaLines writes the lines of one list, at most so many, and says whether some are only counted.
func (p *page) deltaLines(s *deltaSection, lines iter.Seq[planner.LineDelta], names map[string]string, most int) (isCut bool) {
	p.line(strong(strings.ToUpper(s.title[:1]) + s.title[1:]))
	n, shown := 0, make(fieldCounts)
	for l := range lines {
		if n == most {
			break
		}
		n++
		shown.add(&l, 1)
		r := deltaRequest(&l)
		p.line(plain("  "+Visible(l.RefID)+"  "+p.amount(r.Amount, r.Asset)+" "+Visible(r.Asset)), dim(inBrackets(Visible(deltaPlace(&l)))))
		for _, note := range p.deltaNotes(&l, names) {
			p.paragraph("      ", note.text, note.tone)
		}
	}
	rest := s.rest(n, shown)
	if rest != "" {
		p.paragraph("  ", rest, toneDim)
	}
	p.line()
	return rest != ""
}

// deltaPlace is the present place of a line that changed.
func deltaPlace(l *planner.LineDelta) string {
	if l.Kind == planner.DeltaChanged {
		return l.After.Place
	}
	return "" // a note says so, or it was elsewhere then
}

// mostOfKind is how many lines of each kind a terminal lists.
func (o PlanOptions) mostOfKind() int {
	if o.ShowAll {
		return -1
	}
	return linesMax
}

func (m *markdown) against() {
	a := m.options.Against
	if a == nil {
		return
	}
	if a.IsEmpty() {
		m.printf("**%s**\n\n", "Nothing changed since the plan that was reviewed")
	} else {
		m.printf("**Changed since the plan that was reviewed:**\n\n")
	}
	sections, isCut := a.sections(), false
	text := cutLines(m.lines(func(p *page) { p.againstHead(a, sections) }), markdownAgainst/3)
	room := markdownAgainst - len(text)
	for i := range sections { // each has its share, so that a long one does not push out the next
		list, isListCut := m.deltaList(a, &sections[i], room/len(sections))
		text, isCut = text+"\n\n"+list, isCut || isListCut
	}
	text += "\n\n" + m.lines(func(p *page) { p.againstAll(a, isCut) })
	m.printf("%s", codeBlock(text, markdownMax))
}

// deltaList is one list of lines that changed, with as many of them as so many bytes hold, and says whether others are
// only counted.
func (m *markdown) deltaList(a *Against, s *deltaSection, room int) (text string, isCut bool) {
	var lines []planner.LineDelta
	for l := range a.linesOf(s) {
		if lines = append(lines, l); len(lines) == againstMarkdown {
			break
		}
	}
	for most := len(lines); ; most = most * 3 / 4 {
		text = strings.Trim(m.lines(func(p *page) { isCut = p.deltaLines(s, slices.Values(lines), m.options.Names, most) }), "\n")
		if len(text) <= room || most == 0 {
			return text, isCut
		}
	}
}

func (h *htmlPlan) against() {
	a := h.options.Against
	if a == nil {
		return
	}
	h.put("<section class=\"against\">\n")
	if a.IsEmpty() {
		h.put("<h2>%</h2>\n<p>%</p>\n</section>\n", a.unchanged(), a.whose())
		return
	}
	h.put("<h2>%</h2>\n<p>%</p>\n", a.title(), a.whose())
	sections := a.sections()
	if text := byField(sections); text != "" {
		h.put("<p>%</p>\n", text)
	}
	if facts := a.facts(); len(facts) > 0 {
		h.put("<ul>\n")
		for _, fact := range facts {
			h.put("<li>%</li>\n", fact.text)
		}
		h.put("</ul>\n")
	}
	for i := range sections {
		h.deltaLines(a, &sections[i])
	}
	h.put("</section>\n")
}

func (h *htmlPlan) deltaLines(a *Against, s *deltaSection) {
	title := strconv.Itoa(s.count) + " " + s.title
	t := h.wideTable(title, "stack", title, column{title: "ref_id"}, column{title: "Amount", isNumber: true}, column{title: "Asset"}, column{title: "What changed"})
	most, n := 0, 0
	for l := range a.linesOf(s) {
		if n++; n > againstHTML {
			break
		}
		r := deltaRequest(&l)
		most = max(most, places(h.options.amount(r.Amount, r.Asset)))
	}
	n = 0
	shown := make(fieldCounts)
	for l := range a.linesOf(s) {
		if n == againstHTML {
			break
		}
		n++
		shown.add(&l, 1)
		r := deltaRequest(&l)
		t.row()
		t.head(l.RefID)
		t.number(h.options.amount(r.Amount, r.Asset), most)
		t.cell(r.Asset)
		t.cellOf("found", func() {
			h.put("<ul>")
			for _, note := range h.options.deltaNotes(&l, h.options.Names) {
				h.put("<li>%</li>", note.text)
			}
			h.put("</ul>")
		})
	}
	t.end()
	if rest := s.rest(n, shown); rest != "" {
		h.put("<p>%</p>\n", rest)
	}
}

// differenceLine is one line of a plan that is not as it was in an earlier plan.
type differenceLine struct {
	Type   string            `json:"type"` // "difference"
	Kind   planner.DeltaKind `json:"kind"`
	RefID  string            `json:"ref_id"`
	Action planner.Action    `json:"action"` // as the plan has it, or else as the earlier one had it
	Amount string            `json:"amount"`
	Asset  string            `json:"asset"`
	Place  string            `json:"place,omitempty"`
	Went   planner.Went      `json:"went,omitempty"`
	Fields []fieldLine       `json:"fields,omitempty"`
	New    []planner.Signal  `json:"new_signals,omitempty"`
	Gone   []planner.Signal  `json:"gone_signals,omitempty"`
}

// fieldLine is a value in an earlier plan, and now.
type fieldLine struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	Now    string `json:"now"`
}

// againstLine ends the changes since an earlier plan.
type againstLine struct {
	Type    string             `json:"type"` // "against"
	File    string             `json:"file"`
	PlanID  string             `json:"plan_id"`
	Author  string             `json:"author"`
	SHA256  string             `json:"sha256"` // of the earlier plan's file
	Digest  string             `json:"digest"` // of the earlier plan
	Changed bool               `json:"changed"`
	Counts  map[string]int     `json:"counts"`
	Fields  []fieldLine        `json:"fields,omitempty"` // of the plans as a whole
	New     []planner.Obstacle `json:"new_obstacles,omitempty"`
	Gone    []planner.Obstacle `json:"gone_obstacles,omitempty"`
}

func fieldLines(differences []transfer.Difference) []fieldLine {
	var lines []fieldLine
	for _, d := range differences {
		lines = append(lines, fieldLine{d.Field, d.Asked, d.Answered})
	}
	return lines
}

// against writes a "difference" for each line that changed, and an "against".
func (j *JSON) against(a *Against) {
	end := againstLine{
		Type: "against", File: a.File, PlanID: a.Before.Header.PlanID, Author: a.Before.Header.Author, SHA256: a.Before.SHA256, Digest: a.Before.Digest,
		Changed: !a.IsEmpty(), Counts: make(map[string]int), Fields: fieldLines(a.Header), New: a.New, Gone: a.Gone,
	}
	for _, kind := range planner.DeltaKinds() {
		end.Counts[string(kind)] = a.Count[kind]
		for l := range a.Lines(kind) {
			c := l.After
			if c == nil {
				c = l.Before
			}
			j.write(differenceLine{
				Type: "difference", Kind: l.Kind, RefID: l.RefID, Action: c.Action, Amount: c.Request.Amount.String(), Asset: c.Request.Asset,
				Place: c.Place, Went: l.Went, Fields: fieldLines(l.Fields), New: l.New, Gone: l.Gone,
			})
		}
	}
	j.write(end)
}
