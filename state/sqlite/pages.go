package sqlite

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"remit/state"
)

// pageRows is how many rows one statement reads: enough for the cost of a statement not to
// show, few enough for a reader to be stopped at once.
const pageRows = 1024

// page are the rows that follow one another in the table transfers, or why there are none.
type page[T any] struct {
	rows []T
	err  error
}

// pages reads the table a page at a time. The read after a ref_id appends the rows that
// follow it, in byte order and at most pageRows, to into.
type pages[T any] struct {
	read  func(ctx context.Context, after string, into []T) ([]T, error)
	refID func(T) string
}

// all yields every row. While the caller works on one page, the next one is read.
func (p pages[T]) all(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ctx, cancel := context.WithCancel(ctx)
		read, used := make(chan page[T]), make(chan []T, 2)
		used <- nil // two pages take turns
		used <- nil
		var reader sync.WaitGroup
		reader.Go(func() { p.ahead(ctx, read, used) })
		defer reader.Wait()
		defer cancel()
		for next := range read {
			if next.err != nil {
				yield(none, next.err)
				return
			}
			for _, row := range next.rows {
				if !yield(row, nil) {
					return
				}
			}
			used <- next.rows
		}
		if err := ctx.Err(); err != nil {
			yield(none, err)
		}
	}
}

// ahead hands each page to read, into one of used, until the last one or an error.
func (p pages[T]) ahead(ctx context.Context, read chan<- page[T], used <-chan []T) {
	defer close(read)
	last := ""
	for more := true; more && ctx.Err() == nil; {
		next := p.after(ctx, last, (<-used)[:0])
		more = next.err == nil && len(next.rows) == pageRows
		if more {
			last = p.refID(next.rows[pageRows-1])
		}
		select {
		case read <- next:
		case <-ctx.Done():
		}
	}
}

// after reads the page after a ref_id and holds it to its order, on which a caller's merge
// and the next page depend.
func (p pages[T]) after(ctx context.Context, last string, into []T) page[T] {
	rows, err := p.read(ctx, last, into)
	if err != nil {
		return page[T]{err: err}
	}
	for i := range rows {
		refID := p.refID(rows[i])
		if refID <= last {
			return page[T]{err: fmt.Errorf("read ref_id %q: it stands after %q: %w", refID, last, state.ErrDamaged)}
		}
		last = refID
	}
	return page[T]{rows: rows}
}

// merged puts the rows of tail over those of the table, in the order of ref_id.
func merged[T any](tail *overlay, table iter.Seq2[T, error], refID func(T) string, of func(row) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		newer := tail.sorted()
		for t, err := range table {
			if err != nil {
				yield(t, err)
				return
			}
			for len(newer) > 0 && newer[0] < refID(t) {
				if !yield(of(*tail.rows[newer[0]]), nil) {
					return
				}
				newer = newer[1:]
			}
			if len(newer) > 0 && newer[0] == refID(t) {
				t, newer = of(*tail.rows[newer[0]]), newer[1:]
			}
			if !yield(t, nil) {
				return
			}
		}
		for _, newest := range newer {
			if !yield(of(*tail.rows[newest]), nil) {
				return
			}
		}
	}
}
