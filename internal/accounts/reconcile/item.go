package reconcile

import (
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// Break is one way in which the state and the service do not agree about a transfer.
type Break string

// The breaks, the gravest first.
const (
	Several     Break = "several"      // more than one debit, or credit, under one ref_id: it may have been paid twice
	NotMade     Break = "not_made"     // made at the service, and refused, unsent or settled as not made in the state
	Conflict    Break = "conflict"     // a conflict in the state that nobody settled yet
	Amount      Break = "amount"       // another amount than was asked for or accepted
	Asset       Break = "asset"        // another asset
	Customer    Break = "customer"     // a record of another customer
	SameID      Break = "same_id"      // the debit and the credit have one id
	Field       Break = "field"        // another compared field: whose profile, type, direction, IDs, metadata, fee
	Unbalanced  Break = "unbalanced"   // the debit has no credit of the same amount and asset
	OneSide     Break = "one_side"     // the debit or the credit is missing
	ServiceOnly Break = "service_only" // the state has no such transfer
	StateOnly   Break = "state_only"   // the service has no such transfer
	Status      Break = "status"       // another status of the service: PENDING, COMPLETED or FAILED
	Created     Break = "created"      // another created_at than that of the stored record
	InDoubt     Break = "in_doubt"     // in doubt in the state, whether the service has it or not
	Unverified  Break = "unverified"   // unverified in the state
	SharedGroup Break = "shared_group" // its group_id belongs to other ref_ids as well
	Duplicate   Break = "duplicate"    // a record is given more than once
	Unreadable  Break = "unreadable"   // what the service answered to the lookup can't be read, or whose a record is
)

// Breaks lists every break, the gravest first.
func Breaks() []Break {
	return []Break{
		Several, NotMade, Conflict, Amount, Asset, Customer, SameID, Field, Unbalanced, OneSide, ServiceOnly, StateOnly,
		Status, Created, InDoubt, Unverified, SharedGroup, Duplicate, Unreadable,
	}
}

// Result is the verdict on an item.
type Result string

// The results.
const (
	Matched  Result = "matched"  // both have it and agree
	Accepted Result = "accepted" // they differ in what a person has accepted or forgotten, and in nothing else
	Differs  Result = "differs"  // it has a break: action needed
)

// Item is one transfer: of the state, of the service, or of both.
type Item struct {
	Result Result
	Breaks []Break // the gravest first; none unless Result is Differs

	RefID   string // "" of a transfer that only the service has, and without a ref_id
	GroupID string
	Asset   string // as the state has it, else the service
	Amount  string // as it was asked for, else as the service has it; a plain decimal

	// State is nil where the state has no such ref_id.
	State *state.Transfer
	Batch string // of the state; "" for none
	// Stored is the created_at of the record that the state has; zero for none.
	Stored time.Time

	Debit, Credit *Side  // nil where the side is missing
	More          []Side // records of a side that has one already

	Differences []Difference
	Reason      string // in words, beyond the Breaks; "" for nothing
	Next        string // the command to type; "" for none
}

// At is when the service made it, or else when it was sent or settled.
func (item *Item) At() time.Time {
	switch {
	case item.Debit != nil:
		return item.Debit.CreatedAt
	case item.Credit != nil:
		return item.Credit.CreatedAt
	case !item.Stored.IsZero(), item.State == nil:
		return item.Stored
	case item.State.AttemptedAt.IsZero():
		return item.State.SettledAt
	}
	return item.State.AttemptedAt
}

// kept is an item that holds after the next one is made.
func (item *Item) kept() Item {
	held := *item
	if item.State != nil {
		row := *item.State
		held.State = &row
	}
	return held
}

// Has reports whether the item has the break.
func (item *Item) Has(b Break) bool { return slices.Contains(item.Breaks, b) }

// add adds breaks that are not there yet.
func (item *Item) add(breaks ...Break) {
	for _, b := range breaks {
		if !item.Has(b) {
			item.Breaks = append(item.Breaks, b)
		}
	}
}

// finish puts the breaks in their order, and sets the result of the item.
func (item *Item) finish() {
	if len(item.Breaks) == 0 {
		return
	}
	item.Result = Differs
	order := Breaks()
	slices.SortFunc(item.Breaks, func(a, b Break) int { return slices.Index(order, a) - slices.Index(order, b) })
}

// Difference is a field of one side in which the service differs from the request, or from
// what the state has recorded.
type Difference struct {
	transfer.Difference
	Side     transfer.Direction `json:"side,omitempty"` // "" where it is of both sides together
	Place    string             `json:"place,omitempty"`
	Accepted bool               `json:"accepted,omitempty"` // by a person; it is no break
}

// breakOf is the break that a difference is.
func breakOf(field string) Break {
	switch field {
	case "amount":
		return Amount
	case "asset", "balance_asset":
		return Asset
	case "customer_id":
		return Customer
	case "created_at":
		return Created
	case "status":
		return Status
	}
	return Field
}
