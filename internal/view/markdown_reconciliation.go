package view

import (
	"fmt"
	"io"
	"strings"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
)

// ReconciliationMarkdown writes the result of a reconciliation as [PlanMarkdown] writes a plan: the
// verdict, the compared files, the totals, and as many transfers of each break as 60,000 characters
// have room for. It returns only errors of w.
func ReconciliationMarkdown(w io.Writer, s *reconcile.Summary, o ReconciliationOptions) error {
	o.Screen = Screen{Width: markdownWidth, Here: o.Here, Scales: o.Scales}
	m := &markdown{options: PlanOptions{Screen: o.Screen}}
	m.reconciledHead(s, o)
	m.reconciledTotals(s)
	lists := reconciledLists(s)
	const around = 100 // bytes for the text beside a block
	room := (markdownMax-m.Len())/max(1, len(lists)) - around
	for _, list := range lists {
		text := m.lines(func(p *page) {
			if more := list.write(p, o.ShowAll); more > 0 {
				p.line(plain(fmt.Sprintf("and %d more", more)))
			}
		})
		most := min(markdownObstacles, room-2*longestRun(text)) // the fence is as long
		m.printf("**%s: %d**\n\n%s", list.title, list.count, codeBlock(text, most))
	}
	_, err := m.WriteTo(w)
	return err
}

func (m *markdown) reconciledHead(s *reconcile.Summary, o ReconciliationOptions) {
	m.environmentHead(o.Screen, o.Meta.Service.IsSandbox(), o.Meta.Environment, o.Meta.Service)
	m.printf("### Reconciliation\n\n")
	kind := "NOTE"
	if !s.Agrees() || s.Transfers() == 0 {
		kind = "CAUTION"
	}
	m.printf("> [!%s]\n> **%s**\n\n", kind, reconciledVerdict(s).text)
	m.printf("%s", codeBlock(m.lines(func(p *page) { p.fields(reconciledAbout(s, o)) }), markdownSection))
	for _, note := range reconciledNotes(s, statusSpan) {
		m.printf("- %s\n", note)
	}
	m.printf("\n")
}

// statusSpan is statusWord as code: a status that remit does not know may be any text of the service.
func statusSpan(status transfer.RecordStatus) string { return codeSpan(statusWord(status)) }

func (m *markdown) reconciledTotals(s *reconcile.Summary) {
	m.printf("| asset | state | | debits | | credits | | debits - state |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, a := range s.Assets[:min(len(s.Assets), markdownTotals)] {
		cells := []string{
			codeSpan(a.Asset), fmt.Sprint(a.State.Count), m.options.money(a.State.Sum, a.Asset), fmt.Sprint(a.Debits.Count), m.options.money(a.Debits.Sum, a.Asset),
			fmt.Sprint(a.Credits.Count), m.options.money(a.Credits.Sum, a.Asset), m.options.money(a.Difference(), a.Asset),
		}
		m.printf("| %s |\n", strings.Join(cells, " | "))
	}
	if more := len(s.Assets) - markdownTotals; more > 0 {
		m.printf("| and %d more | | | | | | | |\n", more)
	}
	m.printf("\n| result | count |\n|---|---:|\n| matched | %d |\n| accepted by hand | %d |\n| not matched | %d |\n\n", s.Matched, s.Accepted, s.Differ)
}
