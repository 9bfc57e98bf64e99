package planner

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
)

// Delta is the difference between two plans: the reviewed one, and the one made now.
type Delta struct {
	Before, After *Plan
	// Header are the facts of the plans as a whole that are not the same, such as the environment. When and by
	// whom a plan was made is none of them.
	Header []transfer.Difference
	// New and Gone are the obstacles of one plan alone.
	New, Gone []Obstacle
	// Count is how many lines changed in each way.
	Count map[DeltaKind]int

	lines []deltaLine
}

// DeltaKind is how a line changed.
type DeltaKind string

// The ways.
const (
	DeltaAdded   DeltaKind = "added"   // After alone has it
	DeltaRemoved DeltaKind = "removed" // Before alone has it, and it was not made since
	DeltaDone    DeltaKind = "done"    // Before alone has it, and it was made since
	DeltaChanged DeltaKind = "changed" // both have it, and differ
)

// Went says where a line went that a plan does not have any more.
type Went string

// The ways in which a line goes.
const (
	WentUnknown    Went = ""                    // neither files nor state are at hand
	WentRecorded   Went = "recorded"            // it was made since
	WentPaid       Went = "recorded_undeclared" // it was made since, and no file declares it any more
	WentUndeclared Went = "undeclared"          // no file declares it any more
	WentSettled    Went = "settled"             // no file declared it, and it is in doubt no longer
)

// kind is how a line changed that went so.
func (w Went) kind() DeltaKind {
	switch w {
	case WentRecorded, WentPaid:
		return DeltaDone
	case WentUnknown, WentUndeclared, WentSettled:
	}
	return DeltaRemoved
}

// deltaLine is the numbers of a line in both plans; -1 where it is in one alone.
type deltaLine struct {
	before, after int32
	went          Went // of one that Before alone has
}

// LineDelta is one line that changed.
type LineDelta struct {
	Kind   DeltaKind
	RefID  string
	Before *Change // nil of one that was added
	After  *Change // nil of one that was removed
	Went   Went    // of one that was removed or done
	// Fields are those that differ, with the earlier value as Asked and the present one as Answered.
	Fields []transfer.Difference
	// New and Gone are the signals of one of the two alone; of one that was added, all are new.
	New, Gone []Signal
}

// Against compares a plan with one that was made before it, line by line by ref_id, in the order of p and then
// of what before alone has. It takes time by the number of lines. Neither plan may be changed while the Delta is used.
//
// went says where a line went that p does not have; nil where that is unknown. It is called once for each of these.
//
// It compares the parts of a line that a reviewer judges: the action, the whole request, the batch, the address,
// the times, what it waits for, what it accepts, and the signals. It does not compare the place of a line in a
// file, nor parts that follow from the time of the plan alone.
func (p *Plan) Against(before *Plan, went func(refID string) Went) *Delta {
	d := &Delta{Before: before, After: p, Count: make(map[DeltaKind]int)}
	d.compareHeaders()
	d.New, d.Gone = obstaclesBeyond(p.Obstacles, before.Obstacles), obstaclesBeyond(before.Obstacles, p.Obstacles)
	find, same := before.Changes.Find(), make(lists)
	had := make([]bool, before.Changes.Len())
	var was Change
	for i, now := range p.Changes.All() {
		n, ok := find(now.RefID)
		if !ok {
			d.add(deltaLine{before: -1, after: int32(i)})
			continue
		}
		had[n] = true
		was = before.Changes.At(n)
		if fields := same.fieldsBetween(&was, now); len(fields) > 0 || !slices.Equal(was.Signals, now.Signals) && signalsDiffer(&was, now) {
			d.add(deltaLine{before: int32(n), after: int32(i)})
		}
	}
	for n, isThere := range had {
		if isThere {
			continue
		}
		line := deltaLine{before: int32(n), after: -1}
		if went != nil {
			was = before.Changes.At(n)
			line.went = went(was.RefID)
		}
		d.add(line)
	}
	return d
}

func (d *Delta) add(line deltaLine) {
	d.Count[line.kind()]++
	d.lines = append(d.lines, line)
}

// IsEmpty reports whether nothing changed that a reviewer judges.
func (d *Delta) IsEmpty() bool {
	return len(d.lines)+len(d.Header)+len(d.New)+len(d.Gone) == 0
}

// DeltaKinds lists every way in which a line changes, the one that needs the closest look first.
func DeltaKinds() []DeltaKind { return []DeltaKind{DeltaChanged, DeltaRemoved, DeltaAdded, DeltaDone} }

