package view

import (
	"fmt"
	"io"

	"remit/executor"
	"remit/internal/transfer"
)

// Relettered are transfers in doubt that a file has under ref_ids in other letters.
type Relettered struct {
	File  string
	Found []executor.Relettered
	Next  string // a command that accepts those that nothing speaks against; "" for none
}

// Write shows them to a person: first those that can be accepted together. It returns only errors of w.
func (r *Relettered) Write(w io.Writer, screen Screen) error {
	p := newPage(w, screen)
	var totals transfer.Totals
	var fit, unfit [][]span
	for i := range r.Found {
		f := &r.Found[i]
		row := []span{plain(Visible(f.RefID)), plain(p.amount(f.Amount, f.Asset)), dim(f.Asset), plain(fmt.Sprintf("%q", f.Listed))}
		if f.Why != "" {
			unfit = append(unfit, append(row, dim(Visible(f.Why))))
			continue
		}
		totals.Add(f.Asset, f.Amount)
		fit = append(fit, row)
	}
	const other = "under a ref_id that differs only in capitals, in spaces around it or in how its characters are encoded"
	name := Visible(r.File)
	if len(fit) == 0 {
		p.paragraph("", fmt.Sprintf("%s has nothing that is in doubt %s and agrees in all else.", name, other), toneStrong)
	} else {
		p.paragraph("", fmt.Sprintf("%s has %d in doubt%s %s. They agree in all else:", name, len(fit), inBrackets(Visible(screen.sums(&totals))), other), toneStrong)
		r.rows(p, fit)
	}
	if len(unfit) > 0 {
		p.line()
		p.paragraph("", "These are for one word each:", toneDoubt)
		r.rows(p, unfit)
	}
	if r.Next != "" {
		p.line()
		p.paragraph("", "Where the service writes ref_ids so, this accepts all that agree:", toneDim)
		p.command("  ", r.Next)
	}
	return p.Flush()
}

func (r *Relettered) rows(p *page, rows [][]span) {
	p.line()
	p.table("  ", rows[:min(len(rows), linesMax)], 1)
	if more := len(rows) - linesMax; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
}
