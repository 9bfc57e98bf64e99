package planner

import "iter"

// list is a slice that grows by chunks, which never move: a million values are not copied to make room, and a
// pointer to one stays good. The zero value is an empty list.
type list[T any] struct {
	chunks [][]T
	length int
}

const (
	chunkLength      = 4096
	chunkLengthFirst = 64 // most lists are small
)

func (l *list[T]) len() int { return l.length }

// add puts a value at the end, and returns where it is now.
func (l *list[T]) add(value T) *T {
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == cap(l.chunks[last]) {
		size := chunkLength
		if last < 0 {
			size = chunkLengthFirst
		}
		l.chunks = append(l.chunks, make([]T, 0, size))
		last++
	}
	n := len(l.chunks[last])
	l.chunks[last] = append(l.chunks[last], value)
	l.length++
	return &l.chunks[last][n]
}

// at is the value with a number.
func (l *list[T]) at(i int) *T {
	if i < chunkLengthFirst {
		return &l.chunks[0][i]
	}
	i -= chunkLengthFirst
	return &l.chunks[1+i/chunkLength][i%chunkLength]
}

// all yields each value with its number.
func (l *list[T]) all() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		number := 0
		for _, chunk := range l.chunks {
			for i := range chunk {
				if number == l.length || !yield(number, &chunk[i]) { // a copy of the list may have grown
					return
				}
				number++
			}
		}
	}
}