// Lines yields the lines that changed in one way.
func (d *Delta) Lines(kind DeltaKind) iter.Seq[LineDelta] {
	return func(yield func(LineDelta) bool) {
		same := make(lists)
		for _, line := range d.lines {
			if line.kind() == kind && !yield(d.line(line, same)) {
				return
			}
		}
	}
}

func (l deltaLine) kind() DeltaKind {
	switch {
	case l.before < 0:
		return DeltaAdded
	case l.after < 0:
		return l.went.kind()
	}
	return DeltaChanged
}

func (d *Delta) line(at deltaLine, same lists) LineDelta {
	l := LineDelta{Kind: at.kind(), Went: at.went}
	if at.before >= 0 {
		was := d.Before.Changes.At(int(at.before))
		l.Before, l.RefID = &was, was.RefID
	}
	if at.after >= 0 {
		now := d.After.Changes.At(int(at.after))
		l.After, l.RefID = &now, now.RefID
	}
	switch l.Kind {
	case DeltaAdded:
		l.New = l.After.Signals
	case DeltaRemoved, DeltaDone:
	case DeltaChanged:
		l.Fields = same.fieldsBetween(l.Before, l.After)
		l.New, l.Gone = signalsBeyond(l.After, l.Before), signalsBeyond(l.Before, l.After)
	}
	return l
}

// compareHeaders holds against each other what both plans say of themselves.
func (d *Delta) compareHeaders() {
	was, now := &d.Before.Header, &d.After.Header
	compare := differing(&d.Header)
	compare("environment", was.Environment, now.Environment)
	compare("tokens", was.Service.TokenURL, now.Service.TokenURL)
	compare("service", was.Service.BaseURL, now.Service.BaseURL)
	compare("operator", was.Service.Operator, now.Service.Operator)
	compare("client_id", was.Service.ClientID, now.Service.ClientID)
	compare("customer", was.Service.CustomerID, now.Service.CustomerID)
	compare("state", was.Lineage, now.Lineage)
	compare("targets", strings.Join(was.Targets, ", "), strings.Join(now.Targets, ", "))
	compare("accepted", strings.Join(was.Accepted, ", "), strings.Join(now.Accepted, ", "))
	d.compareBlocks(compare)
	d.compareHours()
	if was.Controls == now.Controls {
		return
	}
	controls := make(map[string]string)
	for _, c := range was.ControlList {
		controls[c.Name] = c.SHA256
	}
	named := len(d.Header)
	for _, c := range now.ControlList {
		digest, isOld := controls[c.Name]
		delete(controls, c.Name)
		switch {
		case !isOld:
			compare(c.Name, "", "declared")
		case digest != c.SHA256:
			compare(c.Name, "as it was reviewed", "edited since")
		}
	}
	for _, c := range was.ControlList {
		if _, isGone := controls[c.Name]; isGone {
			compare(c.Name, "declared", "")
		}
	}
	if len(d.Header) == named {
		compare("controls", was.Controls, now.Controls)
	}
}

// compareHours holds against each other when the windows of both plans are open, from the time of the newer one on, as far as both know it.
func (d *Delta) compareHours() {
	was, now := &d.Before.Header, &d.After.Header
	for i := range now.Windows {
		before, after := was.Window(now.Windows[i].Name), &now.Windows[i]
		if before == nil {
			continue
		}
		from, until := now.Created, before.Until
		if was.Created.After(from) {
			from = was.Created
		}
		if after.Until.Before(until) {
			until = after.Until
		}
		if x, y, differ := otherHours(hoursBetween(before.Open, from, until), hoursBetween(after.Open, from, until), from); differ {
			d.Header = append(d.Header, transfer.Difference{Field: "window." + after.Name, Asked: x, Answered: y})
		}
	}
}

// compareBlocks holds the control blocks of the batches of both plans against each other.
func (d *Delta) compareBlocks(compare func(field, was, now string)) {
	before := make(map[string]*Batch)
	for i := range d.Before.Batches {
		before[d.Before.Batches[i].Name] = &d.Before.Batches[i]
	}
	for i := range d.After.Batches {
		now := &d.After.Batches[i]
		was := before[now.Name]
		delete(before, now.Name)
		if was == nil {
			was = &Batch{}
		}
		if !sameControl(was.Control, now.Control) {
			compare("control of batch."+now.Name, was.controlText(), now.controlText())
		}
	}
	for i := range d.Before.Batches {
		if was := &d.Before.Batches[i]; before[was.Name] != nil {
			compare("control of batch."+was.Name, was.controlText(), "")
		}
	}
}

// differing is a function that notes a field whose values are not the same.
func differing(all *[]transfer.Difference) func(field, was, now string) {
	return func(field, was, now string) {
		if was != now {
			*all = append(*all, transfer.Difference{Field: field, Asked: was, Answered: now})
		}
	}
}

