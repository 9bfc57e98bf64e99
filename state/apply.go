package state

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"remit/internal/transfer"
)

// Apply returns what a ref_id becomes by an [Intent] or an [Outcome] about it, written as
// event seq at the time at. The zero Transfer is a ref_id that was never intended. It is the
// only place that decides this, and it keeps laws 2 and 3 whatever its caller does; [Edges]
// lists all that it allows. The error is wrapped around one of
//
//   - [ErrRecorded], [ErrDifferent], [ErrTombstone] for an intent that must not be sent;
//   - [ErrNoAttempt] for an answer without an open attempt of its run, and for an outcome
//     of a ref_id without a request: a record found before a first sending is appended as
//     an intent and, in the same call, the outcome of the lookup. So is what a list says, which
//     settles the intent directly before it and no other attempt;
//   - [ErrTombstone] for an outcome, of anything but a person, of a tombstone;
//   - [ErrRecorded] for a record that differs from the one that is stored, or, unless a person
//     gives it, has another group_id than a list said in its place;
//   - *[EdgeError] for an outcome that its source may not give.
//
// Apply panics where d is neither, or is of another ref_id.
func (t Transfer) Apply(d Draft, seq int64, at time.Time) (Transfer, error) {
	refID, _ := d.Entry.Subject()
	if t.Status != 0 && t.RefID != refID {
		panic(fmt.Sprintf("an entry of %q applied to %q", refID, t.RefID))
	}
	switch e := d.Entry.(type) {
	case Intent:
		next, err := t.intend(e, d.request, seq, at)
		if err != nil {
			return t, fmt.Errorf("intend %q: %w", refID, err)
		}
		return next, nil
	case Outcome:
		next, err := t.settle(e, d.record, seq)
		if err != nil {
			return t, fmt.Errorf("record outcome of %q: %w", refID, err)
		}
		next.SettledAt, next.OutcomeSeq = at, seq
		return next, nil
	case Created, Begun, Ended, Unlocked, Rebound, ClockConfirmed, Asked, Erased:
	}
	panic(fmt.Sprintf("%T is not about a ref_id", d.Entry))
}

func (t Transfer) intend(i Intent, r request, seq int64, at time.Time) (Transfer, error) {
	switch t.Status {
	case 0, Unsent, Refused:
		return Transfer{
			RefID: i.RefID, Status: InDoubt,
			Fingerprint: r.fingerprint, RequestDigest: r.digest,
			Twin: r.twin, Destination: r.destination, Asset: r.asset, Amount: r.amount,
			FromLabel:  i.FromLabel,
			IntendedAt: at, AttemptedAt: at, RunID: i.RunID, IntentSeq: seq,
		}, nil
	case InDoubt:
		if t.RequestDigest != r.digest {
			return t, ErrDifferent
		}
		t.Doubted = true
		t.AttemptedAt, t.SettledAt, t.RunID = at, time.Time{}, i.RunID
		return t, nil
	case Recorded, Adopted, Unverified, Conflict:
		return t, ErrRecorded
	case Tombstone:
		return t, ErrTombstone
	}
	panic(fmt.Sprintf("ref_id %q has %s", t.RefID, t.Status))
}

func (t Transfer) settle(o Outcome, r record, seq int64) (Transfer, error) {
	if t.Status == 0 && o.Source != SourceImport {
		return t, ErrNoAttempt
	}
	switch o.Source {
	case SourceAnswer:
		return t.answer(o, r)
	case SourceLookup:
		return t.found(o, r)
	case SourcePerson:
		return t.told(o, r)
	case SourceImport:
		return t.imported(o, r, seq)
	}
	panic(fmt.Sprintf("unknown source %q", o.Source))
}

// answer settles the open attempt, and nothing before it: while an earlier attempt is in
// doubt, a refusal of a later one says nothing about that one (law 3).
func (t Transfer) answer(o Outcome, r record) (Transfer, error) {
	if !t.Open() || t.RunID != o.RunID {
		return t, ErrNoAttempt
	}
	switch o.Status {
	case Recorded, Adopted, Unverified:
		return t.store(o.Status, r), nil
	case Conflict:
		return t.end(Conflict), nil
	case Unsent, Refused:
		if t.Doubted {
			return t, nil
		}
		return t.end(o.Status), nil
	case InDoubt:
		return t, nil
	case Tombstone:
	}
	return t, t.noEdge(o)
}

