package planner

import (
	"fmt"
	"maps"
	"slices"
)

// judge decides which look-alikes were accepted.
type judge struct {
	*builder
	places  map[string]string    // of recorded twins, by ref_id
	named   map[string]bool      // ref_ids of --accept-duplicate
	used    map[string]bool      // acceptances that accepted something
	needing map[string][]verdict // by batch: what has to be accepted
	doubts  []verdict            // what can't be accepted
}

// group judges the due transfers of one movement. Of those that nothing speaks against but
// the others, one is the original and needs no acceptance. A transfer that accepts all the
// others that remain is out, and so the rest has one less to accept; the outcome is the same
// in whatever order that is done.
func (j *judge) group(s *suspects) {
	strict := 0
	rest := make(map[int]bool) // positions in s that nothing accepted yet
	accepted := make(map[int]string)
	for n := range s.lines {
		c := s.lines[n]
		if c.DuplicateWithin > 0 {
			strict++
		}
		if c.DuplicateWithin > 0 || len(j.blocking(s, n)) > 0 {
			rest[n] = true
		}
	}
	for n := range s.lines {
		if c := s.lines[n]; rest[n] && j.named[c.RefID] {
			delete(rest, n)
			if strict > 1 || len(j.blocking(s, n)) > 0 {
				accepted[n] = "accept-duplicate=" + c.RefID
			}
		}
	}
	j.acceptDeclared(s, rest, accepted)
	original := j.original(s, rest)
	for n := range s.lines {
		j.mark(s, n, original)
		c := s.lines[n]
		blocking := j.blocking(s, n)
		v := verdict{line: c}
		switch {
		case len(blocking) > 0:
			v.twin, v.place = blocking[0].refID(), j.places[blocking[0].refID()]
		case n != original:
			o := s.lines[original]
			v.twin, v.place = o.RefID, o.Place
		}
		for _, r := range blocking {
			grave := gravity(c.Change, r)
			if v.doubt == nil && grave == gravityDoubt {
				v.doubt = r
			}
			if v.rename == nil && isRename(c.Change, r) {
				v.rename = r
			}
			if grave == gravityOther {
				break
			}
		}
		switch {
		case v.doubt != nil:
			j.doubts = append(j.doubts, v)
		case accepted[n] != "":
			j.accept(c.Change, accepted[n])
		case rest[n] && (n != original || len(blocking) > 0):
			j.needing[c.Batch] = append(j.needing[c.Batch], v)
		}
	}
}

// blocking are the recorded twins that stop the plan.
func (j *judge) blocking(s *suspects, n int) []*row {
	c, older := s.lines[n], s.older[n]
	if c.DuplicateWithin > 0 && len(j.occurrences) == 0 {
		return older
	}
	if c.DuplicateWithin == 0 && !c.FromLabel {
		return nil
	}
	var some []*row
	for _, r := range older {
		if j.isBlocking(c.Change, r) {
			some = append(some, r)
		}
	}
	return some
}

// gravestFirst are the recorded twins of a line, those that stop the plan before the others.
func (j *judge) gravestFirst(s *suspects, n int) []*row {
	blocking := j.blocking(s, n)
	if len(blocking) == 0 || len(blocking) == len(s.older[n]) {
		return s.older[n]
	}
	all := slices.Clone(blocking)
	for _, r := range s.older[n] {
		if !j.isBlocking(s.lines[n].Change, r) {
			all = append(all, r)
		}
	}
	return all
}

// acceptDeclared removes from rest those whose accept_duplicate_of names all their twins.
func (j *judge) acceptDeclared(s *suspects, rest map[int]bool, accepted map[int]string) {
	for again := true; again; {
		again = false
		for _, n := range slices.Sorted(maps.Keys(rest)) {
			blocking := j.blocking(s, n)
			names := j.source(int(s.lines[n].number)).acceptOf
			if len(names) == 0 || len(names) < len(blocking) || len(names) < len(rest)-1 || len(rest)-1+len(blocking) == 0 {
				continue
			}
			all := true
			for _, r := range blocking {
				all = all && slices.Contains(names, r.refID())
			}
			for m := range rest {
				all = all && (m == n || slices.Contains(names, s.lines[m].RefID))
			}
			if all {
				delete(rest, n)
				accepted[n] = "accept_duplicate_of=" + s.lines[n].RefID
				again = true
			}
		}
	}
}

// original is the position of the one that the others look like: the first by ref_id of
// those that are left, best one without a recorded twin.
func (j *judge) original(s *suspects, rest map[int]bool) int {
	order := slices.Sorted(maps.Keys(rest))
	for _, n := range order {
		if len(j.blocking(s, n)) == 0 {
			return n
		}
	}
	if len(order) > 0 {
		return order[0]
	}
	return 0
}

// accept notes what accepted a line, which becomes part of the digest.
func (j *judge) accept(c *Change, by string) {
	j.use(by)
	for i := range c.Signals {
		if kind := c.Signals[i].Kind; kind == LookAlike || kind == Rename {
			c.Signals[i].Accepted = by
		}
	}
}

func (j *judge) use(acceptance string) {
	if !j.used[acceptance] {
		j.used[acceptance] = true
		j.plan.Header.Accepted = append(j.plan.Header.Accepted, acceptance)
	}
}

// acceptBatches accepts all that a batch needs where the count that was typed is exact.
func (j *judge) acceptBatches() {
	for batch, count := range j.controls.AcceptDuplicates {
		needing := j.needing[batch]
		if batch == "" || len(needing) == 0 {
			continue
		}
		by := fmt.Sprintf("accept-duplicates=%s:%d", batch, count)
		if len(needing) != count {
			j.used[by] = true // it accepts nothing, but the obstacle will say so
			continue
		}
		for _, v := range needing {
			j.accept(v.line.Change, by)
		}
		delete(j.needing, batch)
	}
}

// sayUnused lists the acceptances that accepted nothing, and sorts the others.
func (j *judge) sayUnused() {
	slices.Sort(j.plan.Header.Accepted)
	for refID := range j.named {
		if by := "accept-duplicate=" + refID; !j.used[by] {
			j.plan.Unused = append(j.plan.Unused, by)
		}
	}
	for batch, count := range j.controls.AcceptDuplicates {
		if by := fmt.Sprintf("accept-duplicates=%s:%d", batch, count); !j.used[by] {
			j.plan.Unused = append(j.plan.Unused, by)
		}
	}
	slices.Sort(j.plan.Unused)
}
