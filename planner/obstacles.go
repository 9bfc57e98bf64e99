package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// refIDsMax bounds the ref_ids of one obstacle, and the obstacles of one kind that are
// listed one by one.
const refIDsMax = 20

// addConflictObstacles makes a plan with a conflict not applicable, with one obstacle for
// each thing that can be done about it.
func (b *builder) addConflictObstacles() {
	var edited, forgotten Obstacle
	var answers answeredObstacles
	var lines []int             // of edited
	var byAmount, elsewhere int // of these
	ended := ""                 // of all that were forgotten
	for i := range b.facts.len() {
		if b.plan.Changes.Action(i) != Conflict {
			continue
		}
		c := b.plan.Changes.At(i)
		switch c.Recorded.Status {
		case state.Conflict:
			answers.of(&c).add(c.RefID)
		case state.Tombstone:
			forgotten.add(c.RefID)
			switch how, _, _ := strings.Cut(c.Reason, neverAgain); ended {
			case "", how:
				ended = how
			default:
				ended = "closed as not made, or forgotten, although it was made or may have been"
			}
		case state.Recorded, state.Adopted, state.Unverified:
			edited.add(c.RefID)
			lines = append(lines, i)
			if isElsewhere(c.Differences) {
				elsewhere++
			} else {
				byAmount++
			}
		case state.Unsent, state.InDoubt, state.Refused:
			panic(fmt.Sprintf("%q is in conflict with what is %s", c.RefID, c.Recorded.Status))
		}
	}
	edited.Detail = "What is declared differs from what was recorded under the same ref_id. A transfer can't be changed once it was made: restore the declaration." + moreToMove(byAmount, elsewhere) + b.fromADateOn(lines)
	forgotten.Detail = "The ref_id was " + ended + ": it is never sent again. Remove the declaration: under a new ref_id it may be paid a second time."
	for _, o := range slices.Concat([]Obstacle{edited}, answers.all(b.controls.Lookup), []Obstacle{forgotten}) {
		if o.Count > 0 {
			o.Kind = ObstacleConflict
			b.plan.Obstacles = append(b.plan.Obstacles, o)
		}
	}
}

// answeredObstacles are the conflicts between requests and their answers, by what a person does about them.
type answeredObstacles struct{ answered, several, reused, shared, foreign, rail Obstacle }

// of is the obstacle that a conflict belongs to.
func (o *answeredObstacles) of(c *Change) *Obstacle {
	has := func(is func(transfer.Difference) bool) bool { return slices.ContainsFunc(c.Differences, is) }
	switch {
	case c.Recorded.RecordID == "" && has(transfer.Difference.IsForeign):
		return &o.foreign
	case c.Recorded.RecordID == "" && isOfAnother(c.Differences):
		return &o.shared
	case isSeveral(c.Differences):
		return &o.several
	case isReused(c.Differences):
		return &o.reused
	case c.Recorded.RecordID == "" && has(transfer.Difference.IsRail):
		return &o.rail
	}
	return &o.answered
}

// all are they, each with the command for its first transfer.
func (o *answeredObstacles) all(canLookUp bool) []Obstacle {
	list := make([]Obstacle, 0, 6)
	for _, one := range []struct {
		obstacle *Obstacle
		detail   string
		remedy   func(refID string) string
	}{
		{&o.answered, answeredDetail, acceptRecord},
		{&o.several, severalDetail, acceptRecord},
		{&o.reused, reusedDetail, acceptRecord},
		{&o.shared, sharedDetail, func(refID string) string { return acceptOther(refID, canLookUp) }},
		{&o.foreign, foreignDetail, notMade},
		{&o.rail, railDetail, func(refID string) string { return acceptRecord(refID) + "\n" + notMade(refID) }},
	} {
		if one.obstacle.Detail = one.detail; one.obstacle.Count > 0 {
			one.obstacle.Remedy = one.remedy(one.obstacle.RefIDs[0])
		}
		list = append(list, *one.obstacle)
	}
	return list
}

