package books

import (
	"cmp"
	"slices"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/state"
)

// PaymentStatus is the status of a transfer in the words of ISO 20022
// (ExternalPaymentTransactionStatus1Code).
type PaymentStatus string

// The statuses that are reported.
const (
	SettledDebtor   PaymentStatus = "ACSC" // the sender's side is settled
	SettledCreditor PaymentStatus = "ACCC" // the record of the destination's side says so too
	PaymentPending  PaymentStatus = "PDNG" // not finished, or not known
	Rejected        PaymentStatus = "RJCT" // no money moved, and none will under this ref_id
)

// PaymentStatuses lists them.
func PaymentStatuses() []PaymentStatus {
	return []PaymentStatus{SettledCreditor, SettledDebtor, PaymentPending, Rejected}
}

// PaymentStatus says how the transfer ended. A transfer of unknown outcome is pending.
func (e *Entry) PaymentStatus() PaymentStatus {
	switch e.Cause {
	case "":
		if e.creditDone {
			return SettledCreditor
		}
		return SettledDebtor
	case CauseFailed, CauseRefused, CauseNotMade:
		return Rejected
	case CauseConversion, CauseUnreadable:
		if e.RecordStatus == transfer.Completed && e.Status != state.Unverified {
			return SettledDebtor
		}
	case CauseUnfinished, CauseUnknown, CauseUnverified, CauseInDoubt, CauseConflict, CauseListed, CauseUnsent:
	}
	return PaymentPending
}

// Keys of metadata under which a transfer carries what its row of a data "pain001" says, by the
// names of the columns there.
const (
	messageKey     = "message_id"
	informationKey = "payment_information_id"
	instructionKey = "instruction_id"
	uetrKey        = "uetr"
)

// PaymentID is the PmtInfId of the transfer: what its metadata says, else its batch; "" for
// neither.
func (e *Entry) PaymentID() string {
	id, _ := e.Metadata.Get(informationKey)
	return cmp.Or(id, e.Batch)
}

// MessageID is the MsgId of the pain.001 that asked for the transfer; "" where it is not known.
func (e *Entry) MessageID() string {
	id, _ := e.Metadata.Get(messageKey)
	return id
}

// InstructionID is the InstrId of the transfer; "" where it is not known.
func (e *Entry) InstructionID() string {
	id, _ := e.Metadata.Get(instructionKey)
	return id
}

// UETR is the unique end-to-end transaction reference of the transfer; "" where it is not known.
func (e *Entry) UETR() string {
	id, _ := e.Metadata.Get(uetrKey)
	return id
}

// Group are the transfers with one [Entry.PaymentID], in numbers.
type Group struct {
	ID       string
	Statuses map[PaymentStatus]StatusSum
}

// StatusSum counts transfers and sums the amounts up that were asked for. The zero value counts none.
type StatusSum struct {
	Count   int
	Sum     decimal.Decimal // means nothing where IsMixed
	Asset   string          // of the transfers; of one of them where IsMixed
	IsMixed bool            // there is more than one asset
}

// Plus counts the transfers of both.
func (s StatusSum) Plus(other StatusSum) StatusSum {
	switch {
	case s.Count == 0:
		return other
	case other.Count == 0:
		return s
	}
	return StatusSum{
		Count: s.Count + other.Count, Sum: s.Sum.Add(other.Sum), Asset: s.Asset,
		IsMixed: s.IsMixed || other.IsMixed || s.Asset != other.Asset,
	}
}

// All adds up the statuses.
func (g *Group) All() StatusSum {
	var all StatusSum
	for _, s := range g.Statuses {
		all = all.Plus(s)
	}
	return all
}

// messagesMax is how many message IDs are told apart: one, or several.
const messagesMax = 2

type grouper struct {
	groups   []Group
	byName   map[string]int
	messages map[string]bool
}

// add counts an entry, and returns the number of its group.
func (g *grouper) add(e *Entry) int {
	if len(g.messages) < messagesMax {
		g.messages[e.MessageID()] = true
	}
	n, known := g.byName[e.PaymentID()]
	if !known {
		n = len(g.groups)
		g.byName[e.PaymentID()] = n
		g.groups = append(g.groups, Group{ID: e.PaymentID(), Statuses: map[PaymentStatus]StatusSum{}})
	}
	status, asked := e.PaymentStatus(), e.Instructed()
	sum := StatusSum{Count: 1, Sum: asked.Amount, Asset: asked.Asset}
	g.groups[n].Statuses[status] = g.groups[n].Statuses[status].Plus(sum)
	return n
}

// sort puts the groups into the order of their names, and returns the place of each number there.
func (g *grouper) sort() []int {
	slices.SortFunc(g.groups, func(x, y Group) int { return cmp.Compare(x.ID, y.ID) })
	ranks := make([]int, len(g.groups))
	for rank, group := range g.groups {
		ranks[g.byName[group.ID]] = rank
	}
	return ranks
}
