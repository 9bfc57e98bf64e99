package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/config"
)

const (
	// windowAhead is how far ahead a plan knows when its windows are open: longer than most
	// plans may be applied.
	windowAhead = 32 * 24 * time.Hour
	// windowSteps bounds how often one window is left for another in search of a time at
	// which all are open.
	windowSteps = 1000
)

// WindowHours are the times at which a window block is open, as far as a plan knows it.
type WindowHours struct {
	Name     string     `json:"name"`
	Timezone string     `json:"timezone"`
	Open     []Interval `json:"open"`  // in order
	Until    time.Time  `json:"until"` // from when on it is not known
}

// Interval is when a window is open: from Opens on, until before Closes.
type Interval struct {
	Opens  time.Time `json:"opens"`
	Closes time.Time `json:"closes"`
}

// Closes says until when a window that is open at t stays so; false where it is closed, or not
// known to be open.
func (w *WindowHours) Closes(t time.Time) (time.Time, bool) {
	for _, i := range w.Open {
		if !t.Before(i.Opens) && t.Before(i.Closes) {
			return i.Closes, true
		}
	}
	return time.Time{}, false
}

// Closed says why a window that is not open at t is closed, and when it opens.
func (w *WindowHours) Closed(t time.Time) string {
	at := slices.IndexFunc(w.Open, func(i Interval) bool { return i.Opens.After(t) })
	switch {
	case !t.Before(w.Until):
		return fmt.Sprintf("window %s is known until %s only", w.Name, w.Until.Format(time.RFC3339))
	case at < 0:
		return fmt.Sprintf("window %s is closed", w.Name)
	}
	return fmt.Sprintf("window %s is closed; it opens at %s", w.Name, w.Open[at].Opens.Format(time.RFC3339))
}

// Window returns what the plan knows of a window that one of its changes names, nil of any
// other.
func (h *Header) Window(name string) *WindowHours {
	for i := range h.Windows {
		if h.Windows[i].Name == name {
			return &h.Windows[i]
		}
	}
	return nil
}

// Shut says which of some windows is closed at t, and when it opens; "" where all are open.
func (h *Header) Shut(windows []string, t time.Time) string {
	for _, name := range windows {
		w := h.Window(name)
		if w == nil {
			return fmt.Sprintf("window %s is not known", name)
		}
		if _, isOpen := w.Closes(t); !isOpen {
			return w.Closed(t)
		}
	}
	return ""
}

// opening is when all windows of a transfer are open, and why not earlier.
type opening struct {
	at     time.Time // zero where that is not within a year
	reason string    // "" where all are open at once
}

// openings are those that were looked for already: most transfers share their windows and
// their time.
type openings map[openingOf]opening

type openingOf struct {
	windows **config.Window // the beginning of a list that is shared
	from    int64
}

// opens is when a transfer's windows are all open, not before from.
func (o openings) opens(windows []*config.Window, from time.Time) opening {
	if len(windows) == 0 {
		return opening{at: from}
	}
	key := openingOf{&windows[0], from.UnixNano()}
	found, ok := o[key]
	if !ok {
		found = findOpening(windows, from)
		o[key] = found
	}
	return found
}

func findOpening(windows []*config.Window, from time.Time) opening {
	at, reason := from, ""
	for range windowSteps {
		w, next := closedWindow(windows, at)
		switch {
		case w == nil:
			return opening{at.UTC(), reason}
		case next.IsZero():
			return opening{reason: fmt.Sprintf("window %s does not open within a year", w.Name)}
		}
		if reason == "" {
			reason = fmt.Sprintf("window %s is closed", w.Name)
			if clock := next.In(w.Zone); clock.Location() != time.UTC {
				reason += " and opens at " + clock.Format("15:04 MST on Monday")
			}
		}
		at = next
	}
	return opening{reason: "its windows are not open together"}
}

// closedWindow is the first that is closed at t, and when it opens next; nil where all are
// open.
func closedWindow(windows []*config.Window, t time.Time) (closed *config.Window, next time.Time) {
	for _, w := range windows {
		interval, ok := w.Next(t)
		switch {
		case !ok:
			return w, time.Time{}
		case interval.Opens.After(t):
			return w, interval.Opens
		}
	}
	return nil, time.Time{}
}

// nameWindows are the names of a transfer's windows, which the plan then knows.
func (b *builder) nameWindows(windows []*config.Window) []string {
	if b.word != nil {
		return b.word.line.Windows
	}
	if len(windows) == 0 || b.controls.Rehearsal {
		return nil
	}
	key := &windows[0]
	if names, ok := b.windows[key]; ok {
		return names
	}
	names := make([]string, 0, len(windows))
	for _, w := range windows {
		names = append(names, w.Name)
		b.know(w)
	}
	if b.windows == nil {
		b.windows = make(map[**config.Window][]string)
	}
	b.windows[key] = names
	return names
}

// know notes in the header when a window is open.
func (b *builder) know(w *config.Window) {
	h := &b.plan.Header
	if h.Window(w.Name) != nil {
		return
	}
	until := b.now.Add(windowAhead)
	known := WindowHours{Name: w.Name, Timezone: w.Zone.String(), Open: []Interval{}, Until: until}
	for _, i := range w.Intervals(b.now, until) {
		known.Open = append(known.Open, Interval{i.Opens.UTC(), i.Closes.UTC()})
	}
	h.Windows = append(h.Windows, known)
	slices.SortFunc(h.Windows, func(x, y WindowHours) int { return strings.Compare(x.Name, y.Name) })
}

