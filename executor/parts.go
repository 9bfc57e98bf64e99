package executor

import (
	"slices"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Parts are as large as this, so that a runner rarely asks for one and the last ones do not
// leave the others idle.
const (
	partMin    = 4
	partMax    = 512
	partsAbout = 48
)

// partsOf makes parts of lines that nobody has begun. The lines of a part are of one level: their
// dependencies are in parts of lower levels, or in hand, which is level 0. waits reports whether a line
// waits for others.
func partsOf(rest []int32, change func(int32) planner.Change, waits func(int32) bool) []state.Part {
	size := min(partMax, max(partMin, len(rest)/partsAbout))
	levels := levelsOf(rest, change, waits)
	var parts []state.Part
	for level := 0; len(levels) > level; level++ {
		for lines := range slices.Chunk(levels[level], size) {
			refIDs := make([]string, len(lines))
			for i, line := range lines {
				refIDs[i] = change(line).RefID
			}
			parts = append(parts, state.Part{Number: len(parts) + 1, Level: level, RefIDs: refIDs})
		}
	}
	return parts
}

// withLast adds a part without lines, of a level above all others. One runner claims it when all others are done, and looks up the
// transfers that answers refused.
func withLast(parts []state.Part) []state.Part {
	last := state.Part{Number: len(parts) + 1, Level: 1}
	for _, part := range parts {
		last.Level = max(last.Level, part.Level+1)
	}
	return append(parts, last)
}

// levelsOf sorts lines by how many others must be settled before them, one after the other.
func levelsOf(rest []int32, change func(int32) planner.Change, waits func(int32) bool) [][]int32 {
	if !slices.ContainsFunc(rest, waits) {
		return [][]int32{rest}
	}
	lines := make(map[string]int32, len(rest))
	for _, i := range rest {
		lines[change(i).RefID] = i
	}
	levels, lists := make(map[int32]int, len(rest)), make(map[listOf]int)
	var levelOf func(i int32) int
	levelOf = func(i int32) int {
		if level, ok := levels[i]; ok {
			return level
		}
		level := 0
		if waits(i) {
			after := change(i).After
			var ok bool
			if level, ok = lists[nameList(after)]; !ok {
				for _, refID := range after {
					if dependency, isLine := lines[refID]; isLine {
						level = max(level, 1+levelOf(dependency))
					} else {
						level = max(level, 1)
					}
				}
				lists[nameList(after)] = level
			}
		}
		levels[i] = level
		return level
	}
	var sorted [][]int32
	for _, i := range rest {
		level := levelOf(i)
		for len(sorted) <= level {
			sorted = append(sorted, nil)
		}
		sorted[level] = append(sorted[level], i)
	}
	return sorted
}

// revisedMax is how many revisions are noted at once, with the bodies of their requests.
const revisedMax = 1024

// partBook keeps the parts that a runner of a shared run has, and counts what it settles.
type partBook struct {
	plan *planner.Plan
	find func(refID string) (number int, ok bool) // of a change of the plan

	held     map[int]*heldPart // parts that this runner has and has not done
	partOf   map[string]int    // their lines that are not settled
	own      tally             // of settled transfers that are not noted: of parts that are done, and of no part
	noted    int               // transfers of which the count was noted
	finished []int             // parts that are done, and not noted as such
}

// heldPart is a part of a run that this runner has.
type heldPart struct {
	open  int // lines that are not settled
	tally tally
}

func newPartBook(plan *planner.Plan) *partBook {
	return &partBook{
		plan: plan, find: plan.Changes.Find(),
		held: make(map[int]*heldPart), partOf: make(map[string]int), own: newTally(),
	}
}

// have takes a part whose lines are to be settled.
func (b *partBook) have(number int, refIDs []string) {
	b.held[number] = &heldPart{open: len(refIDs), tally: newTally()}
	for _, refID := range refIDs {
		b.partOf[refID] = number
	}
}

// plans reports whether the plan has a ref_id.
func (b *partBook) plans(refID string) bool {
	_, ok := b.find(refID)
	return ok
}

func (b *partBook) finish(number int) {
	b.own.merge(b.held[number].tally)
	delete(b.held, number)
	b.finished = append(b.finished, number)
}

// settle counts a transfer.
func (b *partBook) settle(request transfer.Request, v verdict, planned bool) {
	refID := v.outcome.RefID
	number, ok := b.partOf[refID]
	if !ok {
		b.own.add(request, v, planned)
		return
	}
	delete(b.partOf, refID)
	part := b.held[number]
	part.tally.add(request, v, planned)
	if part.open--; part.open == 0 {
		b.finish(number)
	}
}

// owes reports whether a ref_id is a line of the parts of this runner that it has not settled.
func (b *partBook) owes(refID string) bool {
	_, ok := b.partOf[refID]
	return ok
}

// settles reports whether a runner of this run settles a ref_id, as a line of the plan.
func (b *partBook) settles(refID string) bool {
	number, ok := b.find(refID)
	if !ok {
		return false
	}
	action := b.plan.Changes.Action(number)
	return action == planner.Submit || action == planner.Resolve
}

// revise notes what a lookup made of a transfer that this runner settled as before, or "". Any runner
// may count it, and several may look it up: it is counted anew once, when the run is added up.
func (b *partBook) revise(n *news, before Result) {
	if before == "" && b.settles(n.refID) {
		before = resultOf(n.detail.Status, n.detail.RecordStatus)
	}
	b.own.Revised[n.refID] = revision{
		request: n.request, Before: before, After: n.verdict.result,
		Was: n.detail.RecordStatus, Is: n.verdict.status, Idle: n.wasIdle,
	}
}

// restate notes a line that a lost runner had settled. This runner counts it as the state has it, with
// all revisions.
func (b *partBook) restate(one settledLine) {
	if number, ok := b.partOf[one.refID]; ok && (one.status.Final() || one.result == ResultConflict) {
		b.held[number].tally.Restated[one.refID] = true
	}
}

// hasNews reports whether this runner knows something that was not noted.
func (b *partBook) hasNews() bool { return len(b.finished) > 0 || !b.own.isEmpty() }

// takeNews takes what the runner notes next. It notes a part as done with, or after, everything that it
// learned before.
func (b *partBook) takeNews() (finished []int, news tally) {
	if len(b.own.Revised) > revisedMax {
		news = newTally()
		for refID, r := range b.own.Revised {
			if len(news.Revised) == revisedMax {
				break
			}
			news.Revised[refID] = r
			delete(b.own.Revised, refID)
		}
		return nil, news
	}
	finished, news = b.finished, b.own
	b.finished, b.own = nil, newTally()
	b.noted += news.Count
	return finished, news
}
