package planner

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// row is what stays in memory of a recorded ref_id: 72 bytes without a pointer, as there may be ten million of
// them, which the garbage collector then need not look at. [rows] has its texts.
type row struct {
	fingerprint transfer.Fingerprint
	twin        transfer.Twin
	destination transfer.Destination
	intended    int64 // milliseconds since 1970; unknownAge where the state does not say
	asset       int32 // number in rows.assets
	batch       int32 // one more than the number of its batch with a control block; 0 where it has none
	text        shortPlace
	status      state.Status
	marks       marks
	refIDLength uint8 // in bytes; refIDIsLong where the length stands before the text
}

// refIDIsLong is the refIDLength of a ref_id that has so many bytes or more: a hundred letters may have four bytes each.
const refIDIsLong = math.MaxUint8

// shortPlace is a [textPlace] in five bytes, the highest first.
type shortPlace [5]byte

func (p textPlace) short() shortPlace {
	at := uint64(p.chunk)<<chunkBits | uint64(p.offset)
	return shortPlace{byte(at >> 32), byte(at >> 24), byte(at >> 16), byte(at >> 8), byte(at)}
}

func (p shortPlace) place() textPlace {
	at := uint64(p[0])<<32 | uint64(p[1])<<24 | uint64(p[2])<<16 | uint64(p[3])<<8 | uint64(p[4])
	return textPlace{int32(at >> chunkBits), int32(at & (chunkMax - 1))}
}

// marks are what a row has or has not, a bit each.
type marks uint8

const (
	markCompleted marks = 1 << iota // by the service's own status
	markFailed
	markMayBeMade // what a look-alike is compared with
	markListed    // made by the word of a list, without a record
	markFromLabel
	markInFlight // its latest attempt is under way in a run that is alive
	markDeclared
	markHasLine // in the plan, once that has all of its lines
)

func (r *row) is(mark marks) bool { return r.marks&mark != 0 }

func (r *row) set(mark marks) { r.marks |= mark }

// setIf sets a mark where that is so.
func (r *row) setIf(mark marks, is bool) {
	if is {
		r.set(mark)
	}
}

// unknownAge stands for a time that the state does not know. Such a row counts as new:
// a look-alike that may be old is better asked about than paid.
const unknownAge = 0

// isWithin reports whether a time, as a row has it, may be at most d before now.
func (m *moments) isWithin(made int64, d time.Duration) bool {
	return made == unknownAge || m.mayBe(time.UnixMilli(made), func(at time.Time) bool { return m.now.Sub(at) <= d })
}

// rows are all recorded ref_ids, in byte order, which is that of the state's one scan.
type rows struct {
	list[row]
	texts  texts // of each row the length of a long ref_id, the ref_id, the digits of its amount, and endOfAmount
	assets []string

	conflicts []string // their ref_ids
	unknown   []int32  // the numbers of those whose status at the service its document does not list, in their order
}

const endOfAmount = 0

// readRows reads the recorded transfers; the share that limits and pending count,
// as it comes.
func readRows(ctx context.Context, record Record, limits *limitTally, pending *pendingSince) (*rows, error) {
	all := new(rows)
	holder, alive := record.Holder()
	assets := make(map[string]int32)
	var unclear unclear
	var text []byte
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
		if last := all.len() - 1; last >= 0 && t.RefID <= all.refID(all.at(last)) {
			return nil, fmt.Errorf("read the recorded transfers: %q comes after %q: %w", t.RefID, all.refID(all.at(last)), state.ErrDamaged)
		}
		text = text[:0]
		if len(t.RefID) >= refIDIsLong {
			text = binary.BigEndian.AppendUint32(text, uint32(len(t.RefID)))
		}
		text = append(append(append(text, t.RefID...), t.Amount.String()...), endOfAmount)
		r := all.add(row{
			text: all.texts.add(text).short(), refIDLength: uint8(min(len(t.RefID), refIDIsLong)),
			fingerprint: t.Fingerprint, twin: t.Twin, destination: t.Destination, asset: asset,
			intended: unknownAge, status: t.Status,
		})
		r.setIf(markCompleted, t.RecordStatus == transfer.Completed)
		r.setIf(markFailed, t.RecordStatus == transfer.Failed)
		r.setIf(markMayBeMade, t.MayBeMade())
		if t.Status == state.Conflict {
			all.conflicts = append(all.conflicts, strings.Clone(t.RefID))
		}
		if t.HasUnknownStatus() {
			all.unknown = append(all.unknown, int32(all.len()-1))
		}
		unclear.note(&t)
		r.setIf(markListed, t.Status.Made() && t.RecordStatus == "")
		r.setIf(markFromLabel, t.FromLabel)
		r.setIf(markInFlight, alive && t.Open && holder.RunID != "" && t.RunID == holder.RunID)
		if !t.IntendedAt.IsZero() {
			r.intended = t.IntendedAt.UnixMilli()
		}
	}
	return all, unclear.eachMade(ctx, record, func(d *state.Detail) error {
		at := sort.Search(all.len(), func(i int) bool { return all.refID(all.at(i)) >= d.RefID })
		all.at(at).set(markMayBeMade)
		return nil
	})
}

func (all *rows) refID(r *row) string {
	refID, _ := all.textsOf(r)
	return refID
}

// hasUnknownStatus reports whether the service's document does not list the status of a row.
func (all *rows) hasUnknownStatus(r *row) bool {
	if len(all.unknown) == 0 || r.is(markCompleted) || r.is(markFailed) { // as mostly
		return false
	}
	_, isUnknown := slices.BinarySearchFunc(all.unknown, all.refID(r), func(n int32, refID string) int {
		return strings.Compare(all.refID(all.at(int(n))), refID)
	})
	return isUnknown
}

func (all *rows) amount(r *row) transfer.Amount {
	_, text := all.textsOf(r)
	return transfer.MustAmount(text[:strings.IndexByte(text, endOfAmount)])
}

// textsOf are the ref_id of a row, and what is kept behind it.
func (all *rows) textsOf(r *row) (refID, behind string) {
	text, length := all.texts.from(r.text.place()), int(r.refIDLength)
	if length == refIDIsLong {
		const size = 4
		length = int(binary.BigEndian.Uint32([]byte(text[:size])))
		text = text[size:]
	}
	return text[:length], text[length:]
}

// assetOf is the asset that a row moves.
func (all *rows) assetOf(r *row) string { return all.assets[r.asset] }
