package storage

import (
	"fmt"
	"iter"

	"remit/internal/transfer"
	"remit/state"
)

// Movement is the twin and the destination that a row has by the intent of l.
func (l StoredEvent) Movement() (transfer.Twin, transfer.Destination, error) {
	if l.Kind != state.KindIntent {
		return 0, 0, fmt.Errorf("event %d, which a row names as its intent, is of kind %q: %w", l.Seq, l.Kind, state.ErrDamaged)
	}
	draft, err := l.Checked()
	if err != nil {
		return 0, 0, err
	}
	var none state.Transfer
	t, err := none.Apply(draft, l.Seq, l.Time)
	if err != nil {
		return 0, 0, fmt.Errorf("event %d: %w: %w", l.Seq, state.ErrDamaged, err)
	}
	return t.Twin, t.Destination, nil
}

// InOneSpelling yields rows of a schema whose twins and destinations are as requests spell them, with
// those that the journal makes. Compare then holds the rest of each row against it.
func (f *Refold) InOneSpelling(rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for r, err := range rows {
			if made := f.rows.row(r.RefID); made.RefID != "" {
				r.Twin, r.Destination = made.Twin, made.Destination
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
