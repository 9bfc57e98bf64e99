package gitfiles

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"remit/internal/files/confined"
)

// The kinds of an entry of a pack (gitformat-pack).
const (
	entryCommit      = 1
	entryTree        = 2
	entryBlob        = 3
	entryTag         = 4
	entryOffsetDelta = 6
	entryHashDelta   = 7
)

// deltasMax bounds how many differences lead to one object. git makes chains of 4,095 at most.
const deltasMax = 4095

var errDamaged = errors.New("the pack is damaged")

// pack is a pack with its index, of version 2.
type pack struct {
	index, data *os.File
	size        int64 // of data
	sum         int64 // bytes of a hash
	fanout      [256]uint32
}

func openPack(root *os.Root, name string, sum int) (*pack, error) {
	index, err := confined.Open(root, name+".idx")
	if err != nil {
		return nil, err
	}
	p := &pack{index: index, sum: int64(sum)}
	if err := p.readIndex(); err != nil {
		p.close()
		return nil, err
	}
	if p.data, err = confined.Open(root, name+".pack"); err != nil {
		p.close()
		return nil, err
	}
	info, err := p.data.Stat()
	if err != nil {
		p.close()
		return nil, err
	}
	p.size = info.Size()
	return p, nil
}

func (p *pack) close() {
	_ = p.index.Close()
	if p.data != nil {
		_ = p.data.Close()
	}
}

// readIndex reads the head of the index and how many hashes begin with each byte or a lower one.
func (p *pack) readIndex() error {
	const magic = "\xfftOc\x00\x00\x00\x02"
	var head [len(magic) + 4*256]byte
	if _, err := p.index.ReadAt(head[:], 0); err != nil {
		return err
	}
	if string(head[:len(magic)]) != magic {
		return errors.New("its index is not of version 2")
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[len(magic)+4*i:])
		if i > 0 && p.fanout[i] < p.fanout[i-1] {
			return errDamaged
		}
	}
	return nil
}

// indexHead is the length of the head of an index. The index has, one after another: its head, all
// hashes in order, a CRC-32 of each, the offset of each in 4 bytes, and those offsets that need 8.
const indexHead = 8 + 4*256

func (p *pack) count() int64 { return int64(p.fanout[255]) }

// offset is where an object begins in the pack.
func (p *pack) offset(id []byte) (at int64, ok bool, err error) {
	low, high := int64(0), int64(p.fanout[id[0]])
	if id[0] > 0 {
		low = int64(p.fanout[id[0]-1])
	}
	name := make([]byte, p.sum)
	for low < high {
		middle := (low + high) / 2
		if _, err := p.index.ReadAt(name, indexHead+middle*p.sum); err != nil {
			return 0, false, err
		}
		switch order := bytes.Compare(id, name); {
		case order < 0:
			high = middle
		case order > 0:
			low = middle + 1
		default:
			at, err := p.offsetOf(middle)
			return at, err == nil, err
		}
	}
	return 0, false, nil
}

// offsetOf is where the n-th object of the index begins.
func (p *pack) offsetOf(n int64) (int64, error) {
	const isLong = 1 << 31
	offsets := indexHead + p.count()*(p.sum+4)
	var short [4]byte
	if _, err := p.index.ReadAt(short[:], offsets+4*n); err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint32(short[:])
	if at&isLong == 0 {
		return int64(at), nil
	}
	var long [8]byte
	if _, err := p.index.ReadAt(long[:], offsets+4*p.count()+8*int64(at&^isLong)); err != nil {
		return 0, err
	}
	wide := binary.BigEndian.Uint64(long[:])
	if wide > math.MaxInt64 {
		return 0, errDamaged
	}
	return int64(wide), nil
}

// object is the one that begins at an offset.
func (p *pack) object(at int64) (kind string, content []byte, err error) {
	var deltas [][]byte
	total := 0
	for {
		e, err := p.entry(at)
		if err != nil {
			return "", nil, err
		}
		if total += len(e.content); total > objectMax || len(deltas) > deltasMax {
			return "", nil, fmt.Errorf("it is made of more than %d bytes or %d differences", objectMax, deltasMax)
		}
		if kind := e.name(); kind != "" {
			content = e.content
			for i := len(deltas) - 1; i >= 0; i-- {
				if content, err = patch(content, deltas[i]); err != nil {
					return "", nil, err
				}
			}
			return kind, content, nil
		}
		deltas = append(deltas, e.content)
		at = e.base
	}
}

// entry is an object of a pack, or its difference to the one at base.
type entry struct {
	kind    byte
	base    int64
	content []byte
}