// moreToMove says how edited transfers are paid beside the recorded ones: of so many by their amounts, and so many that are other transfers.
func moreToMove(byAmount, elsewhere int) string {
	text := ""
	if byAmount > 0 {
		text += " Where more is to be moved, declare the difference as a transfer of its own, and not the whole."
	}
	if elsewhere > 0 {
		text += " Where another transfer took the ref_id over, to somebody else or by another operation, and is to be made as well, declare the whole of it under a new ref_id."
	}
	return text
}

const answeredDetail = "The service's record of the transfer is not what was asked for. A person has to find out what was really moved, and then accepts what the service has."

const sharedDetail = "The service showed the record of another transfer. One record is never two transfers. A person has to find out what was really moved: " +
	"look this one up, or give the record of it, or say --not-made where the service made none."

const foreignDetail = "The ref_id is that of other money, which came in: a deposit, or a transfer of somebody else, who chose the ref_id. " +
	"It is no side of this transfer, and remit never sends this one under a ref_id that is taken. Ask the service's operator whether this transfer was made as well. " +
	"Where it was not, say so, and then declare it under another ref_id."

const railDetail = "The service's record under this ref_id is of a withdrawal, or of a deposit: it names no profile that got the money. A person has to find out from the service's operator what was really moved. " +
	"Where the record is what became of the transfer, accept it. Where it has nothing to do with the transfer, and the transfer was not made, say so, and then declare the transfer under another ref_id."

const reusedDetail = "The service's record of the transfer names its ref_id, and has the id of another transfer's record: the service gave an id again, as it does once it was restored from a backup. " +
	"The transfer was made: never pay it under another ref_id. A person has to find out what was really moved, and then accepts the record, or gives the one that the service shows."

const severalDetail = "The service has more than one transfer under this ref_id: it was paid more than once, unless the service's operator says otherwise. " +
	"A person has to find out what was really moved, has the operator give back what is too much, and then accepts the record. That is of one of them: the others are in no book of remit."

// isSeveral reports whether the service has more than one transfer under the ref_id.
func isSeveral(differences []transfer.Difference) bool {
	return slices.ContainsFunc(differences, transfer.Difference.IsSeveral)
}

// isReused reports whether the kept record is that of the transfer itself, and has the id of another one's.
func isReused(differences []transfer.Difference) bool {
	return slices.ContainsFunc(differences, transfer.Difference.IsReusedID)
}

// isOfAnother reports whether the kept record of a conflict is that of another transfer.
func isOfAnother(differences []transfer.Difference) bool {
	return slices.ContainsFunc(differences, transfer.Difference.IsOfAnother)
}

// NextOfConflict is the command that closes a conflict between a request and its answer.
func NextOfConflict(d *state.Detail, canLookUp bool) string {
	if d.KeepsForeign() {
		return notMade(d.RefID)
	}
	if d.KeepsAnothers() {
		return acceptOther(d.RefID, canLookUp)
	}
	isRail := d.Outcome != nil && slices.ContainsFunc(d.Outcome.Differences, transfer.Difference.IsRail)
	if d.Status == state.Conflict && d.RecordID == "" && isRail {
		return "remit plan" // it has both ways out, and what each of them means
	}
	return acceptRecord(d.RefID)
}

// acceptOther is the command for a conflict whose kept record is that of another transfer.
func acceptOther(refID string, canLookUp bool) string {
	if canLookUp {
		return "remit resolve " + shell.Word(refID)
	}
	return "remit resolve " + shell.Word(refID) + ` --recorded FILE --accept-record --reason "…"`
}

func notMade(refID string) string {
	return "remit resolve " + shell.Word(refID) + ` --not-made --reason "…"`
}

func acceptRecord(refID string) string {
	return "remit resolve " + shell.Word(refID) + ` --accept-record --reason "…"`
}

