package planner

import "strings"

// texts keeps many short texts in few pieces of memory, which never move. The zero value is
// ready for use.
type texts struct {
	chunks []*strings.Builder
}

// Sizes of a chunk, in bytes: most plans are small.
const (
	chunkFirst = 4 << 10
	chunkMax   = 1 << chunkBits
	chunkBits  = 20
)

// textPlace is where a text begins in a texts: a chunk, and a byte of it.
type textPlace struct{ chunk, offset int32 }

// room returns a chunk with room for size bytes, which begin below chunkMax: a chunk for one long text is larger, and
// has room behind it that no [shortPlace] names.
func (t *texts) room(size int) *strings.Builder {
	n := len(t.chunks)
	if n > 0 {
		last := t.chunks[n-1]
		if last.Len() < chunkMax && last.Cap()-last.Len() >= size {
			return last
		}
	}
	capacity := chunkFirst
	if n > 0 {
		capacity = min(2*t.chunks[n-1].Cap(), chunkMax)
	}
	chunk := new(strings.Builder)
	chunk.Grow(max(capacity, size))
	t.chunks = append(t.chunks, chunk)
	return chunk
}

// add keeps a text and returns where it begins.
func (t *texts) add(text []byte) textPlace {
	chunk := t.room(len(text))
	start := chunk.Len()
	chunk.Write(text)
	return textPlace{int32(len(t.chunks) - 1), int32(start)}
}

// from returns the texts in the chunk of a place, from there on.
func (t *texts) from(p textPlace) string { return t.chunks[p.chunk].String()[p.offset:] }
