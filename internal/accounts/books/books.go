// Package books makes entries of account books of what a state knows.
//
// Its one invariant: money is booked once and as the service's record says, or it is counted
// among the entries that are not booked. Nothing is guessed.
package books

import (
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/state"
)

// Booking says whether an entry is booked.
type Booking string

// The bookings of an entry.
const (
	Completed Booking = "completed" // booked: the service's record says that it is done
	Pending   Booking = "pending"   // booked, and a record may still change it: see [Entry.Cause]
	Open      Booking = "open"      // not booked: money moved or may have moved, and no record says how
	None      Booking = "none"      // not booked: no money moved
)

// Booked reports whether an entry has postings.
func (s Booking) Booked() bool { return s == Completed || s == Pending }

// Cause is why an entry is not simply completed.
type Cause string

// The causes of the bookings, in the order in which they are told.
const (
	CauseUnfinished Cause = "unfinished" // Pending: the service has not finished it
	// CauseUnknown is Pending: the service calls it by a status that its document does not list.
	CauseUnknown    Cause = "unknown status"
	CauseUnverified Cause = "unverified" // Pending: nothing proves the destination

	CauseInDoubt    Cause = "in doubt"   // Open: no outcome is known
	CauseConflict   Cause = "conflict"   // Open: request and record differ
	CauseConversion Cause = "conversion" // Open: the record has two assets and no rate
	CauseUnreadable Cause = "unreadable" // Open: an amount of the record is no plain decimal, or its total is not of them
	CauseListed     Cause = "listed"     // Open: a list says that it was made, and no record says how

	CauseFailed  Cause = "failed"   // None: the service says FAILED
	CauseRefused Cause = "refused"  // None: the service said no
	CauseUnsent  Cause = "unsent"   // None: nothing was sent
	CauseNotMade Cause = "not made" // None: a person said so
)

// Causes lists them all.
func Causes() []Cause {
	return []Cause{
		CauseUnfinished, CauseUnknown, CauseUnverified,
		CauseInDoubt, CauseConflict, CauseConversion, CauseUnreadable, CauseListed,
		CauseFailed, CauseRefused, CauseUnsent, CauseNotMade,
	}
}

// Booking returns that of an entry with this cause; Completed for none.
func (c Cause) Booking() Booking {
	switch c {
	case CauseUnfinished, CauseUnknown, CauseUnverified:
		return Pending
	case CauseInDoubt, CauseConflict, CauseConversion, CauseUnreadable, CauseListed:
		return Open
	case CauseFailed, CauseRefused, CauseUnsent, CauseNotMade:
		return None
	}
	return Completed
}

// NeedsPerson reports whether a person should look at an entry with this cause.
func (c Cause) NeedsPerson() bool {
	return c.Booking() == Open || c == CauseUnverified || c == CauseUnknown
}

// Entry is one transfer as the books have it.
type Entry struct {
	RefID        string
	Status       state.Status
	RecordStatus transfer.RecordStatus // the service's own; "" without a record
	Cause        Cause                 // "" where it is completed
	Reason       string                // in words, of the cause; "" for none

	// At is when the service made the record; without a record, when the request was first
	// intended. It never changes once there is a record. Of a conflict it is the earlier of both:
	// nobody knows yet which record is right.
	At        time.Time
	UpdatedAt time.Time // when the service last changed the record; zero without one
	Due       time.Time // of the occurrence of a schedule; zero for none

	RecordID  string
	GroupID   string
	RunID     string // that sent it last, or imported it
	IntentSeq int64  // event with the request in force; 0 where it was imported without one
	Batch     string
	Place     string
	Operation transfer.Operation // "" where it was imported without a request
	Reverses  string             // a ref_id; "" for none
	Metadata  transfer.Metadata

	From, To string // profile_ids; "" where nothing says which
	Asset    string

	// ToIdentityID and ToAccountID are within To: as the record of its side says, and where it
	// does not, as was asked for of the same profile. "" where nothing says which.
	ToIdentityID, ToAccountID string

	// Amount, Fee and Total are those of the deciding record. Without a record, Amount is the one that
	// was asked for, and the others are 0.
	Amount, Fee, Total decimal.Decimal

	// Asked is the movement of the request; the zero one where it was imported without a request.
	Asked Movement

	Postings []Posting // of a booked entry; they add up to 0

	BothSides  bool // the records of both sides are there
	creditDone bool // that of the destination's side is there and says COMPLETED
}

// Movement is an amount of an asset that goes from a profile to another one.
type Movement struct {
	From, To string // profile_ids
	Asset    string
	Amount   decimal.Decimal
}

// Recorded is the movement that the records have; without a record, that of the request.
func (e *Entry) Recorded() Movement { return Movement{e.From, e.To, e.Asset, e.Amount} }

// Instructed is the movement that was asked for, or without a request the recorded one. They are the same, unless a
// person accepted a record that differs.
func (e *Entry) Instructed() Movement {
	if e.Asked.Asset == "" {
		return e.Recorded()
	}
	return e.Asked
}

// Fees are the amounts that the service kept of booked entries, by the records of both sides.
func (e *Entry) Fees() decimal.Decimal {
	for _, p := range e.Postings {
		if p.Role == Fees {
			return p.Amount
		}
	}
	return decimal.Decimal{}
}

// Booking says whether the entry is booked.
func (e *Entry) Booking() Booking { return e.Cause.Booking() }

// Posting changes the balance of one account.
type Posting struct {
	Role    Role
	Profile string // of a Sender or a Recipient; "" where nothing says which
	Amount  decimal.Decimal
}

// Role says whose account a posting is about.
type Role int

// The roles of a posting, in the order in which an entry has them.
const (
	Sender     Role = iota
	Recipient       //
	Fees            // what the service kept
	Difference      // by how much total, amount and fee of a record do not add up
)
