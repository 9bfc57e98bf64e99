package planner

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// signalsMax bounds the look-alikes that one line shows; the last says how many more.
const signalsMax = 20

// suspects are due transfers that make the same movement, in order of ref_id, so that the message
// about them does not depend on the order of declaration.
type suspects struct {
	lines []suspect
	older [][]*row // of each line: transfers that were or may have been made, the gravest first
}

// suspect is a change of the plan, taken out to be judged.
type suspect struct {
	*Change
	number int32
}

// judgedLine is the judgement of one suspect.
type judgedLine struct {
	line   suspect
	rename *renaming // what it was under other words
	was    *row      // what it corrects
	doubt  *row      // a twin in doubt, or one that it corrects, which can't be accepted
	alike  bool      // other twins stop the plan, whatever the rename
	twin   string    // one of these
	place  string

	madeAt int64 // of twin, as a row has it; 0 of one of this plan
}

// findLookAlikes marks the look-alikes and renames of due transfers, and adds an obstacle for
// those that nobody accepted.
func (b *builder) findLookAlikes(ctx context.Context) error {
	all, err := b.gatherSuspects(ctx)
	if err != nil {
		return err
	}
	if err := b.dateAdopted(ctx, all); err != nil {
		return err
	}
	places, err := b.verifySuspects(ctx, all)
	if err != nil {
		return err
	}
	j := judge{
		builder: b, places: places, named: make(map[string]bool), used: make(map[string]bool),
		needing: make(map[string][]judgedLine), renames: make(map[string][]judgedLine),
	}
	for _, refID := range b.controls.AcceptDuplicate {
		j.named[refID] = true
	}
	for _, s := range all {
		j.group(s)
	}
	j.acceptCounted()
	for _, s := range all {
		for _, line := range s.lines {
			b.plan.Changes.Set(int(line.number), line.Change)
		}
	}
	j.addObstacles()
	j.sayUnused()
	return nil
}

// gatherSuspects finds every due transfer that has a twin among due or recorded ones, in
// declaration order of the first of each movement.
func (b *builder) gatherSuspects(ctx context.Context) ([]*suspects, error) {
	due := make([]twinned, 0, b.sent.len())
	for _, s := range b.sent.all() {
		if b.plan.Changes.Action(int(s.change)) == Submit {
			due = append(due, twinned{s.twin, s.change})
		}
	}
	if len(due) == 0 {
		return nil, nil
	}
	slices.SortFunc(due, func(x, y twinned) int {
		return cmp.Or(cmp.Compare(x.twin, y.twin), cmp.Compare(x.number, y.number))
	})
	recorded := b.recordedTwins(due)
	if err := b.findRenames(ctx, due, recorded); err != nil {
		return nil, err
	}
	b.findCorrections(due)
	b.addOtherwise(due, recorded)
	var all []*suspects
	for len(due) > 0 {
		n := countTwins(due)
		if older := recorded[due[0].twin]; n > 1 || len(older) > 0 || b.corrected[due[0].number] != nil {
			all = append(all, b.suspectsOf(due[:n], older)...)
		}
		due = due[n:]
	}
	slices.SortFunc(all, func(x, y *suspects) int { return cmp.Compare(x.first(), y.first()) })
	return all, nil
}

// twinned is a numbered thing and its twin.
type twinned struct {
	twin   transfer.Twin
	number int32
}

// recordedTwins finds the recorded twins of due transfers, which are in order of twin.
func (b *builder) recordedTwins(due []twinned) map[transfer.Twin][]*row {
	if b.rows.len() == 0 {
		return nil
	}
	wanted := newTwinSet(due)
	recorded := make(map[transfer.Twin][]*row)
	for _, r := range b.rows.all() {
		if !r.is(markMayBeMade) {
			continue
		}
		if wanted.has(r.twin) && !b.isUntouched(r) {
			recorded[r.twin] = append(recorded[r.twin], r)
		}
	}
	return recorded
}

