package rehearsal

import (
	"cmp"
	"slices"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/planner"
)

// Known is what a state knows beyond a plan of what the plan does to balances. The zero value is nothing.
type Known struct {
	// Fee is what the sender of a request is expected to pay besides the amount, in the same asset; nil
	// expects none.
	Fee func(r *transfer.Request) decimal.Decimal
	// Credits are requests, by ref_id, of earlier runs that are PENDING: their senders were debited,
	// and their destinations may not have been credited yet.
	Credits map[string]transfer.Request
	// Doubts are the ref_ids of transfers in doubt that the plan is to submit: an earlier run of it may have made them.
	Doubts map[string]bool
	// LeavesRefused says that transfers that were refused before are not sent, nor those that wait for them.
	LeavesRefused bool
}

// Need is what one asset of one profile must have before the first transfer of a plan, so that none
// fails for lack of funds in any order that dependencies allow.
type Need struct {
	ProfileID string // as the plan writes it first; in another spelling it is the same profile
	Asset     string

	Takes decimal.Decimal // all that the plan debits, transfers in doubt and Fees included
	Fees  decimal.Decimal // of Takes: those that are expected
	// InDoubt is the part of Takes that is in doubt: where it was made, it is debited already.
	InDoubt decimal.Decimal
	// Covered is the part of Takes that comes in before, by transfers of the plan, or PENDING ones,
	// that those which take it depend on. A transfer that nothing depends on may be made too late to
	// count.
	Covered decimal.Decimal
	// IsLeast is false where dependencies are too entangled to compute Covered: that then is 0, and
	// less than Takes may be enough.
	IsLeast bool
}

// Least is the money that must be there at first.
func (n *Need) Least() decimal.Decimal { return n.Takes.Sub(n.Covered) }

// Needs says how much a plan needs of each account that pays, in order of profile and asset. A transfer in doubt
// counts as not debited yet.
func Needs(plan *planner.Plan, known Known) ([]Need, error) {
	b, err := newLedger(plan, expected{spelled: true, fee: known.Fee, credits: known.Credits, doubts: known.Doubts})
	if err != nil {
		return nil, err
	}
	if known.LeavesRefused {
		b.leaveRefused()
	}
	needs := make([]Need, len(b.accounts))
	for i := range b.movements {
		m := &b.movements[i]
		if m.from == none || m.from == m.to {
			continue
		}
		n, whole := &needs[m.from], m.amount.Add(m.fee)
		n.Takes, n.Fees = n.Takes.Add(whole), n.Fees.Add(m.fee)
		if m.doubt {
			n.InDoubt = n.InDoubt.Add(whole)
		}
	}
	b.lowestOfAll()
	for i, a := range b.accounts {
		n := &needs[i]
		n.ProfileID, n.Asset, n.IsLeast = a.ProfileID, a.Asset, a.LowestKnown
		if n.IsLeast {
			n.Covered = n.Takes.Add(a.LowestOfAll) // which began with 0
		}
	}
	needs = slices.DeleteFunc(needs, func(n Need) bool { return n.Takes.IsZero() })
	slices.SortFunc(needs, func(x, y Need) int {
		return cmp.Or(cmp.Compare(x.ProfileID, y.ProfileID), cmp.Compare(x.Asset, y.Asset))
	})
	return needs, nil
}

// leaveRefused has transfers that were refused before move nothing, and so those that wait for them.
func (b *ledger) leaveRefused() {
	var left []int32
	leave := func(n int32) {
		if m := &b.movements[n]; !m.left {
			m.left, m.amount, m.fee = true, decimal.Decimal{}, decimal.Decimal{}
			left = append(left, n)
		}
	}
	for i := range b.movements {
		if m := &b.movements[i]; m.change != none && !m.doubt && b.plan.Changes.At(int(m.change)).Again {
			leave(int32(i))
		}
	}
	for ; len(left) > 0; left = left[1:] {
		for _, g := range b.inGroups[left[0]] {
			for _, w := range b.groups[g].waiting {
				leave(w)
			}
		}
	}
}

// expected has facts beyond a plan, and tells its accounts apart.
type expected struct {
	spelled bool // profiles and assets in one spelling: the service takes them for the same
	fee     func(r *transfer.Request) decimal.Decimal
	credits map[string]transfer.Request
	doubts  map[string]bool
}

func (e *expected) key(profileID, asset string) key {
	if e.spelled {
		r := transfer.Request{FromProfileID: profileID, Asset: asset}.OneSpelling()
		return key{r.FromProfileID, r.Asset}
	}
	return key{profileID, asset}
}

func (e *expected) feeOf(r *transfer.Request) decimal.Decimal {
	if e.fee == nil {
		return decimal.Decimal{}
	}
	return e.fee(r)
}

// Fund is a need held against what the service says that is there.
type Fund struct {
	Need
	Available decimal.Decimal // where Unread is ""
	Unread    string          // why the balance is not known
	Accepted  bool            // a person accepted that it is too little
}

// Left is the lowest balance, below 0 where the account has too little.
func (f *Fund) Left() decimal.Decimal { return f.Available.Sub(f.Least()) }

// IsShort reports whether it is known that there is too little.
func (f *Fund) IsShort() bool { return f.Unread == "" && f.IsLeast && f.Left().IsNegative() }
