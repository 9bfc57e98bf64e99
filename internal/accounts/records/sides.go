package records

import (
	"cmp"
	"slices"

	"remit/internal/transfer"
)

// kind says why an entry is under its ref_id.
type kind uint8

const (
	own       kind = iota // the record has it
	nameless              // the debit side of its group_id has it, and the record none
	otherwise             // the debit side of its group_id has it, and the record another one
)

// join puts the credit sides that the service has named otherwise than their debit sides under the ref_ids of these: it is the
// client that names the debit side, and some services write its ref_id on no other. Where debits of several ref_ids have the
// group_id, nobody can tell whose the credit side is.
func (s *Spool) join() {
	slices.SortFunc(s.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.offset, b.offset))
	})
	kept, copies := s.entries[:0], []entry(nil)
	for first := 0; first < len(s.entries); {
		last := first + 1
		for last < len(s.entries) && s.entries[last].group == s.entries[first].group {
			last++
		}
		owner, isOne := ownerOf(s.entries[first:last])
		for _, e := range s.entries[first:last] {
			switch isJoined := isOne && e.isCredit && e.refID != owner; {
			case e.kind == own:
				kept = append(kept, e)
				if isJoined {
					e.refID, e.kind = owner, otherwise
					copies = append(copies, e)
				}
			case isJoined && e.kind == nameless:
				e.refID = owner
				kept = append(kept, e)
				s.without--
			case isJoined: // it counts as left out
				e.refID = owner
				copies = append(copies, e)
			}
		}
		first = last
	}
	s.entries = append(kept, copies...)
}

// ownerOf is the hash of the one ref_id of the debits of a group_id.
func ownerOf(group []entry) (refID uint64, isOne bool) {
	if group[0].group == 0 {
		return 0, false
	}
	for _, e := range group {
		switch {
		case e.isCredit:
		case isOne && e.refID != refID:
			return 0, false
		default:
			refID, isOne = e.refID, true
		}
	}
	return refID, isOne
}

// isSide reports whether a credit side that was joined is of the transfer of which the own records were found. One that names
// another ref_id only speaks against what these say, and proves nothing.
func (s *Spool) isSide(found []transfer.Record, credit *transfer.Record, of kind) bool {
	i := slices.IndexFunc(found, func(r transfer.Record) bool { return r.Direction != transfer.Credit && r.GroupID == credit.GroupID })
	if i < 0 || of == nameless {
		return i >= 0
	}
	return transfer.SpeaksAgainst(&found[i], credit) && !s.hasDebit(credit.RefID)
}

// hasDebit reports whether a ref_id has a debit side of its own.
func (s *Spool) hasDebit(refID string) bool {
	return slices.ContainsFunc(s.under(refID), func(e entry) bool { return e.kind == own && !e.isCredit })
}
