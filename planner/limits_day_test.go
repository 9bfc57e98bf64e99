package planner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// TestADayOfALimitIsThatOfItsZone has a day that began there and is not begun in UTC.
func TestADayOfALimitIsThatOfItsZone(t *testing.T) {
	p := plan(t, newMemory(record(declare("old"), state.Recorded, attempted(time.Hour))),
		limits(limit("l", config.PerDay, amountMax("160"), in("Pacific/Kiritimati"))), declare("a"), declare("b"))
	if len(p.Obstacles) != 1 || !strings.Contains(p.Obstacles[0].Detail, "80.00 so far on 2026-11-28 (Pacific/Kiritimati)") {
		t.Errorf("obstacles %v", p.Obstacles)
	}
}

// TestADayOfALimitMayHave25Hours is at the end of the day on which the clocks of New York go back.
func TestADayOfALimitMayHave25Hours(t *testing.T) {
	at := time.Date(2026, 11, 2, 4, 45, 0, 0, time.UTC) // 23:45
	daily := limits(limit("l", config.PerDay, amountMax("80"), in("America/New_York")))
	for before, isOver := range map[time.Duration]bool{15 * time.Minute: true, 24*time.Hour + 45*time.Minute: true, 24*time.Hour + 46*time.Minute: false} {
		old := record(declare("old"), state.Recorded, func(d *state.Detail) { d.AttemptedAt = at.Add(-before) })
		p, err := planner.New(t.Context(), slices.Values([]config.Transfer{declare("a"), declare("old")}), newMemory(old), daily, at)
		if err != nil {
			t.Fatal(err)
		}
		if p.Applicable() == isOver {
			t.Errorf("80.00 USD were sent %s before: obstacles %v", before, p.Obstacles)
		}
	}
}

// TestADayOfALimitEndsWhereTheClocksSkipMidnight is in the last hour of 5 September, after which the clocks of Santiago show 01:00.
func TestADayOfALimitEndsWhereTheClocksSkipMidnight(t *testing.T) {
	at := time.Date(2026, 9, 6, 3, 45, 0, 0, time.UTC) // 23:45 on the 5th
	old := record(declare("old"), state.Recorded, func(d *state.Detail) { d.AttemptedAt = at.Add(-15 * time.Minute) })
	p, err := planner.New(t.Context(), slices.Values([]config.Transfer{declare("a"), declare("old")}), newMemory(old),
		limits(limit("l", config.PerDay, amountMax("80"), in("America/Santiago"))), at)
	if err != nil {
		t.Fatal(err)
	}
	if p.Applicable() {
		t.Error("a day of 80.00 USD takes 160.00")
	}
}

// TestAConflictCountsAsItWasAskedFor has a record of less than was asked for: nobody knows yet which of the two is right.
func TestAConflictCountsAsItWasAskedFor(t *testing.T) {
	m := newMemory(record(declare("old", twin), state.Recorded))
	d := m.details["old"]
	d.Status, d.RecordStatus = state.Conflict, ""
	d.Outcome.Status, d.Outcome.Records = state.Conflict, []json.RawMessage{debitOf("old", "70", "USD")}
	m.details["old"] = d
	p := plan(t, m, limits(limit("l", config.PerDestinationDay, amountMax("169.99"))), declare("new", twin, sum("90.00")))
	for _, o := range p.Obstacles {
		if o.Kind == planner.ObstacleLimit && strings.Contains(o.Detail, "80.00 so far") {
			return
		}
	}
	t.Errorf("obstacles %v", p.Obstacles)
}

// TestARecordWithoutATimeCountsToday has an import whose record does not say when it was made.
func TestARecordWithoutATimeCountsToday(t *testing.T) {
	imported := record(declare("old"), state.Recorded, func(d *state.Detail) {
		d.AttemptedAt, d.IntendedAt = time.Time{}, time.Time{}
		d.Outcome.Source = state.SourceImport
		d.Outcome.Records = append(d.Outcome.Records, fmt.Appendf(nil, `{"id":"1","ref_id":"old","group_id":"g","type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","direction":"DEBIT",`+
			`"asset":"USD","amount":"80.00","total":"80.00","fee":"0","profile_id":"treasury","customer_id":"c"}`))
	})
	p := plan(t, newMemory(imported), limits(limit("l", config.PerDay, countMax(1))), declare("a"), declare("old"))
	if p.Applicable() {
		t.Error("a day of one transfer takes a second one")
	}
}

// TestAllWindowsOfALineMustBeOpen applies a plan when the second of two windows is closed.
func TestAllWindowsOfALineMustBeOpen(t *testing.T) {
	line := declare("a", func(c *config.Transfer) {
		opens("all day", 0, 24*60)(c)
		opens("afternoon", 14*60, 16*60)(c)
		c.Windows = append(slices.Clone(windows["all day"]), windows["afternoon"]...)
	})
	m := newMemory()
	p := plan(t, m, planner.Controls{}, line)
	p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(400*day)
	opened, err := planner.Open(bytes.NewReader(save(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	for later, want := range map[time.Duration]string{59 * time.Minute: "[+ a]", time.Hour: "obstacle window [a]"} {
		left, err := opened.Recheck(t.Context(), m.carriedOut(opened), planner.Controls{}, now.Add(later))
		if got := outcomeOf(left, err); got != want {
			t.Errorf("after %s: %s, want %s", later, got, want)
		}
	}
}