// addEmptyObstacle stops a plan that declares nothing over a state that knows something:
// the wrong directory, more often than the wish to stop paying.
func (b *builder) addEmptyObstacle() {
	if b.isAlone() && b.declared == 0 {
		b.saysOf(ObstacleEmpty)
		if b.controls.AllowEmpty {
			b.plan.Header.Accepted = append(b.plan.Header.Accepted, "allow-empty")
		}
		return
	}
	if b.declared > 0 || b.rows.len() == 0 || b.word != nil && b.word.plan.Count(None) > 0 {
		if b.controls.AllowEmpty {
			b.plan.Unused = append(b.plan.Unused, "allow-empty")
			slices.Sort(b.plan.Unused)
		}
		return
	}
	if b.controls.AllowEmpty {
		b.plan.Header.Accepted = append(b.plan.Header.Accepted, "allow-empty")
		slices.Sort(b.plan.Header.Accepted)
		return
	}
	b.plan.Obstacles = append(b.plan.Obstacles, Obstacle{
		Kind: ObstacleEmpty, Count: b.rows.len(),
		Detail: fmt.Sprintf("No transfer is declared, but the state knows %d. If this is the right directory and nothing is meant to be declared any more, say so.", b.rows.len()),
		Remedy: "--allow-empty",
	})
}

// addObstacles names each exception that nobody accepted.
func (j *judge) addObstacles() {
	j.addDoubtObstacles()
	j.addRenameObstacles()
	for _, unit := range slices.Sorted(maps.Keys(j.needing)) {
		if some := j.needing[unit]; len(some) > 0 {
			slices.SortFunc(some, func(x, y judgedLine) int { return cmp.Compare(x.line.number, y.line.number) })
			j.plan.Obstacles = append(j.plan.Obstacles, j.lookAlikeObstacle(unit, some))
		}
	}
}

// addDoubtObstacles says which twins have to be settled first.
func (j *judge) addDoubtObstacles() {
	slices.SortFunc(j.doubts, func(x, y judgedLine) int { return cmp.Compare(x.line.number, y.line.number) })
	byTwin := make(map[string]*Obstacle)
	addresses := make(map[string]string)
	for i := range j.facts.len() {
		if len(j.doubts) == 0 || j.plan.Changes.Action(i) != Resolve {
			continue
		}
		if c := j.plan.Changes.At(i); c.Declared() {
			addresses[c.RefID] = c.Address
		}
	}
	var order []string
	for _, v := range j.doubts {
		doubt := j.rows.refID(v.doubt)
		o := byTwin[doubt]
		if o == nil {
			o = &Obstacle{
				Kind: ObstacleLookAlike,
				Detail: fmt.Sprintf("The same movement is in doubt as %q: it may have been made already. A twin in doubt can't be accepted: settle it first.",
					doubt),
				Remedy: "remit resolve " + shell.Word(doubt),
			}
			if !j.controls.Lookup {
				o.Remedy = giveRecord(doubt)
			}
			if j.isCorrection(v.line.number, v.doubt) {
				o.Detail = fmt.Sprintf("%q is in doubt, which is the same ref_id as %q but for the amount: it may have been made already, and then that one is a second payment. What is in doubt can't be accepted: settle it first.",
					doubt, v.line.RefID)
			}
			if address := addresses[doubt]; address != "" {
				o.Detail += " An apply of it alone does that where it can be looked up or sent again; otherwise remit resolve does."
				o.Remedy = "remit apply --target=" + shell.Word(address) + "\n" + o.Remedy
			}
			byTwin[doubt] = o
			order = append(order, doubt)
		}
		o.add(v.line.RefID)
	}
	for n, twin := range order {
		if n == refIDsMax {
			break // as many as one can settle before looking again
		}
		j.plan.Obstacles = append(j.plan.Obstacles, *byTwin[twin])
	}
}

