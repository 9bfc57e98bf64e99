package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/state"
)

// A schedule that is edited makes new dates in the past, and a template that is edited gives
// all of its past new ref_ids: nothing of either is recorded, all of it is due. So an
// occurrence that comes late is not sent without a person's word (docs/schedules.md).

// lateness is why an occurrence is late; "" where it is not.
func lateness(c *Change, newest time.Time, now time.Time) string {
	due := c.Due.Format(time.RFC3339)
	switch {
	case now.Sub(c.Due) > c.CatchUp:
		return fmt.Sprintf("due %s, more than %s ago", due, days(c.CatchUp))
	case c.Due.Before(newest):
		return "due " + due + paidForDetail + newest.Format(time.RFC3339) + " already"
	}
	return ""
}

const paidForDetail = ", and its block has paid for "

// days writes a length of time as the language does.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d == day {
		return "1 day"
	}
	if d%day == 0 {
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}

// noteOccurrence keeps of which date a declared transfer is, and which of its block is the
// newest that was or may have been made.
func (b *builder) noteOccurrence(t *config.Transfer, r *row) {
	if t.Occurrence == nil || r == nil || !r.is(markMayBeMade) && !isFailedRow(r) {
		return
	}
	b.occurrences.add(t)
	if !r.is(markMayBeMade) {
		return
	}
	b.noteNewest(t.Block, t.Occurrence.Due)
	b.notePaid(t)
}

// noteNewest notes when an occurrence of a block was due that was or may have been made.
func (b *builder) noteNewest(block string, due time.Time) {
	if b.newest == nil {
		b.newest = make(map[string]time.Time)
	}
	if due.After(b.newest[block]) {
		b.newest[block] = due
	}
}

// findLate marks the occurrences that come late, and stops the plan until exactly so many are
// accepted. A rehearsal, which is at no time, has none.
func (b *builder) findLate(ctx context.Context) error {
	var dated []int
	for i := range b.facts.len() {
		if b.plan.Changes.Action(i) == Submit && !b.controls.Rehearsal && !b.plan.Changes.due(i).IsZero() {
			dated = append(dated, i)
		}
	}
	if b.isAlone() {
		b.saysNewest(dated)
	}
	if err := b.readGone(ctx, dated); err != nil {
		return err
	}
	var late []int
	for _, i := range dated {
		c := b.plan.Changes.At(i)
		if b.isLateAlready(&c) {
			continue
		}
		var newest time.Time
		if b.facts.at(i).row == nil { // else its ref_id is not new: a transfer that was planned before is no edit
			newest = b.newest[b.blockFactsOf(i).block]
		}
		if why := lateness(&c, newest, b.now); why != "" {
			late = append(late, i)
			c.Signals = append(slices.Clip(c.Signals), Signal{Kind: Late, Detail: why})
			b.plan.Changes.Set(i, &c)
		}
	}
	b.judgeLate(late)
	return nil
}

// due is the Due of a change.
func (l *Changes) due(i int) time.Time {
	if at := l.lines.at(i); at.shape != isWhole {
		return l.shapes[at.shape].Due
	}
	return l.whole[l.lines.at(i).kept.offset].Due
}

// readGone takes the occurrences into account that are recorded and no longer declared. One of
// them that is due when another is declared to be was paid under another ref_id; so the other
// counts as older. Only a transfer that was intended after the first of dated was due can be newer.
func (b *builder) readGone(ctx context.Context, dated []int) error {
	var oldest time.Time
	for _, i := range dated {
		due := b.plan.Changes.due(i)
		if b.facts.at(i).row == nil && (oldest.IsZero() || due.Before(oldest)) {
			oldest = due
		}
	}
	if oldest.IsZero() {
		return nil
	}
	var refIDs []string
	for _, r := range b.rows.all() {
		if !r.is(markDeclared) && r.is(markMayBeMade) && (r.intended == unknownAge || r.intended >= oldest.UnixMilli()) {
			refIDs = append(refIDs, b.rows.refID(r))
		}
	}
	return eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		if d.Intent.Due.IsZero() {
			return nil
		}
		b.noteNewest(blockOf(d.Intent.Address), d.Intent.Due.Add(1))
		return nil
	})
}

// blockOf is the block of an address, which is that of one of its transfers.
func blockOf(address string) string {
	block, _, _ := strings.Cut(address, "[")
	return block
}

// judgeLate accepts all late occurrences where the count that was typed is exact.
func (b *builder) judgeLate(late []int) {
	given := b.controls.AcceptLate
	by := fmt.Sprintf("accept-late=%d", given)
	switch {
	case len(late) == 0 && given > 0:
		b.plan.Unused = append(b.plan.Unused, by)
	case len(late) > 0 && given == len(late):
		for _, i := range late {
			b.plan.Changes.Update(i, func(c *Change) {
				c.Signals = slices.Clone(c.Signals)
				c.Signals[len(c.Signals)-1].Accepted = by
			})
		}
		b.plan.Header.Accepted = append(b.plan.Header.Accepted, by)
	case len(late) > 0:
		b.plan.Obstacles = append(b.plan.Obstacles, b.lateObstacle(late))
	}
	slices.Sort(b.plan.Unused)
	slices.Sort(b.plan.Header.Accepted)
}

func (b *builder) lateObstacle(late []int) Obstacle {
	o := Obstacle{Kind: ObstacleLate, Remedy: fmt.Sprintf("--accept-late=%d", len(late))}
	for _, i := range late {
		o.add(b.plan.Changes.At(i).RefID)
	}
	first := b.plan.Changes.At(late[0])
	o.Detail = fmt.Sprintf("%s: %q at %s is %s. If a schedule or a ref_id was edited, these may have been paid under other ref_ids: look before they are paid again.%s If they were missed and are to be paid now, say how many.",
		occurrences(len(late)), first.RefID, first.Place, first.Signals[len(first.Signals)-1].Detail, b.leftOutBefore(late))
	o.Detail = strings.ReplaceAll(o.Detail, "\n\n If", "\n\nIf")
	if given := b.controls.AcceptLate; given > 0 {
		o.Detail += fmt.Sprintf(" --accept-late=%d does not count: the plan has %d.", given, len(late))
	}
	return o
}

func occurrences(n int) string {
	if n == 1 {
		return "An occurrence of a schedule comes late"
	}
	return fmt.Sprintf("%d occurrences of schedules come late, the first of them", n)
}

// isLate reports whether the change shows that it comes late.
func (c *Change) isLate() bool {
	return slices.ContainsFunc(c.Signals, func(s Signal) bool { return s.Kind == Late })
}