// found is what a lookup says: it can prove that a transfer was made, never that it was not,
// since lists lag.
func (t Transfer) found(o Outcome, r record) (Transfer, error) {
	switch t.Status {
	case InDoubt:
		switch o.Status {
		case Recorded, Adopted, Unverified:
			return t.store(o.Status, r), nil
		case Conflict:
			return t.end(Conflict), nil
		case InDoubt:
			return t, nil
		case Unsent, Refused, Tombstone:
		}
	case Unsent, Refused:
		switch o.Status {
		case Adopted, Unverified:
			return t.store(o.Status, r), nil
		case Conflict:
			return t.end(Conflict), nil
		case Unsent, InDoubt, Recorded, Refused, Tombstone:
		}
	case Recorded, Adopted, Unverified:
		if o.Status == Conflict {
			return t.end(Conflict), nil
		}
		if o.Status.Made() {
			return t.refresh(o, r)
		}
	case Tombstone:
		return t, ErrTombstone
	case Conflict:
	}
	return t, t.noEdge(o)
}

// told is a person's word. It can end everything, and nothing that it says lets a ref_id be
// sent again.
func (t Transfer) told(o Outcome, r record) (Transfer, error) {
	switch o.Status {
	case Recorded, Adopted:
		if r.isListed {
			return t.vouched(o, r)
		}
		if t.Status.Made() {
			return t.refresh(o, r)
		}
		if err := t.checkRecord(r); err != nil {
			return t, err
		}
		return t.store(o.Status, r), nil
	case Tombstone:
		if t.Status == Tombstone {
			return t, ErrTombstone
		}
		if t.Status == Conflict && t.IsListed() {
			t.GroupID = "" // that it was made is settled as wrong
		}
		return t.end(Tombstone), nil
	case Unsent, InDoubt, Unverified, Refused, Conflict:
	}
	return t, t.noEdge(o)
}

// vouched takes a person's word that what a list says was made, where the row has nothing else.
func (t Transfer) vouched(o Outcome, r record) (Transfer, error) {
	switch t.Status {
	case Unverified, Conflict:
		if !t.IsListed() || t.GroupID != r.groupID {
			return t, fmt.Errorf("what a list says of group_id %q: %w", r.groupID, ErrRecorded)
		}
		return t.end(o.Status), nil
	case Unsent, InDoubt, Recorded, Adopted, Refused, Tombstone:
	}
	return t, t.noEdge(o)
}

// listed takes what a list says for the outcome of the intent directly before it, which its run
// wrote to name the request, and under which nothing is sent. Of any other attempt a list says
// nothing: it is somebody's claim, and a doubt ends by a record or a person (law 3).
func (t Transfer) listed(o Outcome, r record, seq int64) (Transfer, error) {
	if !t.Open() || t.Doubted || t.RunID != o.RunID || t.IntentSeq+1 != seq {
		return t, ErrNoAttempt
	}
	t.GroupID = strings.Clone(r.groupID)
	return t.end(o.Status), nil
}

// imported makes a row of a record alone, or of what a list says. Its request is unknown: it has
// no fingerprint and no twin, and its asset and amount are the record's.
func (t Transfer) imported(o Outcome, r record, seq int64) (Transfer, error) {
	if r.isListed && t.Status == InDoubt {
		return t.listed(o, r, seq)
	}
	if t.Status != 0 {
		return t, ErrRecorded
	}
	if o.Status != Adopted && o.Status != Unverified {
		return t, t.noEdge(o)
	}
	amount, err := transfer.ParseRecorded(strings.Clone(r.amount))
	if err != nil {
		return t, fmt.Errorf("amount %q: %w", r.amount, err)
	}
	t = Transfer{RefID: o.RefID, Asset: strings.Clone(r.asset), Amount: amount, RunID: o.RunID}
	return t.store(o.Status, r), nil
}

