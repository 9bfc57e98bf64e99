package planner

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"remit/internal/transfer"
)

// Changes is a list of changes that holds a million of them in little memory: what alike
// changes have in common is kept once. The zero value is an empty list. Of a list and a copy
// of it only one may be changed any more.
type Changes struct {
	lines  []line
	shapes []Change  // what a packed line differs from, in its texts only
	texts  texts     // of packed lines
	whole  []*Change // what can't be packed
	packed []byte    // of the change that is being packed
}

// line says where a change is kept.
type line struct {
	kept textPlace // the start of its packed texts, or its number in whole
	// shape is a number in shapes, or isWhole.
	shape int32
}

const isWhole = -1

// shapesTried bounds with how many shapes a change is compared.
const shapesTried = 8

// ListChanges makes a list.
func ListChanges(all ...Change) Changes {
	var list Changes
	for i := range all {
		list.Add(&all[i])
	}
	return list
}

// Len is how many changes there are.
func (l *Changes) Len() int { return len(l.lines) }

// At returns a change. What it refers to is shared with the list and not to be changed.
func (l *Changes) At(i int) Change {
	var c Change
	l.read(i, &c)
	return c
}

// Action is that of a change, which costs little beside At.
func (l *Changes) Action(i int) Action {
	at := l.lines[i]
	if at.shape == isWhole {
		return l.whole[at.kept.offset].Action
	}
	return l.shapes[at.shape].Action
}

// All yields each change with its number. The change is valid until the next one; what it
// refers to stays so, is shared with the list and not to be changed.
func (l *Changes) All() iter.Seq2[int, *Change] {
	return func(yield func(int, *Change) bool) {
		var c Change
		for i := range l.lines {
			l.read(i, &c)
			if !yield(i, &c) {
				return
			}
		}
	}
}

// Kinds yields one of each sort of alike changes and how many of them there are: they differ
// in their texts only (ref_id, address, place, batch, parties, amount, asset, metadata).
func (l *Changes) Kinds() iter.Seq2[*Change, int] {
	return func(yield func(*Change, int) bool) {
		counts := make([]int, len(l.shapes))
		for i := range l.lines {
			if shape := l.lines[i].shape; shape != isWhole {
				counts[shape]++
			} else if !yield(l.whole[l.lines[i].kept.offset], 1) {
				return
			}
		}
		for shape, count := range counts {
			if count > 0 && !yield(&l.shapes[shape], count) {
				return
			}
		}
	}
}

// Slice returns all changes. It needs the memory that the list saves.
func (l *Changes) Slice() []Change {
	all := make([]Change, l.Len())
	for i := range all {
		l.read(i, &all[i])
	}
	return all
}

// Add puts a copy of c at the end.
func (l *Changes) Add(c *Change) { l.lines = append(l.lines, l.keep(c)) }

// Set puts a copy of c in the place of another.
func (l *Changes) Set(i int, c *Change) { l.lines[i] = l.keep(c) }

// Update lets edit change one of the list.
func (l *Changes) Update(i int, edit func(*Change)) {
	c := l.At(i)
	edit(&c)
	l.Set(i, &c)
}

// keep packs a change where that is possible.
func (l *Changes) keep(c *Change) line {
	if !isPackable(c) {
		copied := *c
		l.whole = append(l.whole, &copied)
		return line{textPlace{offset: int32(len(l.whole) - 1)}, isWhole}
	}
	shape := l.shapeOf(c)
	l.packed = packTexts(l.packed[:0], c, &l.shapes[shape])
	return line{l.texts.add(l.packed), int32(shape)}
}

func (l *Changes) shapeOf(c *Change) int {
	last := len(l.shapes) - 1
	for i := last; i >= 0 && i > last-shapesTried; i-- {
		if isAlike(c, &l.shapes[i]) {
			return i
		}
	}
	l.shapes = append(l.shapes, *c)
	return last + 1
}

// isPackable reports whether a change has nothing of its own but texts. A signal that names no
// other transfer is one that many have.
func isPackable(c *Change) bool {
	return c.Recorded == nil && len(c.Differences) == 0 && c.Reverses == "" && c.RefID == c.Request.RefID &&
		!slices.ContainsFunc(c.Signals, func(s Signal) bool { return s.RefID != "" }) &&
		fixedTexts+len(c.Request.Metadata)+len(c.Request.RecipientMetadata) <= textsMax
}

// isAlike reports whether two changes that can be packed differ in their texts only.
func isAlike(a, b *Change) bool {
	return a.Action == b.Action && a.FromLabel == b.FromLabel && a.DuplicateWithin == b.DuplicateWithin &&
		a.Again == b.Again && isSameList(a.After, b.After) && isSameTime(a.Until, b.Until) && a.Never == b.Never && isSameTime(a.Expires, b.Expires) &&
		isSameTime(a.Due, b.Due) && a.CatchUp == b.CatchUp && isSameList(a.Windows, b.Windows) &&
		a.Reason == b.Reason && a.Next == b.Next && slices.Equal(a.Signals, b.Signals) &&
		a.Request.Operation == b.Request.Operation && a.Request.FingerprintKey == b.Request.FingerprintKey &&
		haveSameKeys(a.Request.Metadata, b.Request.Metadata) &&
		haveSameKeys(a.Request.RecipientMetadata, b.Request.RecipientMetadata)
}

