package planner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/state"
)

// pendingLong is how long a transfer may be PENDING before a status names it. Most services are
// done in seconds, and a person need not look at a transfer of a minute ago.
const pendingLong = time.Hour

// pendingSince gathers what the service has not finished for long, and what it calls by a status
// that its document does not list, however new that is.
type pendingSince struct {
	unfinished StatusGroup
	unknown    StatusGroup
	before     time.Time // of the latest attempt
}

func newPendingSince(controls Controls, now time.Time) *pendingSince {
	next := "remit refresh"
	if !controls.Lookup {
		next = doubt.Import
	}
	return &pendingSince{
		unfinished: StatusGroup{Group: GroupPending, Next: next}, unknown: StatusGroup{Group: GroupUnknown, Next: next},
		before: now.Add(-pendingLong),
	}
}

// recorded counts a transfer where it is one of them. Of one without a record the service has said
// nothing. One that was imported has no attempt, and counts as old.
func (p *pendingSince) recorded(o *state.Outline) {
	s := &p.unfinished
	switch {
	case !o.Status.Made() || o.RecordStatus == "" || o.RecordStatus.Final():
		return
	case o.HasUnknownStatus():
		s = &p.unknown
	case o.AttemptedAt.After(p.before):
		return
	}
	s.Totals.Add(o.Asset, o.Amount)
	id := o.RefID // and not o, which would be on the heap then, as would each row of a state
	at, _ := slices.BinarySearchFunc(s.First, o.AttemptedAt, func(c Change, attempted time.Time) int {
		return cmp.Or(c.Recorded.At.Compare(attempted), strings.Compare(c.RefID, id))
	})
	if at == StatusGroupMax {
		return
	}
	// Parts of a larger text would keep that.
	refID, amount := strings.Clone(o.RefID), o.Amount
	if !amount.IsZero() {
		amount = transfer.MustAmount(strings.Clone(amount.String()))
	}
	s.First = slices.Insert(s.First, at, Change{
		Action: None, RefID: refID,
		Request:  transfer.Request{RefID: refID, Asset: strings.Clone(o.Asset), Amount: amount},
		Recorded: &Recorded{Status: o.Status, RecordStatus: transfer.RecordStatus(strings.Clone(string(o.RecordStatus))), At: o.AttemptedAt},
	})
	s.First = s.First[:min(len(s.First), StatusGroupMax)]
}
