package planner_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/clock/calendar"
	"remit/planner"
	"remit/state"
)

// dateOf is the day of a time, as a date of a calendar.
func dateOf(due time.Time) calendar.Date {
	date, err := calendar.ParseDate(due.Format(time.DateOnly))
	if err != nil {
		panic(err)
	}
	return date
}

// occurs makes a transfer one of an occurrence that is due at a time, of the block "dated".
func occurs(due time.Time, catchUp time.Duration) func(*config.Transfer) {
	return func(t *config.Transfer) {
		t.Occurrence = &config.Occurrence{Schedule: "s", Date: dateOf(due), Due: due, CatchUp: catchUp}
		t.Block, t.NotBefore = "transfer.internal.dated", due
		t.Address = fmt.Sprintf("%s[%q]", t.Block, t.Request.RefID)
	}
}

// windows are shared, as config shares them.
var windows = map[string][]*config.Window{}

// opens lets a transfer be sent at some hours of UTC, in minutes.
func opens(name string, from, to int) func(*config.Transfer) {
	if windows[name] == nil {
		windows[name] = []*config.Window{{Name: name, Hours: &calendar.Hours{
			Zone: time.UTC, Days: [7]bool{true, true, true, true, true, true, true}, From: calendar.Clock(from), To: calendar.Clock(to),
		}}}
	}
	return func(t *config.Transfer) { t.Windows = windows[name] }
}

// paidFor is what the state has of an occurrence.
func paidFor(refID string, due time.Time, edits ...func(*state.Detail)) state.Detail {
	return record(declare(refID, occurs(due, 7*day)), state.Recorded, append(edits, func(d *state.Detail) { d.Intent.Due = due })...)
}

// lateOf are the ref_ids that a plan marks late.
func lateOf(p *planner.Plan) []string {
	var all []string
	for _, c := range p.Changes.All() {
		if slices.ContainsFunc(c.Signals, func(s planner.Signal) bool { return s.Kind == planner.Late }) {
			all = append(all, c.RefID)
		}
	}
	return all
}

