package view

import "remit/internal/transfer"

// markdownSums are the rows of a table of sums by asset, of which it has so many as markdownTotals says.
type markdownSums struct {
	markdown *markdown
	screen   Screen
	head     string // is written before the first row
	count    int    // with those that are left out
}

// add writes a row for each asset. The first one has the label, of two cells.
func (r *markdownSums) add(label string, totals *transfer.Totals) {
	for total := range totals.All() {
		if r.count++; r.count == 1 {
			r.markdown.printf("%s", r.head)
		}
		if r.count <= markdownTotals {
			r.markdown.printf("| %s | %s | %s |\n", label, codeSpan(total.Asset), r.screen.money(total.Sum, total.Asset))
			label = " | "
		}
	}
}

// end counts the rows that are left out.
func (r *markdownSums) end() {
	if left := r.count - markdownTotals; left > 0 {
		r.markdown.printf("| and %d more | | | |\n", left)
	}
}
