package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/state"
)

// othersNamed is how many ref_ids of other records an [OthersError] names.
const othersNamed = 3

// OthersError says that records which were given, or which are kept, are not of the transfer that they
// were to settle: a record is of the transfer that its ref_id names.
type OthersError struct {
	RefID string
	Why   string // in a sentence, without its end
	Kept  bool   // a kept record is meant, and none was given
}

// Error says whose they are.
func (e *OthersError) Error() string {
	text := fmt.Sprintf("%s. Nothing was changed. Give the record of %q itself", e.Why, e.RefID)
	if e.Kept {
		text += ", or say --not-made where the service made none of it"
	}
	return text
}

// own chooses those of the given records that are of the transfer, whatever else a file has: the ones of its
// ref_id, and else those of one ref_id that differs from it in nothing but letters or spaces. Records
// without a ref_id are its own where there are no others, of one transfer. It is an *[OthersError] where there are none.
// With accept, a person says that the service has given it a ref_id that nobody here knows.
func (r Resolution) own(ctx context.Context, detail state.Detail, given []transfer.Record, accept bool) ([]transfer.Record, error) {
	exact := thoseOf(given, func(g *transfer.Record) bool {
		return g.RefID == r.RefID || detail.RecordID != "" && g.ID == detail.RecordID // which never leaves its ref_id
	})
	if len(exact) > 0 {
		return r.linked(exact, given), nil
	}
	fold := transfer.FoldRefID(r.RefID)
	alike := thoseOf(given, func(g *transfer.Record) bool { return transfer.FoldRefID(g.RefID) == fold })
	if len(alike) == 0 {
		return r.foreign(ctx, given, accept)
	}
	if named := namedBy(alike); len(named) > 1 {
		return nil, r.others("the given records are of " + inShort(named) + ", and nobody can tell which of these it is")
	}
	return r.linked(alike, given), r.belongs(ctx, alike[0].RefID, false)
}

// linked are own records, with the sides of the same transfer that do not name another one, and with credit sides that do
// and speak against its debit side: those are taken as sides without a ref_id.
func (r Resolution) linked(own, given []transfer.Record) []transfer.Record {
	var all []transfer.Record
	for i := range given {
		g := given[i]
		isSide := func(o transfer.Record) bool {
			return o.ID == g.ID || g.GroupID != "" && o.GroupID == g.GroupID && !r.isForeign(&g)
		}
		switch {
		case slices.ContainsFunc(own, isSide):
			all = append(all, g)
		case speaksAgainst(own, given, &g):
			g.RefID = ""
			all = append(all, g)
		}
	}
	return all
}

// speaksAgainst reports whether a credit side of another ref_id is of the debit side among own records, by its group_id, and has a
// status that does not let that of the debit side stand. One that has a debit side of its own among the given records is of that.
func speaksAgainst(own, given []transfer.Record, g *transfer.Record) bool {
	debit := transfer.Newest(own, isDebit)
	hasDebit := func(o transfer.Record) bool { return isDebit(o) && o.RefID == g.RefID }
	return debit != nil && isCredit(*g) && g.GroupID != "" && g.GroupID == debit.GroupID && !g.Type.IsRail() &&
		transfer.SpeaksAgainst(debit, g) && !slices.ContainsFunc(given, hasDebit)
}

// foreign are given records of which none names the transfer, where they can be of it all the same.
func (r Resolution) foreign(ctx context.Context, given []transfer.Record, accept bool) ([]transfer.Record, error) {
	named := namedBy(given)
	switch nameless := thoseOf(given, func(g *transfer.Record) bool { return g.RefID == "" }); {
	case len(named) == 0 && len(thoseOf(given, func(g *transfer.Record) bool { return isDebit(*g) })) > 1:
		return nil, r.others(fmt.Sprintf("the given records have no ref_id, and are of several transfers: nobody can tell which of them is that of %q", r.RefID))
	case len(named) == 0:
		return given, nil
	case len(nameless) > 0 || len(named) > 1 || !accept:
		why := fmt.Sprintf("there is no record of the ref_id %q: the given ones are of %s", r.RefID, inShort(named))
		if len(nameless) > 0 {
			why += fmt.Sprintf(", and %d without a ref_id", len(nameless))
		}
		return nil, r.others(why)
	}
	return given, r.belongs(ctx, named[0], false)
}

// isForeign reports whether a record names another ref_id, which no letters or spaces explain.
func (r Resolution) isForeign(record *transfer.Record) bool {
	return record.RefID != "" && transfer.FoldRefID(record.RefID) != transfer.FoldRefID(r.RefID)
}

// agreesElse is an *[OthersError] where records of a ref_id that nobody here knows differ in something else as well.
func (r Resolution) agreesElse(detail state.Detail, records []transfer.Record, differences []transfer.Difference) error {
	isNew := func(g transfer.Record) bool { return r.isForeign(&g) && g.ID != detail.RecordID }
	if !slices.ContainsFunc(records, isNew) {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(differences), func(d transfer.Difference) bool { return d.Field == "ref_id" })
	if len(rest) == 0 {
		return nil
	}
	return r.others(fmt.Sprintf("the given record is of the ref_id %q, and differs from the request of %q in more than that: %s", records[0].RefID, r.RefID, Describe(rest)))
}

