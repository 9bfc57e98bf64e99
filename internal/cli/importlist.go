package cli

import (
	"fmt"

	"remit/executor"
	"remit/internal/accounts/records"
	"remit/internal/transfer"
	"remit/state"
)

// importList is what the lists among the files say.
type importList struct {
	records.List
	owners map[string]string // by ref_id, under which other one the state has its group_id
}

func (l *importList) has(refID string) bool {
	_, _, has := l.Of(refID)
	return has
}

func (l *importList) hasAmount(refID string) bool {
	x, _, _ := l.Of(refID)
	return x.Amount != ""
}

// note takes note of a row of the state that has a group_id of the list.
func (l *importList) note(row *state.Transfer) {
	if refID := l.Owner(row.GroupID); refID != "" && refID != row.RefID {
		if l.owners == nil {
			l.owners = make(map[string]string)
		}
		l.owners[refID] = row.RefID
	}
}

// claim is what the list says of a ref_id.
func (l *importList) claim(refID string) (executor.ListedTransfer, bool) {
	x, place, has := l.Of(refID)
	return executor.ListedTransfer{
		RefID: refID, GroupID: x.GroupID, Amount: x.Amount, Asset: x.Asset, Place: place, Owner: l.owners[refID],
	}, has
}

// check holds the records of the same import against the list: a ref_id that has both goes by its
// records, and one of two that contradict each other is wrong.
func (l *importList) check(spool *records.Spool) error {
	if refIDs, _ := l.Count(); refIDs == 0 {
		return nil
	}
	for refID := range spool.RefIDs() {
		found, err := spool.Of(refID)
		if err != nil {
			return err
		}
		for i := range found {
			if err := l.Check(&found[i]); err != nil {
				return fmt.Errorf("read the list: %w. Nothing was changed", err)
			}
		}
	}
	return nil
}

// against is why the list does not agree with a transfer that the state has; "" where it does.
func (l *importList) against(d *state.Detail) string {
	x, place, _ := l.Of(d.RefID)
	switch {
	case d.Status.Made() && d.GroupID != "" && d.GroupID != x.GroupID:
		return fmt.Sprintf("%s lists it with the group_id %s, and %s is recorded. Find out which is right.", place, x.GroupID, d.GroupID)
	case d.Status.Made() && x.Amount != "" && (x.Asset != d.Asset || !transfer.SameNumber(x.Amount, d.Amount.String())):
		return fmt.Sprintf("%s lists it with %s %s, and %s %s is recorded. Find out which is right.", place, x.Amount, x.Asset, d.Amount, d.Asset)
	case d.Status == state.Tombstone && d.RecordID == "" && !d.IsListed():
		return fmt.Sprintf("It was closed as not made, and %s lists it. Find out which is right: remit resolve with --recorded takes its record.", place)
	case d.Status == state.Refused, d.Status == state.Unsent:
		return fmt.Sprintf("The state has it as %s, and %s lists it. No file declares it any more: declare it again and import the list again.", d.Status, place)
	}
	return ""
}
