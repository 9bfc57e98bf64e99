package state

import (
	"iter"
	"time"

	"remit/internal/transfer"
)

// Outline is what a plan asks of a recorded ref_id, of a million of them at once: a [Transfer]
// without the fields of its run, its record and its history.
type Outline struct {
	RefID       string
	Status      Status
	Fingerprint transfer.Fingerprint
	Twin        transfer.Twin
	Destination transfer.Destination

	Asset     string
	Amount    transfer.Amount
	FromLabel bool

	HasRecord    bool // the service's record is known, or what a list says in its place
	RecordStatus transfer.RecordStatus

	IntendedAt  time.Time
	AttemptedAt time.Time
	Open        bool   // the latest attempt has no outcome
	RunID       string // run of the latest attempt where that is open; "" elsewhere
}

// Outline returns what a plan asks of t.
func (t Transfer) Outline() Outline {
	o := Outline{
		RefID: t.RefID, Status: t.Status, Fingerprint: t.Fingerprint, Twin: t.Twin, Destination: t.Destination,
		Asset: t.Asset, Amount: t.Amount, FromLabel: t.FromLabel,
		HasRecord: t.RecordID != "" || t.IsListed(), RecordStatus: t.RecordStatus,
		IntendedAt: t.IntendedAt, AttemptedAt: t.AttemptedAt, Open: t.Open(),
	}
	if o.Open {
		o.RunID = t.RunID
	}
	return o
}

// MayBeMade is that of the [Transfer].
func (o Outline) MayBeMade() bool {
	if o.Status == Conflict { // over a FAILED record as well: nothing tells which one is right
		return true
	}
	forgotten := o.Status == Tombstone && o.HasRecord
	return (o.Status.MayBeMade() || forgotten) && o.RecordStatus != transfer.Failed
}

// AsksForPerson reports whether a person should look at it, with any declaration: it may or may not
// have been made, or the record is not proven, or it differs from the request. Of what the service
// calls FAILED nothing is to be proven: no money moved.
func (o Outline) AsksForPerson() bool {
	switch o.Status {
	case InDoubt, Conflict:
		return true
	case Unverified:
		return o.RecordStatus != transfer.Failed
	case Unsent, Recorded, Adopted, Refused, Tombstone:
	}
	return false
}

// HasUnknownStatus reports whether the service calls it by a status that its document does not list: it is recorded, and
// nobody but a person can say how it ended.
func (o Outline) HasUnknownStatus() bool {
	return o.Status.Made() && o.RecordStatus != "" && !o.RecordStatus.Known()
}

// OutlinesOf is what [Snapshot.Outlines] yields where Transfers yields rows: for a snapshot
// that has no cheaper way to it.
func OutlinesOf(rows iter.Seq2[Transfer, error]) iter.Seq2[Outline, error] {
	return func(yield func(Outline, error) bool) {
		for t, err := range rows {
			if !yield(t.Outline(), err) {
				return
			}
		}
	}
}
