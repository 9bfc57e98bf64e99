package planner

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"time"

	"remit/internal/transfer"
)

// Changes is a list of changes that holds a million of them in little memory: what alike
// changes have in common is kept once. The zero value is an empty list. Of a list and a copy
// of it only one may be changed any more.
type Changes struct {
	lines  list[line]
	shapes []shape   // what a packed line differs from, in its texts only
	texts  texts     // of packed lines
	whole  []*Change // changes that can't be packed
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
func (l *Changes) Len() int { return l.lines.len() }

// At returns a change. Its slices and pointers are shared with the list and not to be changed.
func (l *Changes) At(i int) Change {
	var c Change
	l.read(i, &c, allTexts)
	return c
}

// Action is that of a change, which costs little beside At.
func (l *Changes) Action(i int) Action {
	at := *l.lines.at(i)
	if at.shape == isWhole {
		return l.whole[at.kept.offset].Action
	}
	return l.shapes[at.shape].Action
}

// All yields each change with its number. The change is valid until the next one; what it
// refers to stays so, is shared with the list and not to be changed.
func (l *Changes) All() iter.Seq2[int, *Change] {
	return l.each(allTexts)
}

// Movements is All for who reads no texts but those of the movement (its parties, amount and asset),
// the batch and the display name: it costs a third, and other texts of a change may be empty.
func (l *Changes) Movements() iter.Seq2[int, *Change] {
	return l.each(movementTexts)
}

func (l *Changes) each(some textsOf) iter.Seq2[int, *Change] {
	return func(yield func(int, *Change) bool) {
		var c Change
		for i := range l.lines.len() {
			l.read(i, &c, some)
			if !yield(i, &c) {
				return
			}
		}
	}
}

// Kinds yields one of each sort of alike changes and how many of them there are: they differ
// in their texts only (ref_id, address, place, batch, display name, parties, amount, asset, metadata).
func (l *Changes) Kinds() iter.Seq2[*Change, int] {
	return func(yield func(*Change, int) bool) {
		counts := make([]int, len(l.shapes))
		for _, at := range l.lines.all() {
			if at.shape != isWhole {
				counts[at.shape]++
			} else if !yield(l.whole[at.kept.offset], 1) {
				return
			}
		}
		for shape, count := range counts {
			if count > 0 && !yield(&l.shapes[shape].Change, count) {
				return
			}
		}
	}
}

// HaveNames reports whether any change has a display name. It formats none, and takes no longer than counting.
func (l *Changes) HaveNames() bool {
	for _, at := range l.lines.all() {
		switch {
		case at.shape == isWhole:
			if l.whole[at.kept.offset].DisplayName != "" {
				return true
			}
		case l.shapes[at.shape].DisplayName != "" || l.texts.from(at.kept)[0]&(1<<textName) != 0: // it differs from none
			return true
		}
	}
	return false
}

// Slice returns all changes. It needs the memory that the list saves.
func (l *Changes) Slice() []Change {
	all := make([]Change, l.Len())
	for i := range all {
		l.read(i, &all[i], allTexts)
	}
	return all
}

// Add puts a copy of c at the end.
func (l *Changes) Add(c *Change) { l.lines.add(l.keep(c)) }

// Set puts a copy of c in the place of another.
func (l *Changes) Set(i int, c *Change) { *l.lines.at(i) = l.keep(c) }

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
		if isAlike(c, &l.shapes[i].Change) {
			return i
		}
	}
	l.shapes = append(l.shapes, newShape(c))
	return last + 1
}

// isPackable reports whether a change has nothing of its own but texts. A signal that names no
// other transfer is one that many have.
func isPackable(c *Change) bool {
	return c.Recorded == nil && len(c.Differences) == 0 && len(c.AcceptOf) == 0 && c.Reverses == "" && c.RefID == c.Request.RefID &&
		!slices.ContainsFunc(c.Signals, func(s Signal) bool { return s.RefID != "" }) && countTexts(c) <= textsMax
}

