package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
)

// Flow is who would pay whom how much of which asset, and in which order, if a plan were
// applied: the transfers that it would submit and those in doubt. It writes itself as Mermaid, DOT and
// SVG, each bounded; the rest that is too much to draw is added up and counted, never left out.
type Flow struct {
	title   []string // lines that describe the picture; visible
	parties []party  // in order of appearance
	edges   []flowEdge
	names   map[string]string
	order   order
	screen  Screen
}

// flowEdge is all that one party pays another of one asset.
type flowEdge struct {
	from, to int32 // in parties
	asset    string
	count    int
	doubts   int // of count
	sum      decimal.Decimal
}

// flowKey is what the transfers of an edge have in common.
type flowKey struct {
	from, to int32
	asset    string
}

// NewFlow adds up the transfers that a plan submits or resolves. Names are the labels of
// profiles by profile_id, as in [PlanOptions].
func NewFlow(plan *planner.Plan, names map[string]string) *Flow {
	f := &Flow{title: flowTitle(plan), names: names, screen: planScreen(plan)}
	parties := make(map[party]int32)
	number := func(p party) int32 {
		n, isKnown := parties[p]
		if !isKnown {
			n = int32(len(f.parties))
			parties[p] = n
			f.parties = append(f.parties, p)
		}
		return n
	}
	numberOfPayee := func(p party) int32 {
		name := p.name
		p.name = "" // some transfers may have one, or another one: who is paid is the same
		n := number(p)
		if f.parties[n].name == "" {
			f.parties[n].name = name
		}
		return n
	}
	edges := make(map[flowKey]int)
	for _, c := range plan.Changes.All() {
		if c.Action != planner.Submit && c.Action != planner.Resolve {
			continue
		}
		r := moved(c)
		key := flowKey{number(sender(r)), numberOfPayee(payee(c, r)), r.Asset}
		n, isKnown := edges[key]
		if !isKnown {
			n = len(f.edges)
			edges[key] = n
			f.edges = append(f.edges, flowEdge{from: key.from, to: key.to, asset: key.asset})
		}
		f.edges[n].add(c.Action, r.Amount)
	}
	f.order = newOrder(plan)
	return f
}

func (e *flowEdge) add(a planner.Action, amount transfer.Amount) {
	e.count++
	if a == planner.Resolve {
		e.doubts++
	}
	if !amount.IsZero() {
		e.sum = e.sum.Add(amount.Decimal())
	}
}

// moved is the request that moves the money of a change: the recorded one of a doubt, as
// nothing else is ever sent under its ref_id.
func moved(c *planner.Change) transfer.Request {
	if c.Action == planner.Resolve && c.Recorded != nil {
		if recorded, err := c.Recorded.Request(); err == nil {
			return recorded
		}
	}
	return c.Request
}

// Edges is how many pairs of sender and destination there are, counted once an asset.
func (f *Flow) Edges() int { return len(f.edges) }

func flowTitle(plan *planner.Plan) []string {
	title := []string{"Environment: " + plan.Header.Environment}
	if plan.Header.Service.IsSandbox() {
		title[0] = sandboxLine(plan.Header.Environment)
	}
	title = append(title, "Plan: "+counts(plan))
	if !plan.Applicable() {
		title = append(title, "This plan cannot be applied.")
	}
	for i := range title {
		title[i] = cutEnd(Visible(title[i]), titleWidthMax)
	}
	return title
}

// How much of a text is drawn.
const (
	titleWidthMax = 160
	labelWidthMax = 48 // an ID of 36 behind a word
)

// lines are a party's name, where the address book has one, and its IDs, which are whole
// unless they are very long: whom a short one means can't be told in a picture.
func (p party) lines(names map[string]string) []string {
	var lines []string
	if name := p.called(names); name != "" {
		lines = append(lines, flowLabel(name))
	}
	lines = append(lines, flowLabel(p.profile))
	if p.identity != "" {
		lines = append(lines, flowLabel("identity "+p.identity))
	}
	if p.account != "" {
		lines = append(lines, flowLabel("account "+p.account))
	}
	return lines
}

func flowLabel(text string) string { return cutMiddle(Visible(text), labelWidthMax) }

// label says what an edge is in one line.
func (e *flowEdge) label(s Screen) string {
	doubts := ""
	if e.doubts > 0 {
		doubts = fmt.Sprintf(" (%d in doubt)", e.doubts)
	}
	return fmt.Sprintf("%s%s, %s %s", english.Plural(e.count, "transfer"), doubts, flowLabel(e.asset), s.money(e.sum, e.asset))
}

// diagram is what the writers draw: boxes with lines of text, and arrows between them. All
// its text is visible, and still to be escaped for the language that it is written in.
type diagram struct {
	boxes  []box
	arrows []arrow
	notes  []string // of the transfers that are not drawn
}

type box struct {
	lines   []string
	isNamed bool // the first line is a name, the others are IDs
}

type arrow struct {
	from, to int // in boxes
	label    string
	asset    int // a number of it, by which a picture colours the arrow
	share    int // of the largest sum of its asset, in a thousand
}

