package config

import (
	"time"

	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/internal/clock/calendar"
)

// Occurrence is the date of a schedule that a transfer is made for.
type Occurrence struct {
	Schedule string
	Date     calendar.Date // unadjusted
	Due      time.Time     // as the schedule says, in UTC
	CatchUp  time.Duration // how late it may be submitted without a person's word
}

// CatchUpDefault is how late an occurrence may be submitted without a person's word.
const CatchUpDefault = 7 * 24 * time.Hour

// unmoved takes the marks of occurrences off a value, and returns these occurrences: those whose
// adjusted_date or due_at it is made of. No ref_id may have such a mark, and a transfer that is made
// of one is a transfer of that occurrence.
func unmoved(value cty.Value) (cty.Value, []*Occurrence) {
	bare, marks := eval.Unmark(value)
	return bare, occurrencesOf(marks)
}

func occurrencesOf(marks []eval.Moved) []*Occurrence {
	var all []*Occurrence
	for _, m := range marks {
		all = append(all, m.Of.(*Occurrence))
	}
	return all
}

// latest is the occurrence that is due last, nil of none. Of several at one time, the name of
// the schedule decides.
func latest(all []*Occurrence) *Occurrence {
	var last *Occurrence
	for _, o := range all {
		if last == nil || o.Due.After(last.Due) || o.Due.Equal(last.Due) && o.Schedule < last.Schedule {
			last = o
		}
	}
	return last
}

// datesOf are the occurrences of the schedules that refs name, also through locals, by date:
// a key that is one of them says for which date a transfer is made.
func datesOf(refs *eval.References) map[string][]*Occurrence {
	var dates map[string][]*Occurrence
	seen := map[*eval.Node]bool{}
	var visit func(all []*eval.Node)
	visit = func(all []*eval.Node) {
		for _, n := range all {
			switch {
			case seen[n] || n.Progress != eval.Known:
			case n.Root == "local":
				visit(n.Dependencies())
			case n.Root == "schedule":
				if dates == nil {
					dates = map[string][]*Occurrence{}
				}
				for date, o := range n.Value.GetAttr("occurrences").AsValueMap() {
					_, of := unmoved(o)
					dates[date] = append(dates[date], of...)
				}
			}
			seen[n] = true
		}
	}
	visit(refs.Nodes)
	return dates
}

// A ref_id that moves would pay an occurrence again when a holiday is added.
const (
	movingRefID = "ref_id depends on adjusted_date or due_at"
	movingWhy   = "These change when a holiday or a time of day does, and the transfer would be paid again under another ref_id. " +
		"Use the unadjusted date, which stays: each.value.date, or each.key of a schedule's occurrences."
)
