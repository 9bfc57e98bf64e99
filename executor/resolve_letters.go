package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// Relettered is a transfer in doubt of which given records have another ref_id that differs from its own in nothing but
// letters or spaces ([transfer.FoldRefID]).
type Relettered struct {
	RefID  string
	Listed string // the ref_id of the records; the first one where they have several
	Amount transfer.Amount
	Asset  string
	Why    string // the records can't be taken for it together with others, in words; "" where they can

	outcome state.Outcome
}

// DoubtFolds are the [transfer.FoldRefID] of all transfers in doubt: records of no other are wanted of an export.
func DoubtFolds(ctx context.Context, snapshot state.Snapshot) (map[string]bool, error) {
	folds := make(map[string]bool)
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the doubts: %w", err)
		}
		if row.Status == state.InDoubt {
			folds[transfer.FoldRefID(row.RefID)] = true
		}
	}
	return folds, nil
}

// FindRelettered finds, among given records, those of doubts whose ref_ids the service has written in other letters. One
// that has a record of its own ref_id among them is not listed: an import takes that. Nothing is written; r names no ref_id.
func FindRelettered(ctx context.Context, r Resolution, given []transfer.Record) ([]Relettered, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the doubts: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	l := letters{byFold: make(map[string][]transfer.Record), byGroup: make(map[string][]transfer.Record), users: make(map[string][]string), owners: make(map[string]string)}
	for i := range given {
		fold := transfer.FoldRefID(given[i].RefID)
		l.byFold[fold] = append(l.byFold[fold], given[i])
		if groupID := given[i].GroupID; groupID != "" {
			l.byGroup[groupID] = append(l.byGroup[groupID], given[i])
		}
		l.owners[given[i].ID], l.owners[given[i].GroupID] = "", ""
	}
	if err := l.read(ctx, r, snapshot); err != nil {
		return nil, err
	}
	var all []Relettered
	var failed error
	err = eachDetail(ctx, snapshot, l.doubts, func(d state.Detail) {
		one, is, err := l.judge(r, d, snapshot.Meta())
		failed = errors.Join(failed, err)
		if is {
			all = append(all, one)
		}
	})
	return all, errors.Join(err, failed)
}

// letters are given records, and what the state and the files have that they could be of.
type letters struct {
	byFold  map[string][]transfer.Record
	byGroup map[string][]transfer.Record
	users   map[string][]string // by fold, the ref_ids of the state and of the files
	owners  map[string]string   // by id or group_id of a given record, the ref_id under which the state has it
	doubts  []string
}

func (l *letters) read(ctx context.Context, r Resolution, snapshot state.Snapshot) error {
	uses := func(refID string) {
		fold := transfer.FoldRefID(refID)
		if l.byFold[fold] != nil && !slices.Contains(l.users[fold], refID) {
			l.users[fold] = append(l.users[fold], refID)
		}
	}
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return fmt.Errorf("read the transfers: %w", err)
		}
		uses(row.RefID)
		for _, key := range []string{row.RecordID, row.GroupID} {
			if _, isGiven := l.owners[key]; isGiven && key != "" {
				l.owners[key] = row.RefID
			}
		}
		if row.Status == state.InDoubt && l.byFold[transfer.FoldRefID(row.RefID)] != nil {
			l.doubts = append(l.doubts, row.RefID)
		}
	}
	if r.Declares == nil {
		return nil
	}
	_, err := r.Declares(ctx, func(refID string) bool { uses(refID); return false })
	return err
}

// judge says whether the records of a doubt's fold are of it. It is false where they have its own ref_id.
func (l *letters) judge(r Resolution, d state.Detail, meta state.Meta) (Relettered, bool, error) {
	fold := transfer.FoldRefID(d.RefID)
	records := l.byFold[fold]
	named := namedBy(records)
	if slices.Contains(named, d.RefID) || len(named) == 0 {
		return Relettered{}, false, nil
	}
	r.RefID = d.RefID
	records = r.linked(records, l.around(records))
	one := Relettered{RefID: d.RefID, Listed: named[0], Amount: d.Amount, Asset: d.Asset}
	owned := slices.IndexFunc(records, func(g transfer.Record) bool { return l.owners[g.ID]+l.owners[g.GroupID] != "" })
	switch users := l.users[fold]; {
	case len(named) > 1:
		one.Why = "the file has " + inShort(named) + ", and nobody can tell which of these it is"
		return one, true, nil
	case len(users) > 1:
		one.Why = "it may be of " + inShort(slices.DeleteFunc(slices.Clone(users), func(refID string) bool { return refID == d.RefID })) + " as well"
		return one, true, nil
	case owned >= 0:
		one.Why = fmt.Sprintf("the state has it under %q", orElse(l.owners[records[owned].ID], l.owners[records[owned].GroupID]))
		return one, true, nil
	}
	records = withKept(records, keptSides(d))
	k, err := r.known(d, meta)
	if err != nil {
		return one, true, err
	}
	v := judgeRecords(k, inDoubt, records)
	deciding, err := r.accept(records, d)
	if err != nil {
		one.Why = "only the credit side is there, which does not say what was debited"
		return one, true, nil //nolint:nilerr // it is why
	}
	rest := slices.DeleteFunc(withShortcomings(v.outcome.Differences, *deciding, records), func(d transfer.Difference) bool { return d.Field == "ref_id" })
	if isOpen(records) {
		one.Why = ErrCreditOpen.Error()
		return one, true, nil
	}
	if len(rest) > 0 {
		one.Why = "it differs in more than that: " + Describe(rest)
		return one, true, nil
	}
	one.outcome = r.said(state.Outcome{
		RefID: d.RefID, Status: statusAccepted(d.Status), Records: raws(records, deciding), Differences: v.outcome.Differences,
	})
	return one, true, nil
}

// around are records of one fold, and the further ones that have a group_id of these.
func (l *letters) around(own []transfer.Record) []transfer.Record {
	all, seen := own, make(map[string]bool)
	isFurther := func(g *transfer.Record) bool {
		return !slices.ContainsFunc(own, func(o transfer.Record) bool { return o.ID == g.ID })
	}
	for i := range own {
		if groupID := own[i].GroupID; !seen[groupID] {
			seen[groupID] = true
			all = append(slices.Clip(all), thoseOf(l.byGroup[groupID], isFurther)...)
		}
	}
	return all
}

// ResolveRelettered accepts the records of doubts that [FindRelettered] found and that nothing speaks against, all or none, and
// returns the outcomes that it wrote. A group_id of another transfer is accepted for none of them.
func ResolveRelettered(ctx context.Context, r Resolution, found []Relettered) ([]state.Outcome, error) {
	var outcomes []state.Outcome
	var entries []state.Entry
	for i := range found {
		if found[i].Why == "" {
			outcomes = append(outcomes, found[i].outcome)
			entries = append(entries, found[i].outcome)
		}
	}
	// A word that was given is written even where the person leaves meanwhile.
	if err := r.Journal.Append(context.WithoutCancel(ctx), entries...); err != nil {
		return nil, fmt.Errorf("accept %d records: %w", len(entries), err)
	}
	return outcomes, nil
}
