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
	text        string // the ref_id, and behind it the digits of the amount
	fingerprint transfer.Fingerprint
	twin        transfer.Twin
	destination transfer.Destination
	intended    int64 // milliseconds since 1970; unknownAge where the state does not say
	asset       int32 // number in rows.assets
	refIDLength int16
	status      state.Status
	found       findings
	fromLabel   bool
	inFlight    bool // its latest attempt is under way in a run that is alive
	declared    bool
	hasLine     bool  // in the plan, once that has all of its lines
	batch       int32 // one more than the number of its batch with a control block; 0 where it has none
}

// findings are what the record of a ref_id says, in one byte: with one for each a row would be a twelfth larger.
type findings uint8

const (
	foundCompleted findings = 1 << iota // by the service's own status
	foundFailed
	foundMayBeMade // what a look-alike is compared with
	foundListed    // made by the word of a list, without a record
)

func findingsOf(t *state.Outline) findings {
	all := findings(0)
	note := func(f findings, is bool) {
		if is {
			all |= f
		}
	}
	note(foundCompleted, t.RecordStatus == transfer.Completed)
	note(foundFailed, t.RecordStatus == transfer.Failed)
	note(foundMayBeMade, t.MayBeMade())
	note(foundListed, t.Status.Made() && t.RecordStatus == "")
	return all
}

func (r *row) isCompleted() bool { return r.found&foundCompleted != 0 }
func (r *row) isFailed() bool    { return r.found&foundFailed != 0 }
func (r *row) mayBeMade() bool   { return r.found&foundMayBeMade != 0 }
func (r *row) isListed() bool    { return r.found&foundListed != 0 }

func (r *row) refID() string { return r.text[:r.refIDLength] }

func (r *row) amount() transfer.Amount { return transfer.MustAmount(r.text[r.refIDLength:]) }

// unknownAge stands for a time that the state does not know. Such a row counts as new:
// a look-alike that may be old is better asked about than paid.
const unknownAge = 0

// within reports whether the row may have been intended at most d before now.
func (r *row) within(d time.Duration, m *moments) bool {
	return r.intended == unknownAge || m.mayBe(time.UnixMilli(r.intended), func(at time.Time) bool { return m.now.Sub(at) <= d })
}

// rows are all recorded ref_ids, in byte order, which is that of the state's one scan. They are held in
// chunks, which never move, so that a million of them are not copied to grow.
type rows struct {
	chunks [][]row
	count  int
	texts  texts
	assets []string
}

const (
	rowsPerChunk = 4096
	rowsFirst    = 64 // capacity of the first chunk: most states are small
)

// readRows reads the recorded transfers; the share that limits and pending count,
// as it comes.
func readRows(ctx context.Context, record Record, limits *limitTally, pending *pendingSince) (*rows, error) {
	all := new(rows)
	holder, alive := record.Holder()
	assets := make(map[string]int32)
	for t, err := range record.Outlines(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the recorded transfers: %w", err)
		}
		limits.recorded(&t)
		pending.recorded(&t)
		asset, ok := assets[t.Asset]
		if !ok {
			asset = int32(len(all.assets))
			all.assets = append(all.assets, t.Asset)
			assets[t.Asset] = asset
		}
		if all.count > 0 && t.RefID <= all.at(all.count-1).refID() {
			return nil, fmt.Errorf("read the recorded transfers: %q comes after %q: %w", t.RefID, all.at(all.count-1).refID(), state.ErrDamaged)
		}
		r := all.add()
		*r = row{
			text: all.texts.keep(t.RefID, t.Amount.String()), refIDLength: int16(len(t.RefID)),
			fingerprint: t.Fingerprint, twin: t.Twin, destination: t.Destination, asset: asset,
			intended: unknownAge, status: t.Status, fromLabel: t.FromLabel,
			found:    findingsOf(&t),
			inFlight: alive && t.Open && holder.RunID != "" && t.RunID == holder.RunID,
		}
		if !t.IntendedAt.IsZero() {
			r.intended = t.IntendedAt.UnixMilli()
		}
	}
	return all, nil
}

func (all *rows) add() *row {
	last := len(all.chunks) - 1
	if last < 0 || len(all.chunks[last]) == cap(all.chunks[last]) {
		size := rowsPerChunk
		if last < 0 {
			size = rowsFirst
		}
		all.chunks = append(all.chunks, make([]row, 0, size))
		last++
	}
	n := len(all.chunks[last])
	all.chunks[last] = all.chunks[last][:n+1]
	all.count++
	return &all.chunks[last][n]
}

// at is the row with the given number.
func (all *rows) at(n int) *row {
	if n < rowsFirst {
		return &all.chunks[0][n]
	}
	n -= rowsFirst
	return &all.chunks[1+n/rowsPerChunk][n%rowsPerChunk]
}

// assetOf is the asset that a row moves.
func (all *rows) assetOf(r *row) string { return all.assets[r.asset] }

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
