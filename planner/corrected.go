package planner

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/state"
)

// A ref_id that has the amount in it is another one where the amount is corrected after the payment: nothing is
// recorded under it, and no look-alike is found, whose amount would be the same. The recorded transfer is declared no
// longer, has the same sender, destination and asset, and the two ref_ids are one and the same without the amount of
// each. That is asked about as a rename is.

// correction is what a line corrects.
type correction struct {
	rows []*row // those in doubt first, then the newest, at most signalsMax of them
	more int
}

// stemmed is a recorded transfer with the hash of its ref_id without the amount and of its destination.
type stemmed struct {
	key uint64
	row *row
}

// stemGroup is what lines share that may correct the same transfers: a stem, and a movement but for its amount.
type stemGroup struct {
	key     uint64
	parties transfer.Twin
}

// findCorrections looks for the recorded transfers that due lines correct, and keeps them by the number of the line.
// It looks at nothing but ref_ids that have their own amount in them.
func (b *builder) findCorrections(due []twinned) {
	b.corrected, b.neighbours = make(map[int32]*correction), make(map[*row]bool)
	index := b.indexStems()
	if len(index) == 0 {
		return
	}
	groups := make(map[stemGroup]*correction)
	for _, d := range due {
		c := b.plan.Changes.At(int(d.number))
		for _, stem := range stems(c.RefID, c.Request.Amount, namedBy(&c).hasWholeDates) {
			group := stemGroup{key: b.stemKey(stem, c.Request.Destination())}
			at, found := slices.BinarySearchFunc(index, group.key, func(s stemmed, key uint64) int { return cmp.Compare(s.key, key) })
			if !found {
				continue
			}
			one := c.Request
			one.Amount = transfer.MustAmount("1")
			group.parties = one.Twin()
			all, isKnown := groups[group]
			if !isKnown {
				all = b.correctedBy(&c.Request, index[at:], group.key)
				groups[group] = all
			}
			b.noteCorrection(d, all)
		}
	}
}

// noteCorrection adds the rows that a line corrects to its facts. A row that it was under other words is a rename alone.
func (b *builder) noteCorrection(d twinned, all *correction) {
	for _, r := range all.rows {
		isRenamed := b.renamed[d.number] != nil && r.twin == d.twin
		if isRenamed || b.isCorrection(d.number, r) {
			continue
		}
		if b.corrected[d.number] == nil {
			b.corrected[d.number] = &correction{more: all.more}
		}
		b.corrected[d.number].rows = append(b.corrected[d.number].rows, r)
	}
}

// indexStems are the recorded transfers whose ref_ids have their own amounts in them, in order of their keys.
func (b *builder) indexStems() []stemmed {
	var index []stemmed
	for _, r := range b.rows.all() {
		if !r.is(markMayBeMade) || b.isUntouched(r) {
			continue
		}
		refID, behind := b.rows.textsOf(r)
		amount := behind[:strings.IndexByte(behind, endOfAmount)]
		if whole, _, _ := strings.Cut(amount, "."); !strings.Contains(refID, whole) {
			continue
		}
		for _, stem := range stems(refID, transfer.MustAmount(amount), nil) {
			index = append(index, stemmed{b.stemKey(stem, r.destination), r})
		}
	}
	slices.SortStableFunc(index, func(x, y stemmed) int { return cmp.Compare(x.key, y.key) })
	return index
}

// correctedBy finds among the first rows, which have one key, those of the movement of a request but for its amount.
// A declared one is no correction, but a saved plan can't be computed again without it.
func (b *builder) correctedBy(of *transfer.Request, index []stemmed, key uint64) *correction {
	var all correction
	for _, s := range index {
		if s.key != key {
			break
		}
		like := *of
		like.Amount = b.rows.amount(s.row)
		switch {
		case like.Twin() != s.row.twin:
		case s.row.is(markDeclared):
			b.neighbours[s.row] = true
		default:
			all.rows = append(all.rows, s.row)
		}
	}
	slices.SortStableFunc(all.rows, func(x, y *row) int {
		isSettled := map[bool]int{true: 1}
		return cmp.Or(isSettled[x.status != state.InDoubt]-isSettled[y.status != state.InDoubt], -cmp.Compare(x.age(), y.age()))
	})
	most := min(len(all.rows), signalsMax)
	all.more = len(all.rows) - most
	all.rows = all.rows[:most]
	return &all
}

// isCorrection reports whether a line corrects a recorded transfer.
func (b *builder) isCorrection(line int32, r *row) bool {
	c := b.corrected[line]
	return c != nil && slices.Contains(c.rows, r)
}

func (b *builder) stemKey(stem string, to transfer.Destination) uint64 {
	b.movement = binary.BigEndian.AppendUint64(append(b.movement[:0], stem...), uint64(to))
	return maphash.Bytes(b.seed, b.movement)
}

// stemHole stands in the place of the amount. No ref_id has it.
const stemHole = "\x00"

// amountBytesMin is how long an amount in a ref_id is at the least: rent-1 and rent-2 have a number, and not the amounts 1.00 and 2.00.
const amountBytesMin = 2

// stems are a ref_id without an amount that stands in it: without it at each place, and without it at all of them. The
// month or the day of a date, which has the digits of an amount by chance, is no such place where hasWholeDates says that
// nothing put an amount there; nil says so of none.
func stems(refID string, amount transfer.Amount, hasWholeDates func() bool) []string {
	whole, fraction, _ := strings.Cut(amount.Normal(), ".")
	var all []string
	var without strings.Builder
	end, holes := 0, 0
	for at := 0; at < len(refID); {
		next := strings.Index(refID[at:], whole)
		if next < 0 {
			break
		}
		at += next
		length := amountAt(refID, at, whole, fraction)
		if length < amountBytesMin {
			at++
			continue
		}
		if holes++; hasWholeDates == nil || length > len(whole) || !isOfDate(refID, at) || !hasWholeDates() {
			all = append(all, refID[:at]+stemHole+refID[at+length:])
		}
		without.WriteString(refID[end:at] + stemHole)
		at += length
		end = at
	}
	if holes > 1 {
		all = append(all, without.String()+refID[end:])
	}
	return all
}

// decimalMarks are the characters between the digits of an amount and its decimals, also where ref_ids may have no point.
const decimalMarks = ".,-_"

// amountAt is how many bytes of a text are an amount that begins with its whole part at a place: with its decimals
// behind a mark or without one, and zeros behind them. It is 0 where the digits are a part of another number.
func amountAt(text string, at int, whole, fraction string) int {
	digits := func(from int) int { return len(text[from:]) - len(strings.TrimLeft(text[from:], "0123456789")) }
	isAmount := func(from int) bool {
		count := digits(from)
		decimals := text[from : from+count]
		return strings.TrimRight(decimals, "0") == fraction
	}
	afterDigit := at > 0 && text[at-1] >= '0' && text[at-1] <= '9'
	end := at + len(whole)
	if end+1 < len(text) && strings.IndexByte(decimalMarks, text[end]) >= 0 && digits(end+1) > 0 && isAmount(end+1) {
		if afterDigit && text[end] != '.' {
			return 0
		}
		return len(whole) + 1 + digits(end+1)
	}
	if afterDigit || !isAmount(end) || end < len(text) && text[end] == '.' && digits(end+1) > 0 {
		return 0
	}
	return len(whole) + digits(end)
}
