package records

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"remit/internal/transfer"
)

// Listing is one line of a list of payments: a ref_id and the group_id that the service gave
// it, with no record of it.
type Listing struct {
	RefID, GroupID string
	Amount, Asset  string // both or none; the amount is a plain decimal, as the list has it
	Line           int    // from 1
}

// isList reports whether CSV with these columns is a list, and no export of records.
func isList(names []string) bool {
	return slices.Contains(names, "ref_id") && slices.Contains(names, "group_id") && !slices.Contains(names, "id")
}

// listReader makes a listing of each row.
type listReader struct {
	*csvReader
	each func(Listing) error

	refID, groupID, amount, asset int // columns; -1 for one that is not there
}

func newListReader(c *csvReader, names []string) (*listReader, error) {
	known := []string{"ref_id", "group_id", "amount", "asset"}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("a list has the columns ref_id, group_id, amount and asset, and nothing else: remove %q. An export of records has the column id", name)
		}
	}
	l := &listReader{csvReader: c, each: c.list}
	for i, into := range []*int{&l.refID, &l.groupID, &l.amount, &l.asset} {
		*into = slices.Index(names, known[i])
	}
	if (l.amount < 0) != (l.asset < 0) {
		return nil, errors.New("a list has both of the columns amount and asset, or none of them")
	}
	return l, nil
}

func (l *listReader) read(rows *csv.Reader) error {
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return l.explain(err)
		}
		line, _ := rows.FieldPos(0)
		line += l.above
		listing, err := l.listing(cells)
		if err != nil {
			return l.wrong(line, err)
		}
		listing.Line = line
		l.count++
		if err := l.each(listing); err != nil {
			return err
		}
	}
}

func (l *listReader) listing(cells []string) (Listing, error) {
	x := Listing{RefID: strings.Clone(cells[l.refID]), GroupID: strings.Clone(cells[l.groupID])}
	if err := transfer.CheckRefID(x.RefID); err != nil {
		return x, fmt.Errorf("ref_id %q %w", x.RefID, err)
	}
	if err := transfer.CheckRefID(x.GroupID); err != nil { // nothing documents what one may be
		return x, fmt.Errorf("group_id %q %w", x.GroupID, err)
	}
	if l.amount < 0 {
		return x, nil
	}
	x.Amount, x.Asset = strings.Clone(cells[l.amount]), strings.Clone(cells[l.asset])
	switch {
	case x.Amount == "" && x.Asset == "":
		return x, nil
	case x.Amount == "" || x.Asset == "":
		return x, errors.New("an amount stands without its asset, or an asset without its amount")
	}
	if err := transfer.CheckRefID(x.Asset); err != nil {
		return x, fmt.Errorf("asset %q %w", x.Asset, err)
	}
	if _, err := transfer.ParseAmount(x.Amount); err != nil {
		return x, fmt.Errorf("amount %q %w", x.Amount, err)
	}
	return x, nil
}

// List has the lines of all lists of payments, by ref_id. It holds all of them. The zero List is empty.
type List struct {
	byRefID  map[string]listed
	byGroup  map[string]string
	byFold   map[string][]string // nil before Twins
	repeated int
}

type listed struct {
	Listing
	place string
}

// Add adds a line of the file with the given name. A repeated line counts once. It returns an
// *[Error] where the list has the ref_id, or the group_id, with other values.
func (l *List) Add(name string, x Listing) error {
	if l.byRefID == nil {
		l.byRefID, l.byGroup = make(map[string]listed), make(map[string]string)
	}
	place := fmt.Sprintf("%s:%d", name, x.Line)
	if before, has := l.byRefID[x.RefID]; has {
		before.Line = x.Line
		if before.Listing != x {
			return &Error{name, x.Line, fmt.Errorf("ref_id %q is at %s with another group_id, amount or asset", x.RefID, before.place)}
		}
		l.repeated++
		return nil
	}
	if other, has := l.byGroup[x.GroupID]; has {
		return &Error{name, x.Line, fmt.Errorf("group_id %q is at %s under the ref_id %q: it links the two sides of one transfer", x.GroupID, l.byRefID[other].place, other)}
	}
	l.byRefID[x.RefID], l.byGroup[x.GroupID] = listed{x, place}, x.RefID
	return nil
}

// Of returns the line of a ref_id, and its place, as file:line.
func (l *List) Of(refID string) (x Listing, place string, has bool) {
	found, has := l.byRefID[refID]
	return found.Listing, found.place, has
}

// RefIDs yields the ref_ids, sorted.
func (l *List) RefIDs() iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(l.byRefID))) }

// Twins returns the ref_ids that are not refID and that a service may have written in its place. Nothing is
// added after it.
func (l *List) Twins(refID string) []Twin {
	if l.byFold == nil {
		l.byFold = make(map[string][]string, len(l.byRefID))
		for listed := range l.RefIDs() {
			folded := transfer.FoldRefID(listed)
			l.byFold[folded] = append(l.byFold[folded], listed)
		}
	}
	var twins []Twin
	for _, twin := range l.byFold[transfer.FoldRefID(refID)] {
		if twin != refID {
			twins = append(twins, Twin{twin, l.byRefID[twin].place})
		}
	}
	return twins
}

// Owner is the ref_id of a group_id; "" where the list does not have the group_id.
func (l *List) Owner(groupID string) string { return l.byGroup[groupID] }

// Count is how many ref_ids there are, and how many lines are repeats.
func (l *List) Count() (refIDs, repeated int) { return len(l.byRefID), l.repeated }

// Check compares a record with the line of its ref_id, and its group_id with those of the list. It
// returns an *[Error] at the line that contradicts it.
func (l *List) Check(r *transfer.Record) error {
	wrong := func(refID, format string, args ...any) error {
		place := l.byRefID[refID].place
		i := strings.LastIndexByte(place, ':')
		return &Error{place[:i], l.byRefID[refID].Line, fmt.Errorf(format, args...)}
	}
	if other := l.byGroup[r.GroupID]; r.GroupID != "" && other != "" && other != r.RefID {
		return wrong(other, "group_id %q is, in the records, that of the ref_id %q", r.GroupID, r.RefID)
	}
	x, _, has := l.Of(r.RefID)
	switch {
	case !has:
		return nil
	case r.GroupID != "" && r.GroupID != x.GroupID:
		return wrong(r.RefID, "ref_id %q has the group_id %q here, and %q in the records", r.RefID, x.GroupID, r.GroupID)
	case x.Amount != "" && (x.Asset != r.Asset || !transfer.SameNumber(x.Amount, r.Amount)):
		return wrong(r.RefID, "ref_id %q has %s %s here, and %s %s in the records", r.RefID, x.Amount, x.Asset, r.Amount, r.Asset)
	}
	return nil
}
