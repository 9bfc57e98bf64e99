package config

import (
	"context"
	"iter"

	"github.com/hashicorp/hcl/v2"
)

const (
	batchTransfers = 256 // that are handed over at once
	batchesMax     = 4   // that are under way
)

// transferBatch are some transfers in declaration order, each with its mistakes.
type transferBatch struct {
	transfers []Transfer
	diags     []hcl.Diagnostics
}

// pipelined is all, with reading and evaluation in a goroutine of their own, so that they go
// on while the caller works on what is yielded. The goroutine has ended when the iteration
// has.
func (s *stream) pipelined(ctx context.Context) iter.Seq2[Transfer, hcl.Diagnostics] {
	return func(yield func(Transfer, hcl.Diagnostics) bool) {
		full := make(chan *transferBatch, batchesMax)
		free := make(chan *transferBatch, batchesMax)
		stop := make(chan struct{})
		go func() {
			defer close(full)
			s.fill(ctx, full, free, stop)
		}()
		defer func() {
			close(stop)
			for range full { // until the goroutine has ended
			}
		}()
		for batch := range full {
			for i := range batch.transfers {
				if !yield(batch.transfers[i], batch.diags[i]) {
					return
				}
			}
			free <- batch
		}
	}
}

// fill sends all transfers in batches. It makes few and then takes from free what came back.
func (s *stream) fill(ctx context.Context, full chan<- *transferBatch, free <-chan *transferBatch, stop <-chan struct{}) {
	made := 0
	next := func() *transferBatch {
		if made < batchesMax {
			made++
			return &transferBatch{}
		}
		select {
		case batch := <-free:
			batch.transfers, batch.diags = batch.transfers[:0], batch.diags[:0]
			return batch
		case <-stop:
			return nil
		}
	}
	batch := next()
	slot := func() *Transfer {
		batch.transfers = append(batch.transfers, Transfer{})
		return &batch.transfers[len(batch.transfers)-1]
	}
	s.each(ctx, slot, func(diags hcl.Diagnostics) bool {
		batch.diags = append(batch.diags, diags)
		if len(batch.diags) == batchTransfers {
			full <- batch // which has room for all that are made
			batch = next()
		}
		return batch != nil
	})
	if batch != nil {
		full <- batch
	}
}
