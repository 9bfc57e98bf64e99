//go:build unix

package history

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"remit/config"
	"remit/internal/sandbox"
)

// forbidden says why a request must not be written at this moment, by the declaration, by the
// service's ledger and by the answers that this process got; "" where it may. It asks neither the plan
// nor the executor. mustLook says that a lookup must have shown it to be absent.
func (o *oracle) forbidden(p *process, refID string, begun start, mustLook bool) string {
	now := o.world.kernel.Now()
	clock := now.Add(begun.off) // by which it was begun
	// A clock that is set between the last look at it and the request is not seen.
	isSet := !p.turnedAt.IsZero() && now.Sub(p.turnedAt) <= startMax
	declared, ok := p.declared[refID]
	switch {
	case !ok:
		return "it was not declared"
	case now.Add(p.ahead).Before(declared.NotBefore):
		return "it is not due"
	case !isSet && !declared.Expires.IsZero() && clock.After(declared.Expires.Add(startMax)):
		return "it has expired"
	case !p.failedAt.IsZero() && begun.at.After(p.failedAt):
		return "it was begun after the journal failed"
	}
	for _, window := range declared.Windows {
		h := o.world.author.hours[window.Name]
		if !isSet && !h.isOpen(clock) && !h.isOpen(clock.Add(-startMax)) {
			return fmt.Sprintf("%s is closed", window.Name)
		}
	}
	if why := p.heard.forbids(refID, mustLook); why != "" {
		return why
	}
	return o.unmet(p, declared.DependsOn)
}

// unmet says which transfer that a declaration depends on is not COMPLETED in the service's ledger, or
// has no record yet that proves it; "" where there is none.
func (o *oracle) unmet(p *process, dependsOn []config.Dependency) string {
	for refID, other := range p.declared {
		if !slices.ContainsFunc(dependsOn, func(d config.Dependency) bool { return d.Block == other.Block }) {
			continue
		}
		list := o.world.bank.made[refID]
		switch {
		case len(list) == 0:
			return fmt.Sprintf("it depends on %s, which was never made", refID)
		case list[0].isFailed:
			return fmt.Sprintf("it depends on %s, which failed", refID)
		case o.world.kernel.Now().Before(list[0].completeAt):
			return fmt.Sprintf("it depends on %s, which is not COMPLETED before %v", refID, list[0].completeAt.Sub(epoch()))
		case list[0].fallsShort() && !list[0].isShownWhole && !o.of(p).closed[refID]:
			return fmt.Sprintf("it depends on %s, of which no record has all that proves it", refID)
		}
	}
	return ""
}

// fallsShort reports whether the records of a movement lack a part that a recorded one needs: a
// group_id, and a total that adds up. The faults of records are put in in their order.
func (m *movement) fallsShort() bool {
	lacksGroup := (m.sick[sandbox.Bare] || m.sick[noGroup]) && !m.sick[foreignGroup]
	return lacksGroup || m.sick[wrongTotal] && !m.sick[feeOnTop] && !m.sick[feeWithin]
}

// mayOutlast says why a request that is sent again may arrive when the service knows its ref_id no
// longer; "" where it can't. The service carries out a request that arrives within its timeout. How
// old it is, is asked of the clock of the world and of the service's: one of them lets a client know.
func (o *oracle) mayOutlast(begun start, first time.Time) string {
	w := o.world
	age := min(begun.at.Sub(first), w.bank.clockAt(begun.at).Sub(w.bank.clockAt(first)))
	if age+requestTimeout <= w.traits.replayWindow+time.Second {
		return ""
	}
	return fmt.Sprintf("it was begun when its first intent was %v old, and may arrive after the replay window of %v", age, w.traits.replayWindow)
}

// heard is what the service told a process of ref_ids.
type heard struct {
	absent map[string]bool // the latest lookup says that there is none
	shown  map[string]bool // some lookup showed a record
	torn   map[string]bool // the latest lookup showed an unreadable record

	mu    *sync.Mutex
	known map[string]bool // an answer says that it is known, and it was not looked up since; guarded by mu
}

func newHeard() heard {
	return heard{
		absent: make(map[string]bool), shown: make(map[string]bool), torn: make(map[string]bool),
		mu: new(sync.Mutex), known: make(map[string]bool),
	}
}

// told notes an answer that says that a ref_id is known.
func (h heard) told(refID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[refID] = true
}

// asked notes that ref_ids are looked up.
func (h heard) asked(refIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, refID := range refIDs {
		delete(h.known, refID)
	}
}

// unasked are those that are known and were not looked up.
func (h heard) unasked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.known))
}

// found notes a page of what a lookup found; isLast is that of its last one.
func (h heard) found(refIDs []string, items []item, isFirst, isLast bool) {
	for _, refID := range refIDs {
		if isFirst {
			delete(h.torn, refID)
			delete(h.absent, refID)
		}
	}
	for _, one := range items {
		h.shown[one.refID] = h.shown[one.refID] || !one.isTorn
		h.torn[one.refID] = h.torn[one.refID] || one.isTorn
	}
	for _, refID := range refIDs {
		if isLast && !h.shown[refID] && !h.torn[refID] {
			h.absent[refID] = true
		}
	}
}

// forbids says why a request must not be written after the told events; "" where it may.
func (h heard) forbids(refID string, mustLook bool) string {
	switch {
	case h.torn[refID]:
		return "a lookup showed a record of it that can't be read"
	case h.shown[refID]:
		return "a lookup showed a record of it"
	case mustLook && !h.absent[refID]:
		return "no lookup said that there is none"
	}
	return ""
}
