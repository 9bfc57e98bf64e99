package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/internal/clock/calendar"
)

// goneThrough are the schedules whose dates a for_each goes through: each of its elements is there for one of them, whatever its key is.
// A schedule at which it only looks, such as in a condition, is none of them.
type goneThrough struct {
	schedules []*Schedule
	dates     map[string][]*Occurrence // of all schedules that for_each names
}

// schedulesOf are those of all schedules through whose dates a for_each goes, which names such dates; nil for none.
func schedulesOf(forEach *eval.Argument, dates map[string][]*Occurrence, all []*Schedule, scope *eval.Scope, data map[*eval.Node]*dataSource) *goneThrough {
	if len(dates) == 0 {
		return nil
	}
	var nodes []*eval.Node
	walk := newElementWalk(scope, data, func(expr hclsyntax.Expression, at spot, path []string) {
		if e, ok := expr.(*hclsyntax.ScopeTraversalExpr); ok && e.Traversal.RootName() == "schedule" {
			nodes = append(nodes, schedulesThrough(at.refs, append(stepsOf(e.Traversal[1:]), path...))...)
		}
	})
	scope.Meter.Aside(func() { walk.elements(forEach.Expr, spot{refs: forEach.Refs}, nil) })
	through := &goneThrough{dates: dates}
	for _, s := range all {
		if len(s.Occurrences) > 0 && slices.ContainsFunc(nodes, func(n *eval.Node) bool { return n.Name == s.Name }) {
			through.schedules = append(through.schedules, s)
		}
	}
	if len(through.schedules) == 0 {
		return nil
	}
	return through
}

// schedulesThrough are the schedules whose dates are the elements at the end of a path, which begins behind the word schedule.
func schedulesThrough(refs *eval.References, steps []string) []*eval.Node {
	const ofDates = 2 // NAME.occurrences
	is := func(i int, name string) bool { return steps[i] == name || steps[i] == anyKey }
	if len(steps) < ofDates || !is(1, "occurrences") || len(steps) > ofDates && steps[ofDates] != anyKey {
		return nil
	}
	var all []*eval.Node
	for _, n := range refs.Nodes {
		if n.Root == "schedule" && n.Progress == eval.Known && is(0, n.Name) {
			all = append(all, n)
		}
	}
	return all
}

// on is the occurrence of the schedules that has a date; nil where none has it.
func (g *goneThrough) on(date string) *Occurrence {
	var of []*Occurrence
	for _, o := range g.dates[date] {
		if slices.ContainsFunc(g.schedules, func(s *Schedule) bool { return s.Name == o.Schedule }) {
			of = append(of, o)
		}
	}
	return latest(of)
}

// ofKey is the occurrence whose date a key has, between other signs than digits, and where in the key it begins; nil where it has none, or two.
func (g *goneThrough) ofKey(key string) (o *Occurrence, at int) {
	isDigit := func(i int) bool { return i >= 0 && i < len(key) && key[i] >= '0' && key[i] <= '9' }
	for i := 0; i+len(time.DateOnly) <= len(key); i++ {
		end := i + len(time.DateOnly)
		if isDigit(i-1) || !isDigit(i) || isDigit(end) {
			continue
		}
		switch found := g.on(key[i:end]); {
		case found == nil:
		case o != nil && o.Date != found.Date:
			return nil, 0
		case o == nil:
			o, at = found, i
		}
	}
	return o, at
}

// madeFor is the occurrence whose date a key has, or the only one in whose month it is; nil where it has none.
func (g *goneThrough) madeFor(key string) *Occurrence {
	if o, _ := g.ofKey(key); o != nil {
		return o
	}
	var of *Occurrence
	for _, s := range g.schedules {
		for _, o := range s.Occurrences {
			if !strings.Contains(key, o.Date.String()[:len("2006-01")]) {
				continue
			}
			if of != nil {
				return nil
			}
			of = g.on(o.Date.String())
		}
	}
	return of
}

// timeOf says how a transfer of a key waits for its date.
func (g *goneThrough) timeOf(o *Occurrence, key string) string {
	date := "each.key"
	if g != nil && key != o.Date.String() {
		switch found, at := g.ofKey(key); {
		case found != o:
		case at == 0:
			date = "substr(each.key, 0, 10)"
		case at+len(time.DateOnly) == len(key):
			date = "substr(each.key, -10, 10)"
		default:
			date = "DATE"
		}
	}
	return fmt.Sprintf("Write not_before = schedule.%s.occurrences[%s].due_at, or each.value.due_at where each.value is the occurrence.", o.Schedule, date)
}

// ofTime is the occurrence on whose date a time is, in the time zone of its schedule, or else the one that is due nearest to it.
func (g *goneThrough) ofTime(t time.Time) *Occurrence {
	var nearest calendar.Occurrence
	var of *Schedule
	for _, s := range g.schedules {
		after, _ := slices.BinarySearchFunc(s.Occurrences, t, func(o calendar.Occurrence, t time.Time) int { return o.Due.Compare(t) })
		for _, o := range s.Occurrences[max(after-1, 0):min(after+1, len(s.Occurrences))] {
			if of == nil || t.Sub(o.Due).Abs() < t.Sub(nearest.Due).Abs() {
				nearest, of = o, s
			}
		}
	}
	if o := g.on(t.In(of.Zone).Format(time.DateOnly)); o != nil {
		return o
	}
	return g.on(nearest.Date.String())
}
