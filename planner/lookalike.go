package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// signalsMax bounds the look-alikes that one line shows; the last says how many more.
const signalsMax = 20

// suspects are due transfers that make the same movement, in order of ref_id, so that what
// is said of them does not hang on the order of declaration.
type suspects struct {
	lines []int32  // indices of changes
	older [][]*row // of each line: what was or may have been made, the gravest first
}

// verdict is what came of one suspect.
type verdict struct {
	line   int
	rename *row // the recorded transfer whose label vanished
	doubt  *row // a twin in doubt, which can't be accepted
	twin   string
	place  string
}

// findLookAlikes marks the look-alikes and renames of what is due, and adds an obstacle for
// those that nobody accepted.
func (b *builder) findLookAlikes(ctx context.Context) error {
	all := b.gatherSuspects()
	places, err := b.verifySuspects(ctx, all)
	if err != nil {
		return err
	}
	j := judge{
		builder: b, places: places, named: make(map[string]bool), used: make(map[string]bool),
		needing: make(map[string][]verdict),
	}
	for _, refID := range b.controls.AcceptDuplicate {
		j.named[refID] = true
	}
	for _, s := range all {
		j.group(s)
	}
	j.acceptBatches()
	j.addObstacles()
	j.sayUnused()
	return nil
}

// gatherSuspects finds every due transfer that has a twin among what is due or recorded.
func (b *builder) gatherSuspects() []*suspects {
	byTwin := make(map[transfer.Twin][]int32)
	var order []transfer.Twin
	for i := range b.plan.Changes {
		if b.plan.Changes[i].Action != Submit {
			continue
		}
		twin := b.plan.Changes[i].Request.Twin()
		if byTwin[twin] == nil {
			order = append(order, twin)
		}
		byTwin[twin] = append(byTwin[twin], int32(i))
	}
	if len(order) == 0 {
		return nil
	}
	recorded := make(map[transfer.Twin][]*row)
	for r := range b.rows.inOrder() {
		if byTwin[r.twin] != nil && r.mayBeMade {
			recorded[r.twin] = append(recorded[r.twin], r)
		}
	}
	var all []*suspects
	for _, twin := range order {
		for _, lines := range b.sameMovement(byTwin[twin]) {
			s := b.suspectsOf(lines, recorded[twin])
			if len(lines) > 1 || len(s.older[0]) > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}

// sameMovement splits lines of one twin, of which 64 bits are compared, by their fields.
func (b *builder) sameMovement(lines []int32) [][]int32 {
	var split [][]int32
	for len(lines) > 0 {
		first := &b.plan.Changes[lines[0]].Request
		var same, rest []int32
		for _, i := range lines {
			if sameMovement(first, &b.plan.Changes[i].Request) {
				same = append(same, i)
			} else {
				rest = append(rest, i)
			}
		}
		split, lines = append(split, same), rest
	}
	return split
}

func (b *builder) suspectsOf(lines []int32, recorded []*row) *suspects {
	slices.SortFunc(lines, func(x, y int32) int {
		return strings.Compare(b.plan.Changes[x].RefID, b.plan.Changes[y].RefID)
	})
	s := &suspects{lines: lines, older: make([][]*row, len(lines))}
	// Many lines of one movement mostly have one window; their list is made once.
	type view struct {
		within    time.Duration
		fromLabel bool
	}
	made := make(map[view][]*row)
	for n, i := range lines {
		c := &b.plan.Changes[i]
		key := view{c.DuplicateWithin, c.FromLabel}
		older, ok := made[key]
		if !ok {
			for _, r := range recorded {
				if b.isOlderTwin(c, r) {
					older = append(older, r)
				}
			}
			slices.SortStableFunc(older, func(x, y *row) int { return gravity(c, x) - gravity(c, y) })
			made[key] = older
		}
		s.older[n] = older
	}
	return s
}

// isOlderTwin reports whether a recorded twin is worth a mark: one in doubt and one whose
// label vanished at any age, others within the window; a window of "0" blocks nothing, but
// marks as far back as the default.
func (b *builder) isOlderTwin(c *Change, r *row) bool {
	within := c.DuplicateWithin
	if within == 0 {
		within = config.DuplicateWithinDefault
	}
	return r.status == state.InDoubt || isRename(c, r) || r.within(within, b.now)
}

func isRename(c *Change, r *row) bool { return c.FromLabel && r.fromLabel && !r.declared }

func isBlocking(c *Change, r *row) bool { return c.DuplicateWithin > 0 || isRename(c, r) }

// The order in which recorded twins are shown.
const (
	gravityDoubt = iota
	gravityRename
	gravityOther
)

func gravity(c *Change, r *row) int {
	switch {
	case r.status == state.InDoubt:
		return gravityDoubt
	case isRename(c, r):
		return gravityRename
	}
	return gravityOther
}

// verifySuspects compares the fields of the recorded twins that would be shown with those
// of their lines, drops those that only share 64 bits, and returns where the others stand.
func (b *builder) verifySuspects(ctx context.Context, all []*suspects) (map[string]string, error) {
	lineOf := make(map[string]int32)
	var refIDs []string
	for _, s := range all {
		for n, older := range s.older {
			for _, r := range older[:min(len(older), signalsMax)] {
				if _, ok := lineOf[r.refID]; !ok {
					lineOf[r.refID] = s.lines[n]
					refIDs = append(refIDs, r.refID)
				}
			}
		}
	}
	places := make(map[string]string, len(refIDs))
	other := make(map[string]bool)
	err := eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		request, err := newRecorded(d).Request()
		if err != nil {
			return fmt.Errorf("read the recorded request of %q: %w", d.RefID, err)
		}
		places[d.RefID] = d.Intent.Place
		if !sameMovement(&request, &b.plan.Changes[lineOf[d.RefID]].Request) {
			other[d.RefID] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(other) > 0 {
		for _, s := range all {
			for n := range s.older {
				s.older[n] = slices.DeleteFunc(slices.Clone(s.older[n]), func(r *row) bool { return other[r.refID] })
			}
		}
	}
	return places, nil
}

// mark puts signals on a line: its recorded twins, then the plan's others.
func (j *judge) mark(s *suspects, n, original int) {
	c := j.change(s, n)
	for _, r := range s.older[n] {
		if len(c.Signals) == signalsMax {
			break
		}
		signal := Signal{Kind: LookAlike, RefID: r.refID, Place: j.places[r.refID], Detail: r.said()}
		if isRename(c, r) {
			signal.Kind = Rename
		}
		if !isBlocking(c, r) {
			signal.Detail += markOnly
		}
		c.Signals = append(c.Signals, signal)
	}
	more := len(s.older[n]) - len(c.Signals)
	if n != original {
		more += len(s.lines) - 1 - j.markPeers(s, n, original)
	}
	if more > 0 {
		c.Signals[len(c.Signals)-1].Detail += fmt.Sprintf("; and %d more", more)
	}
}

// markPeers puts the plan's own twins on a line, the original first, and returns how many.
func (j *judge) markPeers(s *suspects, n, original int) int {
	c := j.change(s, n)
	before := len(c.Signals)
	add := func(m int) {
		signal := Signal{Kind: LookAlike, RefID: j.change(s, m).RefID, Place: j.change(s, m).Place, Detail: "this plan submits it as well"}
		if c.DuplicateWithin == 0 {
			signal.Detail += markOnly
		}
		c.Signals = append(c.Signals, signal)
	}
	if before < signalsMax {
		add(original)
	}
	for m := 0; m < len(s.lines) && len(c.Signals) < signalsMax; m++ {
		if m != n && m != original {
			add(m)
		}
	}
	return len(c.Signals) - before
}

const markOnly = ` (a mark only: duplicate_within is "0")`

// said is what the record has of a twin, in words.
func (r *row) said() string {
	text := r.status.String()
	if r.intended != unknownAge {
		text += ", intended at " + time.UnixMilli(r.intended).UTC().Format(time.RFC3339)
	}
	return text
}
