package books

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/text/arena"
	"remit/internal/transfer"
	"remit/state"
)

// Archive is what books are made from; a [state.Snapshot] is one, whose contract its
// methods have: order, completeness and errors.
type Archive interface {
	Transfers(ctx context.Context) iter.Seq2[state.Transfer, error]
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
	Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error]
}

// Filter says which transfers are wanted. The zero Filter wants all.
type Filter struct {
	RunID string // the run that sent it last, or imported it; so a transfer is of one run
	Batch string

	// From and Until bound [Entry.At]: From is in, Until is not. An open entry has no time of
	// its own: it is wanted unless it was first intended at Until or later.
	From, Until time.Time
}

func (f *Filter) wants(e *Entry) bool {
	if f.Batch != "" && e.Batch != f.Batch {
		return false
	}
	if !f.Until.IsZero() && !e.At.Before(f.Until) {
		return false
	}
	return e.Booking() == Open || f.From.IsZero() || !e.At.Before(f.From)
}

// Grouping says how the entries are arranged.
type Grouping int

// The arrangements.
const (
	ByTime    Grouping = iota // by [Entry.At], then by ref_id
	ByPayment                 // by [Entry.PaymentID], and then by time
)

// Books are the entries that a filter wants, without the entries themselves: some bytes of
// each stay in memory.
type Books struct {
	Summary
	archive Archive
	keys    []key
	refIDs  arena.Arena
}

// Summary is what books are, in numbers.
type Summary struct {
	Booked transfer.Totals // amounts of completed and pending entries
	Fees   transfer.Totals // of it, where there are any
	// Written are the amounts of Booked by asset as records write it: books take usd and USD for two.
	Written map[string]decimal.Decimal
	Causes  map[Cause]*transfer.Totals

	// Look are the first few that a person should look at.
	Look []Entry

	BatchKnown bool // a transfer of the filter's batch is there, at whatever time

	Groups     []Group // with [ByPayment]: in their order
	MessageIDs []string

	First Firsts
}

// NeedsPerson counts the entries that a person should look at.
func (s *Summary) NeedsPerson() int {
	count := 0
	for cause, totals := range s.Causes {
		if cause.NeedsPerson() {
			count += totals.Count()
		}
	}
	return count
}

const (
	lookMax = 20  // entries of Summary.Look
	page    = 512 // details read at a time
)

// key is the place of an entry in the books' order. It has no pointer, as there may be ten million.
type key struct {
	group int         // the number that [grouper.add] gave it; 0 with [ByTime]
	at    int64       // milliseconds, as [Entry.At]
	refID arena.Place // in the order of ref_ids, in which the archive yields them
}

// Read finds the entries that a filter wants, and adds them up. The error is the archive's.
func Read(ctx context.Context, archive Archive, f Filter, by Grouping) (*Books, error) {
	b := &Books{archive: archive, Summary: Summary{Causes: map[Cause]*transfer.Totals{}, Written: map[string]decimal.Decimal{}, First: Firsts{arena.NewMap()}}}
	groups := grouper{byName: map[string]int{}, messages: map[string]bool{}}
	for e, err := range All(ctx, archive) {
		if err != nil {
			return nil, err
		}
		b.noteFirst(e)
		if f.RunID != "" && e.RunID != f.RunID {
			continue
		}
		b.BatchKnown = b.BatchKnown || e.Batch == f.Batch
		if !f.wants(e) {
			continue
		}
		k := key{at: e.At.UnixMilli(), refID: b.refIDs.Add(e.RefID)}
		if by == ByPayment {
			k.group = groups.add(e)
		}
		b.keys = append(b.keys, k)
		b.add(e)
	}
	ranks := groups.sort()
	b.Groups, b.MessageIDs = groups.groups, slices.Sorted(maps.Keys(groups.messages))
	slices.SortFunc(b.keys, func(x, y key) int {
		if x.group != y.group {
			return cmp.Compare(ranks[x.group], ranks[y.group])
		}
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.refID, y.refID))
	})
	return b, nil
}

