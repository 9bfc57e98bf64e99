package planner

import (
	"fmt"
	"time"

	"remit/config"
	"remit/state"
)

// awaited is the transfers of a block or of a batch that others wait for.
type awaited struct {
	changes []int32  // indices, in declaration order
	pending []string // ref_ids that are recorded and not yet COMPLETED

	resolution resolution
	after      []string // unmet, and this plan or the service will meet it
	blocked    *blocker // why this plan can't meet it; nil for nothing
	unmet      []string // after, and what blocks
}

// blocker says why this plan can't submit some transfers.
type blocker struct {
	reason string
	until  time.Time // zero where no time is known
	never  bool      // as things are, no apply and no time ends it
}

// graver is the blocker to be told of: one that nothing ends by itself, else the first.
func graver(first, other *blocker) *blocker {
	if first == nil || other != nil && other.never && !first.never {
		return other
	}
	return first
}

// resolution is how far the walk along the dependencies has come.
type resolution uint8

const (
	unresolved resolution = iota
	resolving
	resolved
)

// members finds the transfers of each block and batch that a transfer to be sent waits for.
func (b *builder) members() map[config.Dependency]*awaited {
	groups := make(map[config.Dependency]*awaited)
	for i := range b.facts.len() {
		dependsOn := b.blockFactsOf(i).dependsOn
		if len(dependsOn) == 0 || !asksForDependencies(b.plan.Changes.Action(i)) {
			continue
		}
		for _, d := range dependsOn {
			if d == (config.Dependency{}) {
				panic(fmt.Sprintf("a dependency of %q names nothing", b.plan.Changes.At(i).RefID))
			}
			if groups[d] == nil {
				groups[d] = new(awaited)
			}
		}
	}
	if len(groups) == 0 {
		return nil
	}
	for i := range b.facts.len() {
		for _, d := range b.blockFactsOf(i).memberships() {
			if g := groups[d]; g != nil {
				g.changes = append(g.changes, int32(i))
			}
		}
	}
	for _, p := range b.pending {
		for _, d := range b.blockFacts[p.block].memberships() {
			if g := groups[d]; g != nil {
				g.pending = append(g.pending, b.rows.refID(p.row))
			}
		}
	}
	return groups
}

// asksForDependencies reports whether something may be sent for a change once they are met.
func asksForDependencies(a Action) bool { return a == Submit || a == Resolve }

// memberships are the names under which others wait for a transfer; "" names nothing.
func (s *blockFacts) memberships() [2]config.Dependency {
	return [2]config.Dependency{{Block: s.block}, {Batch: s.batch}}
}

// resolveDependencies turns a due transfer whose dependencies are not met into one that is
// submitted after them, where this plan or the service will meet them, and else into one
// that waits. A doubt stays a doubt, and names the unmet dependency.
func (b *builder) resolveDependencies() {
	groups := b.members()
	if groups == nil {
		return
	}
	w := walk{builder: b, changes: &b.plan.Changes, groups: groups, unmet: make(map[dependencyList]*awaited)}
	for i := range b.facts.len() {
		w.change(i)
	}
}

// walk goes along the dependencies, each once, whatever their order in the files.
type walk struct {
	*builder
	changes *Changes
	groups  map[config.Dependency]*awaited
	// unmet is what a list of dependencies comes to. Transfers of one block share their
	// list, and so share the result.
	unmet map[dependencyList]*awaited
}

// dependencyList is one list in memory.
type dependencyList struct {
	first *config.Dependency
	count int
}

func (w *walk) change(i int) {
	f, dependsOn := w.facts.at(i), w.blockFactsOf(i).dependsOn
	if f.resolution != unresolved || len(dependsOn) == 0 || !asksForDependencies(w.changes.Action(i)) {
		return
	}
	f.resolution = resolving
	list := dependencyList{&dependsOn[0], len(dependsOn)}
	all := w.unmet[list]
	if all == nil {
		all = w.combine(dependsOn)
		w.unmet[list] = all
	}
	f.resolution = resolved
	w.changes.Update(i, func(c *Change) {
		switch {
		case c.Action == Resolve:
			c.After = all.unmet
		case all.blocked != nil:
			w.uncount()
			c.Action, c.DuplicateWithin, c.AcceptOf, c.Signals = Wait, 0, nil, nil
			c.Until, c.Reason, c.Never = all.blocked.until, all.blocked.reason, all.blocked.never
			if !c.Never && c.expiresBefore(c.Until) {
				c.Never = true
				c.Reason += "; it expires before that, at " + c.Expires.Format(time.RFC3339)
			}
		default:
			c.After = all.after
		}
	})
}