// belongs is an *[OthersError] where a record's ref_id is another transfer, of the state or of the files. A kept one came as an
// answer to the transfer itself: where that other one has a record of its own, this is no record of it.
func (r Resolution) belongs(ctx context.Context, named string, isKept bool) error {
	fold := transfer.FoldRefID(named)
	isTwin := fold != transfer.FoldRefID(r.RefID)
	is := func(refID string) bool {
		return refID != r.RefID && (refID == named || isTwin && transfer.FoldRefID(refID) == fold)
	}
	whose := "the given"
	if isKept {
		whose = "the kept"
	}
	says := func(refID, words string) error {
		text := fmt.Sprintf(whose+" record is of the ref_id %q, which %s", named, words)
		if refID != named {
			text += fmt.Sprintf(", %q", refID)
		}
		return &OthersError{RefID: r.RefID, Why: text, Kept: isKept}
	}
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	hasOwn := false
	for row, err := range snapshot.Transfers(ctx) {
		switch {
		case err != nil:
			return fmt.Errorf("resolve %q: %w", r.RefID, err)
		case !is(row.RefID):
		case !isKept || row.RecordID == "":
			return says(row.RefID, "is another transfer of this state")
		default:
			hasOwn = true
		}
	}
	if r.Declares == nil || hasOwn {
		return nil
	}
	refID, err := r.Declares(ctx, is)
	if err != nil || refID == "" {
		return err
	}
	return says(refID, "the files declare as another transfer")
}

// keptBelongs is [Resolution.belongs] of the record that is kept of a conflict.
func (r Resolution) keptBelongs(ctx context.Context, detail state.Detail) error {
	kept, err := keptRecords(detail)
	if err != nil || len(kept) == 0 || detail.Status != state.Conflict {
		return nil //nolint:nilerr // what can't be read is not accepted anyway
	}
	deciding := accepted(kept, detail.RecordID)
	if !r.isForeign(deciding) || deciding.ID == detail.RecordID {
		return nil
	}
	return r.belongs(ctx, deciding.RefID, true)
}

func (r Resolution) others(why string) error { return &OthersError{RefID: r.RefID, Why: why} }

// HeldError says that the state keeps under another ref_id a record that names the transfer: it was made.
type HeldError struct {
	RefID  string
	Other  string
	Stored bool // it is stored there, so that no other ref_id can have it
}

// Error says what to do in place of calling it not made.
func (e *HeldError) Error() string {
	text := fmt.Sprintf("the state has, under %q, a record of the service whose ref_id is %q: it was made. Nothing was changed. "+
		"Never pay it under another ref_id. ", e.Other, e.RefID)
	if e.Stored {
		return text + fmt.Sprintf("That record stays where it is. Remove the declaration of %q, and forget that ref_id", e.RefID)
	}
	return text + fmt.Sprintf("Give it that record, which the state shows under %q", e.Other)
}

// held is a *[HeldError] where the state has, under another ref_id, a record that names the transfer; nil where
// it has none.
func (r Resolution) held(ctx context.Context) (*HeldError, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	fold := transfer.FoldRefID(r.RefID)
	for d, err := range state.AllDetails(ctx, snapshot) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("resolve %q: %w", r.RefID, err)
		case d.RefID == r.RefID || d.Outcome == nil || d.Outcome.Source != state.SourcePerson && d.Outcome.Status != state.Conflict:
			continue // any other outcome has a record of its own ref_id
		}
		kept, err := keptRecords(*d)
		if err != nil {
			continue // it names nobody
		}
		for i := range kept {
			isOfIt := kept[i].RefID == r.RefID || transfer.FoldRefID(kept[i].RefID) == fold && transfer.FoldRefID(d.RefID) != fold
			if isOfIt && isDebit(kept[i]) {
				return &HeldError{RefID: r.RefID, Other: d.RefID, Stored: kept[i].ID == d.RecordID}, nil
			}
		}
	}
	return nil, nil
}

// keepsReused returns a *[ReusedIDError] where the record that a conflict kept is of the transfer itself, although another one's has
// its id; nil where it is not.
func keepsReused(ctx context.Context, r Resolution, detail state.Detail) (*ReusedIDError, error) {
	isOfIDs := func(d transfer.Difference) bool { return d.IsSharedRecord() || d.IsReusedID() }
	if detail.Status != state.Conflict || detail.RecordID != "" || detail.Outcome == nil || !slices.ContainsFunc(detail.Outcome.Differences, isOfIDs) {
		return nil, nil
	}
	kept, err := keptRecords(detail)
	if err != nil || len(kept) == 0 {
		return nil, nil //nolint:nilerr // what can't be read names nobody
	}
	deciding := accepted(kept, detail.RecordID)
	other, err := holderOf(ctx, r, deciding.ID)
	if err != nil || other == "" {
		return nil, err
	}
	taken := &state.DuplicateRecordError{RecordID: deciding.ID, RefID: other}
	return reusedID(ctx, r.Journal, r.RefID, []json.RawMessage{deciding.Raw}, taken), nil
}

// holderOf is the other ref_id under which the state keeps a record; "" for none.
func holderOf(ctx context.Context, r Resolution, recordID string) (string, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return "", fmt.Errorf("resolve %q: %w", r.RefID, err)
		}
		if row.RecordID == recordID && row.RefID != r.RefID && !row.SharesID {
			return row.RefID, nil
		}
	}
	return "", nil
}

func thoseOf(records []transfer.Record, is func(*transfer.Record) bool) []transfer.Record {
	var list []transfer.Record
	for i := range records {
		if is(&records[i]) {
			list = append(list, records[i])
		}
	}
	return list
}

// namedBy are the ref_ids of records, each once.
func namedBy(records []transfer.Record) []string {
	var names []string
	for i := range records {
		if refID := records[i].RefID; refID != "" && !slices.Contains(names, refID) {
			names = append(names, refID)
		}
	}
	return names
}

// inShort are the first of several ref_ids, in words.
func inShort(refIDs []string) string {
	text := strings.Join(refIDs[:min(len(refIDs), othersNamed)], ", ")
	if more := len(refIDs) - othersNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