// CheckHours says which window of a saved plan is open at other times in the files at hand, from t until the plan may no longer be applied; nil
// where none is. A window that the files do not have says nothing. Hours are a control: an owner who closes a window also stops the plans that were approved before.
func (p *Plan) CheckHours(windows []*config.Window, t time.Time) error {
	for _, w := range windows {
		said := p.Header.Window(w.Name)
		if said == nil {
			continue
		}
		until := said.Until
		if end := p.Header.Expires; !end.IsZero() && end.Before(until) {
			until = end
		}
		var here []Interval
		for _, i := range w.Intervals(t, until) {
			here = append(here, Interval{i.Opens, i.Closes})
		}
		if was, is, differ := otherHours(hoursBetween(said.Open, t, until), hoursBetween(here, t, until), t); differ {
			return &HoursError{w.Name, was, is}
		}
	}
	return nil
}

// otherHours says of two lists of intervals from a time on the first of each that the other does not have in its place.
func otherHours(was, is []Interval, from time.Time) (before, after string, differ bool) {
	for i := range max(len(was), len(is)) {
		if i < len(was) && i < len(is) && was[i].Opens.Equal(is[i].Opens) && was[i].Closes.Equal(is[i].Closes) {
			continue
		}
		return describeHours(was[min(i, len(was)):], from), describeHours(is[min(i, len(is)):], from), true
	}
	return "", "", false
}

// HoursError says that a window of a saved plan is open at other times in the files at hand.
type HoursError struct {
	Window   string
	Said, Is string // when it is open, by the plan and by the files, for the first time at which these differ
}

// Error says both.
func (e *HoursError) Error() string {
	return fmt.Sprintf("window %s is open at other times in the files here: %s, and in the plan %s", e.Window, e.Is, e.Said)
}

// hoursBetween are the parts of intervals from t until an end.
func hoursBetween(all []Interval, t, until time.Time) []Interval {
	var list []Interval
	for _, i := range all {
		if i.Opens.Before(t) {
			i.Opens = t
		}
		if i.Closes.After(until) {
			i.Closes = until
		}
		if i.Opens.Before(i.Closes) {
			list = append(list, i)
		}
	}
	return list
}

// describeHours names the first of some intervals from a time on.
func describeHours(all []Interval, from time.Time) string {
	switch {
	case len(all) == 0:
		return "no more"
	case all[0].Opens.Equal(from):
		return "until " + all[0].Closes.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("from %s until %s", all[0].Opens.UTC().Format(time.RFC3339), all[0].Closes.UTC().Format(time.RFC3339))
}

// windowObstacle is about the lines that are still to be sent and whose windows are closed now; its count is 0 where none
// are. A line that was sent already is none of them: a lookup may settle it.
func (r *recheck) windowObstacle(done map[int]bool) Obstacle {
	o := Obstacle{Kind: ObstacleWindow}
	for i, c := range r.plan.Changes.All() {
		if c.Action != Submit || len(c.Windows) == 0 || done[i] || r.isBegun(i) {
			continue
		}
		why := r.plan.Header.Shut(c.Windows, r.now)
		if why == "" {
			continue
		}
		if o.Count == 0 {
			o.Detail = fmt.Sprintf("%q at %s may not be sent now: %s.", c.RefID, c.Place, why)
			if o.From = r.opens(done); o.From.IsZero() {
				o.Detail += " No time is known at which this plan may be sent: make a new one."
			} else {
				o.Detail += fmt.Sprintf(" This plan may be applied from %s on.", o.From.UTC().Format(time.RFC3339))
			}
		}
		o.add(c.RefID)
	}
	return o
}

// opens is when all windows of the lines that are left are open, before the plan or one of these lines expires; zero where no such
// time is known.
func (r *recheck) opens(done map[int]bool) time.Time {
	h := &r.plan.Header
	var windows []string
	end := h.Expires
	for i, c := range r.plan.Changes.All() {
		if c.Action != Submit || done[i] {
			continue
		}
		if !c.Expires.IsZero() && (end.IsZero() || c.Expires.Before(end)) {
			end = c.Expires
		}
		for _, name := range c.Windows {
			if !slices.Contains(windows, name) {
				windows = append(windows, name)
			}
		}
	}
	at := r.now
	for range windowSteps {
		shut := slices.IndexFunc(windows, func(name string) bool { return h.Shut([]string{name}, at) != "" })
		if shut < 0 {
			break
		}
		if at = h.Window(windows[shut]).opensAfter(at); at.IsZero() {
			return at
		}
	}
	if h.Shut(windows, at) != "" || !end.IsZero() && !at.Before(end) {
		return time.Time{}
	}
	return at
}

// opensAfter is when a window opens next; zero where that is not known. A nil window is not known.
func (w *WindowHours) opensAfter(t time.Time) time.Time {
	if w == nil {
		return time.Time{}
	}
	for _, i := range w.Open {
		if i.Opens.After(t) {
			return i.Opens
		}
	}
	return time.Time{}
}

// From is when the same plan may be applied, where closed windows alone keep it from that; else zero.
func (e *ObstacleError) From() time.Time {
	if len(e.Obstacles) != 1 {
		return time.Time{}
	}
	return e.Obstacles[0].From
}