// money is the diagram of who pays whom, in at most so many arrows: those with the largest
// sums of each asset, and the rest of the asset added up in one.
func (f *Flow) money(arrowsMax int) diagram {
	drawn, rests, more := f.largest(arrowsMax)
	var d diagram
	boxes := make(map[int32]int)
	boxOf := func(number int32) int {
		at, isKnown := boxes[number]
		if !isKnown {
			at = d.add(f.parties[number].lines(f.names)...)
			d.boxes[at].isNamed = f.parties[number].called(f.names) != ""
			boxes[number] = at
		}
		return at
	}
	var scale flowScale
	for i := range drawn {
		d.arrows = append(d.arrows, arrow{from: boxOf(drawn[i].from), to: boxOf(drawn[i].to), label: drawn[i].label(f.screen)})
		scale.add(drawn[i])
	}
	for _, rest := range rests {
		all := flowEdge{asset: rest[0].asset}
		from, to := make(map[int32]bool), make(map[int32]bool)
		for _, e := range rest {
			from[e.from], to[e.to] = true, true
			all.count, all.doubts, all.sum = all.count+e.count, all.doubts+e.doubts, all.sum.Add(e.sum)
		}
		together := func(number int32, of map[int32]bool, noun string) int {
			if len(of) == 1 {
				return boxOf(number)
			}
			return d.add(english.Plural(len(of), noun) + ", together")
		}
		d.arrows = append(d.arrows, arrow{
			from: together(rest[0].from, from, "sender"), to: together(rest[0].to, to, "destination"), label: all.label(f.screen),
		})
		scale.add(all)
	}
	scale.apply(d.arrows)
	if len(more) > 0 {
		d.notes = append(d.notes, notDrawn(more))
	}
	return d
}

func notDrawn(edges []flowEdge) string {
	count, assets := 0, make(map[string]bool)
	for _, e := range edges {
		count += e.count
		assets[e.asset] = true
	}
	return fmt.Sprintf("Not drawn: %s of %s.", english.Plural(count, "transfer"), english.Plural(len(assets), "further asset"))
}

// flowScale is what arrows are measured by: those of one asset are as wide as their sums, and no asset is
// measured by another.
type flowScale struct {
	edges  []flowEdge // one an arrow
	assets map[string]int
	most   map[string]decimal.Decimal
}

func (s *flowScale) add(e flowEdge) {
	if s.assets == nil {
		s.assets, s.most = make(map[string]int), make(map[string]decimal.Decimal)
	}
	if _, isKnown := s.assets[e.asset]; !isKnown {
		s.assets[e.asset] = len(s.assets)
	}
	s.most[e.asset] = decimal.Max(s.most[e.asset], e.sum)
	s.edges = append(s.edges, e)
}

func (s *flowScale) apply(arrows []arrow) {
	for i := range s.edges {
		e := &s.edges[i]
		arrows[i].asset, arrows[i].share = s.assets[e.asset], pixels(e.sum, s.most[e.asset], 1000)
	}
}

func (d *diagram) add(lines ...string) int {
	d.boxes = append(d.boxes, box{lines: lines})
	return len(d.boxes) - 1
}

// largest sorts the edges by asset and sum, and divides them into those that are drawn, the
// rests of their assets, and those of assets for which there is no room at all.
func (f *Flow) largest(arrowsMax int) (drawn []flowEdge, rests [][]flowEdge, more []flowEdge) {
	sorted := slices.Clone(f.edges)
	slices.SortStableFunc(sorted, func(a, b flowEdge) int {
		return cmp.Or(strings.Compare(a.asset, b.asset), b.sum.Cmp(a.sum))
	})
	if len(sorted) <= arrowsMax {
		return sorted, nil, nil
	}
	var assets [][]flowEdge
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(e flowEdge) bool { return e.asset != sorted[0].asset })
		if n < 0 {
			n = len(sorted)
		}
		assets = append(assets, sorted[:n])
		sorted = sorted[n:]
	}
	if most := max(1, arrowsMax/2); len(assets) > most {
		for _, a := range assets[most:] {
			more = append(more, a...)
		}
		assets = assets[:most]
	}
	for i, keep := range shares(assets, arrowsMax) {
		drawn = append(drawn, assets[i][:keep]...)
		if rest := assets[i][keep:]; len(rest) > 0 {
			rests = append(rests, rest)
		}
	}
	return drawn, rests, more
}

// shares deals the arrows out to the assets in turn. Each needs one for its rest; a rest of
// one edge is that edge.
func shares(assets [][]flowEdge, arrowsMax int) []int {
	lessRest := make([]int, len(assets))
	for i := range assets {
		lessRest[i] = len(assets[i]) - 1
	}
	keep := deal(lessRest, arrowsMax-len(assets))
	for i := range assets {
		if keep[i] == len(assets[i])-1 {
			keep[i]++
		}
	}
	return keep
}

// deal deals so many places out in turn, to each no more than it takes.
func deal(takes []int, room int) []int {
	keep := make([]int, len(takes))
	for isDealt := true; isDealt && room > 0; {
		isDealt = false
		for i := range takes {
			if room > 0 && keep[i] < takes[i] {
				keep[i]++
				room--
				isDealt = true
			}
		}
	}
	return keep
}
