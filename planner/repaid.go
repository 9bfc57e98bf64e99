package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/state"
)

// A transfer that FAILED stays in the state, and its declaration in a file. A person who reads that it FAILED has to learn as well that it was
// paid meanwhile: a look-alike says so for as long as duplicate_within, and no longer.

// repaid is how the movement of a transfer that FAILED was made since.
type repaid struct {
	by   *row  // the likeliest to be in its place
	at   int64 // when that was made, as a row has it
	more int   // others that were made since
}

// repaidSearch finds the transfers in the place of those that FAILED.
type repaidSearch struct {
	*builder
	failed []*row
	first  map[transfer.Twin]int64 // before which nothing of a movement FAILED
	made   map[transfer.Twin]*madeSince
	at     map[*row]int64 // when a row was made that this state never sent
	// isOfDate has the rows that were made for a date of a schedule.
	isOfDate map[*row]bool
}

// madeSince are the recorded transfers that make a movement, or may have made it, each list in order of time. A date of a schedule is rather
// paid for itself than in another's place.
type madeSince struct{ others, ofDates []*row }

// findRepaid finds, for each declared transfer that FAILED, the recorded ones after it that make the same movement, or may have made it. Of
// twins 64 bits are compared: nothing is decided by it.
func (b *builder) findRepaid(ctx context.Context) error {
	s := &repaidSearch{
		builder: b, first: make(map[transfer.Twin]int64), made: make(map[transfer.Twin]*madeSince),
		at: make(map[*row]int64), isOfDate: make(map[*row]bool),
	}
	s.gather()
	if len(s.made) == 0 {
		return nil
	}
	if err := s.date(ctx); err != nil {
		return err
	}
	for _, m := range s.made {
		slices.SortStableFunc(m.others, func(x, y *row) int { return cmp.Compare(s.madeAt(x), s.madeAt(y)) })
		m.ofDates = slices.DeleteFunc(slices.Clone(m.others), func(r *row) bool { return !s.isOfDate[r] })
		m.others = slices.DeleteFunc(m.others, func(r *row) bool { return s.isOfDate[r] })
	}
	b.repaid = make(map[*row]repaid)
	for _, r := range s.failed {
		if m := s.made[r.twin]; m != nil {
			if found := s.repaidBy(r, m); found.by != nil {
				b.repaid[r] = found
			}
		}
	}
	return nil
}

// gather finds the declared transfers that FAILED, and the recorded ones that were or may have been made after the first of them.
// A row without its request has no movement.
func (s *repaidSearch) gather() {
	var failed []twinned
	for i, f := range s.facts.all() {
		r := f.row
		if r == nil || !isFailedRow(r) || r.isImported() || r.intended == unknownAge {
			continue
		}
		at := r.intended
		if mayBeAdopted(r.status) {
			at = unknownAge // its record may say any time before that
		}
		if first, isThere := s.first[r.twin]; !isThere || at < first {
			s.first[r.twin] = at
		}
		failed = append(failed, twinned{r.twin, int32(i)})
		s.failed = append(s.failed, r)
	}
	if len(failed) == 0 {
		return
	}
	wanted := newTwinSet(failed)
	for _, r := range s.rows.all() {
		if !r.is(markMayBeMade) || r.intended == unknownAge || !wanted.has(r.twin) || r.isImported() || r.intended <= s.first[r.twin] {
			continue
		}
		if s.made[r.twin] == nil {
			s.made[r.twin] = new(madeSince)
		}
		s.made[r.twin].others = append(s.made[r.twin].others, r)
	}
}

// date reads when they were made, and for which date of a schedule.
func (s *repaidSearch) date(ctx context.Context) error {
	rows := make(map[string]*row)
	for _, r := range s.failed {
		if s.made[r.twin] != nil && mayBeAdopted(r.status) {
			rows[s.rows.refID(r)] = r
		}
	}
	for _, m := range s.made {
		for _, r := range m.others {
			rows[s.rows.refID(r)] = r
		}
	}
	refIDs := make([]string, 0, len(rows))
	for refID := range rows {
		refIDs = append(refIDs, refID)
	}
	slices.Sort(refIDs)
	return eachDetail(ctx, s.record, refIDs, func(d *state.Detail) error {
		r := rows[d.RefID]
		if at := adoptedAt(d); !at.IsZero() {
			s.at[r] = at.UnixMilli()
		}
		s.occurrences.paid(d)
		if _, isDeclared := s.occurrences[d.RefID]; isDeclared || d.Intent.Occurrence != "" || !d.Intent.Due.IsZero() {
			s.isOfDate[r] = true
		}
		return nil
	})
}

// madeAt is when a row was made, by its record where this state never sent it.
func (s *repaidSearch) madeAt(r *row) int64 {
	if at, isAdopted := s.at[r]; isAdopted {
		return at
	}
	return r.intended
}

// repaidBy finds the transfers after one that FAILED. Another date of its schedule was paid for itself.
func (s *repaidSearch) repaidBy(failed *row, m *madeSince) repaid {
	var found repaid
	refID := s.rows.refID(failed)
	_, hasDate := s.occurrences[refID]
	for _, some := range [][]*row{m.others, m.ofDates} {
		// Those of its own moment are others of its run.
		next := sort.Search(len(some), func(i int) bool { return s.madeAt(some[i]) > s.madeAt(failed) })
		some = some[next:]
		if hasDate {
			some = slices.DeleteFunc(slices.Clone(some), func(r *row) bool { return s.isOtherDateOf(refID, r) })
		}
		if len(some) == 0 {
			continue
		}
		if found.by == nil {
			found.by, found.at, found.more = some[0], s.madeAt(some[0]), -1
		}
		found.more += len(some)
	}
	return found
}

// isFailedRow reports whether a recorded transfer is one that [HasFailed].
func isFailedRow(r *row) bool { return r.is(markFailed) && r.status.Made() }

// repaidText says of a transfer that FAILED how its movement was made since, as a clause; "" where it was not.
func (b *builder) repaidText(r *row) string {
	since, isRepaid := b.repaid[r]
	if !isRepaid {
		return ""
	}
	was, more := "may have been made", ""
	if since.by.status.Made() && since.by.status != state.Unverified {
		was = "was made"
	}
	if since.more > 0 {
		more = ", and " + english.Plural(since.more, "more time")
	}
	return fmt.Sprintf("the same movement %s since, as %q on %s%s", was, b.rows.refID(since.by), time.UnixMilli(since.at).UTC().Format(time.DateOnly), more)
}
