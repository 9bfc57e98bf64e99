package view

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"remit/internal/text/english"
	"remit/planner"
)

// How much of a plan its Markdown has, in bytes, which are characters or more.
const (
	markdownMax       = 60_000 // what a comment of a pull request may have, with some room
	markdownObstacles = 10_000
	markdownAgainst   = 15_000
	markdownFlow      = 15_000
	markdownSection   = 6_000
	markdownTotals    = 40 // rows
	markdownEdges     = 30
	markdownWidth     = 120 // of a line, and of text in one
	markdownAttention = 20
	markdownTransfers = 10
)

// PlanMarkdown writes a plan for a comment of a pull request: the environment, whose plan it
// is and its digest, totals and signals, obstacles, the transfers to first-time destinations, then the flow of
// funds where it can be drawn in 30 arrows, and the rest folded away. It has at most 60,000 characters;
// omitted lines are counted. It returns only errors of w.
//
// Text from elsewhere is in code only, where no Markdown, link, mention or HTML is read: see
// [codeSpan] and [codeBlock].
func PlanMarkdown(w io.Writer, p *planner.Plan, o PlanOptions) error {
	o.Screen = Screen{Width: markdownWidth, Here: o.Here, Scales: p.Header.Scales}
	m := &markdown{plan: p, options: o}
	m.head()
	m.against()
	m.totals()
	m.movements()
	m.obstacles()
	m.approvals()
	v := newOverview(p, overviewOptions{firsts: markdownFirsts, largest: markdownTransfers})
	m.firsts(v)
	m.flow()
	if p.Changes.Len() > 0 {
		m.overview(v)
		m.transfers()
	}
	_, err := m.WriteTo(w)
	return err
}

// markdown is a page of Markdown in the making.
type markdown struct {
	bytes.Buffer
	plan    *planner.Plan
	options PlanOptions
}

func (m *markdown) printf(format string, args ...any) { _, _ = fmt.Fprintf(m, format, args...) }

// head says what the plan is, in remit's own words apart from code.
func (m *markdown) head() {
	h := m.plan.Header
	m.printf("### Plan: %d to submit, %d to resolve\n\n", m.plan.Count(planner.Submit), m.plan.Count(planner.Resolve))
	m.environmentHead(m.options.Screen, m.options.Sandbox, h.Environment, h.Service)
	if !m.plan.Applicable() {
		m.printf("> [!CAUTION]\n> **%s**\n\n", notApplicable)
	}
	digest := Visible(m.plan.Digest)
	m.printf("**Digest:** %s (whole: %s)\n\n", codeSpan(takeStart(digest, digestShown)), codeSpan(digest))
	if hash := sentHash(m.plan); hash != "" {
		m.printf("**Hash total:** %s\n\n", hash)
	}
	if m.options.Saved {
		m.printf("Plan %s by %s, created %s, expires %s\n\n",
			codeSpan(h.PlanID), codeSpan(m.options.author(h, "")), codeSpan(moment(h.Created)), codeSpan(moment(h.Expires)))
	}
	if m.options.Expired {
		m.printf("> [!CAUTION]\n> **%s**\n\n", expiredText)
	}
	if text := begunText(m.plan, codeSpan) + begunAdvice(m.plan); text != "" {
		m.printf("> [!WARNING]\n> **%s**\n\n", text)
	}
	m.named("Partial plan (--target)", h.Targets)
	m.accepted(h.Accepted)
	m.checked()
	m.named(readTitle, readWarnings(m.plan))
	m.named(lackTitle, lackOf(m.plan))
}

