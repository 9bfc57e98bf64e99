package executor

import (
	"maps"
	"slices"
	"sync"
)

// listOf names a list of dependencies that many lines share.
type listOf struct {
	first *string
	count int
}

func nameList(list []string) listOf { return listOf{&list[0], len(list)} }

// gates are what lines wait for. Lines that share a list of dependencies stand at one gate: where a
// block of transfers waits for another block, that is as much as both of them have together, and not
// as the one times the other. Only the goroutine of an order calls anything but has.
type gates struct {
	all     []gate             // number 0 is open
	waiting map[string][]int32 // gates that may open, by the ref_ids that they wait for

	mu sync.Mutex
	of map[listOf]int32 // guarded by mu; gates that are open or may open
}

type gate struct {
	list  listOf
	unmet int32   // dependencies that are not COMPLETED
	lines []int32 // that wait
}

func newGates() *gates {
	return &gates{all: make([]gate, 1), waiting: make(map[string][]int32), of: make(map[listOf]int32)}
}

// isOpen reports whether lines at a gate wait for nothing (any more).
func (g *gates) isOpen(number int32) bool { return g.all[number].unmet == 0 }

// waitFor reports whether lines may wait for a ref_id.
func (g *gates) waitFor(refID string) bool { return len(g.waiting[refID]) > 0 }

// refIDs are those that lines wait for, in their order.
func (g *gates) refIDs() []string { return slices.Sorted(maps.Keys(g.waiting)) }

// has reports whether there is a gate for a list, which looks after what the list names.
func (g *gates) has(list listOf) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.of[list]
	return ok
}

// put puts a line at the gate of a list, and returns its number. Where there is none yet, unmet says
// what of the list is not COMPLETED, and first is what no gate waited for before.
func (g *gates) put(line int32, list []string, unmet func() []string) (number int32, first []string) {
	if len(list) == 0 {
		return 0, nil
	}
	name := nameList(list)
	g.mu.Lock()
	number, ok := g.of[name]
	if !ok {
		number = int32(len(g.all))
		g.of[name] = number
	}
	g.mu.Unlock()
	if !ok {
		missing := unmet()
		g.all = append(g.all, gate{list: name, unmet: int32(len(missing))})
		for _, refID := range missing {
			if !g.waitFor(refID) {
				first = append(first, refID)
			}
			g.waiting[refID] = append(g.waiting[refID], number)
		}
	}
	if !g.isOpen(number) {
		g.all[number].lines = append(g.all[number].lines, line)
	}
	return number, first
}

// meet takes note that a ref_id is COMPLETED. It returns the lines whose gates that opens, in
// their order.
func (g *gates) meet(refID string) []int32 {
	return g.take(refID, func(_ int32, one *gate) bool {
		one.unmet--
		return one.unmet == 0
	})
}

// fail takes note that a ref_id will not be COMPLETED. It returns the lines that wait for it, in
// their order.
func (g *gates) fail(refID string) []int32 {
	return g.take(refID, func(number int32, one *gate) bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.of[one.list] == number {
			delete(g.of, one.list) // who comes later looks again
		}
		return true
	})
}

// take takes the lines of the gates that wait for a ref_id and that are to be left.
func (g *gates) take(refID string, leaves func(int32, *gate) bool) []int32 {
	var lines []int32
	for _, number := range g.waiting[refID] {
		if one := &g.all[number]; leaves(number, one) {
			lines = append(lines, one.lines...)
			one.lines = nil
		}
	}
	delete(g.waiting, refID)
	slices.Sort(lines)
	return lines
}

// forget leaves all gates to others.
func (g *gates) forget() {
	clear(g.waiting)
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.of)
}