func TestLateOccurrences(t *testing.T) {
	hour := func(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }
	for name, test := range map[string]struct {
		declared []config.Transfer
		recorded []state.Detail
		rehearse bool
		want     []string
	}{
		"due now":                      {declared: []config.Transfer{declare("a", occurs(now, 7*day))}},
		"exactly as late as it may be": {declared: []config.Transfer{declare("a", occurs(now.Add(-7*day), 7*day))}},
		"a nanosecond later":           {declared: []config.Transfer{declare("a", occurs(now.Add(-7*day-1), 7*day))}, want: []string{"a"}},
		"not due":                      {declared: []config.Transfer{declare("a", occurs(hour(1), 0))}},
		"of no schedule":               {declared: []config.Transfer{declare("a", notBefore(now.Add(-900*day)))}},
		"a rehearsal":                  {declared: []config.Transfer{declare("a", occurs(now.Add(-900*day), 0))}, rehearse: true},
		"older than one that is recorded": {
			declared: []config.Transfer{declare("a", occurs(hour(-3), 7*day)), declare("b", occurs(hour(-2), 7*day))},
			recorded: []state.Detail{paidFor("b", hour(-2))},
			want:     []string{"a"},
		},
		"newer than one that is recorded": {
			declared: []config.Transfer{declare("a", occurs(hour(-2), 7*day)), declare("b", occurs(hour(-3), 7*day))},
			recorded: []state.Detail{paidFor("b", hour(-3))},
		},
		"another of the same date as one that is recorded": {
			declared: []config.Transfer{declare("a", occurs(hour(-2), 7*day)), declare("b", occurs(hour(-2), 7*day))},
			recorded: []state.Detail{paidFor("b", hour(-2))},
		},
		"of the same date as one that is no longer declared": {
			declared: []config.Transfer{declare("new", occurs(hour(-2), 7*day))},
			recorded: []state.Detail{paidFor("old", hour(-2))},
			want:     []string{"new"},
		},
		"of the same date as one that is no longer declared, of which nobody knows the age": {
			declared: []config.Transfer{declare("new", occurs(hour(-2), 7*day))},
			recorded: []state.Detail{paidFor("old", hour(-2), func(d *state.Detail) { d.IntendedAt = time.Time{} })},
			want:     []string{"new"},
		},
		"the older of two, between whose dates one was paid for that is no longer declared": {
			declared: []config.Transfer{declare("new", occurs(hour(-3), 7*day)), declare("newer", occurs(hour(-1), 7*day))},
			recorded: []state.Detail{paidFor("old", hour(-2), intended(2*time.Hour))},
			want:     []string{"new"},
		},
		"newer than one that is no longer declared": {
			declared: []config.Transfer{declare("new", occurs(hour(-1), 7*day))},
			recorded: []state.Detail{paidFor("old", hour(-2))},
		},
		"older, but of another block": {
			declared: []config.Transfer{declare("new", occurs(hour(-3), 7*day), func(t *config.Transfer) {
				t.Block, t.Address = "transfer.internal.other", `transfer.internal.other["x"]`
			})},
			recorded: []state.Detail{paidFor("old", hour(-2))},
		},
		"older, but planned before and not sent": {
			declared: []config.Transfer{declare("a", occurs(hour(-3), 7*day)), declare("b", occurs(hour(-2), 7*day))},
			recorded: []state.Detail{record(declare("a", occurs(hour(-3), 7*day)), state.Unsent), paidFor("b", hour(-2))},
		},
		"planned long before and not sent": {
			declared: []config.Transfer{declare("a", occurs(now.Add(-8*day), 7*day))},
			recorded: []state.Detail{record(declare("a", occurs(now.Add(-8*day), 7*day)), state.Unsent)},
			want:     []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(test.recorded...)
			p := plan(t, m, planner.Controls{Rehearsal: test.rehearse}, test.declared...)
			if diff := cmp.Diff(test.want, lateOf(p)); diff != "" {
				t.Errorf("late (-want +got):\n%s", diff)
			}
			if got := slices.ContainsFunc(p.Obstacles, func(o planner.Obstacle) bool { return o.Kind == planner.ObstacleLate }); got != (len(test.want) > 0) {
				t.Errorf("%d are late, an obstacle: %t", len(test.want), got)
			}
			if len(test.want) == 0 {
				return
			}
			wrong := plan(t, m, planner.Controls{AcceptLate: len(test.want) + 1}, test.declared...)
			right := plan(t, m, planner.Controls{AcceptLate: len(test.want)}, test.declared...)
			switch {
			case wrong.Applicable() || len(wrong.Header.Accepted) > 0:
				t.Error("another count was accepted")
			case !right.Applicable() || right.Digest == p.Digest:
				t.Error("the right count was not accepted, or is no part of the digest")
			}
		})
	}
}

