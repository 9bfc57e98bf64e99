package planner

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// A transfer that FAILED stays in the state, and its declaration in a file. A person who reads that it FAILED has to learn as well that it was
// paid meanwhile: a look-alike says so for as long as duplicate_within, and no longer.

// findRepaid finds, for each declared transfer that FAILED, the first recorded one after it that makes the same movement, or may have made it. Of
// twins 64 bits are compared: nothing is decided by it.
func (b *builder) findRepaid() {
	var failed []twinned
	for i, f := range b.facts.all() {
		if f.row != nil && isFailedRow(f.row) {
			failed = append(failed, twinned{f.row.twin, int32(i)})
		}
	}
	if len(failed) == 0 {
		return
	}
	wanted := newTwinSet(failed)
	made := make(map[transfer.Twin][]*row)
	for _, r := range b.rows.all() {
		if r.is(markMayBeMade) && r.intended != unknownAge && wanted.has(r.twin) {
			made[r.twin] = append(made[r.twin], r)
		}
	}
	for _, some := range made {
		slices.SortStableFunc(some, func(x, y *row) int { return cmp.Compare(x.intended, y.intended) })
	}
	b.repaid = make(map[*row]*row)
	for _, f := range failed {
		r, some := b.facts.at(int(f.number)).row, made[f.twin]
		next, isSame := slices.BinarySearchFunc(some, r.intended, func(x *row, at int64) int { return cmp.Compare(x.intended, at) })
		for isSame && next < len(some) && some[next].intended == r.intended {
			next++ // as the others of its own run
		}
		if next < len(some) && r.intended != unknownAge {
			b.repaid[r] = some[next]
		}
	}
}

// isFailedRow reports whether a recorded transfer is one that [HasFailed].
func isFailedRow(r *row) bool { return r.is(markFailed) && r.status.Made() }

// repaidText says of a transfer that FAILED how its movement was made since, as a clause; "" where it was not.
func (b *builder) repaidText(r *row) string {
	since := b.repaid[r]
	if since == nil {
		return ""
	}
	was := "may have been made"
	if since.status.Made() && since.status != state.Unverified {
		was = "was made"
	}
	return fmt.Sprintf("the same movement %s since, as %q on %s", was, b.rows.refID(since), time.UnixMilli(since.intended).UTC().Format(time.DateOnly))
}