// twinSet is a set of twins, which are hashes already: a power of two of slots, at most half
// of them used. A free one is 0, which is left out of the slots.
type twinSet struct {
	slots   []transfer.Twin
	hasZero bool
}

func newTwinSet(due []twinned) *twinSet {
	s := &twinSet{slots: make([]transfer.Twin, 1<<bits.Len(uint(2*len(due))))}
	for i := range due {
		switch at, found := s.find(due[i].twin); {
		case due[i].twin == 0:
			s.hasZero = true
		case !found:
			s.slots[at] = due[i].twin
		}
	}
	return s
}

// find returns the slot of a twin, or the free one where it would be.
func (s *twinSet) find(twin transfer.Twin) (int, bool) {
	mask := len(s.slots) - 1
	for i := int(twin) & mask; ; i = (i + 1) & mask {
		if s.slots[i] == 0 || s.slots[i] == twin {
			return i, s.slots[i] == twin
		}
	}
}

func (s *twinSet) has(twin transfer.Twin) bool {
	if twin == 0 {
		return s.hasZero
	}
	_, found := s.find(twin)
	return found
}

// first is the number of the earliest line.
func (s *suspects) first() int32 {
	return slices.MinFunc(s.lines, func(x, y suspect) int { return cmp.Compare(x.number, y.number) }).number
}

