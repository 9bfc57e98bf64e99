package storage

import (
	"context"
	"slices"

	"remit/state"
)

// detailsPerPage is how many ref_ids one statement asks for.
const detailsPerPage = 512

// Details reads what a store knows of ref_ids, a page at a time. It is made of three questions to the store; each is
// asked for one page.
type Details struct {
	// Rows returns the rows of ref_ids, without those that are unknown.
	Rows func(ctx context.Context, refIDs []string) (map[string]Row, error)
	// Events returns events by their numbers, without those that are not there.
	Events func(ctx context.Context, seqs []int64) (map[int64]*state.Event, error)
	// Name puts display names into details.
	Name func(ctx context.Context, details []state.Detail) error
}

// ByRefID is [state.Snapshot.Details].
func (d Details) ByRefID(ctx context.Context, refIDs []string) ([]state.Detail, error) {
	details := make([]state.Detail, 0, len(refIDs))
	for page := range slices.Chunk(refIDs, detailsPerPage) {
		if err := ctx.Err(); err != nil { // an interrupt must not look like ref_ids that are unknown
			return nil, err
		}
		known, err := d.Rows(ctx, page)
		if err != nil {
			return nil, err
		}
		rows := make([]state.Transfer, 0, len(page))
		for _, refID := range page {
			if r, ok := known[refID]; ok {
				rows = append(rows, r.Transfer)
			}
		}
		if details, err = d.appendPage(ctx, details, rows); err != nil {
			return nil, err
		}
	}
	return details, nil
}

// Of is [state.Detailer.DetailsOf].
func (d Details) Of(ctx context.Context, rows []state.Transfer) ([]state.Detail, error) {
	details := make([]state.Detail, 0, len(rows))
	for page := range slices.Chunk(rows, detailsPerPage) {
		err := ctx.Err()
		if err == nil {
			details, err = d.appendPage(ctx, details, page)
		}
		if err != nil {
			return nil, err
		}
	}
	return details, nil
}

// appendPage appends the details of rows.
func (d Details) appendPage(ctx context.Context, details []state.Detail, rows []state.Transfer) ([]state.Detail, error) {
	seqs := make([]int64, 0, 2*len(rows))
	for i := range rows {
		for _, seq := range []int64{rows[i].IntentSeq, rows[i].OutcomeSeq} {
			if seq != 0 {
				seqs = append(seqs, seq)
			}
		}
	}
	events, err := d.Events(ctx, seqs)
	if err != nil {
		return nil, err
	}
	before := len(details)
	for i := range rows {
		detail, err := state.NewDetail(rows[i], events[rows[i].IntentSeq], events[rows[i].OutcomeSeq])
		if err != nil {
			return nil, err
		}
		details = append(details, detail)
	}
	return details, d.Name(ctx, details[before:])
}
