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
	Next  string // a command that accepts what a person can accept of it; "" for none

	totals transfer.Totals
	fields map[string]*shortField
	apart  map[string]*shortField // which nobody can accept, by why
}

// shortField are the transfers whose records fall short in one field.
type shortField struct {
	count int
	first []string // ref_ids, at most unverifiedNamed
}

const unverifiedNamed = 5

// Apart is how many of it nobody can accept.
func (u *Unverified) Apart() int {
	n := 0
	for _, f := range u.apart {
		n += f.count
	}
	return n
}

// Add counts a transfer under each field in which its record falls short, and under why nobody can accept it; "" where a person can.
func (u *Unverified) Add(d *state.Detail, why string) {
	u.totals.Add(d.Asset, d.Amount)
	if why != "" {
		u.apart = addShort(u.apart, why, d.RefID)
	}
	fields := []string{"destination"}
	if d.Outcome != nil && len(d.Outcome.Differences) > 0 {
		fields = nil
		for _, difference := range d.Outcome.Differences {
			fields = append(fields, difference.Field)
		}
	}
	for _, name := range fields {
		u.fields = addShort(u.fields, name, d.RefID)
	}
}

// addShort adds a ref_id under a name.
func addShort(all map[string]*shortField, name, refID string) map[string]*shortField {
	if all == nil {
		all = make(map[string]*shortField)
	}
	f := all[name]
	if f == nil {
		f = new(shortField)
		all[name] = f
	}
	if f.count++; len(f.first) < unverifiedNamed {
		f.first = append(f.first, refID)
	}
	return all
}

// named are the first ref_ids, and how many more there are.
func (f *shortField) named() string {
	names := make([]string, len(f.first))
	for i, refID := range f.first {
		names[i] = Visible(refID)
	}
	if more := f.count - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
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
		rows = append(rows, []span{plain(Visible(name)), plain(fmt.Sprint(f.count)), dim(f.named())})
	}
	page.table("  ", rows, 1)
	page.line()
	all := "all of them"
	for _, why := range slices.Sorted(maps.Keys(u.apart)) {
		f := u.apart[why]
		page.paragraph("", fmt.Sprintf("Nobody can accept %d of them now: %s. The reason: %s.", f.count, f.named(), Visible(strings.TrimSuffix(why, "."))), toneDoubt)
		page.line()
		all = "the others"
	}
	if u.Next == "" {
		return page.Flush()
	}
	page.paragraph("", "Where another channel shows that they were made as the service has them, this accepts "+all+":", toneDim)
	page.command("  ", u.Next)
	return page.Flush()
}
