package planner

import (
	"context"
	"math/bits"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/state"
)

// outOfLine is how many times the largest amount so far marks an amount. With one zero too many an amount is ten times
// another one, or a little less where it has decimals: 18140.32 in the place of 1814.32.
const outOfLine = 9 // outOfLineDetail says it

// payees are the destinations to which transfers were made, by the 64 bits of their hash, each
// with the largest of an asset: one look finds the firsts of a transfer.
type payees struct {
	rows  *rows
	asset []int32 // of each asset of the rows, the first that is spelled in other letters
	slots []payee // a power of two, at most half of them used
	more  map[payeeAsset]*row
	first []Signal // of each transfer to a new destination
}

// payee is a destination; its largest is nil in a slot that is free.
type payee struct {
	destination transfer.Destination
	largest     *row // of the asset that was first seen
}

// payeeAsset names a further asset that a destination got.
type payeeAsset struct {
	destination transfer.Destination
	asset       int32
}

func (b *builder) newPayees() *payees {
	all, most := b.rows, b.rows.len()
	for _, o := range b.otherwise {
		most += len(o.made)
	}
	p := &payees{
		rows: all, asset: sameAssets(all.assets), slots: make([]payee, 1<<bits.Len(uint(2*most))),
		more: make(map[payeeAsset]*row), first: []Signal{{Kind: FirstDestination, Detail: firstDetail}},
	}
	for _, r := range all.all() {
		if !b.hasPaid(r) {
			continue
		}
		if o := b.otherwise[r]; o != nil {
			p.addMade(r, o)
			continue
		}
		p.add(r, r.destination)
	}
	return p
}

// addMade adds whom a transfer paid that was made otherwise than it was asked for.
func (p *payees) addMade(r *row, o *otherwiseMade) {
	for i := range o.made {
		p.add(r, o.made[i].Destination())
	}
}

// hasPaid reports whether a row proves that its destination was paid: one that is unverified
// does not, nor one that was imported without its destination, nor one without a record.
func (r *row) hasPaid() bool {
	return !r.is(markListed) && r.status.Made() && r.status != state.Unverified && !r.is(markFailed) && r.destination != 0
}

// hasPaid is that of the row; a transfer that a person forgot has paid as before.
func (b *builder) hasPaid(r *row) bool { return r.hasPaid() || b.paidForgotten[r] }

// readPaidForgotten finds the forgotten transfers that had paid. Those that were closed as not made, or were unverified or in conflict until
// then, had not.
func (b *builder) readPaidForgotten(ctx context.Context) error {
	forgotten := make(map[string]*row)
	var refIDs []string
	for _, r := range b.rows.all() {
		if r.status == state.Tombstone && r.is(markMayBeMade) && !r.is(markFailed) && r.destination != 0 {
			refID := b.rows.refID(r)
			forgotten[refID] = r
			refIDs = append(refIDs, refID)
		}
	}
	b.paidForgotten = make(map[*row]bool)
	return eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		if d.RecordID == "" {
			return nil
		}
		was, err := beforeForgotten(ctx, b.record, d)
		if err == nil && was != nil && was.Status.Made() && was.Status != state.Unverified {
			b.paidForgotten[forgotten[d.RefID]] = true
		}
		return err
	})
}

// find returns the slot of a destination, or the free one where it would be.
func (p *payees) find(d transfer.Destination) *payee {
	mask := len(p.slots) - 1
	for i := int(d) & mask; ; i = (i + 1) & mask {
		if s := &p.slots[i]; s.largest == nil || s.destination == d {
			return s
		}
	}
}

func (p *payees) add(r *row, to transfer.Destination) {
	s := p.find(to)
	switch {
	case s.largest == nil:
		*s = payee{to, r}
	case p.asset[s.largest.asset] == p.asset[r.asset]:
		s.largest = p.larger(s.largest, r)
	default:
		key := payeeAsset{to, p.asset[r.asset]}
		p.more[key] = p.larger(p.more[key], r)
	}
}

// larger is the row of two, of which the first may be nil, that moved more.
func (p *payees) larger(a, b *row) *row {
	if a == nil || p.rows.amount(a).Cmp(p.rows.amount(b)) < 0 {
		return b
	}
	return a
}

// signals finds the firsts of a transfer that is to be made.
func (p *payees) signals(r *transfer.Request) []Signal {
	if p.rows.len() == 0 {
		return p.first
	}
	d := r.Destination()
	s := p.find(d)
	if s.largest == nil {
		return p.first
	}
	largest := s.largest
	if transfer.AssetSpelled(p.rows.assetOf(largest)) != transfer.AssetSpelled(r.Asset) {
		largest = p.largestOther(d, r.Asset)
	}
	switch {
	case largest == nil:
		return []Signal{otherAsset(p.rows.refID(s.largest), p.rows.assetOf(s.largest))}
	case !isOutOfLine(r.Amount, p.rows.amount(largest)):
		return nil
	}
	return []Signal{{
		Kind: AmountOutOfLine, RefID: p.rows.refID(largest),
		Detail: outOfLineDetail + shownAmount(p.rows.amount(largest), r.Asset) + " " + r.Asset,
	}}
}

const (
	firstDetail      = "nothing was paid to this destination before"
	outOfLineDetail  = "at least 9 times the largest so far to this destination, "
	otherAssetDetail = "this destination was never paid in this asset; it was paid in "
)

// otherAsset marks a destination that was paid in other assets alone, of which one is named that is written like a code. Any other
// text in a saved plan could be a sentence of its author.
func otherAsset(refID, asset string) Signal {
	const longest = 12
	isSign := func(c rune) bool { return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') }
	if len(asset) > longest || strings.ContainsFunc(asset, isSign) {
		asset = "another one"
	}
	return Signal{Kind: OtherAsset, RefID: refID, Detail: otherAssetDetail + asset}
}

// largestOther is the largest transfer to a destination of an asset that is not its first;
// nil where there is none.
func (p *payees) largestOther(d transfer.Destination, asset string) *row {
	for n, name := range p.rows.assets {
		if transfer.AssetSpelled(name) == transfer.AssetSpelled(asset) {
			return p.more[payeeAsset{d, p.asset[n]}]
		}
	}
	return nil
}

func isOutOfLine(amount, largest transfer.Amount) bool {
	if amount.Cmp(largest) <= 0 {
		return false
	}
	return amount.Decimal().Cmp(largest.Decimal().Mul(decimal.NewFromInt(outOfLine))) >= 0
}
