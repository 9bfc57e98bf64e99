package view

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/planner"
)

// fieldsMost is how many fields a count of changes names.
const fieldsMost = 12

// deltaRank orders the lines that changed in one way, so that no list is cut before those that matter most.
type deltaRank int

const (
	rankMoney    deltaRank = iota // who pays whom, or how much; of one that was added, one to look at
	rankOther                     // of one that was added, one to a first-time destination
	rankMetadata                  // nothing but metadata; of one that was added, any other
)

// rankOfField says how much it matters that a field changed.
func rankOfField(name string) deltaRank {
	name = strings.TrimPrefix(name, "declared ")
	if f, isField := transfer.FieldNamed(name); isField && f.IsMovement() {
		return rankMoney
	}
	if before, _, isPair := strings.Cut(name, "."); isPair {
		if f, isField := transfer.FieldNamed(before); isField && f.HasPairs() {
			return rankMetadata
		}
	}
	return rankOther
}

func rankOf(l *planner.LineDelta) deltaRank {
	switch l.Kind {
	case planner.DeltaAdded:
		switch {
		case needsAttention(l.After):
			return rankMoney
		case slices.ContainsFunc(l.New, isFirst):
			return rankOther
		}
		return rankMetadata
	case planner.DeltaRemoved, planner.DeltaDone:
		return rankMoney
	case planner.DeltaChanged:
	}
	rank := rankMetadata
	if len(l.New)+len(l.Gone) > 0 {
		rank = rankOther
	}
	for i := range l.Fields {
		rank = min(rank, rankOfField(l.Fields[i].Field))
	}
	return rank
}

// fieldCounts says in how many lines each field changed.
type fieldCounts map[string]int

func (f fieldCounts) add(l *planner.LineDelta, by int) {
	for i := range l.Fields {
		f[l.Fields[i].Field] += by
	}
	if len(l.New) > 0 {
		f["new signal"] += by
	}
	if len(l.Gone) > 0 {
		f["signal gone"] += by
	}
}

// text names the fields that matter most first, and of these the rarest; "" where there are none.
func (f fieldCounts) text() string {
	var names []string
	for name, count := range f {
		if count > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(rankOfField(x), rankOfField(y)), cmp.Compare(f[x], f[y]), cmp.Compare(x, y))
	})
	var parts []string
	for _, name := range names[:min(len(names), fieldsMost)] {
		parts = append(parts, fmt.Sprintf("%d %s", f[name], Visible(cutEnd(name, valueWidthMax))))
	}
	if more := len(names) - fieldsMost; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more fields", more))
	}
	return strings.Join(parts, ", ")
}

// deltaSection is a list of lines that changed in one way.
type deltaSection struct {
	kind       planner.DeltaKind
	title      string
	count      int
	isMetadata bool        // has those that changed in nothing but metadata, and the list before it the others
	fields     fieldCounts // of all its lines
}

// sections are the lists of the lines that changed. Those that changed in nothing but metadata come last.
func (a *Against) sections() []deltaSection {
	metadata := deltaSection{kind: planner.DeltaChanged, title: "changed in metadata alone", isMetadata: true, fields: make(fieldCounts)}
	changed := deltaSection{kind: planner.DeltaChanged, title: deltaWords(planner.DeltaChanged), fields: make(fieldCounts)}
	for l := range a.Lines(planner.DeltaChanged) {
		s := &changed
		if rankOf(&l) == rankMetadata {
			s = &metadata
		}
		s.count++
		s.fields.add(&l, 1)
	}
	all := []deltaSection{changed}
	for _, kind := range planner.DeltaKinds() {
		if kind != planner.DeltaChanged {
			all = append(all, deltaSection{kind: kind, title: deltaWords(kind), count: a.Count[kind]})
		}
	}
	return slices.DeleteFunc(append(all, metadata), func(s deltaSection) bool { return s.count == 0 })
}

// linesOf yields the lines of a list, those that matter most first.
func (a *Against) linesOf(s *deltaSection) iter.Seq[planner.LineDelta] {
	return func(yield func(planner.LineDelta) bool) {
		for rank := rankMoney; rank <= rankMetadata; rank++ {
			if s.kind == planner.DeltaChanged && s.isMetadata != (rank == rankMetadata) {
				continue
			}
			for l := range a.Lines(s.kind) {
				if rankOf(&l) == rank && !yield(l) {
					return
				}
			}
		}
	}
}

// byField counts the changes by field; "" where no line changed.
func byField(sections []deltaSection) string {
	all := make(fieldCounts)
	for i := range sections {
		for name, count := range sections[i].fields {
			all[name] += count
		}
	}
	if text := all.text(); text != "" {
		return "By field: " + text
	}
	return ""
}

// rest counts the lines of a list that are not listed, by field; "" for none.
func (s *deltaSection) rest(listed int, shown fieldCounts) string {
	if listed >= s.count {
		return ""
	}
	left := make(fieldCounts)
	for name, count := range s.fields {
		left[name] = count - shown[name]
	}
	text := fmt.Sprintf("and %d more", s.count-listed)
	if fields := left.text(); fields != "" {
		text += ": " + fields
	}
	return text
}