// isAlike reports whether two changes that can be packed differ in their texts only.
func isAlike(a, b *Change) bool {
	return a.Action == b.Action && a.FromLabel == b.FromLabel && a.DuplicateWithin == b.DuplicateWithin &&
		a.Again == b.Again && isSameList(a.After, b.After) && isSameTime(a.Until, b.Until) && a.Never == b.Never && isSameTime(a.Expires, b.Expires) &&
		isSameTime(a.Due, b.Due) && a.CatchUp == b.CatchUp && a.Occurrence == b.Occurrence && isSameList(a.Windows, b.Windows) &&
		a.Reason == b.Reason && a.Next == b.Next && a.Now == b.Now && slices.Equal(a.Signals, b.Signals) && haveSameKeys(a, b)
}

// isSameTime reports whether two times are written alike.
func isSameTime(a, b time.Time) bool { return a.Equal(b) && a.Location() == b.Location() }

// isSameList reports whether two lists are one in memory, which is what shared ones are.
func isSameList(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// haveSameKeys reports whether the pairs of two requests differ in their values only.
func haveSameKeys(a, b *Change) bool {
	for f := range transfer.FieldCount {
		isSameKey := func(x, y transfer.Pair) bool { return x.Key == y.Key }
		if f.HasPairs() && !slices.EqualFunc(a.Request.Pairs(f), b.Request.Pairs(f), isSameKey) {
			return false
		}
	}
	return true
}

// Texts of a change, by number: these, those of its request that are none, and the values of its
// pairs.
const (
	textAddress = iota
	textPlaceOf
	textBatch
	textNaming
	textName
	textFromPlace
	textToPlace
	fixedTexts

	textsMax = 32
)

// textAt is the place of a text: a field of the request, or a pair of one.
type textAt struct {
	field transfer.Field
	pair  int8
}

const noPair = -1

// listTexts returns the places of the texts of a change, those of [fixedTexts] left out.
func listTexts(c *Change) []textAt {
	var all []textAt
	for f := range transfer.FieldCount {
		if !f.HasPairs() {
			all = append(all, textAt{f, noPair})
		}
		for pair := range c.Request.Pairs(f) {
			all = append(all, textAt{f, int8(pair)})
		}
	}
	return all
}

// countTexts is how many texts a change has.
func countTexts(c *Change) int {
	count := fixedTexts
	for f := range transfer.FieldCount {
		if f.HasPairs() {
			count += len(c.Request.Pairs(f))
		} else {
			count++
		}
	}
	return count
}

// textsOf says which texts of a change are read.
type textsOf int

const (
	allTexts textsOf = iota
	movementTexts
)

// shape is a change and where those that are like it have their texts.
type shape struct {
	Change
	at    []textAt
	texts []string // its own, by number
	// movement is the change with the texts of its movement alone, a bit of moved each.
	movement Change
	moved    uint32
}

func newShape(c *Change) shape {
	s := shape{Change: *c, at: listTexts(c), movement: *c}
	s.movement.RefID = ""
	s.movement.Request.Metadata, s.movement.Request.RecipientMetadata = nil, nil
	w, moving := words{c, s.at}, words{&s.movement, s.at}
	for n := range fixedTexts + len(s.at) {
		s.texts = append(s.texts, w.get(n))
		switch {
		case moving.isMovement(n):
			s.moved |= 1 << n
		case !moving.isPair(n):
			moving.set(n, "")
		}
	}
	return s
}

// words are the texts of a change by number.
type words struct {
	change *Change
	at     []textAt
}

// isMovement reports whether a text is one of the movement, the batch, or the display name.
func (w *words) isMovement(n int) bool {
	if n < fixedTexts {
		return n == textBatch || n == textName
	}
	return w.at[n-fixedTexts].field.IsMovement()
}

func (w *words) isPair(n int) bool { return n >= fixedTexts && w.at[n-fixedTexts].pair != noPair }

func (w *words) get(n int) string {
	switch n {
	case textAddress:
		return w.change.Address
	case textPlaceOf:
		return w.change.Place
	case textBatch:
		return w.change.Batch
	case textNaming:
		return w.change.Naming
	case textName:
		return w.change.DisplayName
	case textFromPlace:
		return w.change.FromPlace
	case textToPlace:
		return w.change.ToPlace
	}
	at := w.at[n-fixedTexts]
	if at.pair != noPair {
		return w.change.Request.Pairs(at.field)[at.pair].Value
	}
	return w.change.Request.Text(at.field)
}

// set is the inverse of get. The pairs must be the change's own.
func (w *words) set(n int, text string) {
	switch n {
	case textAddress:
		w.change.Address = text
	case textPlaceOf:
		w.change.Place = text
	case textBatch:
		w.change.Batch = text
	case textNaming:
		w.change.Naming = text
	case textName:
		w.change.DisplayName = text
	case textFromPlace:
		w.change.FromPlace = text
	case textToPlace:
		w.change.ToPlace = text
	default:
		at := w.at[n-fixedTexts]
		if at.pair != noPair {
			w.change.Request.Pairs(at.field)[at.pair].Value = text
			return
		}
		w.change.Request.SetText(at.field, text)
	}
}

// prefixMax is what the length of a common prefix fits in.
const prefixMax = 255

// packTexts writes which texts of c differ from those of its shape, four bytes, and of each
// the length of what both begin with, the length of the rest, and the rest.
func packTexts(b []byte, c *Change, like *shape) []byte {
	b = append(b, 0, 0, 0, 0)
	var differ uint32
	w := words{c, like.at}
	for n := range like.texts {
		text, like := w.get(n), like.texts[n]
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

// read is At into memory that is there, with some texts or all.
func (l *Changes) read(i int, c *Change, some textsOf) {
	at := *l.lines.at(i)
	if at.shape == isWhole {
		*c = *l.whole[at.kept.offset]
		return
	}
	like, packed := &l.shapes[at.shape], l.texts.from(at.kept)
	switch some {
	case allTexts:
		*c = like.Change
		like.unpack(packed, c, ^uint32(0))
		c.RefID = c.Request.RefID
	case movementTexts:
		*c = like.movement
		like.unpack(packed, c, like.moved)
	}
}

// unpack is the inverse of packTexts for the wanted texts, a bit each.
func (s *shape) unpack(rest string, c *Change, wanted uint32) {
	differ := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16 | uint32(rest[3])<<24
	rest = rest[4:]
	w := words{c, s.at}
	w.ownPairs(differ & wanted)
	// Texts that are put together share one piece of memory.
	var room [256]byte
	var joined [textsMax]struct{ number, end int32 }
	bytes, count := room[:0], 0
	for ; differ&wanted != 0; differ &= differ - 1 {
		n := bits.TrailingZeros32(differ)
		same := int(rest[0])
		size, digits := uvarint(rest[1:])
		text := rest[1+digits:][:size]
		rest = rest[1+digits+size:]
		switch {
		case wanted&(1<<n) == 0:
		case same == 0:
			w.set(n, text)
		default:
			bytes = append(append(bytes, s.texts[n][:same]...), text...)
			joined[count].number, joined[count].end = int32(n), int32(len(bytes))
			count++
		}
	}
	all, start := string(bytes), int32(0)
	for _, j := range joined[:count] {
		w.set(int(j.number), all[start:j.end])
		start = j.end
	}
}

// ownPairs makes pairs the change's own of which a value is to be set: they are those of its shape.
func (w *words) ownPairs(differ uint32) {
	for n, at := range w.at {
		if at.pair == 0 {
			pairs := w.change.Request.Pairs(at.field)
			mask := uint32(1<<len(pairs)-1) << (fixedTexts + n)
			if differ&mask != 0 {
				w.change.Request.SetPairs(at.field, slices.Clone(pairs))
			}
		}
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
