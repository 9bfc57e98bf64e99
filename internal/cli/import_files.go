package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"remit/executor"
	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/records"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/transfer"
)

// importFileMax bounds an export that is read, in bytes.
const importFileMax = 4 << 30

// read keeps the records of all files aside.
func (i *importing) read(ctx context.Context, streams *terminal.Streams, dir *workspace.Directory) error {
	streams.Begin("reading the records")
	defer streams.Quiet()
	for _, name := range i.files {
		if err := eachRecordOrListing(streams, dir, name, importFileMax, func(r records.Record) error {
			if ctx.Err() != nil {
				return exit.Interrupted("while the records were read")
			}
			if !reconcile.IsDecimal(r.Amount) {
				return fmt.Errorf("read the records: %s:%d: the amount %q of record %q is not a decimal: digits with a point and without grouping are needed. Nothing was changed", name, r.Line, r.Amount, r.ID)
			}
			i.customers.note(&r.Record)
			if r.CreatedAt.After(i.newest) {
				i.newest = r.CreatedAt
			}
			i.lacking.left.add(name, &r)
			return i.spool.Add(name, r)
		}, func(x records.Listing) error {
			if ctx.Err() != nil {
				return exit.Interrupted("while the list was read")
			}
			return i.list.Add(name, x)
		}); err != nil {
			return err
		}
	}
	if err := i.spool.Seal(); err != nil {
		return fmt.Errorf("%w. Nothing was changed. Export the records again", err)
	}
	return i.list.check(i.spool)
}

// has reports whether the files have anything of a ref_id.
func (i *importing) has(refID string) bool { return i.spool.Has(refID) || i.list.has(refID) }

// customers are whose debits the files have: the first, and a record of another one.
type customers struct {
	first   string
	firstID string // of its first record
	another transfer.Record
}

func (c *customers) note(r *transfer.Record) {
	switch {
	case r.Direction != transfer.Debit:
	case c.first == "":
		c.first, c.firstID = strings.Clone(r.CustomerID), strings.Clone(r.ID)
	case c.another.ID == "" && r.CustomerID != c.first:
		c.another = transfer.Record{ID: strings.Clone(r.ID), CustomerID: strings.Clone(r.CustomerID)}
	}
}

// check refuses exports of several customers, or of another one than the state's: whose record
// came first would decide whose the state is, and leave the others' out of it. The credit side of
// a transfer may be somebody else's.
func (c *customers) check(customer string) error {
	stranger := c.another
	if customer == "" {
		customer = c.first
	}
	if c.first != "" && c.first != customer {
		stranger = transfer.Record{ID: c.firstID, CustomerID: c.first}
	}
	if stranger.ID == "" {
		return nil
	}
	return fmt.Errorf("the export has a record (id %q) of customer %q, and the state is for the records of one customer, here %q. "+
		"Nothing was changed. Export the records of that one alone", stranger.ID, stranger.CustomerID, customer)
}

// found is what an import looks transfers up in.
type found struct{ *importing }

// Find implements executor.Finder. What stands in the files under a twin of an open ref_id can't be read.
func (f found) Find(_ context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	all := make(map[string][]transfer.Record, len(refIDs))
	unread := make(map[string]string)
	for _, refID := range refIDs {
		if f.twins.isHeld(f.importing, refID) {
			twin, isHeld, err := f.standIn(refID)
			if err != nil {
				return nil, err
			}
			if isHeld {
				unread[refID] = twinReason(twin, refID)
				continue
			}
		}
		records, err := f.spool.Of(refID)
		if err != nil {
			return nil, err
		}
		if len(records) > 0 {
			all[refID] = records
		}
	}
	if len(unread) > 0 {
		return all, &executor.UnreadableError{Reasons: unread}
	}
	return all, nil
}

// railsBut are the ref_ids of the files that have nothing but records of deposits and withdrawals, without those that are taken.
func (i *importing) railsBut(taken []string) (map[string]bool, error) {
	other := make(map[string]bool)
	for refID := range i.spool.RefIDs() {
		if _, is := slices.BinarySearch(taken, refID); is {
			continue
		}
		isOther, err := i.spool.IsOther(refID)
		if err != nil {
			return nil, err
		}
		if isOther {
			other[refID] = true
		}
	}
	return other, nil
}