// suspectsOf takes the changes of one twin, of which 64 bits are compared, and splits them by
// their fields.
func (b *builder) suspectsOf(due []twinned, recorded []*row) []*suspects {
	lines := make([]suspect, len(due))
	for i := range due {
		c := b.plan.Changes.At(int(due[i].number))
		lines[i] = suspect{&c, due[i].number}
	}
	var all []*suspects
	for len(lines) > 0 {
		var same, rest []suspect
		for _, line := range lines {
			if lines[0].Request.IsTwin(&line.Request) {
				same = append(same, line)
			} else {
				rest = append(rest, line)
			}
		}
		lines = rest
		for _, some := range b.judgedTogether(same) {
			if s := b.suspectsWith(some, recorded); len(some) > 1 || len(s.older[0]) > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}

// judgedTogether splits lines of one movement into those that are look-alikes of each other.
func (b *builder) judgedTogether(lines []suspect) [][]suspect {
	if b.judgesApart() {
		return slices.Collect(slices.Chunk(lines, 1))
	}
	return b.byDate(lines)
}

func (b *builder) suspectsWith(lines []suspect, recorded []*row) *suspects {
	slices.SortFunc(lines, func(x, y suspect) int { return strings.Compare(x.RefID, y.RefID) })
	s := &suspects{lines: lines, older: make([][]*row, len(lines))}
	// Many lines of one movement mostly have one window; their list is made once.
	type view struct {
		within    time.Duration
		renamed   *row
		corrected *correction
	}
	made := make(map[view][]*row)
	for n, c := range lines {
		key := view{within: c.DuplicateWithin, corrected: b.corrected[c.number]}
		if was := b.renamed[c.number]; was != nil {
			key.renamed = was.row
		}
		older, ok := made[key]
		if !ok {
			for _, r := range recorded {
				if b.isOlderTwin(c, r) {
					older = append(older, r)
				}
			}
			if key.corrected != nil {
				older = append(older, slices.DeleteFunc(slices.Clone(key.corrected.rows), func(r *row) bool { return b.isJudged(c.Change, r) })...)
			}
			slices.SortStableFunc(older, func(x, y *row) int { return b.gravity(c, x) - b.gravity(c, y) })
			made[key] = older
		}
		s.older[n] = older
	}
	return s
}

// isOlderTwin reports whether a recorded twin is worth a mark: one in doubt and one that was renamed
// at any age, others within the window; a window of "0" blocks nothing, but marks as far back as
// the default.
func (b *builder) isOlderTwin(c suspect, r *row) bool {
	if b.isJudged(c.Change, r) || b.isCorrection(c.number, r) || b.isByRecord(c.Change, r) && !b.otherwise[r].isMadeAs(&c.Request) {
		return false
	}
	return !b.isTooOld(c, r)
}

// isTooOld reports whether a line does not look back as far as to a recorded twin.
func (b *builder) isTooOld(c suspect, r *row) bool {
	within := c.DuplicateWithin
	if within == 0 {
		within = config.DuplicateWithinDefault
	}
	was := b.renamed[c.number]
	return r.status != state.InDoubt && (was == nil || was.row != r) && !b.moments.isWithin(b.madeAt(r), within)
}

// isRename reports whether a recorded twin is what a line was under other words, or older.
func (b *builder) isRename(c suspect, r *row) bool {
	was := b.renamed[c.number]
	return was != nil && (was.row == r || !was.isAlone) && !r.is(markDeclared) && !b.isCorrection(c.number, r)
}

// isLostDoubt reports whether a recorded twin is in doubt and no file declares it any more. It stops the plan whatever the window is: as
// where the period of a run was misspelled, the line may be the same payment under another ref_id.
func (j *judge) isLostDoubt(c suspect, r *row) bool {
	return r.status == state.InDoubt && !r.is(markDeclared) && !j.isOtherDate(c.Change, r)
}

// isBlocking reports whether a recorded twin stops the plan.
func (j *judge) isBlocking(c suspect, r *row) bool {
	return j.isLostDoubt(c, r) || j.isRename(c, r) || j.isCorrection(c.number, r) || j.isOfRename(c.Change, r) || c.DuplicateWithin > 0 && !j.isOtherDate(c.Change, r)
}

// The order in which recorded twins are shown.
const (
	gravityDoubt = iota
	gravityRename
	gravityOther
)

func (b *builder) gravity(c suspect, r *row) int {
	switch {
	case r.status == state.InDoubt:
		return gravityDoubt
	case b.isRename(c, r), b.isCorrection(c.number, r):
		return gravityRename
	}
	return gravityOther
}

// verifySuspects compares the fields of the recorded twins that would be shown with those
// of their lines, drops those that only share 64 bits, and returns the places of the others.
func (b *builder) verifySuspects(ctx context.Context, all []*suspects) (map[string]string, error) {
	refIDs, like := b.shownTwins(all)
	places := make(map[string]string, len(refIDs))
	other := make(map[string]bool)
	err := eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		request, err := newRecorded(d).Request()
		if err != nil {
			return fmt.Errorf("read the recorded request of %q: %w", d.RefID, err)
		}
		places[d.RefID] = d.Intent.Place
		b.occurrences.paid(d)
		if !request.IsTwin(like[d.RefID]) {
			other[d.RefID] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(other) > 0 {
		b.dropSuspects(all, other)
	}
	return places, nil
}

// shownTwins are the ref_ids of the recorded twins that would be shown, each once, and requests of which they are twins.
func (b *builder) shownTwins(all []*suspects) (refIDs []string, like map[string]*transfer.Request) {
	like = make(map[string]*transfer.Request)
	for _, s := range all {
		for n, older := range s.older {
			for i, r := range older {
				refID := b.rows.refID(r)
				if i >= signalsMax && !b.hasOtherDate(s.lines[n].RefID, refID) {
					continue
				}
				if like[refID] != nil {
					continue
				}
				request := s.lines[n].Request
				switch {
				case b.isCorrection(s.lines[n].number, r):
					request.Amount = b.rows.amount(r)
				case b.isByRecord(s.lines[n].Change, r):
					request = b.otherwise[r].asked
				}
				like[refID] = &request
				refIDs = append(refIDs, refID)
			}
		}
	}
	return refIDs, like
}

// dropSuspects forgets recorded transfers that are no twins.
func (b *builder) dropSuspects(all []*suspects, other map[string]bool) {
	for _, s := range all {
		for n := range s.older {
			s.older[n] = slices.DeleteFunc(slices.Clone(s.older[n]), func(r *row) bool { return other[b.rows.refID(r)] })
			if number := s.lines[n].number; b.renamed[number] != nil && other[b.rows.refID(b.renamed[number].row)] {
				delete(b.renamed, number)
			}
		}
	}
}

// mark puts signals on a line: its recorded twins, then the plan's others.
func (j *judge) mark(s *suspects, n, original int) {
	c := s.lines[n]
	others := len(c.Signals)
	c.Signals = slices.Clip(c.Signals)
	for _, r := range j.gravestFirst(s, n) {
		if len(c.Signals) == others+signalsMax {
			break
		}
		refID := j.rows.refID(r)
		signal := Signal{Kind: LookAlike, RefID: refID, Place: j.places[refID], Detail: j.said(r)}
		was := j.renamed[c.number]
		switch {
		case j.isRename(c, r):
			signal.Kind = Rename
		case j.isCorrection(c.number, r):
			signal.Kind, signal.Detail = Rename, signal.Detail+correctedDetail+j.rows.amount(r).String()+" "+j.rows.assetOf(r)
		case j.isByRecord(c.Change, r):
			signal.Detail += byRecordDetail
		}
		if was != nil && was.row == r {
			signal.Detail += ", by " + was.words
		}
		switch {
		case j.isBlocking(c, r):
		case c.DuplicateWithin == 0:
			signal.Detail += markOnly
		default:
			signal.Detail += markOfDate
		}
		c.Signals = append(c.Signals, signal)
	}
	more := len(s.older[n]) - (len(c.Signals) - others)
	if was := j.renamed[c.number]; was != nil {
		more += was.more - j.countRenames(s, n) + 1
	}
	if was := j.corrected[c.number]; was != nil && len(c.Signals) > others {
		more += was.more
	}
	if n != original {
		more += len(s.lines) - 1 - j.markPeers(s, n, original, others)
	}
	if more > 0 {
		c.Signals[len(c.Signals)-1].Detail += fmt.Sprintf("; and %d more", more)
	}
}

// countRenames is how many of the recorded twins of a line are what it was.
func (j *judge) countRenames(s *suspects, n int) int {
	count := 0
	for _, r := range s.older[n] {
		if j.isRename(s.lines[n], r) {
			count++
		}
	}
	return count
}

// markPeers puts the plan's own twins on a line that has so many other signals, the original
// first, and returns how many.
func (j *judge) markPeers(s *suspects, n, original, others int) int {
	c := s.lines[n]
	before, most := len(c.Signals), others+signalsMax
	add := func(m int) {
		signal := Signal{Kind: LookAlike, RefID: s.lines[m].RefID, Place: s.lines[m].Place, Detail: "this plan submits it as well"}
		if c.DuplicateWithin == 0 {
			signal.Detail += markOnly
		}
		c.Signals = append(c.Signals, signal)
	}
	if before < most {
		add(original)
	}
	for m := 0; m < len(s.lines) && len(c.Signals) < most; m++ {
		if m != n && m != original {
			add(m)
		}
	}
	return len(c.Signals) - before
}

// correctedDetail stands before the amount of a transfer that a line corrects.
const correctedDetail = ", under the same ref_id but for the amount, which was "

const markOnly = ` (a mark only: duplicate_within is "0")`

const markOfDate = " (a mark only: for another date of its schedule)"

// saidIntended and saidMade stand before the time of a twin; the second where that is the record's.
const (
	saidIntended = ", intended at "
	saidMade     = ", made at "
)

// said is what the record has of a twin, in words.
func (b *builder) said(r *row) string {
	at, isDated := b.dated[r]
	switch {
	case isDated:
		return r.status.String() + saidMade + time.UnixMilli(at).UTC().Format(time.RFC3339)
	case r.intended == unknownAge:
		return r.status.String()
	}
	return r.status.String() + saidIntended + time.UnixMilli(r.intended).UTC().Format(time.RFC3339)
}
