package storage

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"remit/state"
)

// PageRows is how many rows one statement reads: enough for the cost of a statement not to
// show, few enough for a reader to be stopped at once.
const PageRows = 1024

// page are the rows that follow one another in the table transfers, or why there are none.
type page[T any] struct {
	rows []T
	err  error
}

// Pages reads the table of rows a page at a time. The Read after a ref_id appends the rows
// that follow it, in byte order and at most PageRows, to into.
type Pages[T any] struct {
	Read  func(ctx context.Context, after string, into []T) ([]T, error)
	RefID func(T) string
}

// All yields every row. While the caller works on one page, the next one is read.
func (p Pages[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		// A caller that stops early stops the reader after its page, and leaves the connection as
		// it is.
		wanted, cancel := context.WithCancel(ctx)
		read, used := make(chan page[T]), make(chan []T, 2)
		used <- nil // two pages take turns
		used <- nil
		var reader sync.WaitGroup
		reader.Go(func() { p.ahead(ctx, wanted, read, used) })
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
func (p Pages[T]) ahead(ctx, wanted context.Context, read chan<- page[T], used <-chan []T) {
	defer close(read)
	last := ""
	for more := true; more && wanted.Err() == nil; {
		next := p.after(ctx, last, (<-used)[:0])
		more = next.err == nil && len(next.rows) == PageRows
		if more {
			last = p.RefID(next.rows[PageRows-1])
		}
		select {
		case read <- next:
		case <-wanted.Done():
		}
	}
}

// after reads the page after a ref_id and holds it to its order, on which a caller's merge
// and the next page depend.
func (p Pages[T]) after(ctx context.Context, last string, into []T) page[T] {
	rows, err := p.Read(ctx, last, into)
	if err != nil {
		return page[T]{err: err}
	}
	for i := range rows {
		refID := p.RefID(rows[i])
		if refID <= last {
			return page[T]{err: fmt.Errorf("read ref_id %q: it stands after %q: %w", refID, last, state.ErrDamaged)}
		}
		last = refID
	}
	return page[T]{rows: rows}
}