// lookAlikeObstacle is about the look-alikes of one unit.
func (j *judge) lookAlikeObstacle(unit string, some []judgedLine) Obstacle {
	o := Obstacle{Kind: ObstacleLookAlike}
	for _, v := range some {
		o.add(v.line.RefID)
	}
	first := some[0].line
	whose := ""
	switch {
	case o.Count == 1:
		o.Detail = fmt.Sprintf("%q at %s makes the same movement as %q%s", first.RefID, first.Place, some[0].twin, atPlace(some[0].place))
	case first.Batch != "":
		whose = fmt.Sprintf(" of batch %q", first.Batch)
	case unit != "":
		whose = " of " + unit
	}
	if o.Count > 1 {
		o.Detail = fmt.Sprintf("%d transfers%s make the same movement as others, the first %q at %s as %q%s", o.Count, whose, first.RefID, first.Place, some[0].twin, atPlace(some[0].place))
	}
	o.Detail += ": same sender, destination, asset and amount under another ref_id. If both are meant, accept it by name." + j.otherTime(first.RefID, some[0].twin) + first.otherRecord(some[0].twin)
	if given, ok := j.controls.AcceptDuplicates[unit]; ok && unit != "" {
		o.Detail += fmt.Sprintf(" --accept-duplicates=%s:%d does not count: the plan has %d.", unit, given, o.Count)
	}
	j.addWithin(&o, some)
	if unit != "" && o.Count > 1 {
		o.Remedy = "--accept-duplicates=" + shell.Word(fmt.Sprintf("%s:%d", unit, o.Count))
		return o
	}
	var flags []string
	for _, refID := range o.RefIDs {
		flags = append(flags, "--accept-duplicate="+shell.Word(refID))
	}
	o.Remedy = strings.Join(flags, " ")
	return o
}

// atPlace is where a transfer was declared, as a clause; "" of one that nobody declared when it was recorded.
func atPlace(place string) string {
	if place == "" {
		return ""
	}
	return " at " + place
}

// addWithin adds the line that a file needs which comes again with the same people and amounts,
// where all look-alikes are of an earlier period: old enough that nobody pays twice by mistake
// what both are meant to be.
func (j *judge) addWithin(o *Obstacle, some []judgedLine) {
	newest := int64(0)
	for _, v := range some {
		if v.madeAt == unknownAge {
			return // of this plan, or of any age
		}
		newest = max(newest, v.madeAt)
	}
	within := withinFor(j.now.Sub(time.UnixMilli(newest)))
	if within == 0 {
		return
	}
	block := j.blockFactsOf(int(some[0].line.number)).block
	if batch := some[0].line.Batch; batch != "" {
		block = "batch." + batch
	}
	o.DuplicateWithin = fmt.Sprintf("duplicate_within = %q", fmt.Sprintf("%dd", within/(24*time.Hour)))
	o.Detail += fmt.Sprintf(" The newest of what they look like is %s old. If these payments come again each period, often with equal amounts, write into %s: %s",
		days(j.now.Sub(time.UnixMilli(newest)).Truncate(24*time.Hour)), block, o.DuplicateWithin)
}

// withinFor is a duplicate_within for payments that come again after a time: a third of it, in
// whole days, so that a period that is a few days shorter needs nothing else; 0 where it is so
// short that a look-alike may as well be a mistake, or the clock says that it is still to come.
func withinFor(period time.Duration) time.Duration {
	const day = 24 * time.Hour
	return max(0, (period / 3).Truncate(day))
}

func (o *Obstacle) add(refID string) {
	o.Count++
	if len(o.RefIDs) < refIDsMax {
		o.RefIDs = append(o.RefIDs, refID)
	}
}

// gravest lists the kinds of obstacles in the order in which they are shown: those that make an
// apply exit with 1 first.
func gravest() []ObstacleKind {
	return []ObstacleKind{
		ObstacleConflict, ObstacleEmpty,
		ObstacleRename, ObstacleLookAlike, ObstacleReversal, ObstacleElsewhere, ObstacleLate, ObstacleWindow,
		ObstacleControl, ObstacleLimit, ObstaclePolicy,
	}
}

// sortObstacles puts the gravest first.
func (p *Plan) sortObstacles() {
	order := gravest()
	slices.SortStableFunc(p.Obstacles, func(x, y Obstacle) int {
		return cmp.Compare(slices.Index(order, x.Kind), slices.Index(order, y.Kind))
	})
}
