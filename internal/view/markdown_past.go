package view

import (
	"fmt"
	"io"

	"remit/executor"
)

// PastMarkdown writes a run of the journal as [PlanMarkdown] writes a plan: the environment,
// whose run it was and how it ended, the count and the sums of each result, the exceptions,
// and as many transfers as 60,000 characters have room for. It returns only errors of w.
func PastMarkdown(w io.Writer, past *executor.PastRun, o PastOptions) error {
	o.Screen = Screen{Width: markdownWidth, Here: o.Here, Scales: o.Scales}
	m := &markdownPast{markdown{options: PlanOptions{Screen: o.Screen}}, newPastRun(past, o)}
	m.head()
	m.outcomes()
	m.exceptions()
	m.transfers()
	_, err := m.WriteTo(w)
	return err
}

// markdownPast is a page of Markdown of a past run in the making.
type markdownPast struct {
	markdown
	run *pastRun
}

func (m *markdownPast) head() {
	m.environmentHead(m.run.Screen, m.run.isSandbox(), m.run.Meta.Environment, m.run.Meta.Service)
	m.printf("### %s\n\n", m.run.title())
	m.printf("%s", codeBlock(m.lines(func(p *page) {
		said := m.run.ending()
		p.paragraph("", Visible(said.text), said.tone)
		p.line()
		p.fields(m.run.about())
	}), markdownSection))
	m.accepted(m.run.Run.Begun.Accepted)
}

func (m *markdownPast) outcomes() {
	m.printf("| result | count | asset | sum |\n|---|---:|---|---:|\n")
	sums := markdownSums{markdown: &m.markdown, screen: m.run.Screen}
	for _, r := range m.run.rows {
		label := fmt.Sprintf("%s | %d", resultWord(r.result), r.count)
		if r.totals == nil {
			m.printf("| %s | | |\n", label)
			continue
		}
		sums.add(label, r.totals)
	}
	sums.end()
	m.printf("\n")
	if text := m.run.unlistedText(); text != "" {
		m.printf("%s\n\n", text)
	}
}

// exceptions are open, above the folded part.
func (m *markdownPast) exceptions() {
	text := m.lines(m.run.writeExceptions)
	if text != "" {
		m.printf("> [!CAUTION]\n> **Exceptions: what was neither recorded nor adopted**\n\n%s", codeBlock(text, markdownObstacles))
	}
}

// transfers writes as many of them as there is room for.
func (m *markdownPast) transfers() {
	if len(m.run.Lines) == 0 {
		return
	}
	const around, lineMin = 600, 60 // bytes for the text beside them; the least that one takes
	room := markdownMax - around - m.Len()
	p := newFullPage(m.options.Screen, room)
	l := newPastLayout(m.run, markdownMax/lineMin, markdownWidth)
	for i := range m.run.Lines {
		if !p.add(func(p *page) { l.write(p, &m.run.Lines[i]) }) {
			break
		}
	}
	if more := len(m.run.Lines) - p.shown; more > 0 {
		p.line()
		p.line(plain(fmt.Sprintf("%d more. %s --html has all of them.", more, m.run.Command)))
		_ = p.Flush() // into memory
	}
	m.folded(fmt.Sprintf("Transfers: %d of %d", p.shown, len(m.run.Lines)), p.text.String(), markdownMax)
}
