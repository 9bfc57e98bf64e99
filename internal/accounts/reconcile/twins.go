package reconcile

import (
	"fmt"
	"strings"

	"remit/internal/transfer"
	"remit/state"
)

// twinning finds the records of no ref_id of the state that a service may have written under another ref_id than it
// was given ([transfer.FoldRefID]): no such record is a word of absence.
type twinning struct {
	*Reconciliation
	sorter *sorter
	rows   int
	value  []byte // of the entry that was added last
}

// addRow adds a transfer of the state that has no record in the files, and of which no group_id says whether another
// one is its own.
func (t *twinning) addRow(row *state.Transfer) error {
	if row.GroupID != "" || row.Status == state.Tombstone {
		return nil
	}
	t.rows++
	t.value = append(append(t.value[:0], tagOwner), row.RefID...)
	return t.sorter.add(transfer.FoldRefID(row.RefID), t.value)
}

// addStranger adds a written record that belongs to no ref_id of the state, once all rows were added.
func (t *twinning) addStranger(raw []byte) error {
	if t.rows == 0 {
		return nil
	}
	side := readSide(raw)
	folded := transfer.FoldRefID(side.RefID)
	if folded == "" {
		return nil
	}
	where := ""
	if place := t.place(&side); place != "" {
		where = ", at " + place + ","
	}
	t.value = append(append(t.value[:0], tagSide), side.RefID...)
	t.value = append(append(t.value, 0), where...)
	return t.sorter.add(folded, t.value)
}

// attribute says of each such transfer why nobody can tell whether the service has it.
func (t *twinning) attribute(attributed *sorter) error {
	if t.rows == 0 {
		return nil
	}
	at, err := t.sorter.read()
	if err != nil {
		return err
	}
	for !at.done {
		key := string(at.key)
		var owners []string
		var listed, where string
		for at.is(key) {
			switch text := string(at.value[1:]); {
			case at.value[0] == tagOwner: // they come first
				owners = append(owners, text)
			case listed == "":
				listed, where, _ = strings.Cut(text, "\x00")
			}
			if err := at.next(); err != nil {
				return err
			}
		}
		for _, owner := range owners {
			if listed == "" {
				break
			}
			why := fmt.Sprintf("A record can't be told to be of it or not: its ref_id%s %s.", where, transfer.RefIDTwin(listed, owner))
			if err := attributed.add(owner, append([]byte{tagTwin}, why...)); err != nil {
				return err
			}
		}
	}
	return nil
}
