package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// A ref_id that is made in another way than before is new, whatever it pays: nothing is recorded
// under it. The transfer that was recorded under the old one is declared no longer, and makes the same
// movement. That is a rename, at any age, and it is told from the next month's payment by what
// the configuration says: its words changed, and not only a variable or a file.

// named is a transfer by the parts that make its ref_id.
type named struct {
	refID     string
	naming    string // as config.Transfer has it
	fromLabel bool
}

// words are how the ref_id is made; "" where that is not known. Two transfers whose words are
// equal differ by what variables and files say.
func (n named) words() string {
	switch {
	case n.fromLabel:
		return "label " + strconv.Quote(n.refID)
	case n.naming == config.NamingWritten:
		return "ref_id = " + strconv.Quote(n.refID)
	}
	return n.naming
}

func namedBy(c *Change) named { return named{c.RefID, c.Naming, c.FromLabel} }

// renameSearch finds whether lines of one movement were recorded under other words. It
// is the rule of ADR 20, as a function of what it is shown: recorded transfers of the
// movement that are declared no longer, the newest first, until isOver.
//
// One that has the words of a line says of that line that it is the next under its own words.
// One with words that nothing has any more was renamed: to one of the lines that are left. One
// whose words another declared transfer of the movement has may have been followed by that one, and says nothing
// of a line whose own words were recorded as well.
type renameSearch struct {
	left   []string                // words of lines about which nothing is known yet
	others func(words string) bool // whether another declared transfer of the movement has them
	isOver bool
	// found says that the transfer that was shown last is the former one of the lines of left.
	found bool
}

func newRenameSearch(lines []named, others func(words string) bool) *renameSearch {
	var all []string // few: most movements have one line
	for _, line := range lines {
		if words := line.words(); words != "" && !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	s := &renameSearch{left: slices.Clone(all)}
	s.others = func(words string) bool { return slices.Contains(all, words) || others(words) }
	s.isOver = len(s.left) == 0
	return s
}

// see is shown the words of the next; [unknownWords] say nothing.
func (s *renameSearch) see(words string) {
	switch {
	case slices.Contains(s.left, words):
		s.left = slices.DeleteFunc(s.left, func(of string) bool { return of == words })
		s.isOver = len(s.left) == 0
	case words == unknownWords:
	case !s.others(words):
		s.found, s.isOver = true, true
	}
}

// renaming is what a line was before.
type renaming struct {
	row   *row
	words string
	more  int // other twins that are declared no longer
	// isAlone says that it was none of these.
	isAlone bool
}

// renameGroup is the search for the lines of one movement.
type renameGroup struct {
	*renameSearch
	lines []twinned
	gone  []*row // declared no longer, the newest first
	kept  []*row // declared
	next  int
	// former is the first that was shown: what the lines of left were, where their words were never recorded.
	former *renaming
	under  []string // words of kept, once they are read
	err    error    // of a failed read
}

// findRenames looks for records under other words of each movement that is due, and
// keeps them by the number of the line. It reads the newest of those that are declared no longer, and
// an older one only while that says nothing of every line, or where it has the values of one.
func (b *builder) findRenames(ctx context.Context, due []twinned, recorded map[transfer.Twin][]*row) error {
	if b.isAlone() {
		b.saysRenamed(due)
		return nil
	}
	b.renamed = make(map[int32]*renaming)
	var all []*renameGroup
	for rest := due; len(rest) > 0; {
		n := countTwins(rest)
		if g := b.newRenameGroup(ctx, rest[:n], recorded[rest[0].twin]); g != nil {
			all = append(all, g)
		}
		rest = rest[n:]
	}
	for open := slices.Clone(all); len(open) > 0; {
		if err := b.readNext(ctx, open); err != nil {
			return err
		}
		open = slices.DeleteFunc(open, func(g *renameGroup) bool { return g.isOver || g.next == len(g.gone) })
	}
	if err := b.findSameValues(ctx, all); err != nil {
		return err
	}
	for _, g := range all {
		if err := b.renameTheNew(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// countTwins is how many of the first ones share their twin.
func countTwins(due []twinned) int {
	n := 1
	for n < len(due) && due[n].twin == due[0].twin {
		n++
	}
	return n
}

// newRenameGroup is nil where nothing is to be read: no twin is declared no longer, or labels
// alone say what there is to say.
func (b *builder) newRenameGroup(ctx context.Context, lines []twinned, recorded []*row) *renameGroup {
	g := &renameGroup{lines: lines}
	for _, r := range recorded {
		if r.is(markDeclared) {
			g.kept = append(g.kept, r)
		} else {
			g.gone = append(g.gone, r)
		}
	}
	if len(g.gone) == 0 {
		return nil
	}
	slices.SortStableFunc(g.gone, func(x, y *row) int { return -cmp.Compare(x.age(), y.age()) })
	var names []named
	for _, line := range lines {
		c := b.plan.Changes.At(int(line.number))
		at := slices.IndexFunc(g.gone, func(r *row) bool { return r.is(markFromLabel) })
		if c.FromLabel && at >= 0 {
			b.renamed[line.number] = &renaming{g.gone[at], b.rows.label(g.gone[at]), len(g.gone) - 1, false}
			continue
		}
		names = append(names, namedBy(&c))
	}
	g.renameSearch = newRenameSearch(names, func(words string) bool {
		is, err := b.isNamed(ctx, g, words)
		g.err = errors.Join(g.err, err)
		return is
	})
	if g.isOver {
		return nil
	}
	return g
}

// age orders rows by when they were intended; a time that is not known counts as new.
func (r *row) age() int64 {
	if r.intended == unknownAge {
		return 1<<63 - 1
	}
	return r.intended
}

func (all *rows) label(r *row) string { return named{refID: all.refID(r), fromLabel: true}.words() }

// readNext shows each search its next transfer.
func (b *builder) readNext(ctx context.Context, open []*renameGroup) error {
	var refIDs []string
	var of []*renameGroup
	for _, g := range open {
		r := g.gone[g.next]
		g.next++
		if r.is(markFromLabel) {
			if err := g.show(b, r, b.rows.label(r)); err != nil {
				return err
			}
			continue
		}
		refIDs = append(refIDs, b.rows.refID(r))
		of = append(of, g)
	}
	return eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		g := of[0]
		of = of[1:]
		request, err := newRecorded(d).Request()
		if err != nil {
			return fmt.Errorf("read the recorded request of %q: %w", d.RefID, err)
		}
		if !request.IsTwin(b.requestOf(g)) { // 64 bits of it are
			return nil
		}
		return g.show(b, g.gone[g.next-1], b.wordsOf(g, d))
	})
}

// unknownWords stand for those that nobody wrote down: of a transfer that was imported without a declaration, and
// of one that 0.1.0 recorded.
const unknownWords = "words that are not known"

// wordsOf are those of a recorded transfer. Where they are not known, a ref_id of the shape of a line's is taken
// for one that was made in its way; of several lines, for that whose words come first, whatever the order of the files.
func (b *builder) wordsOf(g *renameGroup, d *state.Detail) string {
	words := named{d.RefID, d.Intent.Naming, d.Intent.FromLabel}.words()
	if words != "" {
		return words
	}
	first := ""
	for _, line := range g.lines {
		c := b.plan.Changes.At(int(line.number))
		if of := namedBy(&c).words(); hasShapeOf(d.RefID, c.RefID) && slices.Contains(g.left, of) && (first == "" || of < first) {
			first = of
		}
	}
	return cmp.Or(first, unknownWords)
}

// requestOf is the request of the first line.
func (b *builder) requestOf(g *renameGroup) *transfer.Request {
	c := b.plan.Changes.At(int(g.lines[0].number))
	return &c.Request
}

// show shows the search a transfer, and notes what it finds.
func (g *renameGroup) show(b *builder, r *row, words string) error {
	was := &renaming{r, words, len(g.gone) - 1, false}
	g.former = cmp.Or(g.former, was)
	g.see(words)
	if g.found && g.err == nil {
		b.renameLeft(g, was)
	}
	return g.err
}

// renameLeft notes of each line of left what it was.
func (b *builder) renameLeft(g *renameGroup, was *renaming) {
	for _, line := range g.lines {
		c := b.plan.Changes.At(int(line.number))
		if b.renamed[line.number] == nil && slices.Contains(g.left, namedBy(&c).words()) {
			b.renamed[line.number] = was
		}
	}
}

// renameTheNew ends a search that found nothing. A line whose own words were never recorded for the movement was what
// is declared no longer, whoever else has those words: two blocks that both pay it have both been recorded.
func (b *builder) renameTheNew(ctx context.Context, g *renameGroup) error {
	if g.isOver || g.former == nil {
		return nil
	}
	if err := b.readKept(ctx, g); err != nil {
		return err
	}
	g.left = slices.DeleteFunc(g.left, func(words string) bool { return slices.Contains(g.under, words) })
	b.renameLeft(g, g.former)
	return nil
}

// readKept reads the words of the declared ones, once.
func (b *builder) readKept(ctx context.Context, g *renameGroup) error {
	if g.under != nil || len(g.kept) == 0 {
		return nil
	}
	refIDs := make([]string, len(g.kept))
	for i, r := range g.kept {
		refIDs[i] = b.rows.refID(r)
	}
	return eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		g.under = append(g.under, b.wordsOf(g, d))
		return nil
	})
}