func TestRecheckOfOccurrencesAndWindows(t *testing.T) {
	for name, test := range map[string]struct {
		declared config.Transfer
		later    time.Duration
		since    func(*memory)
		want     string
	}{
		"nothing happened":            {declared: declare("a", occurs(now, day)), want: "[+ a]"},
		"it became late":              {declared: declare("a", occurs(now, day)), later: day + 1, want: "obstacle late [a]"},
		"its window is open":          {declared: declare("a", opens("afternoon", 14*60, 16*60)), later: 59 * time.Minute, want: "[+ a]"},
		"its window is closed":        {declared: declare("a", opens("afternoon", 14*60, 16*60)), later: time.Hour, want: "obstacle window [a]"},
		"its window opened again":     {declared: declare("a", opens("afternoon", 14*60, 16*60)), later: 23 * time.Hour, want: "[+ a]"},
		"its window is known no more": {declared: declare("a", opens("afternoon", 14*60, 16*60)), later: 33 * day, want: "obstacle window [a]"},
		"another run paid for a later date of the block": {
			declared: declare("a", occurs(now, day)),
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-2"))
				m.put("run-1", paidFor("z", now.Add(time.Hour), intended(-90*time.Minute)))
			},
			later: 2 * time.Hour, want: "obstacle late [a]",
		},
		"a run of this plan paid for a later date of the block": {
			declared: declare("a", occurs(now, day)),
			since: func(m *memory) {
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", paidFor("z", now.Add(time.Hour), intended(-90*time.Minute)))
			},
			later: 2 * time.Hour, want: "[+ a]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			p := plan(t, m, planner.Controls{}, test.declared)
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(400*day)
			opened, err := planner.Open(bytes.NewReader(save(t, p)))
			if err != nil {
				t.Fatal(err)
			}
			if test.since != nil {
				test.since(m)
			}
			left, err := opened.Recheck(context.Background(), m.carriedOut(opened), planner.Controls{Declared: config.Controls{}}, now.Add(test.later))
			if got := outcomeOf(left, err); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestWindowsInAPlan(t *testing.T) {
	p := plan(t, newMemory(), planner.Controls{},
		declare("open", opens("afternoon", 14*60, 16*60)), declare("closed", opens("night", 22*60, 4*60)),
		declare("both", func(t *config.Transfer) {
			opens("afternoon", 14*60, 16*60)(t)
			opens("night", 22*60, 4*60)(t)
			t.Windows = append(slices.Clone(windows["afternoon"]), windows["night"]...)
		}),
		declare("later", notBefore(now.Add(2*day)), opens("night", 22*60, 4*60)),
		declare("too-late", opens("night", 22*60, 4*60), expires(now.Add(time.Hour))),
	)
	if diff := cmp.Diff("+ open > closed > both > later > too-late", strings.Trim(fmt.Sprint(actions(p)), "[]")); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	closed, both, later, tooLate := find(t, p, "closed"), find(t, p, "both"), find(t, p, "later"), find(t, p, "too-late")
	if want := time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC); !closed.Until.Equal(want) || closed.Reason != "window night is closed" {
		t.Errorf("closed waits until %s: %s", closed.Until, closed.Reason)
	}
	if want := time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC); !later.Until.Equal(want) {
		t.Errorf("later waits until %s", later.Until)
	}
	if !both.Until.IsZero() || !strings.Contains(both.Reason, "not open together") {
		t.Errorf("both waits until %s: %s", both.Until, both.Reason)
	}
	if !strings.Contains(tooLate.Reason, "it expires before that") {
		t.Errorf("too-late waits: %s", tooLate.Reason)
	}
	rehearsed := plan(t, newMemory(), planner.Controls{Rehearsal: true}, declare("closed", opens("night", 22*60, 4*60)))
	if c := find(t, rehearsed, "closed"); c.Action != planner.Submit || len(c.Windows) > 0 {
		t.Errorf("a rehearsal waits for a window: %s %v", c.Action, c.Windows)
	}
}

