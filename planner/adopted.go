package planner

import (
	"context"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// A transfer that others sent, or a state that is lost, is recorded when it is found: by an import, or by the lookup before a first
// sending. It is as old as the service's record says, for a day of a limit and for look-alikes. Remit's own transfers are
// as old as their attempts, whatever a record says.

// mayBeAdopted reports whether a ref_id may be recorded without an attempt of this state's.
func mayBeAdopted(s state.Status) bool { return s == state.Adopted || s == state.Unverified }

// adoptedAt is when a transfer was made that this state never sent: as late as any of its records says, and not later
// than it was found. It is zero where a record has no such time, and of any other transfer.
func adoptedAt(d *state.Detail) time.Time {
	wasSent := !d.Intent.Found || d.RunID != d.Intent.RunID || !d.AttemptedAt.Equal(d.IntendedAt)
	if wasSent || !mayBeAdopted(d.Status) {
		return time.Time{}
	}
	at := createdAt(d)
	if at.After(d.IntendedAt) {
		return d.IntendedAt
	}
	return at
}

// createdAt is the latest time at which the kept records of a transfer say that it was made. It is zero where one of them
// has no such time, and where there is none.
func createdAt(d *state.Detail) time.Time {
	var latest time.Time
	for _, raw := range keptRecords(d) {
		record, err := transfer.ParseKept(raw)
		if err != nil || record.CreatedAt.Unix() <= 0 {
			return time.Time{}
		}
		if record.CreatedAt.After(latest) {
			latest = record.CreatedAt
		}
	}
	return latest
}

// madeAt is when a row was intended, or when it was made where it is dated by its record, as [row] has a time.
func (b *builder) madeAt(r *row) int64 {
	if at, isDated := b.dated[r]; isDated {
		return at
	}
	return r.intended
}

// dateAdopted dates the recorded twins that this state never sent, and drops those that are too old by that.
func (b *builder) dateAdopted(ctx context.Context, all []*suspects) error {
	found := make(map[string]*row)
	var refIDs []string
	for _, s := range all {
		for _, older := range s.older {
			for _, r := range older {
				if refID := b.rows.refID(r); mayBeAdopted(r.status) && found[refID] == nil {
					found[refID] = r
					refIDs = append(refIDs, refID)
				}
			}
		}
	}
	b.dated = make(map[*row]int64)
	err := eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		at := adoptedAt(d)
		if b.isAlone() && d.Intent.Found { // as the file says
			at = d.IntendedAt
		}
		if !at.IsZero() {
			b.dated[found[d.RefID]] = at.UnixMilli()
		}
		return nil
	})
	if err != nil || len(b.dated) == 0 {
		return err
	}
	for _, s := range all {
		b.dropTooOld(s)
	}
	return nil
}

// dropTooOld drops the recorded twins of lines that are older than these look back.
func (b *builder) dropTooOld(s *suspects) {
	for n, c := range s.lines {
		isDropped := func(r *row) bool { return b.isTooOld(c, r) && !b.isCorrection(c.number, r) }
		if slices.ContainsFunc(s.older[n], isDropped) {
			s.older[n] = slices.DeleteFunc(slices.Clone(s.older[n]), isDropped)
		}
	}
}
