package cli

import (
	"slices"

	"remit/internal/accounts/records"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// importTwins are ref_ids of the files that a service may have written in the place of those that it was given
// ([transfer.FoldRefID]): what the files have under them is no word of absence.
type importTwins struct {
	open   []string // the lines of the plan of which nothing is recorded, and the doubts; sorted
	ours   []string // that this state has sent as they are: their records are their own; sorted
	theirs []string // of which the state has the record, or its group_id, under another ref_id; sorted

	suspects []uint64 // what open ones have in common with those of the files, as hashes; sorted
	held     []uint64 // the same, of the open ones that are held; sorted
	unpaid   []state.Transfer
}

// twinsOf are the ref_ids of the files that may stand for another one.
func (i *importing) twinsOf(refID string) []records.Twin {
	return append(i.spool.Twins(refID), i.list.Twins(refID)...)
}

// standIn is what the files have in the place of a ref_id, where they have neither a debit nor a listing of itself.
// It holds once [importTwins.hold] knows which are surely another transfer.
func (i *importing) standIn(refID string) (twin records.Twin, has bool, err error) {
	twins := slices.DeleteFunc(i.twinsOf(refID), func(twin records.Twin) bool {
		return isIn(i.twins.ours, twin.RefID) || isIn(i.twins.theirs, twin.RefID)
	})
	if len(twins) == 0 || i.list.has(refID) {
		return twin, false, nil
	}
	own, err := i.spool.Of(refID)
	if err != nil || slices.ContainsFunc(own, func(r transfer.Record) bool { return r.Direction == transfer.Debit }) {
		return twin, false, err
	}
	return twins[0], true, nil
}

// twinReason says why nobody can tell whose the record of a twin is.
func twinReason(twin records.Twin, refID string) string {
	return "its ref_id, at " + twin.Place + ", " + transfer.RefIDTwin(twin.RefID, refID)
}

// suspect finds out which open ones have twins in the files at all.
func (t *importTwins) suspect(i *importing) {
	for _, refID := range t.open {
		if len(i.twinsOf(refID)) > 0 {
			t.suspects = append(t.suspects, i.spool.Fold(refID))
		}
	}
	slices.Sort(t.suspects)
}

// note takes note of a row of the state: whose record the files have under another ref_id, which is sent no more
// and may be declared again, or which was sent just as it is.
func (t *importTwins) note(i *importing, row *state.Transfer, imported *view.Import) error {
	switch {
	case row.Status == state.Recorded && i.has(row.RefID) && isIn(t.suspects, i.spool.Fold(row.RefID)):
		if others, err := i.ofOthers(row, row.RefID); err != nil {
			return err
		} else if others == 0 {
			t.ours = append(t.ours, row.RefID)
		}
	case row.Status == state.Unsent, row.Status == state.Refused:
		if !isIn(t.open, row.RefID) && !i.has(row.RefID) && len(i.twinsOf(row.RefID)) > 0 {
			t.unpaid = append(t.unpaid, *row)
		}
	}
	if row.RecordID == "" && row.GroupID == "" {
		return nil
	}
	isKnown := i.has(row.RefID)
	for _, twin := range i.twinsOf(row.RefID) {
		if !i.has(twin.RefID) {
			continue // its record was left out
		}
		if others, err := i.ofOthers(row, twin.RefID); err != nil {
			return err
		} else if others > 0 {
			continue
		}
		t.theirs = append(t.theirs, twin.RefID)
		if !isKnown {
			imported.Known.Add(row.Asset, row.Amount)
			isKnown = true
		}
	}
	return nil
}

// ofOthers is how many of the records and listings that the files have under a ref_id are neither a row's record nor
// of its group_id.
func (i *importing) ofOthers(row *state.Transfer, refID string) (int, error) {
	others := 0
	if x, _, has := i.list.Of(refID); has && x.GroupID != row.GroupID {
		others++
	}
	found, err := i.spool.Of(refID)
	for n := range found {
		r := &found[n]
		if (row.RecordID == "" || r.ID != row.RecordID) && (row.GroupID == "" || r.GroupID != row.GroupID) {
			others++
		}
	}
	return others, err
}

// hold finds out, once all rows were noted, which open ones the files may have under other ref_ids, and tells of
// those that nobody declares and that were not made.
func (t *importTwins) hold(i *importing, differ func(*state.Transfer, string)) error {
	slices.Sort(t.ours)
	slices.Sort(t.theirs)
	for _, refID := range t.open {
		if !isIn(t.suspects, i.spool.Fold(refID)) {
			continue
		}
		_, isHeld, err := i.standIn(refID)
		if err != nil {
			return err
		}
		if isHeld {
			t.held = append(t.held, i.spool.Fold(refID))
			i.lacking.name(refID)
		}
	}
	for n := range t.unpaid {
		row := &t.unpaid[n]
		twin, isHeld, err := i.standIn(row.RefID)
		if err != nil {
			return err
		}
		if isHeld {
			t.held = append(t.held, i.spool.Fold(row.RefID))
			differ(row, "The state has it as "+row.Status.String()+", and the file has a record that may be of it: "+twinReason(twin, row.RefID)+
				". No file declares it any more: declare it again and import the file again.")
		}
	}
	slices.Sort(t.held)
	return nil
}

// isNoOther reports whether a ref_id of the files is not taken as another transfer: it may be that of an open one,
// or is that of one which the state has.
func (t *importTwins) isNoOther(i *importing, refID string) bool {
	return isIn(t.theirs, refID) || len(t.held) > 0 && isIn(t.held, i.spool.Fold(refID))
}

// isHeld reports whether what the files have of an open ref_id can't be told.
func (t *importTwins) isHeld(i *importing, refID string) bool {
	return len(t.held) > 0 && isIn(t.open, refID) && isIn(t.held, i.spool.Fold(refID))
}

func isIn[T string | uint64](sorted []T, one T) bool {
	_, is := slices.BinarySearch(sorted, one)
	return is
}
