package state

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"remit/internal/transfer"
)

// FailedFor is how long a transfer is looked up again after its latest outcome, where that says that it FAILED, or was not made: if it says so wrongly,
// the transfer would be paid twice.
const FailedFor = 7 * 24 * time.Hour

// IsSettledSince reports whether the latest outcome is newer than a time. When the request was sent is of no matter: a service may return a
// transfer, and a person settle a doubt, long after that.
func (t Transfer) IsSettledSince(since time.Time) bool { return t.SettledAt.After(since) }

// IsFailedSince reports whether a transfer FAILED by a word that is newer than a time, and by which it is looked up again. It is not where a
// person has chosen between records of it that say otherwise of each other: the service is known to list the other one.
func (d *Detail) IsFailedSince(since time.Time) bool {
	if !d.Status.Made() || d.RecordStatus != transfer.Failed || d.Outcome == nil {
		return false
	}
	isChosen := d.Outcome.Source == SourcePerson && slices.ContainsFunc(d.Outcome.Differences, transfer.Difference.Overthrows)
	return !isChosen && d.IsSettledSince(since)
}

// detailsPerCall is how many details [AllDetails] has in memory at once.
const detailsPerCall = 512

// AllDetails yields all that a state knows of every ref_id, in byte order of ref_id. A caller may use a
// detail until it asks for the next one. The first error, which is the state's, is the last that it yields.
func AllDetails(ctx context.Context, from Detailed) iter.Seq2[*Detail, error] {
	of := func(ctx context.Context, rows []Transfer) ([]Detail, error) {
		refIDs := make([]string, len(rows))
		for i := range rows {
			refIDs[i] = rows[i].RefID
		}
		return from.Details(ctx, refIDs...)
	}
	if detailer, ok := from.(Detailer); ok {
		of = detailer.DetailsOf
	}
	return func(yield func(*Detail, error) bool) {
		rows := make([]Transfer, 0, detailsPerCall)
		page := func() bool {
			details, err := of(ctx, rows)
			rows = rows[:0]
			if err != nil {
				yield(nil, fmt.Errorf("read the details of transfers: %w", err))
				return false
			}
			for i := range details {
				if !yield(&details[i], nil) {
					return false
				}
			}
			return true
		}
		for t, err := range from.Transfers(ctx) {
			if err != nil {
				yield(nil, fmt.Errorf("read the transfers: %w", err))
				return
			}
			if rows = append(rows, t); len(rows) == detailsPerCall && !page() {
				return
			}
		}
		if len(rows) > 0 {
			page()
		}
	}
}

// NewDetail puts together the detail of one ref_id: its row, and the events that the row
// names as IntentSeq and OutcomeSeq, nil where they are 0. It is an error if an event is not
// the one that is named.
func NewDetail(t Transfer, intent, outcome *Event) (Detail, error) {
	d := Detail{Transfer: t, Intent: Intent{RefID: t.RefID}}
	if t.IntentSeq != 0 {
		entry, err := entryOf[Intent](t, t.IntentSeq, intent)
		if err != nil {
			return Detail{}, err
		}
		d.Intent = entry
	}
	if t.OutcomeSeq != 0 {
		entry, err := entryOf[Outcome](t, t.OutcomeSeq, outcome)
		if err != nil {
			return Detail{}, err
		}
		d.Outcome = &entry
	}
	return d, nil
}

func entryOf[E Entry](t Transfer, seq int64, e *Event) (E, error) {
	var none E
	if e == nil || e.Seq != seq || e.RefID != t.RefID {
		return none, fmt.Errorf("ref_id %q: event %d is missing: %w", t.RefID, seq, ErrDamaged)
	}
	entry, err := e.Entry()
	if err != nil {
		return none, err
	}
	typed, ok := entry.(E)
	if !ok {
		return none, fmt.Errorf("ref_id %q: event %d is of kind %q: %w", t.RefID, seq, e.Kind, ErrDamaged)
	}
	return typed, nil
}
