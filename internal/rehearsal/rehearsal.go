// Package rehearsal says what a plan does to the balances of profiles before anything is sent:
// which of its transfers would fail for lack of funds, and how low each balance goes.
//
// Its one invariant: its verdict on a transfer is that of the sandbox with one transfer in
// flight. Like the sandbox it knows balances of a profile and an asset, whatever the identity
// or the account, and no fees.
package rehearsal

import (
	"cmp"
	"slices"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/planner"
)

// OpeningBalance is the amount of an asset that a profile has before the first transfer.
type OpeningBalance struct {
	ProfileID string
	Asset     string
	Amount    decimal.Decimal
}

// Result is what a rehearsal found.
type Result struct {
	// Funded says that there are opening balances, so that a transfer can fail: a profile
	// without one has nothing. Otherwise every profile has enough, and Opening is 0.
	Funded bool

	Accounts []Account // by asset, then the lowest balance first

	Made         transfer.Totals
	Failed       transfer.Totals // for lack of funds
	NotAttempted transfer.Totals // the transfers that wait for these
	// Doubts counts, of all these, the transfers in doubt: as if nothing was made of them yet.
	Doubts int

	// Failures are transfers that are not made, in the order of the run, the first
	// [FailuresMax] of them.
	Failures []Failure
}

// FailuresMax bounds [Result.Failures].
const FailuresMax = 1000

// Complete reports whether all transfers are made.
func (r *Result) Complete() bool { return r.Failed.Count()+r.NotAttempted.Count() == 0 }

// Account is one asset of one profile, in the order of the run.
type Account struct {
	ProfileID string
	Asset     string

	Opening decimal.Decimal
	In      decimal.Decimal // of the transfers that are made
	Out     decimal.Decimal
	Closing decimal.Decimal
	// Lowest is the smallest balance on the way, Opening and Closing included; LowestAfter the
	// ref_id of the transfer that leaves it, "" for Opening.
	Lowest      decimal.Decimal
	LowestAfter string
	// LowestOfAll is the smallest balance on the way in any order that dependencies allow, if
	// all transfers of the plan are made: below 0 where an order exists in which one of this
	// profile's fails. Each account is seen by itself: the orders of two may differ.
	LowestOfAll decimal.Decimal
	// LowestKnown is false where dependencies are too entangled for LowestOfAll, which then is
	// as if there were none: the true one is not lower.
	LowestKnown bool
}

// Net is the money in less the money out.
func (a Account) Net() decimal.Decimal { return a.In.Sub(a.Out) }

// Failure is a transfer that would not be made.
type Failure struct {
	RefID  string
	Place  string
	From   string // profile_id
	Asset  string
	Amount transfer.Amount
	// Has is what the sender has at that moment; Cause the ref_id of the transfer that fails
	// for lack of funds and that this one waits for, "" where it fails itself.
	Has   decimal.Decimal
	Cause string
}

// Rehearse carries out what plan submits or resolves, one transfer after the other, as an apply
// with one in flight does: doubts first, then each line in the plan's order when all that it
// waits for is made. Opening balances of one account add up; nil gives every profile enough.
func Rehearse(plan *planner.Plan, opening []OpeningBalance) (*Result, error) {
	b, err := newLedger(plan, expected{})
	if err != nil {
		return nil, err
	}
	b.open(opening)
	b.play()
	b.lowestOfAll()
	b.result.Accounts = b.listed()
	return b.result, nil
}

// key names an account.
type key struct{ profileID, asset string }

// movement is one transfer of the plan.
type movement struct {
	change   int32 // in the plan; none where it is of an earlier run
	from, to int32 // accounts; from is none where it was debited by an earlier run
	after    int32 // the group that it waits for; none for nothing
	doubt    bool
	left     bool // it is not sent
	amount   decimal.Decimal
	fee      decimal.Decimal // that the sender pays besides
}

// none is a number of no group, no account and no change.
const none = -1

