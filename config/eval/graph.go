package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// Walk visits everything that can be reached from starts. It returns the vertices so that
// each comes after all that it leads to, cycles apart, and the cycles, each from its first
// vertex to the last before the first again. It keeps its own stack: what it walks may be
// as long as a file.
func Walk[T comparable](starts []T, next func(T) []T) (order []T, cycles [][]T) {
	type step struct {
		at   T
		rest []T
	}
	const entered, left = 1, 2
	marks := map[T]int{}
	var path []step
	enter := func(v T) {
		marks[v] = entered
		path = append(path, step{v, next(v)})
	}
	for _, start := range starts {
		if marks[start] == 0 {
			enter(start)
		}
		for len(path) > 0 {
			top := &path[len(path)-1]
			if len(top.rest) == 0 {
				marks[top.at] = left
				order = append(order, top.at)
				path = path[:len(path)-1]
				continue
			}
			to := top.rest[0]
			top.rest = top.rest[1:]
			switch marks[to] {
			case entered:
				var cycle []T
				for _, s := range path[slices.IndexFunc(path, func(s step) bool { return s.at == to }):] {
					cycle = append(cycle, s.at)
				}
				cycles = append(cycles, cycle)
			case left:
			default:
				enter(to)
			}
		}
	}
	return order, cycles
}

// CycleAt reports a cycle of addresses, whose first is repeated as its last.
func CycleAt(r hcl.Range, cycle []string) *hcl.Diagnostic {
	return mistake.New(r, "Cycle", "These depend on one another: %s. Take one of these references away.", strings.Join(cycle, " → "))
}
