package planner

import (
	"context"
	"fmt"
	"iter"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// row is what stays in memory of a recorded ref_id.
type row struct {
	refID       string
	fingerprint transfer.Fingerprint
	twin        transfer.Twin
	asset       string
	amount      transfer.Amount
	intended    int64 // milliseconds since 1970; unknownAge where the state does not say
	status      state.Status
	completed   bool // by the service's own status
	failed      bool
	mayBeMade   bool // what a look-alike is compared with
	fromLabel   bool
	inFlight    bool // its latest attempt is under way in a run that is alive
	declared    bool
}

// unknownAge stands for a time that the state does not know. Such a row counts as new:
// a look-alike that may be old is better asked about than paid.
const unknownAge = 0

// within reports whether the row was intended at most d before now.
func (r *row) within(d time.Duration, now time.Time) bool {
	return r.intended == unknownAge || now.Sub(time.UnixMilli(r.intended)) <= d
}

// rows are all recorded ref_ids, in the order of the state's one scan and by ref_id. They
// are held in chunks, which never move, so that a million of them are not copied to grow.
type rows struct {
	byRef  map[string]*row
	chunks [][]row
}

const rowsPerChunk = 4096

func readRows(ctx context.Context, record Record) (*rows, error) {
	all := &rows{byRef: make(map[string]*row)}
	holder, alive := record.Holder()
	assets := make(map[string]string)
	for t, err := range record.Transfers(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the recorded transfers: %w", err)
		}
		asset, ok := assets[t.Asset]
		if !ok {
			asset = t.Asset
			assets[asset] = asset
		}
		r := all.add()
		*r = row{
			refID: t.RefID, fingerprint: t.Fingerprint, twin: t.Twin, asset: asset, amount: t.Amount,
			intended: unknownAge, status: t.Status, fromLabel: t.FromLabel,
			completed: t.RecordStatus == transfer.Completed, failed: t.RecordStatus == transfer.Failed,
			mayBeMade: t.MayBeMade(),
			inFlight:  alive && t.Open() && holder.RunID != "" && t.RunID == holder.RunID,
		}
		if !t.IntendedAt.IsZero() {
			r.intended = t.IntendedAt.UnixMilli()
		}
		all.byRef[r.refID] = r
	}
	return all, nil
}

func (all *rows) add() *row {
	last := len(all.chunks) - 1
	if last < 0 || len(all.chunks[last]) == cap(all.chunks[last]) {
		size := rowsPerChunk
		if last < 0 {
			size = rowsPerChunk / 64 // most states are small
		}
		all.chunks = append(all.chunks, make([]row, 0, size))
		last++
	}
	n := len(all.chunks[last])
	all.chunks[last] = all.chunks[last][:n+1]
	return &all.chunks[last][n]
}

// inOrder yields every row in the order of the scan: byte order of ref_id.
func (all *rows) inOrder() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, chunk := range all.chunks {
			for i := range chunk {
				if !yield(&chunk[i]) {
					return
				}
			}
		}
	}
}