// fieldsBetween returns the fields that differ in one line of two plans.
func (same lists) fieldsBetween(was, now *Change) []transfer.Difference {
	var all []transfer.Difference
	compare := differing(&all)
	compare("action", string(was.Action), string(now.Action))
	before, errBefore := was.InForce()
	after, errAfter := now.InForce()
	if errBefore != nil || errAfter != nil { // no plan that was made or opened has one
		before, after = was.Request, now.Request
	}
	all = append(all, Differences(before, after)...)
	if was.Action == Resolve && now.Action == Resolve { // fields that are declared beside the request
		for _, f := range Differences(was.Request, now.Request) {
			compare("declared "+f.Field, f.Asked, f.Answered)
		}
	}
	compare("batch", was.Batch, now.Batch)
	compare("address", was.Address, now.Address)
	compare("display_name", was.DisplayName, now.DisplayName)
	compare("reverses", was.Reverses, now.Reverses)
	compare("recorded", was.Recorded.word(), now.Recorded.word())
	compare("refused before", yes(was.Again), yes(now.Again))
	compare("never due", yes(was.Never), yes(now.Never))
	compare("occurrence", was.Occurrence, now.Occurrence)
	compare("until", timeText(was.Until), timeText(now.Until))
	compare("due", timeText(was.Due), timeText(now.Due))
	compare("expires", timeText(was.Expires), timeText(now.Expires))
	same.compare(compare, "window", was.Windows, now.Windows)
	same.compare(compare, "after", was.After, now.After)
	if was.Action == now.Action { // others do not say it
		compare("catch_up", was.CatchUp.String(), now.CatchUp.String())
		compare("duplicate_within", was.DuplicateWithin.String(), now.DuplicateWithin.String())
		same.compare(compare, "accept_duplicate_of", was.AcceptOf, now.AcceptOf)
	}
	return all
}

// lists keeps how lists differ that many lines share, so that each pair of them is compared once.
type lists map[listPair]transfer.Difference

type listPair struct {
	was, now       *string // their first elements
	wasLen, nowLen int
}

// compare tells which names one of two lists has alone.
func (same lists) compare(compare func(field, was, now string), field string, was, now []string) {
	if len(was)+len(now) == 0 {
		return
	}
	pair := listPair{firstOf(was), firstOf(now), len(was), len(now)}
	differ, isKnown := same[pair]
	if !isKnown {
		differ = transfer.Difference{Asked: listText(namesBeyond(was, now)), Answered: listText(namesBeyond(now, was))}
		same[pair] = differ
	}
	compare(field, differ.Asked, differ.Answered)
}

// firstOf is where a list begins; nil of an empty one.
func firstOf(list []string) *string {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// namesBeyond are the names of a list that another lacks.
func namesBeyond(some, others []string) []string {
	if slices.Equal(some, others) {
		return nil
	}
	known := make(map[string]bool, len(others))
	for _, name := range others {
		known[name] = true
	}
	var beyond []string
	for _, name := range some {
		if !known[name] {
			beyond = append(beyond, name)
		}
	}
	return beyond
}

func listText(names []string) string {
	const most = 3
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// word says how the state has a transfer.
func (r *Recorded) word() string {
	if r == nil {
		return ""
	}
	return strings.TrimSpace(r.Status.String() + " " + string(r.RecordStatus))
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// signalsDiffer reports whether one of two lines has a signal that the other lacks.
func signalsDiffer(a, b *Change) bool {
	return len(signalsBeyond(a, b))+len(signalsBeyond(b, a)) > 0
}

// signalsBeyond are the signals of c that other lacks. Two signals that differ in place and words alone are
// the same; an accepted one and one that is not are two.
func signalsBeyond(c, other *Change) []Signal {
	var beyond []Signal
	for _, s := range c.Signals {
		if !slices.ContainsFunc(other.Signals, func(o Signal) bool {
			return o.Kind == s.Kind && o.RefID == s.RefID && o.Accepted == s.Accepted
		}) {
			beyond = append(beyond, s)
		}
	}
	return beyond
}

// obstaclesBeyond are those of some that others lack.
func obstaclesBeyond(some, others []Obstacle) []Obstacle {
	var beyond []Obstacle
	for _, o := range some {
		if !slices.ContainsFunc(others, func(other Obstacle) bool {
			return o.Kind == other.Kind && o.Address == other.Address && o.Count == other.Count && slices.Equal(o.RefIDs, other.RefIDs)
		}) {
			beyond = append(beyond, o)
		}
	}
	return beyond
}
