package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"remit/internal/accounts/records"
	"remit/internal/cli/exit"
	"remit/internal/transfer"
)

// Bounds of the records of a file that are held in memory, in bytes: those of the transfers that are settled, and those of
// others, which only tell whose records the file has where there are none of these.
const (
	givenMax  = 64 << 20
	othersMax = 1 << 20
)

// othersNamed is how many ref_ids of others are held in any case: of more than one nobody can tell whose a record is.
const othersNamed = 4

// given are the records that a person gave.
type given struct {
	own    []records.Record // those of the transfers
	sides  []records.Record // further ones that have a group_id of these, whatever their ref_ids are
	others []records.Record // the first further ones
	bytes  int              // of own and sides

	groups     map[string]bool
	named      map[string]bool // ref_ids of others
	otherBytes int
}

// read reads the file that was given, twice where it has records that isOwn accepts: a credit side may stand before the debit side
// that has its group_id.
func (r *resolving) read(ctx context.Context, w *opened, isOwn func(*transfer.Record) bool) (*given, error) {
	in, err := openExport(w.streams, w.dir, r.recorded)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read
	first, again := io.Reader(in), seekable(in)
	if again == nil {
		kept, err := os.CreateTemp("", "remit-records-*")
		if err != nil {
			return nil, fmt.Errorf("keep the records aside: %w. Nothing was changed", err)
		}
		defer func() { _, _ = kept.Close(), os.Remove(kept.Name()) }() // nobody else has it
		first, again = io.TeeReader(in, kept), kept
	}
	g := given{groups: make(map[string]bool), named: make(map[string]bool)}
	pass := func(in io.Reader, use func(records.Record) error) error {
		return eachRecordIn(in, r.recorded, importFileMax, func(record records.Record) error {
			if ctx.Err() != nil {
				return exit.Interrupted("while the records were read")
			}
			return use(record)
		}, nil)
	}
	if err := pass(first, func(record records.Record) error { return g.take(record, isOwn(&record.Record)) }); err != nil || len(g.groups) == 0 {
		return &g, err
	}
	if _, err := again.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the records again: %w. Nothing was changed", err)
	}
	return &g, pass(again, func(record records.Record) error {
		if !g.groups[record.GroupID] || isOwn(&record.Record) {
			return nil
		}
		g.sides = append(g.sides, record)
		return g.hold(record)
	})
}

// seekable is a file that can be read again, or nil.
func seekable(in io.Reader) io.ReadSeeker {
	file, is := in.(io.ReadSeeker)
	if !is {
		return nil
	}
	if _, err := file.Seek(0, io.SeekCurrent); err != nil { // a pipe
		return nil
	}
	return file
}

// take takes a record of the first reading.
func (g *given) take(record records.Record, isOwn bool) error {
	if isOwn {
		g.own = append(g.own, record)
		if record.GroupID != "" {
			g.groups[record.GroupID] = true
		}
		return g.hold(record)
	}
	isNew := len(g.named) < othersNamed && !g.named[record.RefID]
	if g.otherBytes < othersMax || isNew {
		g.others = append(g.others, record)
		g.otherBytes += len(record.Raw)
	}
	if isNew {
		g.named[record.RefID] = true
	}
	return nil
}

func (g *given) hold(record records.Record) error {
	if g.bytes += len(record.Raw); g.bytes > givenMax {
		return fmt.Errorf("the file has more than %d MiB of records that have the ref_ids or group_ids of the transfers that are to be settled. Nothing was changed. Give a file of fewer", givenMax>>20)
	}
	return nil
}

// records are those of the transfers, with their further sides, or else the first ones of others.
func (g *given) records() []transfer.Record {
	all := slices.Concat(g.own, g.sides)
	if len(g.own) == 0 {
		all = g.others
	}
	list := make([]transfer.Record, len(all))
	for i := range all {
		list[i] = all[i].Record
	}
	return list
}

// newest are the newest copies of the records of the transfers and of their further sides. Copies that contradict one another
// are an error.
func (g *given) newest(name string) ([]transfer.Record, error) {
	var list []transfer.Record
	at := make(map[string]int)
	for _, record := range slices.Concat(g.own, g.sides) {
		n, isAgain := at[record.ID]
		if !isAgain {
			at[record.ID] = len(list)
			list = append(list, record.Record)
			continue
		}
		before, now := list[n].Version(), record.Version()
		if len(transfer.CompareCopies(list[n], record.Record)) > 0 || now.Contradicts(before) {
			return nil, fmt.Errorf("%s:%d: the record with id %q is in the file twice, and the two differ. Nothing was changed", name, record.Line, record.ID)
		}
		if now.Compare(before) > 0 {
			list[n] = record.Record
		}
	}
	return list, nil
}
