package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/text/arena"
	"remit/internal/transfer"
	"remit/state"
)

// packedRows are rows by ref_id, each in one text: as structs, with the texts of the events that they
// were read from, a million of them took 2 GB. No text has a pointer, as there may be ten million, at each
// of which the garbage collector would look, time and again.
//
// Its one invariant: rows are equal if and only if their packed texts are.
type packedRows struct {
	texts *arena.Map // by ref_id, which they are without

	// Words that many rows share, and the number of each.
	words   []string
	numbers map[string]uint64

	buffer []byte
}

// packedGrowth is the room for what becomes of an intent: the id and the group_id of a record, mostly UUIDs,
// which take 74 bytes, and longer times and numbers. A row with longer ones moves once.
const packedGrowth = 96

func newPackedRows() packedRows {
	return packedRows{texts: arena.NewMap(), numbers: make(map[string]uint64)}
}

// row returns the row of a ref_id; the zero row where there is none.
func (p *packedRows) row(refID string) Row {
	text, ok := p.texts.Get(refID)
	if !ok {
		return Row{}
	}
	return p.unpack(refID, string(text))
}

// last is the newest event of a ref_id; 0 where there is none.
func (p *packedRows) last(refID string) int64 {
	text, _ := p.texts.Get(refID)
	n, _ := binary.Varint(text)
	return n
}

func (p *packedRows) put(r Row) {
	growth := 0
	if r.RecordID == "" {
		growth = packedGrowth
	}
	p.texts.Put(r.RefID, p.pack(r), growth)
}

// has reports whether r is the row of its ref_id.
func (p *packedRows) has(r Row) bool {
	text, ok := p.texts.Get(r.RefID)
	return ok && bytes.Equal(text, p.pack(r))
}

func (p *packedRows) remove(refID string) { p.texts.Delete(refID) }

func (p *packedRows) sorted() []string { return slices.Sorted(p.texts.Keys()) }

// least is the first ref_id in byte order; false where there is none.
func (p *packedRows) least() (string, bool) {
	least, isThere := "", false
	for refID := range p.texts.Keys() {
		if !isThere || refID < least {
			least, isThere = refID, true
		}
	}
	return least, isThere
}

// The flags of a packed row.
const (
	packedFromLabel = 1 << iota
	packedDoubted
	packedSharesID
)

// pack writes a row into the buffer, which holds it until the next call.
func (p *packedRows) pack(r Row) []byte {
	b := binary.AppendVarint(p.buffer[:0], r.Last)
	flags := byte(0)
	if r.FromLabel {
		flags |= packedFromLabel
	}
	if r.Doubted {
		flags |= packedDoubted
	}
	if r.SharesID {
		flags |= packedSharesID
	}
	b = append(b, byte(r.Status), flags)
	b = append(b, r.Fingerprint[:]...)
	b = append(b, r.RequestDigest[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Twin))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Destination))
	for _, shared := range []string{r.Asset, string(r.RecordStatus), r.RunID} {
		b = binary.AppendUvarint(b, p.number(shared))
	}
	for _, own := range []string{r.Amount.String(), r.RecordID, r.GroupID} {
		b = binary.AppendUvarint(b, uint64(len(own)))
		b = append(b, own...)
	}
	for _, at := range []time.Time{r.IntendedAt, r.AttemptedAt, r.SettledAt} {
		b = binary.AppendVarint(b, at.Unix())
		b = binary.AppendUvarint(b, uint64(at.Nanosecond()))
	}
	b = binary.AppendVarint(b, r.IntentSeq)
	b = binary.AppendVarint(b, r.OutcomeSeq)
	p.buffer = b
	return b
}

// number is that of a word, which it gets when it is first met.
func (p *packedRows) number(word string) uint64 {
	n, ok := p.numbers[word]
	if !ok {
		n, word = uint64(len(p.words)), strings.Clone(word)
		p.words = append(p.words, word)
		p.numbers[word] = n
	}
	return n
}

// unpack reads what pack wrote. All else is a mistake of this package.
func (p *packedRows) unpack(refID, text string) Row {
	t := &packedText{text: text}
	r := Row{Last: t.number()}
	r.RefID = refID
	r.Status = state.Status(t.take(1)[0])
	flags := t.take(1)[0]
	r.FromLabel, r.Doubted, r.SharesID = flags&packedFromLabel != 0, flags&packedDoubted != 0, flags&packedSharesID != 0
	copy(r.Fingerprint[:], t.take(len(r.Fingerprint)))
	copy(r.RequestDigest[:], t.take(len(r.RequestDigest)))
	r.Twin = transfer.Twin(binary.BigEndian.Uint64([]byte(t.take(8))))
	r.Destination = transfer.Destination(binary.BigEndian.Uint64([]byte(t.take(8))))
	r.Asset = p.words[t.size()]
	r.RecordStatus = transfer.RecordStatus(p.words[t.size()])
	r.RunID = p.words[t.size()]
	if amount := t.take(t.size()); amount != "" {
		var err error
		if r.Amount, err = transfer.ParseAmount(amount); err != nil {
			panic(fmt.Sprintf("the amount of a packed row: %v", err))
		}
	}
	r.RecordID, r.GroupID = t.take(t.size()), t.take(t.size())
	for _, at := range []*time.Time{&r.IntendedAt, &r.AttemptedAt, &r.SettledAt} {
		second := t.number()
		*at = time.Unix(second, int64(t.size())).UTC()
	}
	r.IntentSeq, r.OutcomeSeq = t.number(), t.number()
	return r
}

// packedText is a packed row on its way back.
type packedText struct{ text string }

func (t *packedText) take(n int) string {
	taken := t.text[:n]
	t.text = t.text[n:]
	return taken
}

func (t *packedText) number() int64 {
	u := t.unsigned()
	n := int64(u >> 1) // as binary.Varint has it
	if u&1 != 0 {
		n = ^n
	}
	return n
}

func (t *packedText) size() int { return int(t.unsigned()) }

func (t *packedText) unsigned() uint64 {
	var u uint64
	for shift := 0; ; shift += 7 {
		b := t.take(1)[0]
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return u
		}
	}
}
