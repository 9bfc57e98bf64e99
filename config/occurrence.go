package config

import (
	"maps"
	"time"

	"github.com/zclconf/go-cty/cty"

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

// moved marks what a list of holidays or a time of day may move: adjusted_date and due_at of an
// occurrence, and all that is made of them. It is no secret, but no ref_id may have it, and a
// transfer that is made of it is a transfer of that occurrence. Marks of one occurrence are
// equal.
type moved struct{ of *Occurrence }

// unmoved takes the marks of occurrences off a value, and returns these occurrences.
func unmoved(value cty.Value) (cty.Value, []*Occurrence) {
	if value == cty.NilVal || !value.ContainsMarked() {
		return value, nil
	}
	found := map[*Occurrence]bool{}
	bare, marked := value.UnmarkDeepWithPaths()
	rest := marked[:0]
	for _, at := range marked {
		others := maps.Clone(at.Marks)
		for mark := range at.Marks {
			if m, ok := mark.(moved); ok {
				found[m.of] = true
				delete(others, mark)
			}
		}
		if len(others) > 0 {
			rest = append(rest, cty.PathValueMarks{Path: at.Path, Marks: others})
		}
	}
	var all []*Occurrence
	for o := range maps.Keys(found) {
		all = append(all, o)
	}
	return bare.MarkWithPaths(rest), all
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
func datesOf(refs *references) map[string][]*Occurrence {
	var dates map[string][]*Occurrence
	seen := map[*node]bool{}
	var visit func(all []*node)
	visit = func(all []*node) {
		for _, n := range all {
			switch {
			case seen[n] || n.progress != known:
			case n.root == "local":
				visit(n.dependencies())
			case n.root == "schedule":
				if dates == nil {
					dates = map[string][]*Occurrence{}
				}
				for date, o := range n.value.GetAttr("occurrences").AsValueMap() {
					_, of := unmoved(o)
					dates[date] = append(dates[date], of...)
				}
			}
			seen[n] = true
		}
	}
	visit(refs.nodes)
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
	if value, f, found := e.value("window"); found == present {
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
