package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"remit/internal/text/english"
	"remit/planner"
	"remit/state"
)

// attentionShare is how many lines of each kind a list of those to look at has at least.
const attentionShare = 5

// attention gathers the transfers that a person must look at, so that a list of some of them has some of every kind.
type attention struct {
	count int // all of them
	kinds []*attentionKind
	at    map[string]*attentionKind // by what it is called
}

// attentionKind is a reason to look at a transfer.
type attentionKind struct {
	signal  planner.SignalKind // "" for one that is none
	word    string             // of one that is none
	count   int
	numbers []int32 // in the plan, the first of them
}

// text counts transfers of a kind.
func (k *attentionKind) text(count int) string {
	if k.signal != "" {
		return signalText(k.signal, count)
	}
	return fmt.Sprintf("%d %s", count, k.word)
}

// kindsOf calls yield with each reason to look at a transfer: a signal, or a word.
func kindsOf(c *planner.Change, yield func(signal planner.SignalKind, word string)) {
	switch c.Action {
	case planner.Resolve:
		yield("", "to resolve")
	case planner.Conflict:
		yield("", "in conflict")
	case planner.Failed, planner.Expired:
		yield("", string(c.Action))
	case planner.Submit, planner.None, planner.Wait, planner.Undeclared:
	}
	if c.Now == state.InDoubt && c.Action == planner.Submit {
		yield("", "begun before, and in doubt")
	}
	if c.Again {
		yield("", "refused before")
	}
	if c.Never {
		yield("", "that no time makes due")
	}
	for i, s := range c.Signals {
		if !isFirst(s) && !slices.ContainsFunc(c.Signals[:i], func(of planner.Signal) bool { return of.Kind == s.Kind }) {
			yield(s.Kind, "")
		}
	}
}

// needsAttention reports whether a person must look at a transfer. That its destination is new alone is no reason:
// such transfers have a list of their own.
func needsAttention(c *planner.Change) bool {
	needs := false
	kindsOf(c, func(planner.SignalKind, string) { needs = true })
	return needs
}

// add takes in a transfer, where there is a reason to look at it.
func (a *attention) add(c *planner.Change, number int) {
	isCounted := false
	kindsOf(c, func(signal planner.SignalKind, word string) {
		if !isCounted {
			a.count++
			isCounted = true
		}
		name := string(signal) + "\n" + word
		k := a.at[name]
		if k == nil {
			k = &attentionKind{signal: signal, word: word}
			a.at[name] = k
			a.kinds = append(a.kinds, k)
		}
		if k.count++; len(k.numbers) < linesMax {
			k.numbers = append(k.numbers, int32(number))
		}
	})
}

// title counts them.
func (a *attention) title() string { return "To look at: " + english.Plural(a.count, "transfer") }

// top are the transfers to look at, at most so many: as many of each kind, those of the rarest kind first, so that the
// most common kind hides none. Where that would be less than five of each, there are as many more, up to the most
// that any list has. more counts by kind those that are left out, one with several kinds under each; "" where none is.
func (a *attention) top(most int, changes *planner.Changes) (listed []planner.Change, more string) {
	kinds := slices.Clone(a.kinds)
	slices.SortStableFunc(kinds, func(x, y *attentionKind) int { return cmp.Compare(x.count, y.count) })
	most = min(linesMax, max(most, attentionShare*len(kinds)))
	by := make([][]int32, len(kinds)) // the lines that each kind brings into the list
	next, taken := make([]int, len(kinds)), make(map[int32]bool)
	for isGiven := true; isGiven && len(taken) < most; {
		isGiven = false
		for i, k := range kinds {
			for next[i] < len(k.numbers) && taken[k.numbers[next[i]]] {
				next[i]++
			}
			if next[i] < len(k.numbers) && len(taken) < most {
				by[i] = append(by[i], k.numbers[next[i]])
				taken[k.numbers[next[i]]] = true
				isGiven = true
			}
		}
	}
	counted := attention{at: make(map[string]*attentionKind)}
	for _, numbers := range by {
		for _, number := range numbers {
			c := changes.At(int(number))
			listed = append(listed, c)
			counted.add(&c, int(number))
		}
	}
	if len(listed) == a.count {
		return listed, ""
	}
	var parts []string
	for _, k := range kinds {
		rest := k.count
		if shown := counted.at[string(k.signal)+"\n"+k.word]; shown != nil {
			rest -= shown.count
		}
		if rest > 0 {
			parts = append(parts, k.text(rest))
		}
	}
	return listed, fmt.Sprintf("and %d more: %s", a.count-len(listed), strings.Join(parts, ", "))
}

// toLookAt lists transfers that a person must look at, and counts the rest.
func (p *page) toLookAt(v *overview, most int, o PlanOptions) {
	listed, more := v.attention.top(most, v.changes)
	p.changes(listed, o)
	if more != "" {
		p.paragraph("  ", Visible(more), toneDim)
	}
}

// toLookAt lists transfers that a person must look at, where the whole list is longer.
func (h *htmlPlan) toLookAt() {
	if h.plan.Changes.Len() > htmlTransfers && h.over.attention.count > 0 {
		listed, more := h.over.attention.top(htmlAttention, h.over.changes)
		h.changesTable("attention", h.over.attention.title(), listed, more)
	}
}