func (m *markdown) named(title string, names []string) {
	if len(names) == 0 {
		return
	}
	const most = 10
	var spans []string
	for _, name := range names[:min(len(names), most)] {
		spans = append(spans, codeSpan(name))
	}
	text := strings.Join(spans, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	m.printf("**%s:** %s\n\n", title, text)
}

// checked names the controls of the plan, or says in words that it has none.
func (m *markdown) checked() {
	names := checkedAgainst(m.plan, m.options.Saved)
	if isUncontrolled(names) {
		m.printf("**%s:** %s\n\n", checkedTitle, uncontrolled)
		return
	}
	m.named(checkedTitle, names)
}

func (m *markdown) obstacles() {
	if m.plan.Applicable() {
		return
	}
	m.printf("**What blocks this plan:**\n\n%s", codeBlock(m.lines(func(p *page) { p.obstacleList(m.plan.Obstacles) }), markdownObstacles))
}

// lines is what the terminal's face would write, without colours.
func (m *markdown) lines(write func(*page)) string {
	var b bytes.Buffer
	p := newPage(&b, m.options.Screen)
	write(p)
	_ = p.Flush() // into memory
	return b.String()
}

func (m *markdown) totals() {
	m.totalsTable()
	m.named("Control totals of batches", controlLines(m.plan))
	for i, signal := range allSignals(m.plan, true) {
		if i == 0 {
			m.printf("**Signals** for the reviewer:\n\n")
		}
		m.printf("- %s\n", codeSpan(signal))
	}
	if count := m.plan.Count(planner.Undeclared); count > 0 {
		m.printf("- %s recorded, but no longer declared\n", english.Plural(count, "transfer"))
	}
	m.printf("\n")
	if m.plan.Changes.HaveNames() {
		m.printf("%s\n\n", namesNote)
	}
}

func (m *markdown) totalsTable() {
	sums := markdownSums{markdown: m, screen: m.options.Screen, head: "| action | count | asset | sum |\n|---|---:|---|---:|\n"}
	for _, r := range totalsRows(m.plan) {
		label := fmt.Sprintf("%s | %d", r.label[1].text, r.totals.Count())
		if symbol := r.label[0].text; symbol != planner.None.Symbol() {
			label = codeSpan(symbol) + " " + label
		}
		sums.add(label, r.totals)
	}
	sums.end()
	if sums.count > 0 {
		m.printf("\n")
	}
}

// movements writes who loses or gains what.
func (m *markdown) movements() {
	if text := m.lines(func(p *page) { p.movements(m.plan, false, m.options) }); text != "" {
		m.printf("%s", codeBlock(text, markdownSection))
	}
}

// flow draws who pays whom, where that stays a picture.
func (m *markdown) flow() {
	f := NewFlow(m.plan, m.options.Names)
	if f.Edges() == 0 {
		return
	}
	var drawn bytes.Buffer
	_ = f.Mermaid(&drawn)                   // into memory
	const around = 3*markdownSection + 1000 // bytes for the sections below
	if f.Edges() > markdownEdges || drawn.Len() > min(markdownFlow, markdownMax-m.Len()-around) {
		m.printf("Flow of funds: %s of sender and destination, too much to draw here. `remit graph` draws it.\n\n", english.Plural(f.Edges(), "pair"))
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(drawn.String())+1))
	m.printf("%smermaid\n%s%s\n\n", fence, drawn.String(), fence)
}

// overview writes what a reviewer looks at next, folded.
func (m *markdown) overview(v *overview) {
	if v.attention.count > 0 {
		m.folded(v.attention.title(), m.lines(func(p *page) { p.toLookAt(v, markdownAttention, m.options) }), markdownSection)
	}
	if top := v.topTransfers(markdownTransfers); len(top) > 0 {
		m.folded(v.topTitle(markdownTransfers), m.lines(func(p *page) { p.transferLines(top, m.options) }), markdownSection)
	}
	m.folded("Batches: "+fmt.Sprint(len(v.batches.names)), m.lines(func(p *page) { p.batches(v.batches, largeBatches) }), markdownSection)
}

// transfers writes as many lines of transfers as there is room for.
func (m *markdown) transfers() {
	const around = 600 // bytes for the text beside the lines
	room := markdownMax - around - m.Len()
	p := newFullPage(m.options.Screen, room)
	l := newLayout(m.first(), m.options, nil, shapeHead)
	l.metadata = true
	for _, c := range m.plan.Changes.All() {
		if !p.add(func(p *page) { p.change(c, &l) }) {
			break
		}
	}
	text := p.text.String()
	if more := m.plan.Changes.Len() - p.shown; more > 0 {
		text += fmt.Sprintf("\n%d more. `remit show --html` has all of them.\n", more)
	}
	m.folded(fmt.Sprintf("Transfers: %d of %d", p.shown, m.plan.Changes.Len()), text, markdownMax)
}

// first are the changes for which there may be room.
func (m *markdown) first() []planner.Change {
	const lineMin = 60
	var first []planner.Change
	for _, c := range m.plan.Changes.All() {
		if len(first) == markdownMax/lineMin {
			break
		}
		first = append(first, *c)
	}
	return first
}

// folded writes lines that a reader opens. The title is remit's own words.
func (m *markdown) folded(title, text string, most int) {
	m.printf("<details>\n<summary>%s</summary>\n\n%s</details>\n\n", title, codeBlock(text, most))
}

// codeBlock is visible lines in a fence that none of them ends: of so many bytes at most, and
// of those that are left out their number.
func codeBlock(text string, most int) string {
	text = cutLines(text, most)
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return fence + "text\n" + text + "\n" + fence + "\n\n"
}

// cutLines are the first lines of a text, of so many bytes at most, and the number of the others.
func cutLines(text string, most int) string {
	text = strings.Trim(text, "\n")
	if len(text) <= most {
		return text
	}
	lines := strings.Split(text, "\n")
	kept, size := 0, 0
	for kept < len(lines) && size+len(lines[kept])+1 <= most {
		size += len(lines[kept]) + 1
		kept++
	}
	return strings.Join(append(lines[:kept:kept], fmt.Sprintf("%s and %s", cutMark, english.Plural(len(lines)-kept, "more line"))), "\n")
}

// codeSpan is text in a code span that it can't end (CommonMark 6.1). A | would end the cell of a
// table even there, and is written as its escape.
func codeSpan(text string) string {
	text = strings.ReplaceAll(cutMiddle(Visible(text), markdownWidth), "|", `\u007c`)
	if text == "" {
		return "(none)"
	}
	fence := strings.Repeat("`", longestRun(text)+1)
	if strings.Trim(text, "` ") != text {
		text = " " + text + " " // which the reader takes away again
	}
	return fence + text + fence
}

// longestRun is the most backticks in a row.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