// combine adds up what several blocks and batches come to. A transfer that is in two of
// them is waited for once.
func (w *walk) combine(dependsOn []config.Dependency) *awaited {
	if len(dependsOn) == 1 {
		return w.group(dependsOn[0])
	}
	all := new(awaited)
	inAfter, inUnmet := make(map[string]bool), make(map[string]bool)
	for _, d := range dependsOn {
		g := w.group(d)
		all.blocked = graver(all.blocked, g.blocked)
		all.after = appendNew(all.after, g.after, inAfter)
		all.unmet = appendNew(all.unmet, g.unmet, inUnmet)
	}
	return all
}

func appendNew(to, more []string, seen map[string]bool) []string {
	for _, refID := range more {
		if !seen[refID] {
			seen[refID] = true
			to = append(to, refID)
		}
	}
	return to
}

func (w *walk) group(d config.Dependency) *awaited {
	g := w.groups[d]
	switch g.resolution {
	case unresolved:
	case resolving:
		around := &awaited{blocked: circle()}
		for _, i := range g.changes {
			around.unmet = append(around.unmet, w.changes.At(int(i)).RefID)
		}
		return around
	case resolved:
		return g
	}
	g.resolution = resolving
	g.after = g.pending
	g.unmet = g.pending[:len(g.pending):len(g.pending)]
	for _, i := range g.changes {
		w.change(int(i))
		if w.isMet(int(i)) {
			continue
		}
		refID, blocked := w.changes.At(int(i)).RefID, w.blocks(int(i))
		if blocked == nil {
			g.after = append(g.after, refID)
		}
		g.blocked = graver(g.blocked, blocked)
		g.unmet = append(g.unmet, refID)
	}
	g.resolution = resolved
	return g
}

// isMet reports whether a change is of an imported record that is COMPLETED and accepted. Where
// it turns out to differ from the declaration, it is a conflict, and nothing is sent.
func (w *walk) isMet(i int) bool {
	row := w.facts.at(i).row
	return row != nil && row.isImported() && row.is(markCompleted) && row.status != state.Unverified && w.changes.Action(i) == None
}

// circle is for what config refuses: it must neither hang nor be sent.
func circle() *blocker { return &blocker{reason: "its dependencies form a circle"} }

// blocks says why this plan can't meet a dependency on a change; nil where it can.
func (w *walk) blocks(i int) *blocker {
	if w.facts.at(i).resolution == resolving {
		return circle()
	}
	if w.changes.Action(i) == Submit {
		return nil
	}
	c := w.changes.At(i)
	return &blocker{
		reason: fmt.Sprintf("waits for %q, which %s", c.RefID, whyUnmet(&c, w.facts.at(i).row)), until: c.Until,
		never: c.Action == Expired || c.Action == Failed || c.Action == Wait && c.Never,
	}
}

// whyUnmet says of a change that nothing is sent for why no other can build on it, as the end of "which …".
func whyUnmet(c *Change, r *row) string {
	switch c.Action {
	case None:
		if r.status != state.Unverified { // it was imported; the others have no change
			return "is not COMPLETED"
		}
		return "is unverified"
	case Wait:
		switch {
		case isInFlight(r):
			return "is in flight"
		case c.Never:
			return "is never sent"
		case c.Until.IsZero():
			return "waits itself"
		}
		return "waits until " + c.Until.UTC().Format(time.RFC3339)
	case Expired:
		return "expired"
	case Resolve:
		return "is in doubt"
	case Conflict:
		return "is in conflict"
	case Failed:
		if r.status == state.Tombstone {
			return "was settled as not made"
		}
		return "failed"
	case Submit, Undeclared:
	}
	panic("nothing waits in vain for a transfer with the action " + string(c.Action))
}
