package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/internal/text/shell"
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
// One whose words another declared transfer of the movement has was followed by that one. One
// with words that nothing has any more was renamed: to one of the lines that are left.
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

// see is shown the words of the next; "" where they are not known.
func (s *renameSearch) see(words string) {
	switch {
	case words == "":
	case slices.Contains(s.left, words):
		s.left = slices.DeleteFunc(s.left, func(of string) bool { return of == words })
		s.isOver = len(s.left) == 0
	case !s.others(words):
		s.found, s.isOver = true, true
	}
}

// renaming is what a line was before.
type renaming struct {
	row   *row
	words string
	more  int // other twins that are declared no longer
}

// renameGroup is the search for the lines of one movement.
type renameGroup struct {
	*renameSearch
	lines []twinned
	gone  []*row // declared no longer, the newest first
	kept  []*row // declared
	next  int
	err   error // of a failed read
}

// findRenames looks for records under other words of each movement that is due, and
// keeps them by the number of the line. It reads the newest of those that are declared no longer, and
// an older one only while that says nothing of every line.
func (b *builder) findRenames(ctx context.Context, due []twinned, recorded map[transfer.Twin][]*row) error {
	if b.isAlone() {
		b.saysRenamed(due)
		return nil
	}
	b.renamed = make(map[int32]*renaming)
	var open []*renameGroup
	for rest := due; len(rest) > 0; {
		n := countTwins(rest)
		if g := b.newRenameGroup(ctx, rest[:n], recorded[rest[0].twin]); g != nil {
			open = append(open, g)
		}
		rest = rest[n:]
	}
	for len(open) > 0 {
		if err := b.readNext(ctx, open); err != nil {
			return err
		}
		open = slices.DeleteFunc(open, func(g *renameGroup) bool { return g.isOver || g.next == len(g.gone) })
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
			b.renamed[line.number] = &renaming{g.gone[at], b.rows.label(g.gone[at]), len(g.gone) - 1}
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
		words := named{d.RefID, d.Intent.Naming, d.Intent.FromLabel}.words()
		switch {
		case !request.IsTwin(b.requestOf(g)): // 64 bits of it are
			return nil
		case words == "" && d.Intent.Address != "":
			g.isOver = true // 0.1.0 wrote it, and all before it
			return nil
		}
		return g.show(b, g.gone[g.next-1], words)
	})
}

// requestOf is the request of the first line.
func (b *builder) requestOf(g *renameGroup) *transfer.Request {
	c := b.plan.Changes.At(int(g.lines[0].number))
	return &c.Request
}

// show shows the search a transfer, and notes what it finds.
func (g *renameGroup) show(b *builder, r *row, words string) error {
	g.see(words)
	if !g.found || g.err != nil {
		return g.err
	}
	for _, line := range g.lines {
		c := b.plan.Changes.At(int(line.number))
		if b.renamed[line.number] == nil && slices.Contains(g.left, namedBy(&c).words()) {
			b.renamed[line.number] = &renaming{r, words, len(g.gone) - 1}
		}
	}
	return nil
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
	refIDs := make([]string, len(g.kept))
	for i, r := range g.kept {
		refIDs[i] = b.rows.refID(r)
	}
	is := false
	err := eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		is = is || d.Intent.Naming == words
		return nil
	})
	return is, err
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

