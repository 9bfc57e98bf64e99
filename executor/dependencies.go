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

// dependencies say which lines wait for which transfers. Lines that share a list of dependencies are
// one group: where a block of transfers waits for another block, memory grows with the sum of both,
// and not with their product. Only the goroutine of the scheduler calls anything but watches.
type dependencies struct {
	groups  []group            // group 0 waits for nothing
	waiting map[string][]int32 // groups that may be met, by the ref_ids that they wait for

	mu     sync.Mutex
	byList map[listOf]int32 // guarded by mu; groups that are met or may be met
}

// group is the lines that wait for the same list.
type group struct {
	list  listOf
	unmet int32   // dependencies that are not COMPLETED
	lines []int32 // that wait
}

func newDependencies() *dependencies {
	return &dependencies{groups: make([]group, 1), waiting: make(map[string][]int32), byList: make(map[listOf]int32)}
}

// areMet reports whether the lines of a group wait for nothing (any more).
func (d *dependencies) areMet(number int32) bool { return d.groups[number].unmet == 0 }

// waitFor reports whether lines may wait for a ref_id.
func (d *dependencies) waitFor(refID string) bool { return len(d.waiting[refID]) > 0 }

// refIDs returns those that lines wait for, in byte order.
func (d *dependencies) refIDs() []string { return slices.Sorted(maps.Keys(d.waiting)) }

// watches reports whether a group has the list, so that the scheduler follows what the list names.
func (d *dependencies) watches(list listOf) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.byList[list]
	return ok
}

// add puts a line in the group of its list, and returns the group's number. For a new group it calls
// unmet, which returns the part of the list that is not COMPLETED; first are those of them that no
// group waited for before.
func (d *dependencies) add(line int32, list []string, unmet func() []string) (number int32, first []string) {
	if len(list) == 0 {
		return 0, nil
	}
	name := nameList(list)
	d.mu.Lock()
	number, ok := d.byList[name]
	if !ok {
		number = int32(len(d.groups))
		d.byList[name] = number
	}
	d.mu.Unlock()
	if !ok {
		missing := unmet()
		d.groups = append(d.groups, group{list: name, unmet: int32(len(missing))})
		for _, refID := range missing {
			if !d.waitFor(refID) {
				first = append(first, refID)
			}
			d.waiting[refID] = append(d.waiting[refID], number)
		}
	}
	if !d.areMet(number) {
		d.groups[number].lines = append(d.groups[number].lines, line)
	}
	return number, first
}

// meet notes that a ref_id is COMPLETED. It returns the lines that wait for nothing else, in
// their order.
func (d *dependencies) meet(refID string) []int32 {
	return d.take(refID, func(_ int32, g *group) bool {
		g.unmet--
		return g.unmet == 0
	})
}

// fail notes that a ref_id will not be COMPLETED. It returns the lines that wait for it, in
// their order.
func (d *dependencies) fail(refID string) []int32 {
	return d.take(refID, func(number int32, g *group) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.byList[g.list] == number {
			delete(d.byList, g.list) // a line that comes later looks again
		}
		return true
	})
}

// take takes the lines out of those groups that wait for a ref_id and that leaves chooses.
func (d *dependencies) take(refID string, leaves func(int32, *group) bool) []int32 {
	var lines []int32
	for _, number := range d.waiting[refID] {
		if g := &d.groups[number]; leaves(number, g) {
			lines = append(lines, g.lines...)
			g.lines = nil
		}
	}
	delete(d.waiting, refID)
	slices.Sort(lines)
	return lines
}

// forget leaves all groups to other runners.
func (d *dependencies) forget() {
	clear(d.waiting)
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.byList)
}
