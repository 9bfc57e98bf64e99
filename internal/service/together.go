package service

import (
	"context"
	"slices"
)

// lacking returns those of refIDs that the list neither has nor has unreadable.
func (p *page) lacking(refIDs []string) []string {
	return slices.DeleteFunc(slices.Clone(refIDs), func(refID string) bool {
		return slices.Contains(p.listed, refID) || p.unreadable[refID] != ""
	})
}

// lookTurned asks once more for the ref_ids that a list of some of refIDs lacks, in the turned order. A gateway may pass on
// one of several parameters ref_ids, or the first or the last of them, and what it drops would be taken for absent. So a
// ref_id that the list has is asked for again in its place among them: where it comes back, each ref_id that was dropped in one
// order was passed on in the other. Where it does not, twice, ref_ids are asked for alone from then on. A list of nothing is
// believed: a new payroll costs no further lookup.
func (s *search) lookTurned(ctx context.Context, refIDs []string, list page) error {
	lacking := list.lacking(refIDs)
	known := slices.IndexFunc(refIDs, func(refID string) bool { return slices.Contains(list.listed, refID) })
	if len(lacking) == 0 || known < 0 {
		return nil
	}
	turned := slices.DeleteFunc(slices.Clone(refIDs), func(refID string) bool {
		return refID != refIDs[known] && !slices.Contains(lacking, refID)
	})
	slices.Reverse(turned)
	for range 2 { // a list may lag
		found, err := s.findAll(ctx, turned)
		if err != nil {
			return err
		}
		if slices.Contains(found.listed, refIDs[known]) {
			return s.takeTurned(ctx, refIDs, lacking, found)
		}
	}
	s.client.lookups.alone.Store(true)
	return s.look(ctx, lacking)
}

// takeTurned takes from a turned list what it has of the ref_ids that the list of refIDs lacked. Where it has some, that list
// lagged, or not all of refIDs came through: what it still lacks tells which.
func (s *search) takeTurned(ctx context.Context, refIDs, lacking []string, turned page) error {
	s.take(turned, lacking)
	if turned.stray != "" {
		return s.look(ctx, lacking)
	}
	rest := turned.lacking(lacking)
	if len(rest) == len(lacking) && !turned.again {
		return nil
	}
	if len(rest) < len(lacking) {
		list, err := s.findAll(ctx, refIDs)
		if err != nil {
			return err
		}
		if len(list.lacking(turned.listed)) > 0 {
			s.client.lookups.alone.Store(true)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return s.look(ctx, rest)
}