// isNamed reports whether a declared transfer of the movement has words, beside the lines that
// are due: one that waits, or one that was recorded under them.
func (b *builder) isNamed(ctx context.Context, g *renameGroup, words string) (bool, error) {
	if b.waiting == nil {
		b.waiting = make(map[transfer.Twin][]int32)
		for i := range b.facts.len() {
			if b.plan.Changes.Action(i) == Submit {
				continue
			}
			if c := b.plan.Changes.At(i); c.Declared() {
				twin := c.Request.Twin()
				b.waiting[twin] = append(b.waiting[twin], int32(i))
			}
		}
	}
	for _, i := range b.waiting[g.lines[0].twin] {
		c := b.plan.Changes.At(int(i))
		if c.Request.IsTwin(b.requestOf(g)) && namedBy(&c).words() == words {
			return true, nil
		}
	}
	if b.word != nil && slices.Contains(b.word.plan.Namings, words) {
		b.noteNaming(&config.Transfer{Naming: words})
	}
	if !b.namings[words] || len(g.kept) == 0 {
		return false, nil
	}
	b.plan.noteNaming(words)
	err := b.readKept(ctx, g)
	return slices.Contains(g.under, words), err
}

// noteNaming keeps which words are declared, of every transfer.
func (b *builder) noteNaming(t *config.Transfer) {
	if t.Naming == b.lastNaming || t.Naming == config.NamingWritten {
		return
	}
	b.lastNaming = t.Naming
	if b.namings == nil {
		b.namings = make(map[string]bool)
	}
	b.namings[t.Naming] = true
}

// noteNaming keeps what the plan hangs on.
func (p *Plan) noteNaming(words string) {
	if !slices.Contains(p.Namings, words) {
		p.Namings = append(p.Namings, words)
	}
}