// refresh takes the service's own status over from a newer copy of the record that is
// stored, and takes a proven destination for what it is.
func (t Transfer) refresh(o Outcome, r record) (Transfer, error) {
	if err := t.checkRecord(r); err != nil {
		return t, err
	}
	if t.IsListed() && o.Source != SourcePerson && r.groupID != "" && r.groupID != t.GroupID {
		return t, fmt.Errorf("a record of group_id %q instead of %q: %w", r.groupID, t.GroupID, ErrRecorded)
	}
	status := t.Status
	switch {
	case status == Unverified && o.Status != Unverified:
		status = Adopted
	case o.Status == Unverified && len(o.Differences) > 0: // the newer copy falls short
		status = Unverified
	}
	if t.RecordStatus.Final() && !r.status.Final() {
		r.status = t.RecordStatus // a list that lags
	}
	if r.groupID == "" {
		r.groupID = t.GroupID
	}
	return t.store(status, r), nil
}

// checkRecord keeps a stored record under its ref_id, and another one away from it.
func (t Transfer) checkRecord(r record) error {
	if t.RecordID != "" && t.RecordID != r.id {
		return fmt.Errorf("record %q instead of %q: %w", r.id, t.RecordID, ErrRecorded)
	}
	return nil
}

// store ends a doubt with a record.
func (t Transfer) store(status Status, r record) Transfer {
	if t.RecordID == "" {
		t.SharesID = r.sharesID
	}
	t.RecordID, t.GroupID, t.RecordStatus = r.id, r.groupID, r.status
	return t.end(status)
}

// end ends a doubt. A record that was stored before stays: its id is never free again.
func (t Transfer) end(status Status) Transfer {
	t.Status, t.Doubted = status, false
	return t
}

func (t Transfer) noEdge(o Outcome) error {
	return &EdgeError{RefID: o.RefID, From: t.Status, Source: o.Source, Says: o.Status}
}

// Apply returns what the state says of itself after an entry, written as event seq at the
// time at. The caller sets Head, and Fence where it locks. The first record that is stored
// names the customer; a record of another one is refused with a *[CustomerError], unless a
// person accepts it.
func (m Meta) Apply(d Draft, seq int64, at time.Time) (Meta, error) {
	switch e := d.Entry.(type) {
	case Created:
		if m.Lineage != "" {
			return m, errors.New("a state is created once")
		}
		m = Meta{
			Lineage: e.Lineage, Environment: e.Environment, Service: e.Service,
			Precheck: e.NewState, CreatedAt: at, Fence: m.Fence,
		}
	case Rebound:
		m.Service, m.Environment = e.After, cmp.Or(e.EnvironmentAfter, m.Environment)
	case Outcome:
		switch got := d.record.customerID; {
		case got == "" || got == m.Service.CustomerID:
		case m.Service.CustomerID == "":
			m.Service.CustomerID = strings.Clone(got)
		case e.Source != SourcePerson:
			return m, fmt.Errorf("record outcome of %q: %w", e.RefID, &CustomerError{Want: m.Service.CustomerID, Got: got})
		}
	case Begun, Intent, Ended, Unlocked, ClockConfirmed, Asked, Erased:
	}
	m.Serial, m.At = seq, at
	return m, nil
}

// Run is one apply, as the journal has it. The zero Run has not begun.
type Run struct {
	Begun   Begun
	BegunAt time.Time
	Ended   *Ended // nil while it runs, and where it died
	EndedAt time.Time
}

// Apply returns the run after its [Begun] or its [Ended], written at the time at. It returns
// [ErrRun] where a run would begin or end twice, or end without having begun.
func (r Run) Apply(d Draft, at time.Time) (Run, error) {
	begun := r.Begun.RunID != ""
	switch e := d.Entry.(type) {
	case Begun:
		if begun {
			return r, fmt.Errorf("begin run %q: %w", e.RunID, ErrRun)
		}
		return Run{Begun: e, BegunAt: at}, nil
	case Ended:
		if !begun || r.Ended != nil {
			return r, fmt.Errorf("end run %q: %w", e.RunID, ErrRun)
		}
		r.Ended, r.EndedAt = &e, at
		return r, nil
	case Created, Intent, Outcome, Unlocked, Rebound, ClockConfirmed, Asked, Erased:
	}
	panic(fmt.Sprintf("%T is not about a run", d.Entry))
}
