package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"remit/state"
)

// judge decides which look-alikes were accepted.
type judge struct {
	*builder
	places  map[string]string       // of recorded twins, by ref_id
	named   map[string]bool         // ref_ids of --accept-duplicate
	used    map[string]bool         // acceptances that accepted something
	needing map[string][]judgedLine // by [judge.unit]: look-alikes that have to be accepted
	renames map[string][]judgedLine // by block: renames that have to be
	doubts  []judgedLine            // transfers that can't be accepted
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
		// Where there is nothing that it may accept, the name changes nothing: the saved plan does not have it.
		if c := s.lines[n]; rest[n] && j.named[c.RefID] && (strict > 1 || len(j.blocking(s, n)) > 0) && !j.isInDoubt(s, n) {
			delete(rest, n)
			accepted[n] = "accept-duplicate=" + c.RefID
		}
	}
	j.acceptDeclared(s, rest, accepted)
	original := j.original(s, rest)
	for n := range s.lines {
		j.mark(s, n, original)
		v := j.judgeLine(s, n, original)
		c := v.line
		switch {
		case v.doubt != nil:
			j.doubts = append(j.doubts, v)
		case accepted[n] != "":
			j.accept(c.Change, accepted[n], LookAlike, Rename)
		case rest[n]:
			if v.rename != nil || v.was != nil {
				block := j.blockFactsOf(int(c.number)).block
				j.renames[block] = append(j.renames[block], v)
			}
			if v.alike {
				unit := j.unit(c)
				j.needing[unit] = append(j.needing[unit], v)
			}
		}
	}
}

// isInDoubt reports whether a recorded twin that stops the plan is in doubt, which can't be accepted.
func (j *judge) isInDoubt(s *suspects, n int) bool {
	return slices.ContainsFunc(j.blocking(s, n), func(r *row) bool { return r.status == state.InDoubt })
}

// judgeLine gives the verdict on a line that nothing accepted.
func (j *judge) judgeLine(s *suspects, n, original int) judgedLine {
	v := judgedLine{line: s.lines[n]}
	for _, r := range j.blocking(s, n) { // the gravest first
		if v.doubt == nil && r.status == state.InDoubt {
			v.doubt = r
		}
		if j.isRename(v.line, r) {
			v.rename = j.renamed[v.line.number]
			continue
		}
		if j.isCorrection(v.line.number, r) {
			v.was = cmp.Or(v.was, r)
			continue
		}
		v.alike, v.twin, v.madeAt = true, j.rows.refID(r), j.madeAt(r)
		v.place = j.places[v.twin]
		break
	}
	if o := s.lines[original]; !v.alike && n != original && v.line.DuplicateWithin > 0 {
		v.alike, v.twin, v.place = true, o.RefID, o.Place
	}
	return v
}

// blocking are the recorded twins that stop the plan.
func (j *judge) blocking(s *suspects, n int) []*row {
	c, older := s.lines[n], s.older[n]
	if c.DuplicateWithin > 0 && len(j.occurrences) == 0 {
		return older
	}
	isMarkOnly := c.DuplicateWithin == 0 && j.renamed[c.number] == nil && j.corrected[c.number] == nil && !j.judgesApart()
	if isMarkOnly && !slices.ContainsFunc(older, func(r *row) bool { return j.isLostDoubt(c, r) }) {
		return nil
	}
	var some []*row
	for _, r := range older {
		if j.isBlocking(c, r) {
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
		if !j.isBlocking(s.lines[n], r) {
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
			names := j.blockFactsOf(int(s.lines[n].number)).acceptOf
			if len(names) == 0 || len(names) < len(blocking) || len(names) < len(rest)-1 || len(rest)-1+len(blocking) == 0 {
				continue
			}
			all := true
			for _, r := range blocking {
				all = all && slices.Contains(names, j.rows.refID(r))
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

// accept notes what accepted signals of a line, which becomes part of the digest.
func (j *judge) accept(c *Change, by string, kinds ...SignalKind) {
	j.use(by)
	for i := range c.Signals {
		if slices.Contains(kinds, c.Signals[i].Kind) && c.Signals[i].Accepted == "" {
			c.Signals[i].Accepted = by
		}
	}
}

// unit names the group by which look-alikes are counted and accepted: the batch of a line, or its
// block where that has none and may have many; "" for a transfer by itself.
func (j *judge) unit(c suspect) string {
	block := j.blockFactsOf(int(c.number)).block
	if c.Batch == "" && c.Address != block {
		return block
	}
	return c.Batch
}

func (j *judge) use(acceptance string) {
	if !j.used[acceptance] {
		j.used[acceptance] = true
		j.plan.Header.Accepted = append(j.plan.Header.Accepted, acceptance)
	}
}

// acceptCounted accepts all look-alikes of a unit, and all renames of a block, where the count
// that was typed is exact. Neither accepts the other.
func (j *judge) acceptCounted() {
	for _, of := range j.counted() {
		for name, count := range of.given {
			some := of.needing[name]
			if name == "" || len(some) == 0 {
				continue
			}
			by := of.flag(name, count)
			if len(some) != count {
				j.used[by] = true // it accepts nothing, but the obstacle will say so
				continue
			}
			for _, v := range some {
				j.accept(v.line.Change, by, of.kind)
			}
			delete(of.needing, name)
		}
	}
}

// counting is a flag that accepts by an exact count.
type counting struct {
	name    string
	kind    SignalKind
	given   map[string]int
	needing map[string][]judgedLine
}

func (c *counting) flag(name string, count int) string {
	return fmt.Sprintf("%s=%s:%d", c.name, name, count)
}

func (j *judge) counted() []counting {
	return []counting{
		{"accept-duplicates", LookAlike, j.controls.AcceptDuplicates, j.needing},
		{"accept-renames", Rename, j.controls.AcceptRenames, j.renames},
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
	for _, of := range j.counted() {
		for name, count := range of.given {
			if by := of.flag(name, count); !j.used[by] {
				j.plan.Unused = append(j.plan.Unused, by)
			}
		}
	}
	slices.Sort(j.plan.Unused)
}