// Renaming is what an obstacle says of transfers that were renamed.
type Renaming struct {
	// Was and Is are how the ref_ids were made and are, of the first of them; the same where the amounts in them differ.
	Was string `json:"was"`
	Is  string `json:"is"`
	// Oldest and Newest are when what they were was intended; zero where that is not known.
	Oldest time.Time `json:"oldest,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
}

// addRenameObstacles adds one for each block of which transfers were renamed, in declaration
// order.
func (j *judge) addRenameObstacles() {
	blocks := slices.Collect(maps.Keys(j.renames))
	for _, some := range j.renames {
		slices.SortFunc(some, func(x, y judgedLine) int { return cmp.Compare(x.line.number, y.line.number) })
	}
	slices.SortFunc(blocks, func(x, y string) int {
		return cmp.Compare(j.renames[x][0].line.number, j.renames[y][0].line.number)
	})
	for n, block := range blocks {
		if n == refIDsMax {
			j.plan.Obstacles = append(j.plan.Obstacles, Obstacle{
				Kind: ObstacleRename, Count: len(blocks) - n,
				Detail: fmt.Sprintf("%d more blocks have transfers that look like renamed ones.", len(blocks)-n),
			})
			break
		}
		j.plan.Obstacles = append(j.plan.Obstacles, j.renameObstacle(block, j.renames[block]))
	}
}

// renameObstacle is about the renames and the corrections of one block, with the edit that keeps the identities and the
// flag that accepts the new ones.
func (j *judge) renameObstacle(block string, some []judgedLine) Obstacle {
	o := Obstacle{Kind: ObstacleRename, Address: block}
	var renames, corrections []judgedLine
	for _, v := range some {
		o.add(v.line.RefID)
		if v.rename != nil {
			renames = append(renames, v)
		} else {
			corrections = append(corrections, v)
		}
	}
	o.Remedy = "--accept-renames=" + shell.Word(fmt.Sprintf("%s:%d", block, o.Count))
	if len(renames) > 0 {
		j.describeRenames(&o, renames)
	}
	if len(corrections) > 0 {
		j.describeCorrections(&o, corrections)
	}
	if given, ok := j.controls.AcceptRenames[block]; ok {
		o.Detail += fmt.Sprintf(" --accept-renames=%s:%d does not count: the plan has %d.", block, given, o.Count)
	}
	return o
}

func (j *judge) describeRenames(o *Obstacle, some []judgedLine) {
	first := some[0]
	was, is := first.rename, namedBy(first.line.Change).words()
	o.Rename = &Renaming{Was: was.words, Is: is}
	areMixed := false
	for _, v := range some {
		areMixed = areMixed || v.rename.words != was.words
		o.Rename.add(j.madeAt(v.rename.row))
	}
	old := j.rows.refID(was.row)
	next, isPeriod := periodBetween(was.words, is)
	if o.Count == 1 && first.line.Address == o.Address {
		both := "accept it"
		if isPeriod {
			both = "as where this is the payment of the next period, leave the block of the old one in the files beside it, or accept it"
		}
		o.Detail = fmt.Sprintf("%q at %s makes the same movement as %q, which is recorded%s%s and is no longer declared. Its name was made by %s, and is by %s. If the transfer was only renamed, keep its identity by writing its ref_id out in the block. If both are meant, %s.",
			first.line.RefID, first.line.Place, old, fromPlace(j.places[old]), o.Rename.when(), was.words, is, both)
		o.Remedy = "ref_id = " + string(hclwrite.TokensForValue(cty.StringVal(old)).Bytes()) + "\n" + o.Remedy
		return
	}
	help := " If they were only renamed, they are paid already: write the old words again, which keeps their identities. If they are to be paid once more, accept exactly so many."
	if isPeriod && !areMixed {
		help = next.help()
		o.Remedy = next.remedy() + o.Remedy
	}
	o.Detail = fmt.Sprintf("%d transfers of %s make the same movements as recorded ones%s that are no longer declared, the first %q at %s as %q, recorded%s. Their ref_ids were made by %s%s, and are by %s.%s",
		len(some), o.Address, o.Rename.when(), first.line.RefID, first.line.Place, old, fromPlace(j.places[old]), was.words, orOthers(areMixed), is, help)
}

// describeCorrections adds what there is to say of lines that differ from recorded transfers by the amount alone.
func (j *judge) describeCorrections(o *Obstacle, some []judgedLine) {
	first := some[0]
	c, was := first.line, first.was
	when := new(Renaming)
	for _, v := range some {
		when.add(j.madeAt(v.was))
	}
	old := j.rows.refID(was)
	amount := fmt.Sprintf("%s %s", j.rows.amount(was), j.rows.assetOf(was))
	if o.Rename == nil {
		words := namedBy(c.Change).words()
		o.Rename = &Renaming{Was: words, Is: words, Oldest: when.Oldest, Newest: when.Newest}
	} else {
		o.Detail += " "
	}
	if len(some) == 1 {
		o.Detail += fmt.Sprintf("%q at %s is the same ref_id as %q but for the amount. That one is recorded%s%s with %s, and is no longer declared.",
			c.RefID, c.Place, old, fromPlace(j.places[old]), when.when(), amount)
	} else {
		o.Detail += fmt.Sprintf("%d transfers of %s have the same ref_ids as recorded ones%s that are no longer declared, but for the amounts, the first %q at %s as %q, recorded%s with %s.",
			len(some), o.Address, when.when(), c.RefID, c.Place, old, fromPlace(j.places[old]), amount)
	}
	o.Detail += " If an amount was corrected after the payment, all of it would be paid again: write the old amount, and declare the difference as a transfer of its own. If both are meant, leave the old one declared beside the new one, or accept exactly so many."
}

func orOthers(are bool) string {
	if are {
		return ", or by others"
	}
	return ""
}

// add adds when a recorded transfer was intended, as a row has it, where that is known.
func (r *Renaming) add(intended int64) {
	if intended == unknownAge {
		return
	}
	at := time.UnixMilli(intended).UTC()
	if r.Oldest.IsZero() || at.Before(r.Oldest) {
		r.Oldest = at
	}
	if at.After(r.Newest) {
		r.Newest = at
	}
}

// when returns the time at which the renamed transfer was intended.
func (r *Renaming) when() string {
	oldest, newest := r.Oldest.Format(time.DateOnly), r.Newest.Format(time.DateOnly)
	switch {
	case r.Oldest.IsZero():
		return ""
	case oldest == newest:
		return " (intended on " + oldest + ")"
	}
	return " (intended from " + oldest + " to " + newest + ")"
}
