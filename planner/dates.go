package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/state"
)

// The rent of November is meant to look like that of October. The date of the schedule tells them
// apart: equal transfers of one block for different dates are not look-alikes, as long as the
// earlier is declared for the date for which it was made. One whose ref_id is declared no longer,
// or for another date, may be the later one under another name.

// occurrenceOf is for which date a block declares a transfer.
type occurrenceOf struct {
	*config.Occurrence
	block string
	made  time.Time // Due of the record; zero where that is not known
	of    string    // Occurrence of the record; "" where that is not known
}

// isMade reports whether the record was made for the date for which it is declared. Its time of day may have been edited
// since, and a holiday may have moved it; where an older version recorded it, nothing but the time tells its date.
func (o *occurrenceOf) isMade() bool {
	if o.of != "" {
		return strings.HasSuffix(o.of, " "+o.Date.String())
	}
	return o.made.Equal(o.Due)
}

// occurrencesOf are the transfers that are due, may have been made or FAILED, and are declared for a date of a
// schedule, by ref_id.
type occurrencesOf map[string]occurrenceOf

func (all occurrencesOf) add(t *config.Transfer) {
	if t.Occurrence != nil {
		all[t.Request.RefID] = occurrenceOf{Occurrence: t.Occurrence, block: t.Block}
	}
}

// paid notes for which date a recorded transfer was made.
func (all occurrencesOf) paid(d *state.Detail) {
	if o, ok := all[d.RefID]; ok {
		o.made, o.of = d.Intent.Due, d.Intent.Occurrence
		all[d.RefID] = o
	}
}

// hasOtherDate reports whether one block declares two ref_ids for different dates of one
// schedule.
func (b *builder) hasOtherDate(x, y string) bool {
	of, ok := b.occurrences[x]
	other, also := b.occurrences[y]
	return ok && also && of.block == other.block && of.Schedule == other.Schedule && of.Date != other.Date
}

// isOtherDate reports whether a recorded twin, which is verified, was made for another date.
func (b *builder) isOtherDate(c *Change, r *row) bool { return b.isOtherDateOf(c.RefID, r) }

// isOtherDateOf is isOtherDate of a ref_id and a row of which the details were read.
func (b *builder) isOtherDateOf(refID string, r *row) bool {
	if len(b.occurrences) == 0 || !b.hasOtherDate(refID, b.rows.refID(r)) {
		return false
	}
	o := b.occurrences[b.rows.refID(r)]
	return o.isMade()
}

// otherTime says of a twin of another date why it stops a line all the same: it is not known to be made for its date. It
// is "" of any other twin.
func (b *builder) otherTime(line, twin string) string {
	o := b.occurrences[twin]
	if !b.hasOtherDate(line, twin) || o.made.IsZero() || o.isMade() {
		return ""
	}
	return fmt.Sprintf(" %q was due %s when it was sent, and is declared for %s of schedule.%s, due %s: a date, a time or a holiday was edited since.",
		twin, o.made.UTC().Format(time.RFC3339), o.Date, o.Schedule, o.Due.UTC().Format(time.RFC3339))
}

// byDate splits lines of one movement by date where all of them are of one schedule and block.
func (b *builder) byDate(lines []suspect) [][]suspect {
	first, ok := b.occurrences[lines[0].RefID]
	if !ok || len(lines) == 1 {
		return [][]suspect{lines}
	}
	for _, line := range lines[1:] {
		if o, ok := b.occurrences[line.RefID]; !ok || o.block != first.block || o.Schedule != first.Schedule {
			return [][]suspect{lines}
		}
	}
	date := func(s suspect) int { return int(b.occurrences[s.RefID].Date) }
	slices.SortStableFunc(lines, func(x, y suspect) int { return cmp.Compare(date(x), date(y)) })
	var all [][]suspect
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && date(lines[n]) == date(lines[0]) {
			n++
		}
		all = append(all, lines[:n:n])
		lines = lines[n:]
	}
	return all
}
