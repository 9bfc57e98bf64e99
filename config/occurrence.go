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
// a key that is one of them says for which date a transfer is made, whatever became of the rest.
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

// windowsOf is of what the windows of a transfer are made.
type windowsOf struct{ own, batch *Window }

// occurrence says for which date of a schedule the transfer is made: that of not_before, where
// that is no schedule's that of each.value, and where that is none's either the one that
// each.key names.
func (e *evaluation) occurrence(out *Transfer, batch *batchBlock) {
	out.Occurrence = latest(e.notBefore)
	if out.Occurrence == nil && batch != nil {
		out.Occurrence = batch.of
	}
	if out.Occurrence == nil && e.in.each != cty.NilVal {
		_, of := unmoved(e.in.each)
		out.Occurrence = latest(of)
	}
	if out.Occurrence == nil && e.in.element != nil {
		out.Occurrence = latest(e.block.dates[e.in.element.key])
	}
	if out.Occurrence != nil && out.NotBefore.IsZero() && !e.wrong {
		e.refuse(nil, "Occurrence without a time",
			"The transfer is made for %s of schedule.%s, but nothing says that it waits for it: it would be sent at once. Write not_before = schedule.%[2]s.occurrences[each.key].due_at, or each.value.due_at where each.value is the occurrence.",
			out.Occurrence.Date, out.Occurrence.Schedule)
	}
}

// windows are those of the transfer and of its batch, which are shared.
func (e *evaluation) windows(batch *batchBlock) []*Window {
	var of windowsOf
	if value, f, found := e.value("window"); found == eval.Present {
		w, wrong := windowOf(value)
		if wrong != "" {
			e.refuse(f, "Not a window", "%s", wrong)
			return nil
		}
		of.own = w
	}
	if batch != nil && batch.window != of.own {
		of.batch = batch.window
	}
	if of == (windowsOf{}) {
		return nil
	}
	all, ok := e.block.windows[of]
	if !ok {
		for _, w := range []*Window{of.own, of.batch} {
			if w != nil {
				all = append(all, w)
			}
		}
		if e.block.windows == nil {
			e.block.windows = map[windowsOf][]*Window{}
		}
		e.block.windows[of] = all
	}
	return all
}