// group is what some movements wait for together.
type group struct {
	waiting []int32 // movements that wait for all members
	unmet   int     // members that are not made
	failed  bool
}

// ledger is a rehearsal under way.
type ledger struct {
	plan      *planner.Plan
	result    *Result
	accounts  []Account
	movements []movement
	groups    []group
	inGroups  map[int32][]int32 // groups by their members
}

// waits are the lists of ref_ids that changes wait for. Alike changes share a list in memory.
type waits struct {
	known map[*string]int32 // groups by the first text of their lists
	lists [][]string        // by group
}

// group is the number of the group with a list. A list that was not seen before gets a group.
func (w *waits) group(b *ledger, after []string) int32 {
	n, isKnown := w.known[&after[0]]
	if !isKnown || len(w.lists[n]) != len(after) {
		n = int32(len(b.groups))
		w.known[&after[0]] = n
		w.lists = append(w.lists, after)
		b.groups = append(b.groups, group{})
	}
	return n
}

func newLedger(plan *planner.Plan, known expected) (*ledger, error) {
	b := &ledger{plan: plan, result: &Result{}, inGroups: make(map[int32][]int32)}
	accounts := make(map[key]int32)
	accountOf := func(profileID, asset string) int32 {
		k := known.key(profileID, asset)
		n, isKnown := accounts[k]
		if !isKnown {
			n = int32(len(b.accounts))
			accounts[k] = n
			b.accounts = append(b.accounts, Account{ProfileID: profileID, Asset: asset})
		}
		return n
	}
	waits := waits{known: make(map[*string]int32)}
	for i, c := range plan.Changes.All() {
		if c.Action != planner.Submit && c.Action != planner.Resolve {
			continue
		}
		r, err := c.InForce()
		if err != nil {
			return nil, err
		}
		m := movement{
			change: int32(i), after: none, doubt: c.Action == planner.Resolve || known.doubts[c.RefID], amount: r.Amount.Decimal(),
			from: accountOf(r.FromProfileID, r.Asset), to: accountOf(r.ToProfileID, r.Asset), fee: known.feeOf(&r),
		}
		if len(c.After) > 0 && !m.doubt {
			m.after = waits.group(b, c.After)
			b.groups[m.after].waiting = append(b.groups[m.after].waiting, int32(len(b.movements)))
		}
		b.movements = append(b.movements, m)
	}
	b.join(waits.lists, func(refID string) (int32, bool) {
		c, ok := known.credits[refID]
		if !ok {
			return 0, false
		}
		b.movements = append(b.movements, movement{change: none, from: none, to: accountOf(c.ToProfileID, c.Asset), after: none, amount: c.Amount.Decimal()})
		return int32(len(b.movements) - 1), true
	})
	return b, nil
}

// join finds the members of the groups. A dependency that is no line of the plan is
// recorded already; here it counts as COMPLETED, unless coming makes a movement of it.
func (b *ledger) join(lists [][]string, coming func(refID string) (int32, bool)) {
	if len(lists) == 0 {
		return
	}
	numbers := make(map[string]int32, len(b.movements))
	for i := range b.movements {
		numbers[b.plan.Changes.At(int(b.movements[i].change)).RefID] = int32(i)
	}
	for n, list := range lists {
		for _, refID := range list {
			member, isLine := numbers[refID]
			if !isLine {
				if member, isLine = coming(refID); isLine {
					numbers[refID] = member
				}
			}
			if isLine {
				b.groups[n].unmet++
				b.inGroups[member] = append(b.inGroups[member], int32(n))
			}
		}
	}
}

// open sets the opening balances. Those of profiles that the plan does not touch are left out.
func (b *ledger) open(opening []OpeningBalance) {
	b.result.Funded = len(opening) > 0
	sums := make(map[key]decimal.Decimal)
	for _, o := range opening {
		k := key{o.ProfileID, o.Asset}
		sums[k] = sums[k].Add(o.Amount)
	}
	for i := range b.accounts {
		a := &b.accounts[i]
		a.Opening = sums[key{a.ProfileID, a.Asset}]
		a.Closing, a.Lowest = a.Opening, a.Opening
	}
}

