package executor

import (
	"fmt"
	"slices"

	"remit/internal/doubt"
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

// parts makes parts of lines that nobody has begun. Lines stand in a part with others of
// their level: whatever they depend on is in parts of lower levels, or in hand, which is level 0.
func (o *order) parts(rest []int32) []state.Part {
	size := min(partMax, max(partMin, len(rest)/partsAbout))
	levels := o.levelsOf(rest)
	var parts []state.Part
	for level := 0; len(levels) > level; level++ {
		var refIDs []string
		flush := func() {
			if len(refIDs) > 0 {
				parts = append(parts, state.Part{Number: len(parts) + 1, Level: level, RefIDs: refIDs})
			}
			refIDs = nil
		}
		for _, i := range levels[level] {
			change := o.change(i)
			if refIDs = append(refIDs, change.RefID); len(refIDs) == size {
				flush()
			}
		}
		flush()
	}
	return parts
}

// levelsOf sorts lines by how many others must be settled before them, one after the other.
func (o *order) levelsOf(rest []int32) [][]int32 {
	waits := false
	for _, i := range rest {
		waits = waits || !o.gates.isOpen(o.lines[i].gate)
	}
	if !waits {
		return [][]int32{rest}
	}
	lines := make(map[string]int32, len(rest))
	for _, i := range rest {
		change := o.change(i)
		lines[change.RefID] = i
	}
	levels, lists := make(map[int32]int, len(rest)), make(map[listOf]int)
	var levelOf func(i int32) int
	levelOf = func(i int32) int {
		if level, ok := levels[i]; ok {
			return level
		}
		change := o.change(i)
		level := 0
		if !o.gates.isOpen(o.lines[i].gate) {
			var ok bool
			if level, ok = lists[nameList(change.After)]; !ok {
				for _, refID := range change.After {
					if dependency, isLine := lines[refID]; isLine {
						level = max(level, 1+levelOf(dependency))
					} else {
						level = max(level, 1)
					}
				}
				lists[nameList(change.After)] = level
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

// claimed is a part with what the state has of its lines and of what they depend on.
type claimed struct {
	state.Part
	details map[string]state.Detail
	clocks  map[string]state.Clocks // of what is in doubt: what they said at its first intent
}

// claim claims a part, or all that are free. Where there was none it waits before.
func (o *order) claim(all bool) {
	s := o.c.shared
	s.claiming = true
	pause := s.pause
	go func() {
		if pause > 0 {
			_ = o.c.run.Clock.Sleep(o.c.lasting, pause) // it does not end
		}
		parts, done, err := s.share.Claim(o.c.lasting, all)
		var list []claimed
		if err == nil {
			list, err = o.c.readClaimed(s, parts, o.gates.has)
		}
		o.inbox.post(func() {
			s.claiming = false
			if o.shareFailed(err) {
				return
			}
			o.c.hearStop(s.share)
			for _, part := range list {
				o.take(part)
			}
			s.allDone, s.pause = done, 0
			if len(list) == 0 {
				s.pause = pauseClaim
			}
		})
	}()
}

// readClaimed reads what the state has of parts. Of lines that nobody has begun, and that the
// run does not send, it need not, nor of dependencies that are watched already.
func (c *course) readClaimed(s *shared, parts []state.Part, watched func(listOf) bool) ([]claimed, error) {
	list := make([]claimed, 0, len(parts))
	if len(parts) == 0 {
		return nil, nil
	}
	snapshot, err := c.run.Journal.Snapshot(c.lasting)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	for _, part := range parts {
		one := claimed{part, make(map[string]state.Detail, len(part.RefIDs)), make(map[string]state.Clocks)}
		var wanted []string
		if c.starting.Err() == nil || part.Again {
			if wanted, err = c.withDependencies(s, part, watched); err != nil {
				return nil, err
			}
		}
		if err := eachDetail(c.lasting, snapshot, wanted, func(d state.Detail) { one.details[d.RefID] = d }); err != nil {
			return nil, err
		}
		var doubts []*unsettled
		for _, d := range one.details {
			if d.Status == state.InDoubt {
				doubts = append(doubts, newUnsettled(d, c.run.Begun.RunID, c.run.Policy))
			}
		}
		if err := c.learnClocks(c.lasting, snapshot, doubts); err != nil {
			return nil, err
		}
		for _, u := range doubts {
			one.clocks[u.refID] = u.since.clocks
		}
		list = append(list, one)
	}
	return list, nil
}

// withDependencies are the lines of a part and what they depend on. A list that is watched was read
// with an earlier part: each part would read it again, and many lines may wait for many. What may be in
// doubt reads it all the same: nobody watches for that.
func (c *course) withDependencies(s *shared, part state.Part, watched func(listOf) bool) ([]string, error) {
	seen, lists := make(map[string]bool, len(part.RefIDs)), make(map[listOf]bool)
	wanted := make([]string, 0, len(part.RefIDs))
	add := func(refID string) {
		if !seen[refID] {
			seen[refID] = true
			wanted = append(wanted, refID)
		}
	}
	for _, refID := range part.RefIDs {
		number, ok := s.find(refID)
		if !ok {
			return nil, fmt.Errorf("the run has a transfer %q that this runner's plan does not have", refID)
		}
		add(refID)
		after := c.run.Plan.Changes.At(number).After
		if len(after) == 0 || lists[nameList(after)] {
			continue
		}
		mayDoubt := part.Again || c.run.Plan.Changes.Action(number) == planner.Resolve
		if !mayDoubt && watched(nameList(after)) {
			continue
		}
		lists[nameList(after)] = true
		for _, dependency := range after {
			add(dependency)
		}
	}
	return wanted, nil
}

// take takes the lines of a part over: what another runner settled stands, what it may have
// begun is in doubt, and the rest is sent.
func (o *order) take(part claimed) {
	s := o.c.shared
	s.have(part.Number, part.RefIDs)
	for refID, d := range part.details {
		o.known.rows[refID] = d.Transfer
		if _, isLine := s.partOf[refID]; !isLine && d.Intent.Body != "" {
			request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), o.c.run.Policy.FingerprintKey)
			if err == nil { // an imported one has no request: it can't be polled
				o.known.outside[refID] = request
			}
		}
	}
	var standing []stood
	var doubts []*unsettled
	var waitsFor []string
	for _, refID := range part.RefIDs {
		number, _ := s.find(refID)
		change := o.c.run.Plan.Changes.At(number)
		if row := o.known.rows[refID]; row.Status == state.InDoubt && (row.Open() || row.RunID != o.c.run.Begun.RunID) {
			d := newUnsettled(part.details[refID], o.c.run.Begun.RunID, o.c.run.Policy)
			o.planned[refID] = &change
			d.since.clocks = part.clocks[refID]
			doubts = append(doubts, d)
			continue
		}
		if v, stands := o.standing(&change); stands {
			standing = append(standing, stood{o.knownOf(&change), v})
			continue
		}
		waitsFor = append(waitsFor, o.addLine(int32(number), &change)...)
	}
	for _, one := range standing {
		if part.Again {
			s.restate(one)
		}
		o.settled(one.known, one.verdict, true)
	}
	if o.c.starting.Err() != nil {
		for _, d := range doubts {
			o.hold(d, doubt.Stopped())
		}
		return
	}
	o.meetRecorded(waitsFor)
	o.settleTaken(doubts)
}

// settleTaken is settleDoubts for what another runner may have begun, while the run goes on.
func (o *order) settleTaken(doubts []*unsettled) {
	if len(doubts) == 0 || o.c.run.Finder == nil {
		o.settleOpen(doubts)
		return
	}
	o.waits++
	go func() {
		var open []*unsettled
		for _, u := range doubts {
			if u.amiss == "" {
				open = append(open, u)
			}
		}
		findings := o.c.lookUpDoubts(open)
		o.inbox.post(func() {
			o.waits--
			for _, u := range doubts {
				if u.amiss != "" {
					o.hold(u, doubt.Final(u.amiss))
				}
			}
			o.lookedUp(open, findings, 0)
		})
	}()
}

// addLine adds a line that this runner has claimed. It returns what the line is the first to
// wait for.
func (o *order) addLine(number int32, change *planner.Change) (waitsFor []string) {
	i := int32(len(o.lines))
	gate, waitsFor := o.gates.put(i, change.After, func() []string { return o.unmet(change.After) })
	o.lines = append(o.lines, line{number: number, gate: gate})
	o.makeReady(i)
	return waitsFor
}

// unmet are the dependencies of a list that are not COMPLETED, as they were read.
func (o *order) unmet(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(refID string) bool {
		row := o.known.rows[refID]
		return row.RecordStatus == transfer.Completed && (row.Status == state.Recorded || row.Status == state.Adopted)
	})
}
