package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/state"
)

// Unverified is what a run left unverified: action needed at it. The zero value with a RunID has
// none.
type Unverified struct {
	RunID string
	Next  string // a command that accepts all of it; "" for none

	totals transfer.Totals
	fields map[string]*shortField
}

// shortField are the transfers whose records fall short in one field.
type shortField struct {
	count int
	first []string // ref_ids, at most unverifiedNamed
}

const unverifiedNamed = 5

// Add counts a transfer under each field in which its record falls short.
func (u *Unverified) Add(d *state.Detail) {
	u.totals.Add(d.Asset, d.Amount)
	fields := []string{"destination"}
	if d.Outcome != nil && len(d.Outcome.Differences) > 0 {
		fields = nil
		for _, difference := range d.Outcome.Differences {
			fields = append(fields, difference.Field)
		}
	}
	if u.fields == nil {
		u.fields = make(map[string]*shortField)
	}
	for _, name := range fields {
		f := u.fields[name]
		if f == nil {
			f = new(shortField)
			u.fields[name] = f
		}
		if f.count++; len(f.first) < unverifiedNamed {
			f.first = append(f.first, d.RefID)
		}
	}
}

// Write shows it to a person. It returns only errors of w.
func (u *Unverified) Write(w io.Writer, screen Screen) error {
	page := newPage(w, screen)
	if u.totals.Count() == 0 {
		page.paragraph("", fmt.Sprintf("Run %s left nothing unverified.", Visible(u.RunID)), toneStrong)
		return page.Flush()
	}
	page.paragraph("", fmt.Sprintf("Run %s left %d unverified%s. The records fall short in:", Visible(u.RunID), u.totals.Count(), inBrackets(Visible(screen.sums(&u.totals)))), toneStrong)
	page.line()
	var rows [][]span
	for _, name := range slices.Sorted(maps.Keys(u.fields)) {
		f := u.fields[name]
		names := make([]string, len(f.first))
		for i, refID := range f.first {
			names[i] = Visible(refID)
		}
		if more := f.count - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		rows = append(rows, []span{plain(Visible(name)), plain(fmt.Sprint(f.count)), dim(strings.Join(names, ", "))})
	}
	page.table("  ", rows, 1)
	page.line()
	page.paragraph("", "Where another channel shows that they were made as the service has them, this accepts all of them:", toneDim)
	page.command("  ", u.Next)
	return page.Flush()
}