// TestOtherDatesAreNoLookAlikes is that the equal rents of two months do not stop each other,
// and that nothing but the date of one schedule and block tells them apart.
func TestOtherDatesAreNoLookAlikes(t *testing.T) {
	october, november := now.Add(-30*day), now.Add(-time.Hour)
	rent := func(refID, date string, due time.Time, edits ...func(*config.Transfer)) config.Transfer {
		d := declare(refID, append([]func(*config.Transfer){twin, occurs(due, 7*day)}, edits...)...)
		parsed, err := calendar.ParseDate(date)
		if err != nil {
			t.Fatal(err)
		}
		d.Occurrence.Date = parsed
		return d
	}
	block := func(name string) func(*config.Transfer) { return func(d *config.Transfer) { d.Block = name } }
	schedule := func(name string) func(*config.Transfer) {
		return func(d *config.Transfer) { d.Occurrence.Schedule = name }
	}
	older, newer := rent("rent-10", "2026-10-31", october), rent("rent-11", "2026-11-30", november)
	paid := record(older, state.Recorded, intended(30*day))
	paid.Intent.Due = october
	with := func(edit func(*state.Detail)) state.Detail {
		d := paid
		edit(&d)
		return d
	}
	for name, c := range map[string]struct {
		recorded []state.Detail
		declared []config.Transfer
		stops    bool
	}{
		"one paid":               {[]state.Detail{paid}, []config.Transfer{older, newer}, false},
		"one in doubt":           {[]state.Detail{with(func(d *state.Detail) { d.Status = state.InDoubt })}, []config.Transfer{older, newer}, false},
		"both due":               {nil, []config.Transfer{rent("rent-10", "2026-10-31", now.Add(-2*day)), newer}, false},
		"both due at one time":   {nil, []config.Transfer{rent("rent-10", "2026-10-31", november), newer}, false},
		"one date twice":         {nil, []config.Transfer{newer, rent("rent-11-b", "2026-11-30", november)}, true},
		"paid, declared no more": {[]state.Detail{paid}, []config.Transfer{newer}, true},
		"paid for another date":  {[]state.Detail{with(func(d *state.Detail) { d.Intent.Due = november })}, []config.Transfer{older, newer}, true},
		"paid at another time": {[]state.Detail{with(func(d *state.Detail) {
			d.Intent.Due, d.Intent.Occurrence = october.Add(-time.Hour), "monthly 2026-10-31"
		})}, []config.Transfer{older, newer}, false},
		"paid for the date, and the schedule has another name": {[]state.Detail{with(func(d *state.Detail) { d.Intent.Occurrence = "lease 2026-10-31" })}, []config.Transfer{older, newer}, false},
		"paid at the time of another date":                     {[]state.Detail{with(func(d *state.Detail) { d.Intent.Occurrence = "monthly 2026-11-30" })}, []config.Transfer{older, newer}, true},
		"paid at another time, by an older version":            {[]state.Detail{with(func(d *state.Detail) { d.Intent.Due = october.Add(-time.Hour) })}, []config.Transfer{older, newer}, true},
		"paid by hand":        {[]state.Detail{with(func(d *state.Detail) { d.Intent.Due = time.Time{} })}, []config.Transfer{older, newer}, true},
		"another block, paid": {[]state.Detail{paid}, []config.Transfer{older, rent("rent-11", "2026-11-30", november, block("transfer.internal.lease"))}, true},
		"another block, due":  {nil, []config.Transfer{newer, rent("rent-10", "2026-10-31", november, block("transfer.internal.lease"))}, true},
		"another schedule":    {[]state.Detail{paid}, []config.Transfer{older, rent("rent-11", "2026-11-30", november, schedule("other"))}, true},
		"no occurrence":       {[]state.Detail{paid}, []config.Transfer{older, declare("extra", twin)}, true},
		"one more by hand":    {nil, []config.Transfer{newer, declare("extra", twin)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(c.recorded...), planner.Controls{}, c.declared...)
			stops := slices.ContainsFunc(p.Obstacles, func(o planner.Obstacle) bool { return o.Kind == planner.ObstacleLookAlike })
			if stops != c.stops {
				t.Errorf("look-alikes stop the plan: %v, want %v; obstacles %v", stops, c.stops, obstacles(p))
			}
		})
	}
}

// TestManyOtherDates is that no bound of the display makes a daily payment stop.
func TestManyOtherDates(t *testing.T) {
	var recorded []state.Detail
	var declared []config.Transfer
	for i := range 40 {
		due := now.Add(-time.Duration(i) * 12 * time.Hour)
		d := declare(fmt.Sprintf("d%02d", i), twin, occurs(due, 90*day))
		d.Occurrence.Date = calendar.Date(20000 - i)
		declared = append(declared, d)
		if i > 0 {
			r := record(d, state.Recorded, intended(time.Duration(i)*12*time.Hour))
			r.Intent.Due = due
			recorded = append(recorded, r)
		}
	}
	if p := plan(t, newMemory(recorded...), planner.Controls{}, declared...); !p.Applicable() {
		t.Errorf("the plan is not applicable: %v", obstacles(p))
	}
}

// TestAWindowThatNobodyKnowsIsShut holds what a header says of windows to the safe side.
func TestAWindowThatNobodyKnowsIsShut(t *testing.T) {
	var h planner.Header
	if why := h.Shut([]string{"gone"}, time.Now()); why != "window gone is not known" {
		t.Errorf("a window that the header does not have: %q", why)
	}
	if why := h.Shut(nil, time.Now()); why != "" {
		t.Errorf("no window: %q", why)
	}
}