// play makes each movement when its time has come.
func (b *ledger) play() {
	var ready []int32
	for _, doubts := range []bool{true, false} {
		for i := range b.movements {
			m := &b.movements[i]
			if m.doubt == doubts && (m.after == none || b.groups[m.after].unmet == 0) {
				ready = append(ready, int32(i))
			}
		}
	}
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		m := &b.movements[n]
		if m.doubt {
			b.result.Doubts++
		}
		if b.move(m) {
			ready = b.meet(n, ready)
		} else {
			b.fail(n)
		}
	}
}

// move debits the sender and credits the destination, or reports that the sender has too
// little, which moves nothing.
func (b *ledger) move(m *movement) bool {
	from, to := &b.accounts[m.from], &b.accounts[m.to]
	change := b.plan.Changes.At(int(m.change))
	if b.result.Funded && from.Closing.LessThan(m.amount) {
		b.result.Failed.Add(from.Asset, amountOf(&change))
		b.note(&change, from, "")
		return false
	}
	b.result.Made.Add(from.Asset, amountOf(&change))
	from.Out, from.Closing = from.Out.Add(m.amount), from.Closing.Sub(m.amount)
	to.In, to.Closing = to.In.Add(m.amount), to.Closing.Add(m.amount)
	if from.Closing.LessThan(from.Lowest) {
		from.Lowest, from.LowestAfter = from.Closing, change.RefID
	}
	return true
}

// amountOf is the amount that a line moves; newLedger has seen that it can be read.
func amountOf(c *planner.Change) transfer.Amount {
	r, err := c.InForce()
	if err != nil {
		panic(err)
	}
	return r.Amount
}

func (b *ledger) note(c *planner.Change, from *Account, cause string) {
	if len(b.result.Failures) < FailuresMax {
		b.result.Failures = append(b.result.Failures, Failure{
			RefID: c.RefID, Place: c.Place, From: from.ProfileID, Asset: from.Asset, Amount: amountOf(c), Has: from.Closing, Cause: cause,
		})
	}
}

// meet adds to ready the movements of all groups that waited for nothing but n any more, in the
// plan's order.
func (b *ledger) meet(n int32, ready []int32) []int32 {
	before := len(ready)
	for _, g := range b.inGroups[n] {
		if b.groups[g].unmet--; b.groups[g].unmet == 0 {
			ready = append(ready, b.groups[g].waiting...)
		}
	}
	slices.Sort(ready[before:])
	return ready
}

// fail settles the movements that wait for one that is not made, and those that wait for them in
// turn.
func (b *ledger) fail(n int32) {
	refID := func(n int32) string { return b.plan.Changes.At(int(b.movements[n].change)).RefID }
	cause := refID(n)
	for failed := []int32{n}; len(failed) > 0; failed = failed[1:] {
		for _, g := range b.inGroups[failed[0]] {
			if b.groups[g].failed {
				continue
			}
			b.groups[g].failed = true
			for _, w := range b.groups[g].waiting {
				m := &b.movements[w]
				change := b.plan.Changes.At(int(m.change))
				from := &b.accounts[m.from]
				b.result.NotAttempted.Add(from.Asset, amountOf(&change))
				b.note(&change, from, cause)
				failed = append(failed, w)
			}
		}
	}
}

// listed are the accounts that the plan touches, those that are in want first.
func (b *ledger) listed() []Account {
	list := slices.Clone(b.accounts)
	slices.SortFunc(list, func(x, y Account) int {
		return cmp.Or(cmp.Compare(x.Asset, y.Asset), x.LowestOfAll.Cmp(y.LowestOfAll), x.Lowest.Cmp(y.Lowest), cmp.Compare(x.ProfileID, y.ProfileID))
	})
	return list
}
