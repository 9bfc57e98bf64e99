package planner

import (
	"fmt"
	"strings"
	"time"

	"remit/config"
)

// A standing transfer that is edited, such as a rent that is raised, is meant for its dates to come, and the block
// declares its paid dates as well. The messages here say how one block says both.

// scheduledDate is a date for which a block has made a transfer, or may have.
type scheduledDate struct{ block, occurrence string }

func (b *builder) notePaid(t *config.Transfer) {
	if b.paidDates == nil {
		b.paidDates = make(map[scheduledDate]bool)
	}
	b.paidDates[scheduledDate{t.Block, occurrenceText(t.Occurrence)}] = true
}

// fromADateOn says how an edit of paid dates of a schedule counts for its dates to come alone, where there are any: the changes differ
// from their records.
func (b *builder) fromADateOn(edited []int) string {
	if len(edited) == 0 {
		return ""
	}
	first := b.plan.Changes.At(edited[0])
	block, newest := b.blockFactsOf(edited[0]).block, time.Time{}
	for _, i := range edited {
		c := b.plan.Changes.At(i)
		if c.Occurrence == "" || b.blockFactsOf(i).block != block {
			return ""
		}
		if c.Due.After(newest) {
			newest = c.Due
		}
	}
	var next Change
	for i := range b.facts.len() {
		if action := b.plan.Changes.Action(i); action != Submit && action != Wait || b.blockFactsOf(i).block != block {
			continue
		}
		if c := b.plan.Changes.At(i); c.Due.After(newest) && (next.RefID == "" || c.Due.Before(next.Due)) {
			next = c
		}
	}
	if next.Occurrence == "" {
		return ""
	}
	argument, before, after := b.editOf(edited, first)
	return fmt.Sprintf(" Dates of a schedule are paid here. Where the edit counts from %s on, say so in the argument, and keep the recorded value for the dates before, such as:\n\n  %s",
		dateOf(next.Occurrence), fmt.Sprintf("%s = timecmp(\"${%s}T00:00:00Z\", \"%sT00:00:00Z\") < 0 ? %s : %s",
			argument, dateIn(first), dateOf(next.Occurrence), before, after))
}

// editOf is the argument that was edited, and its values before and after; words in capitals where these are not one and the same.
func (b *builder) editOf(edited []int, first Change) (argument, before, after string) {
	argument, before, after = "ARGUMENT", "OLD", "NEW"
	for n, i := range edited {
		c := b.plan.Changes.At(i)
		if len(c.Differences) != 1 || c.Differences[0].Field != first.Differences[0].Field {
			return "ARGUMENT", "OLD", "NEW"
		}
		switch d := c.Differences[0]; {
		case d.Field != "amount":
		case n == 0 && dateIn(first) == wholeKey: // each date has one transfer
			argument, before, after = d.Field, fmt.Sprintf("%q", d.Answered), fmt.Sprintf("%q", d.Asked)
		case n == 0:
			argument = d.Field
		case before != fmt.Sprintf("%q", d.Answered) || after != fmt.Sprintf("%q", d.Asked):
			before, after = "OLD", "NEW"
		}
	}
	return argument, before, after
}

const wholeKey = "each.key"

// dateIn is an expression for the date that a transfer is made for, in its block.
func dateIn(c Change) string {
	_, key, _ := strings.Cut(c.Address, `["`)
	key, date := strings.TrimSuffix(key, `"]`), dateOf(c.Occurrence)
	switch {
	case key == date:
		return wholeKey
	case strings.HasPrefix(key, date):
		return "substr(each.key, 0, 10)"
	case strings.HasSuffix(key, date):
		return "substr(each.key, -10, 10)"
	}
	return "DATE"
}

// dateOf is the date in the text of an occurrence.
func dateOf(occurrence string) string { return occurrence[strings.LastIndexByte(occurrence, ' ')+1:] }

// leftOutBefore says how late dates are left out of which the block has paid others to somebody: somebody who came later.
func (b *builder) leftOutBefore(late []int) string {
	newest := ""
	for _, i := range late {
		c := b.plan.Changes.At(i)
		if c.Occurrence == "" || !b.paidDates[scheduledDate{b.blockFactsOf(i).block, c.Occurrence}] {
			return ""
		}
		newest = max(newest, dateOf(c.Occurrence))
	}
	return fmt.Sprintf(" The block has paid others for these dates. Where somebody came later, give each a date to start with, the new one a date after %s, and let the loop leave out the dates before, such as:\n\n  "+
		"{ for name, row in local.people : \"${name}-${date}\" => merge(row, o) if timecmp(\"${date}T00:00:00Z\", \"${row.start}T00:00:00Z\") >= 0 }\n\n", newest)
}