// All yields the entry of every transfer, in the order of ref_ids. An entry is of the yield
// alone. It ends with the first error, which is the archive's.
func All(ctx context.Context, archive Archive) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for d, err := range state.AllDetails(ctx, archive) {
			if err != nil {
				yield(nil, err)
				return
			}
			e, err := entryOf(ctx, archive, d)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&e, nil) {
				return
			}
		}
	}
}

// add counts an entry.
func (s *Summary) add(e *Entry) {
	if e.Cause != "" {
		if s.Causes[e.Cause] == nil {
			s.Causes[e.Cause] = new(transfer.Totals)
		}
		s.Causes[e.Cause].AddTotal(transfer.Total{Asset: e.Asset, Count: 1, Sum: e.Amount})
	}
	if e.Cause.NeedsPerson() && len(s.Look) < lookMax {
		s.Look = append(s.Look, *e)
	}
	if !e.Booking().Booked() {
		return
	}
	s.Booked.AddTotal(transfer.Total{Asset: e.Asset, Count: 1, Sum: e.Amount})
	if sum, isKnown := s.Written[e.Asset]; isKnown {
		s.Written[e.Asset] = sum.Add(e.Amount)
	} else {
		s.Written[strings.Clone(e.Asset)] = e.Amount
	}
	if fees := e.Fees(); !fees.IsZero() {
		s.Fees.AddTotal(transfer.Total{Asset: e.Asset, Count: 1, Sum: fees})
	}
}

// noteFirst notes whether an entry is the first to its profile.
func (s *Summary) noteFirst(e *Entry) {
	if e.Status != state.Refused && e.Status != state.Unsent {
		s.First.note(e.To, e.IntentSeq)
	}
}

// Firsts are, by profile_id, the intents of the first transfers to each profile, whatever the filter wants:
// 0 for one that was imported. Refused and unsent ones, which may get other intents, are not counted, so what
// is there stays. There may be as many as transfers.
type Firsts struct{ seqs *arena.Map }

func (f *Firsts) note(profileID string, seq int64) {
	if first, isPaid := f.Of(profileID); !isPaid || seq < first {
		f.seqs.Put(profileID, binary.LittleEndian.AppendUint64(nil, uint64(seq)), 0)
	}
}

// Of returns the intent of the first transfer to a profile; false where there is none.
func (f *Firsts) Of(profileID string) (seq int64, ok bool) {
	bytes, ok := f.seqs.Get(profileID)
	if !ok {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(bytes)), true
}

// All yields each profile with its intent, in no order.
func (f *Firsts) All() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for profileID := range f.seqs.Keys() {
			if seq, _ := f.Of(profileID); !yield(profileID, seq) {
				return
			}
		}
	}
}

// Entries yields every entry, in the order of the grouping. An entry is of the yield alone. It
// ends with the first error, which is the archive's.
func (b *Books) Entries(ctx context.Context) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		refIDs := make([]string, 0, page)
		for keys := range slices.Chunk(b.keys, page) {
			refIDs = refIDs[:0]
			for _, k := range keys {
				refIDs = append(refIDs, string(b.refIDs.At(k.refID)))
			}
			details, err := b.archive.Details(ctx, refIDs...)
			if err != nil {
				yield(nil, fmt.Errorf("read the details of transfers: %w", err))
				return
			}
			for i := range details {
				e, err := entryOf(ctx, b.archive, &details[i])
				if err != nil {
					yield(nil, err)
					return
				}
				if !yield(&e, nil) {
					return
				}
			}
		}
	}
}

// entryOf makes the entry of a transfer. The error is the archive's.
func entryOf(ctx context.Context, archive Archive, d *state.Detail) (Entry, error) {
	debit, credit, err := sides(ctx, archive, d)
	if err != nil {
		return Entry{}, fmt.Errorf("read the records of %q: %w", d.RefID, err)
	}
	return newEntry(d, debit, credit), nil
}
