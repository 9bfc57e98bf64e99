// Package reconcile holds what the service says that it made against what the state says was
// made.
//
// Its one invariant: a transfer matches only where both of its sides are there once and agree in
// every field that [transfer.Compare] compares. A record that is missing, doubled or unknown on either side
// is a [Item] of its own and never a match, and the state is only read.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// Archive has the transfers that records are compared with; a [state.Snapshot] is one, whose contract its
// methods have: order, completeness and errors.
type Archive interface {
	Meta() state.Meta
	Holder() (state.Holder, bool)
	Transfers(ctx context.Context) iter.Seq2[state.Transfer, error]
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
	Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error]
}

// Options say how to reconcile. The zero Options reconcile everything with everything.
type Options struct {
	Operator       transfer.Operator
	FingerprintKey string

	// From and Until bound the service's created_at of the debit side: From is in, Until is
	// not. A transfer that the service does not have goes by the created_at of its stored record,
	// and without one by the time of its attempts. The zero time is no bound.
	From, Until time.Time

	// Batch, where it is not "", leaves other transfers of the state out, and all that the
	// state does not know.
	Batch string

	// DebitsOnly says that the files have no credit sides: that they are missing is no
	// break, and nothing proves the destinations.
	DebitsOnly bool

	CanLookUp bool   // the service has a lookup, which changes the command to type
	Settling  string // the command that settles doubts by one
	LookedUp  bool   // the records are what a lookup has found, so nothing is known of other ref_ids

	TempDir   string // for records that do not fit into memory; "" for the system's
	MemoryMax int    // bytes that are held of the records; 0 for 32 MiB
	ListMax   int    // items that a [Summary] has of each kind; 0 for 1000, negative for all

	// Each, where it is not nil, is given every item, in the order of ref_ids, and at the end
	// those that only the service has. An item must not be kept. An error of it ends Judge.
	Each func(*Item) error
}

const (
	memoryDefault = 32 << 20
	listDefault   = 1000
)

// Reconciliation takes records in and judges them.
type Reconciliation struct {
	options Options
	files   []string
	records *sorter // by ref_id
	summary Summary
	buffer  []byte
}

// New begins a reconciliation. The caller closes it.
func New(o Options) *Reconciliation {
	if o.MemoryMax <= 0 {
		o.MemoryMax = memoryDefault
	}
	if o.ListMax == 0 {
		o.ListMax = listDefault
	}
	return &Reconciliation{options: o, records: newSorter(o.TempDir, o.MemoryMax), summary: newSummary(o)}
}

// Close removes the temporary files.
func (r *Reconciliation) Close() { r.records.close() }

// AddFile names the file of the records that are added from now on.
func (r *Reconciliation) AddFile(name string) {
	r.files = append(r.files, name)
}

// Add takes in a record of the newest file, from a line of it; 0 for none. It is an error if an
// amount of it is no decimal, of which no total could be made, or if it has no created_at.
func (r *Reconciliation) Add(record transfer.Record, line int) error {
	if !IsDecimal(record.Amount) {
		return fmt.Errorf("the amount %q of record %q is not a decimal: digits with a point and without grouping are needed", record.Amount, record.ID)
	}
	if record.CreatedAt.IsZero() {
		return fmt.Errorf("record %q has no created_at in RFC 3339, so its period is unknown", record.ID)
	}
	r.summary.took(record.CreatedAt)
	side := Side{Record: record, file: len(r.files), line: line}
	r.buffer = side.append(r.buffer[:0])
	return r.records.add(record.RefID, r.buffer)
}

// AddUnreadable takes in that what the service answered about a ref_id can't be read.
func (r *Reconciliation) AddUnreadable(refID, why string) error {
	side := Side{unreadable: why}
	if why == "" {
		side.unreadable = "it can't be read"
	}
	side.RefID = refID
	r.buffer = side.append(r.buffer[:0])
	return r.records.add(refID, r.buffer)
}

// IsDecimal reports whether text is a decimal in plain notation, with or without a sign.
func IsDecimal(text string) bool {
	_, ok := transfer.ParseNumber(text)
	return ok
}

// Judge holds all that was added against the state, once. The summary does not depend on the
// order in which records were added, places in it apart.
func (r *Reconciliation) Judge(ctx context.Context, archive Archive) (*Summary, error) {
	attributed := newSorter(r.options.TempDir, r.options.MemoryMax/2)
	defer attributed.close()
	strangers := newSorter(r.options.TempDir, r.options.MemoryMax/2)
	defer strangers.close()
	if err := r.attribute(ctx, archive, attributed, strangers); err != nil {
		return nil, fmt.Errorf("match the records: %w", err)
	}
	j := newJudge(ctx, r, archive)
	if err := j.known(attributed); err != nil {
		return nil, fmt.Errorf("compare the records: %w", err)
	}
	if err := j.strangers(strangers); err != nil {
		return nil, fmt.Errorf("compare the records: %w", err)
	}
	r.summary.addUp()
	return &r.summary, nil
}

// place is the file and line of a side, in words.
func (r *Reconciliation) place(s *Side) string {
	if s.file == 0 {
		return ""
	}
	if s.line == 0 {
		return r.files[s.file-1]
	}
	return fmt.Sprintf("%s:%d", r.files[s.file-1], s.line)
}

// errDamaged says that a read entry differs from the written one.
var errDamaged = errors.New("a temporary file was changed")
