package service

import (
	"maps"
	"slices"

	"remit/internal/transfer"
)

// twins are ref_ids by what they have in common with those that a service may take for the same
// ([transfer.FoldRefID]): one that keeps them in capitals, or pads them, answers a lookup with another
// text than was asked for, and its record is no word of absence.
type twins map[string][]string

func newTwins(refIDs []string) twins {
	t := make(twins, len(refIDs))
	for _, refID := range refIDs {
		key := transfer.FoldRefID(refID)
		t[key] = append(t[key], refID)
	}
	return t
}

// holdTwins says of ref_ids that were asked for that they can't be read where the service listed
// a twin. It is left alone where both are listed and were asked for: then the service tells them
// apart.
func (s *search) holdTwins(asked []string) {
	of := newTwins(asked)
	for _, listed := range slices.Sorted(maps.Keys(s.listed)) {
		for _, refID := range of[transfer.FoldRefID(listed)] {
			if refID == listed || s.listed[refID] && slices.Contains(asked, listed) || s.unreadable[refID] != "" {
				continue
			}
			s.unreadable[refID] = "its ref_id " + transfer.RefIDTwin(listed, refID)
		}
	}
}