// isSameTime reports whether two times are written alike.
func isSameTime(a, b time.Time) bool { return a.Equal(b) && a.Location() == b.Location() }

// isSameList reports whether two lists are one in memory, which is what shared ones are.
func isSameList(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func haveSameKeys(a, b transfer.Metadata) bool {
	return slices.EqualFunc(a, b, func(x, y transfer.Pair) bool { return x.Key == y.Key })
}

// Texts of a change, by number: these, then the values of its metadata.
const (
	textRefID = iota
	textAddress
	textPlaceOf
	textBatch
	textFromProfile
	textFromIdentity
	textFromAccount
	textToProfile
	textToIdentity
	textToAccount
	textAmount
	textAsset
	fixedTexts

	textsMax = 32
)

func textOf(c *Change, n int) string {
	r := &c.Request
	switch n {
	case textRefID:
		return c.RefID
	case textAddress:
		return c.Address
	case textPlaceOf:
		return c.Place
	case textBatch:
		return c.Batch
	case textFromProfile:
		return r.FromProfileID
	case textFromIdentity:
		return r.FromIdentityID
	case textFromAccount:
		return r.FromAccountID
	case textToProfile:
		return r.ToProfileID
	case textToIdentity:
		return r.ToIdentityID
	case textToAccount:
		return r.ToAccountID
	case textAmount:
		return r.Amount.String()
	case textAsset:
		return r.Asset
	}
	if n -= fixedTexts; n < len(r.Metadata) {
		return r.Metadata[n].Value
	}
	return r.RecipientMetadata[n-len(r.Metadata)].Value
}

// setText is the inverse of textOf. Metadata must be the change's own.
func setText(c *Change, n int, text string) {
	r := &c.Request
	switch n {
	case textRefID:
		c.RefID, r.RefID = text, text
	case textAddress:
		c.Address = text
	case textPlaceOf:
		c.Place = text
	case textBatch:
		c.Batch = text
	case textFromProfile:
		r.FromProfileID = text
	case textFromIdentity:
		r.FromIdentityID = text
	case textFromAccount:
		r.FromAccountID = text
	case textToProfile:
		r.ToProfileID = text
	case textToIdentity:
		r.ToIdentityID = text
	case textToAccount:
		r.ToAccountID = text
	case textAmount:
		r.Amount = transfer.Amount{}
		if text != "" {
			r.Amount = transfer.MustAmount(text)
		}
	case textAsset:
		r.Asset = text
	default:
		if n -= fixedTexts; n < len(r.Metadata) {
			r.Metadata[n].Value = text
			return
		}
		r.RecipientMetadata[n-len(r.Metadata)].Value = text
	}
}

// prefixMax is what the length of a common prefix fits in.
const prefixMax = 255

// packTexts writes which texts of c differ from those of its shape, four bytes, and of each
// the length of what both begin with, the length of the rest, and the rest.
func packTexts(b []byte, c, shape *Change) []byte {
	b = append(b, 0, 0, 0, 0)
	var differ uint32
	for n := range fixedTexts + len(c.Request.Metadata) + len(c.Request.RecipientMetadata) {
		text, like := textOf(c, n), textOf(shape, n)
		if text == like {
			continue
		}
		differ |= 1 << n
		same := 0
		for same < min(len(text), len(like), prefixMax) && text[same] == like[same] {
			same++
		}
		b = append(b, byte(same))
		b = binary.AppendUvarint(b, uint64(len(text)-same))
		b = append(b, text[same:]...)
	}
	binary.LittleEndian.PutUint32(b, differ)
	return b
}

// read is At into memory that is there.
func (l *Changes) read(i int, c *Change) {
	at := l.lines[i]
	if at.shape == isWhole {
		*c = *l.whole[at.kept.offset]
		return
	}
	shape := &l.shapes[at.shape]
	*c = *shape
	rest := l.texts.from(at.kept)
	differ := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16 | uint32(rest[3])<<24
	rest = rest[4:]
	if differ>>fixedTexts != 0 {
		c.Request.Metadata = slices.Clone(shape.Request.Metadata)
		c.Request.RecipientMetadata = slices.Clone(shape.Request.RecipientMetadata)
	}
	// Texts that are put together share one piece of memory.
	var room [256]byte
	var joined [textsMax]struct{ number, end int32 }
	bytes, count := room[:0], 0
	for n := 0; differ != 0; n, differ = n+1, differ>>1 {
		if differ&1 == 0 {
			continue
		}
		same := int(rest[0])
		size, digits := uvarint(rest[1:])
		rest = rest[1+digits:]
		if same == 0 {
			setText(c, n, rest[:size])
		} else {
			bytes = append(append(bytes, textOf(shape, n)[:same]...), rest[:size]...)
			joined[count].number, joined[count].end = int32(n), int32(len(bytes))
			count++
		}
		rest = rest[size:]
	}
	all, start := string(bytes), int32(0)
	for _, j := range joined[:count] {
		setText(c, int(j.number), all[start:j.end])
		start = j.end
	}
}

// uvarint is [binary.Uvarint] of a string.
func uvarint(text string) (value, digits int) {
	for shift := 0; ; shift += 7 {
		b := text[digits]
		digits++
		value |= int(b&0x7f) << shift
		if b < 0x80 {
			return value, digits
		}
	}
}
