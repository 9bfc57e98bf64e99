package reconcile

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// mergeBuffer is how much of each sorted run is read at once, in bytes.
const mergeBuffer = 64 << 10

// sorter puts entries into the order of their keys, and entries of one key into that in which
// they were added. It holds so many bytes of them; the rest goes to a temporary file, in
// sorted runs that are merged when they are read.
type sorter struct {
	dir string
	max int // bytes held

	arena []byte // entries, one after another: see sorter.add
	index []int  // where in arena each begins

	file *os.File // nil while everything is held
	out  *bufio.Writer
	size int64
	runs []span
}

// span is a part of the file.
type span struct{ from, to int64 }

// entry is one that is read; its bytes hold until the next one is.
type entry struct{ key, value []byte }

func newSorter(dir string, max int) *sorter { return &sorter{dir: dir, max: max} }

// add takes an entry in.
func (s *sorter) add(key string, value []byte) error {
	if len(s.arena) > 0 && len(s.arena)+len(key)+len(value)+2*binary.MaxVarintLen32 > s.max {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if size := len(s.arena) + len(key) + len(value) + 2*binary.MaxVarintLen32; size > cap(s.arena) && 2*size > s.max/2 {
		s.arena = slices.Grow(s.arena, max(s.max, size)-len(s.arena)) // once, rather than by copies
	}
	s.index = append(s.index, len(s.arena))
	s.arena = binary.AppendUvarint(s.arena, uint64(len(key)))
	s.arena = append(s.arena, key...)
	s.arena = binary.AppendUvarint(s.arena, uint64(len(value)))
	s.arena = append(s.arena, value...)
	return nil
}

// at is the entry at a place of the arena.
func (s *sorter) at(place int) (e entry, end int) {
	size, n := binary.Uvarint(s.arena[place:])
	place += n
	e.key = s.arena[place : place+int(size)]
	place += int(size)
	size, n = binary.Uvarint(s.arena[place:])
	place += n
	e.value = s.arena[place : place+int(size)]
	return e, place + int(size)
}

// sort arranges the index.
func (s *sorter) sort() {
	slices.SortFunc(s.index, func(a, b int) int {
		x, _ := s.at(a)
		y, _ := s.at(b)
		if order := bytes.Compare(x.key, y.key); order != 0 {
			return order
		}
		return cmp.Compare(a, b)
	})
}

// spill writes the held entries as a run of the file.
func (s *sorter) spill() error {
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "remit-reconcile-*")
		if err != nil {
			return fmt.Errorf("make a temporary file: %w", err)
		}
		// Nobody finds it, and nothing of it is left after a crash. Where an open file can't be
		// removed, close removes it.
		_ = os.Remove(file.Name())
		s.file, s.out = file, bufio.NewWriterSize(file, 1<<20)
	}
	s.sort()
	from := s.size
	for _, place := range s.index {
		_, end := s.at(place)
		n, err := s.out.Write(s.arena[place:end])
		s.size += int64(n)
		if err != nil {
			return fmt.Errorf("write the temporary file %s: %w", s.file.Name(), err)
		}
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("write the temporary file %s: %w", s.file.Name(), err)
	}
	s.runs = append(s.runs, span{from, s.size})
	s.arena, s.index = s.arena[:0], s.index[:0]
	return nil
}

// read begins to read all entries in order. Nothing may be added any more; it may be read again.
func (s *sorter) read() (*cursor, error) {
	if s.file == nil {
		s.sort()
		c := &cursor{sorter: s}
		return c, c.next()
	}
	if len(s.index) > 0 {
		if err := s.spill(); err != nil {
			return nil, err
		}
	}
	s.arena, s.index = nil, nil
	c := &cursor{sorter: s, merge: &merge{}}
	for order, run := range s.runs {
		r := &runReader{in: bufio.NewReaderSize(io.NewSectionReader(s.file, run.from, run.to-run.from), mergeBuffer), order: order}
		if err := r.next(); err != nil {
			return nil, err
		}
		*c.merge = append(*c.merge, r)
	}
	heap.Init(c.merge)
	return c, c.next()
}

// close gives the memory and the file back.
func (s *sorter) close() {
	s.arena, s.index = nil, nil
	if s.file != nil {
		_ = s.file.Close()           // it was only read since
		_ = os.Remove(s.file.Name()) // in vain where it is gone already
		s.file = nil
	}
}

// cursor points before an entry, or at the end.
type cursor struct {
	entry
	done   bool
	sorter *sorter
	place  int    // in the index
	merge  *merge // nil where everything is held
	last   *runReader
}

// next goes to the next entry.
func (c *cursor) next() error {
	if c.merge == nil {
		if c.place == len(c.sorter.index) {
			c.entry, c.done = entry{}, true
			return nil
		}
		c.entry, _ = c.sorter.at(c.sorter.index[c.place])
		c.place++
		return nil
	}
	if c.last != nil {
		err := c.last.next()
		switch {
		case errors.Is(err, io.EOF):
			heap.Pop(c.merge)
		case err != nil:
			return err
		default:
			heap.Fix(c.merge, 0)
		}
	}
	if c.merge.Len() == 0 {
		c.entry, c.last, c.done = entry{}, nil, true
		return nil
	}
	c.last = (*c.merge)[0]
	c.entry = c.last.entry
	return nil
}

// is reports whether the cursor points before an entry of this key.
func (c *cursor) is(key string) bool { return !c.done && string(c.key) == key }

// runReader reads one sorted run.
type runReader struct {
	entry
	in    *bufio.Reader
	order int
}

// next reads an entry; [io.EOF] at the end.
func (r *runReader) next() error {
	var err error
	if r.key, err = r.part(r.key); err != nil {
		return err
	}
	if r.value, err = r.part(r.value); err != nil {
		return fmt.Errorf("read the temporary file: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	return nil
}

func (r *runReader) part(into []byte) ([]byte, error) {
	size, err := binary.ReadUvarint(r.in)
	if errors.Is(err, io.EOF) {
		return into, io.EOF
	}
	if err != nil {
		return into, fmt.Errorf("read the temporary file: %w", err)
	}
	into = slices.Grow(into[:0], int(size))[:size]
	if _, err := io.ReadFull(r.in, into); err != nil {
		return into, fmt.Errorf("read the temporary file: %w", err)
	}
	return into, nil
}

// merge is a heap of runs by their next entries.
type merge []*runReader

func (m merge) Len() int { return len(m) }

func (m merge) Less(i, j int) bool {
	if order := bytes.Compare(m[i].key, m[j].key); order != 0 {
		return order < 0
	}
	return m[i].order < m[j].order
}

func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }

// Push implements [heap.Interface]; it is not used.
func (m *merge) Push(any) { panic("reconcile: a merge only shrinks") }

// Pop implements [heap.Interface].
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
