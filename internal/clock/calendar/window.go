package calendar

import (
	"slices"
	"time"
)

// Hours say when something may be done: from one time of day to another, on some days.
type Hours struct {
	Zone     *time.Location
	Days     [7]bool   // by [time.Weekday]
	Calendar *Calendar // nil where all days are business days
	From, To Clock     // To at or before From is on the next day
	CutOffs  []CutOff
	Denies   []Deny
}

// CutOff closes a window earlier on some days. Of several, the earliest counts.
type CutOff struct {
	Days  [7]bool // by [time.Weekday]
	Dates []Date  // more days
	At    Clock
}

// Deny closes a window from one instant to another.
type Deny struct {
	From, To time.Time
}

// Interval is when a window is open: from Opens on, until before Closes.
type Interval struct {
	Opens, Closes time.Time
}

// searchDays is how far ahead a window is looked for that opens again.
const searchDays = 366

// Next is the first interval that has not ended at t; false where there is none within a
// year. It may have begun before t, and where the window is open day and night, it ends at
// the end of the searched time.
func (w *Hours) Next(t time.Time) (Interval, bool) {
	for _, days := range []int{8, searchDays} {
		if all := w.Intervals(t, t.AddDate(0, 0, days)); len(all) > 0 {
			return all[0], true
		}
	}
	return Interval{}, false
}

// Intervals are when the window is open between two instants, in order, and cut off at the
// latter. The first may have begun before the former.
func (w *Hours) Intervals(from, to time.Time) []Interval {
	var all []Interval
	last := dateOf(to.In(w.Zone))
	for d := dateOf(from.In(w.Zone)) - 1; d <= last; d++ {
		if !w.Days[d.Weekday()] || w.Calendar.Closed(d) != "" {
			continue
		}
		open := []Interval{w.on(d)}
		for _, deny := range w.Denies {
			open = without(open, deny)
		}
		all = append(all, open...)
	}
	slices.SortStableFunc(all, func(a, b Interval) int { return a.Opens.Compare(b.Opens) })
	return clipped(joined(all), from, to)
}

// on is the interval that begins on a date, without its denied parts.
func (w *Hours) on(d Date) Interval {
	i := Interval{w.From.on(d, w.Zone), w.end(d, w.To)}
	for _, c := range w.CutOffs {
		if !c.Days[d.Weekday()] && !slices.Contains(c.Dates, d) {
			continue
		}
		if at := w.end(d, c.At); at.Before(i.Closes) {
			i.Closes = at
		}
	}
	return i
}

// end is when c comes after the window of a date opened.
func (w *Hours) end(d Date, c Clock) time.Time {
	if c <= w.From {
		d++
	}
	return c.on(d, w.Zone)
}

// without takes a denied interval out of open ones.
func without(open []Interval, deny Deny) []Interval {
	var left []Interval
	for _, i := range open {
		if deny.From.After(i.Opens) {
			left = append(left, Interval{i.Opens, earliest(i.Closes, deny.From)})
		}
		if deny.To.Before(i.Closes) {
			left = append(left, Interval{latest(i.Opens, deny.To), i.Closes})
		}
	}
	return slices.DeleteFunc(left, func(i Interval) bool { return !i.Opens.Before(i.Closes) })
}

// joined makes one of intervals that touch.
func joined(all []Interval) []Interval {
	var list []Interval
	for _, i := range all {
		if n := len(list); n > 0 && !i.Opens.After(list[n-1].Closes) {
			list[n-1].Closes = latest(list[n-1].Closes, i.Closes)
			continue
		}
		list = append(list, i)
	}
	return list
}

func clipped(all []Interval, from, to time.Time) []Interval {
	var list []Interval
	for _, i := range all {
		i.Closes = earliest(i.Closes, to)
		// Clocks that were put forward may leave nothing of an interval.
		if i.Closes.After(from) && i.Opens.Before(i.Closes) {
			list = append(list, i)
		}
	}
	return list
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
