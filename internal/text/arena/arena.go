// Package arena keeps millions of short texts in a few pieces of memory, without a pointer to each:
// the garbage collector would look at every pointer, each time.
//
// Its one invariant: a place is that of the same bytes of memory for ever, and a later place is larger.
package arena

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Arena is texts, one after another. Its zero value has none.
type Arena struct {
	pieces [][]byte // none is ever moved: a larger one follows
}

// Place says where a text is. The zero Place is no text's.
type Place uint64

const (
	pieceFirst = 4 << 10 // bytes of the first piece: a small arena takes little
	pieceSize  = 1 << 20 // of all others, but for one text that is longer

	offsetBits = 32 // of a Place; those above say which piece
	sizeLength = 4  // bytes before each text, which say how long it is
)

// Make returns the place of n bytes, which are zero, and the bytes, which may be changed. It panics
// where they are more than four gigabytes.
func (a *Arena) Make(n int) (Place, []byte) {
	if uint64(n) > math.MaxUint32 {
		panic(fmt.Sprintf("a text of %d bytes for an arena", n))
	}
	last := len(a.pieces) - 1
	if last < 0 || cap(a.pieces[last])-len(a.pieces[last]) < sizeLength+n {
		size := pieceSize
		if last < 0 {
			size = pieceFirst
		}
		a.pieces = append(a.pieces, make([]byte, 0, max(size, sizeLength+n)))
		last++
	}
	offset := len(a.pieces[last])
	piece := a.pieces[last][:offset+sizeLength+n]
	a.pieces[last] = piece
	binary.LittleEndian.PutUint32(piece[offset:], uint32(n))
	at := Place(last)<<offsetBits | Place(offset+1)
	return at, a.At(at)
}

// Add returns the place of a copy of text.
func (a *Arena) Add(text string) Place {
	at, bytes := a.Make(len(text))
	copy(bytes, text)
	return at
}

// At returns the bytes of a place, which may be changed.
func (a *Arena) At(at Place) []byte {
	piece, offset := a.pieces[at>>offsetBits], int(at&(1<<offsetBits-1))-1
	from := offset + sizeLength
	to := from + int(binary.LittleEndian.Uint32(piece[offset:]))
	return piece[from:to:to]
}
