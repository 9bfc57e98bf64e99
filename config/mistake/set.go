package mistake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/internal/text/english"
)

const (
	groupsMax = 500 // different mistakes that are kept
	placesMax = 5   // places that are named of alike ones
)

// Set gathers diagnostics in bounded memory. Alike ones, of one summary and one block
// and column, become one that counts them and names the first few places; one mistake that
// is added again is not counted again. The zero value is ready for use.
type Set struct {
	groups  map[likeness]*gathered
	dropped int // mistakes for which there was no group left
	errors  bool
}

// likeness is what alike mistakes share.
type likeness struct {
	severity                     hcl.DiagnosticSeverity
	summary, block, column, rest string // rest is why, where the others do not say it
}

// gathered are alike mistakes: the first few by place, each place once, and the count
// of all.
type gathered struct {
	first []*hcl.Diagnostic
	count int
}

// Add takes diagnostics in; it keeps at most a few thousand of them.
func (m *Set) Add(diags hcl.Diagnostics) {
	for _, d := range diags {
		m.errors = m.errors || d.Severity == hcl.DiagError
		if m.groups == nil {
			m.groups = map[likeness]*gathered{}
		}
		key := keyOf(d)
		group := m.groups[key]
		switch {
		case group != nil:
			group.add(d)
		case len(m.groups) >= groupsMax:
			m.dropped++
		default:
			m.groups[key] = &gathered{first: []*hcl.Diagnostic{d}, count: 1}
		}
	}
}

// Gathered are diagnostics as a [Set] has them.
func Gathered(diags hcl.Diagnostics) hcl.Diagnostics {
	var all Set
	all.Add(diags)
	return all.Diagnostics()
}

// HasErrors reports whether an error, not only warnings, was added.
func (m *Set) HasErrors() bool { return m.errors }

// Diagnostics returns the diagnostics in the order of their places, alike ones as one. Those
// without a place come first.
func (m *Set) Diagnostics() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, group := range m.groups {
		diags = append(diags, group.consolidated())
	}
	slices.SortFunc(diags, compareDiagnostics)
	diags = slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool { // of two blocks that read one file
		return a.Subject != nil && a.Severity == b.Severity && compareDiagnostics(a, b) == 0
	})
	if m.dropped > 0 {
		d := Placeless("More mistakes", "%d more mistakes are not shown.", m.dropped)
		if !m.errors {
			d.Severity = hcl.DiagWarning
		}
		diags = append(diags, d)
	}
	return diags
}

func keyOf(d *hcl.Diagnostic) likeness {
	key := likeness{severity: d.Severity, summary: d.Summary}
	if from, ok := d.Extra.(*Origin); ok {
		key.block, key.column, key.rest = from.Block, from.Column, from.Reason
		return key
	}
	key.rest = d.Detail
	if d.Subject != nil {
		key.rest += "\x00" + d.Subject.Filename
	}
	return key
}

func (g *gathered) add(d *hcl.Diagnostic) {
	i, known := slices.BinarySearchFunc(g.first, d, compareDiagnostics)
	if known {
		return
	}
	g.count++
	if i == placesMax {
		return
	}
	g.first = slices.Insert(g.first, i, d)
	g.first = g.first[:min(len(g.first), placesMax)]
}

func (g *gathered) consolidated() *hcl.Diagnostic {
	if g.count == 1 {
		return g.first[0]
	}
	d := *g.first[0]
	var others []string
	for _, other := range g.first[1:] {
		if from, ok := other.Extra.(*Origin); ok && from.Where != "" && *other.Subject == *d.Subject {
			others = append(others, from.Where)
		} else if other.Subject != nil {
			others = append(others, At(*other.Subject))
		}
	}
	rest := g.count - 1 - len(others)
	text := strings.Join(others, ", ")
	if rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	what := "similar error"
	if d.Severity == hcl.DiagWarning {
		what = "similar warning"
	}
	more := english.Plural(g.count-1, what)
	if d.Subject != nil && !slices.ContainsFunc(others, func(at string) bool { return at != At(*d.Subject) }) { // one expression, for several rows
		d.Detail += fmt.Sprintf("\n\n%s besides this one.", more)
		return &d
	}
	d.Detail += fmt.Sprintf("\n\n%s besides this one: %s.", more, strings.TrimSpace(text))
	return &d
}

// compareDiagnostics orders by place, then by text.
func compareDiagnostics(a, b *hcl.Diagnostic) int {
	place := func(d *hcl.Diagnostic) hcl.Range {
		if d.Subject == nil {
			return hcl.Range{}
		}
		return *d.Subject
	}
	ra, rb := place(a), place(b)
	return cmp.Or(
		cmp.Compare(ra.Filename, rb.Filename),
		cmp.Compare(ra.Start.Line, rb.Start.Line),
		cmp.Compare(ra.Start.Column, rb.Start.Column),
		cmp.Compare(a.Summary, b.Summary),
		cmp.Compare(a.Detail, b.Detail),
	)
}