// name is the kind of an object; "" for a difference.
func (e *entry) name() string {
	switch e.kind {
	case entryCommit:
		return "commit"
	case entryTree:
		return "tree"
	case entryBlob:
		return "blob"
	case entryTag:
		return "tag"
	default:
		return ""
	}
}

// readHeader reads the kind and the size of an entry.
func readHeader(in io.ByteReader) (kind byte, size uint64, err error) {
	first, err := in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size = first>>4&7, uint64(first&15)
	for shift := 4; first&0x80 != 0; shift += 7 {
		if first, err = in.ReadByte(); err != nil || shift > 32 {
			return 0, 0, errDamaged
		}
		size |= uint64(first&0x7f) << shift
	}
	if size > objectMax {
		return 0, 0, fmt.Errorf("it has more than %d bytes", objectMax)
	}
	return kind, size, nil
}

// entry reads the entry at an offset.
func (p *pack) entry(at int64) (*entry, error) {
	if at < 0 || at >= p.size {
		return nil, errDamaged
	}
	in := byteReader{io.NewSectionReader(p.data, at, p.size-at)}
	kind, size, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	e := &entry{kind: kind}
	switch e.kind {
	case entryCommit, entryTree, entryBlob, entryTag:
	case entryOffsetDelta:
		back, err := readBack(in)
		if err != nil || back <= 0 || back > at {
			return nil, errDamaged
		}
		e.base = at - back
	case entryHashDelta:
		id := make([]byte, p.sum)
		if _, err := io.ReadFull(in, id); err != nil {
			return nil, err
		}
		base, ok, err := p.offset(id)
		if err != nil || !ok {
			return nil, errDamaged
		}
		e.base = base
	default:
		return nil, errDamaged
	}
	e.content, err = inflate(in, size)
	return e, err
}

// readBack reads how far back the base of a difference is.
func readBack(in io.ByteReader) (int64, error) {
	b, err := in.ReadByte()
	back := int64(b & 0x7f)
	for err == nil && b&0x80 != 0 {
		if back > math.MaxInt64>>8 {
			return 0, errDamaged
		}
		b, err = in.ReadByte()
		back = (back+1)<<7 | int64(b&0x7f)
	}
	return back, err
}

// inflate reads exactly so many bytes from deflated ones.
func inflate(from io.Reader, size uint64) ([]byte, error) {
	plain, err := zlib.NewReader(from)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	n, err := io.Copy(&content, io.LimitReader(plain, int64(size)+1)) //nolint:gosec // at most objectMax
	if err == nil && uint64(n) != size {
		err = errDamaged
	}
	return content.Bytes(), err
}

// byteReader reads bytes one by one, and no more of them than it is asked for.
type byteReader struct{ io.Reader }

// ReadByte implements io.ByteReader.
func (r byteReader) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

// pieceOf is the piece of a base that an op of a difference copies. Four bytes of its offset and three of its size, those of
// them that are not 0, begin the rest of the difference.
func pieceOf(base []byte, op byte, delta []byte) (piece, rest []byte, ok bool) {
	var word [7]byte
	for i := range word {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		word[i], delta = delta[0], delta[1:]
	}
	offset := uint64(binary.LittleEndian.Uint32(word[:4]))
	size := uint64(word[4]) | uint64(word[5])<<8 | uint64(word[6])<<16
	if size == 0 {
		size = 0x10000
	}
	if offset+size > uint64(len(base)) {
		return nil, nil, false
	}
	return base[offset : offset+size], delta, true
}

// patch applies a difference to what it is one to.
func patch(base, delta []byte) ([]byte, error) {
	from, delta, ok := deltaSize(delta)
	to, delta, ok2 := deltaSize(delta)
	if !ok || !ok2 || from != uint64(len(base)) || to > objectMax {
		return nil, errDamaged
	}
	out := make([]byte, 0, min(to, 1<<20))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		if op&0x80 == 0 { // so many bytes of the difference itself
			if op == 0 || int(op) > len(delta) {
				return nil, errDamaged
			}
			piece, delta = delta[:op], delta[op:]
		} else {
			if piece, delta, ok = pieceOf(base, op, delta); !ok {
				return nil, errDamaged
			}
		}
		if uint64(len(out)+len(piece)) > to {
			return nil, errDamaged
		}
		out = append(out, piece...)
	}
	if uint64(len(out)) != to {
		return nil, errDamaged
	}
	return out, nil
}

// deltaSize reads a size at the head of a difference.
func deltaSize(delta []byte) (size uint64, rest []byte, ok bool) {
	for shift := 0; len(delta) > 0 && shift <= 35; shift += 7 {
		b := delta[0]
		delta = delta[1:]
		size |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, delta, true
		}
	}
	return 0, nil, false
}
