//go:build unix

package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// model is the expected state: the durably appended events, and nothing else.
type model struct {
	rows    map[string]state.Transfer
	intents map[string]state.Intent
	closed  map[string]bool // ref_ids in whose settling a person, or a conflict, had a part
	// first is when a run of this state wrote its first intent to send a ref_id, by whichever of its clock and
	// the world's says the earlier time.
	first map[string]time.Time
}

func newModel() *model {
	return &model{rows: make(map[string]state.Transfer), intents: make(map[string]state.Intent), closed: make(map[string]bool), first: make(map[string]time.Time)}
}

func (m *model) clone() *model {
	return &model{rows: maps.Clone(m.rows), intents: maps.Clone(m.intents), closed: maps.Clone(m.closed), first: maps.Clone(m.first)}
}

// apply takes over appended events.
func (m *model) apply(entry state.Entry, now time.Time) error {
	refID, _ := entry.Subject()
	if refID == "" {
		return nil
	}
	draft, err := state.NewDraft(entry)
	if err != nil {
		return err
	}
	row, err := m.rows[refID].Apply(draft, 0, now)
	if err != nil {
		return err
	}
	m.rows[refID] = row
	switch e := entry.(type) {
	case state.Intent:
		m.intents[refID] = e
	case state.Outcome:
		if e.Source == state.SourcePerson || row.Status == state.Conflict {
			m.closed[refID] = true
		}
	case state.Created, state.Begun, state.Ended, state.Unlocked, state.Rebound, state.ClockConfirmed, state.Asked, state.Erased:
	}
	return nil
}

// otherError says how a state that could be read is another one.
type otherError struct{ text string }

// Error is the difference.
func (e *otherError) Error() string { return e.text }

func otherf(format string, args ...any) error { return &otherError{fmt.Sprintf(format, args...)} }

// compare says how the stored rows differ from the model: an *[otherError], or else why it can't be read.
func (m *model) compare(ctx context.Context, snapshot state.Snapshot) error {
	seen := 0
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return fmt.Errorf("read the state: %w", err)
		}
		seen++
		want, ok := m.rows[row.RefID]
		if !ok {
			return otherf("the state has %q, which nobody appended", row.RefID)
		}
		if row.Status != want.Status || row.RecordID != want.RecordID || row.Doubted != want.Doubted || row.RequestDigest != want.RequestDigest || row.Open() != want.Open() {
			return otherf("the state says that %q is %v (record %q), durable is %v (record %q)", row.RefID, row.Status, row.RecordID, want.Status, want.RecordID)
		}
	}
	if seen != len(m.rows) {
		return otherf("the state has %d ref_ids of %d", seen, len(m.rows))
	}
	return nil
}

// oracle knows the laws. It looks at the bytes that were really written, sent and made,
// below whatever a mutant does.
type oracle struct {
	world     *world
	model     *model
	forgotten map[string]bool   // ref_ids that a lost or restored state can't know of
	stale     bool              // a state was lost or restored
	misdated  map[string]bool   // ref_ids that a command with a clock far off attempted
	under     map[string]string // of each ref_id the controls of the run that attempted it first, not as a doubt
	starts    []start           // of requests, in order
	violated  error
}

// start is when the executor began a request.
type start struct {
	process   *process
	operation transfer.Operation
	refID     string
	at        time.Time
	off       time.Duration // of its own clock
	written   bool          // its request was written
}

func (o *oracle) violate(invariant, format string, args ...any) {
	if o.violated == nil {
		o.violated = fmt.Errorf("%s: %s", invariant, fmt.Sprintf(format, args...))
		o.world.log("VIOLATION %v", o.violated)
	}
}

// appended takes note of the entries that became durable.
func (o *oracle) appended(p *process, entries []state.Entry) {
	for _, entry := range entries {
		refID, _ := entry.Subject()
		m := o.of(p)
		before, beforeRun := m.rows[refID], m.intents[refID].RunID
		if err := m.apply(entry, p.world.kernel.Now()); err != nil {
			o.violate("I6", "the journal took an entry that breaks a rule: %v", err)
			return
		}
		row := m.rows[refID]
		switch e := entry.(type) {
		case state.Intent:
			if here := o.model.rows[refID]; m != o.model && !here.Status.MayBeMade() && here.Status != state.Tombstone {
				o.forgotten[refID] = true
			}
			if _, isTold := m.first[refID]; !isTold && !e.Found {
				m.first[refID] = earlier(p.wall(), o.world.kernel.Now())
			}
			if p.clockOff() != 0 {
				o.misdated[refID] = true
			}
			if before.Status != state.InDoubt {
				o.under[refID] = p.controls
			}
			p.intended[refID] = intended{intent: e, again: before.Status == state.InDoubt, before: beforeRun, first: row.IntendedAt, local: p.wall()}
			o.world.log("%s intends %s", p.id, refID)
		case state.Outcome:
			o.world.log("%s writes of %s: %v by %s, so it is %v: %.120s", p.id, refID, e.Status, e.Source, row.Status, e.Reason)
			if e.Status == state.Conflict && e.Source == state.SourceAnswer && e.HTTPStatus/100 == 2 { // a 409 with another record stops nothing
				p.crew.halt()
			}
			if p.crew != nil {
				p.crew.outcomes[refID] = resultOf(row)
			}
			if m == o.model && (row.Status.Made() || row.Status == state.Conflict) {
				delete(o.forgotten, refID)
			}
		case state.Begun:
			o.world.plannedBy[e.RunID] = e.PlanID
		case state.Ended:
			o.told(p, e)
		case state.Created, state.Unlocked, state.Rebound, state.ClockConfirmed, state.Asked, state.Erased:
		}
	}
}

// of is what the state of a process must be: the world's, or the original of that, which is a copy.
func (o *oracle) of(p *process) *model {
	if p.original != nil {
		return p.original
	}
	return o.model
}

// copied notes that the state is a copy from now on, while a run goes on with the original.
func (o *oracle) copied(from *process) {
	from.original = o.model
	o.model = o.model.clone()
	o.stale = true
}

// isPoised reports whether a process has its lock, and an intent of which no request was written yet.
func (o *oracle) isPoised(p *process) bool {
	if p.journal == nil || !p.fencedAt.IsZero() || p.original != nil || p.crew != nil {
		return false
	}
	for refID := range p.intended {
		isWritten := slices.ContainsFunc(o.starts, func(s start) bool { return s.process == p && s.refID == refID && s.written })
		if !isWritten && o.model.intents[refID].RunID == p.id && o.model.rows[refID].Status == state.InDoubt {
			return true
		}
	}
	return false
}

// locked is asked when a process has the lock of its state: nobody else has it.
func (o *oracle) locked(p *process) {
	for _, other := range o.world.processes {
		if other != p && (other.crew == nil || !other.crew.isFree) && other.journal != nil && other.path == p.path && other.fencedAt.IsZero() && other.killed.Err() == nil {
			o.violate("I6", "%s and %s have the lock of one state", other.id, p.id)
		}
	}
}

// lost notes that the state is another one from now on, which knows what m knows.
func (o *oracle) lost(m *model) {
	o.stale = true
	o.starts = nil
	for _, refID := range o.world.author.names() {
		row, ok := m.rows[refID]
		known := ok && row.Status.MayBeMade()
		if !known && (o.model.rows[refID].Status != 0 || o.world.network.underWay[refID] > 0 || len(o.world.bank.made[refID]) > 0) {
			o.forgotten[refID] = true
		}
	}
	o.model = m
}

// started is asked when the executor begins a request: I7.
func (o *oracle) started(p *process, path, refID string) {
	operation := transfer.Platform
	if path == transfer.DefaultOperator.Path(transfer.Internal) {
		operation = transfer.Internal
	}
	now := o.world.kernel.Now()
	off := p.wall().Sub(now)
	o.starts = append(o.starts, start{process: p, operation: operation, refID: refID, at: now, off: off})
	limit, ok := o.world.traits.rateLimits[operation]
	isShared := p.crew != nil && p.crew.isOpen // then no runner of it forgets what another one did
	if !ok || !p.fencedAt.IsZero() && !isShared {
		return
	}
	// Of an earlier run the journal has one attempt of each ref_id, the latest. Where clocks differ,
	// nobody can say exactly how long ago it was.
	type attempt struct {
		process *process
		refID   string
	}
	known := make(map[attempt]bool)
	count := 0
	for _, s := range slices.Backward(o.starts) {
		of := attempt{s.process, s.refID}
		isKnown := s.process == p || s.process.fencedAt.IsZero() && s.process.original == p.original && !known[of]
		apart := (s.off - off).Abs()
		if isOne := isShared && s.process.crew == p.crew; isOne || s.process == p {
			isKnown, apart = true, 0 // it has a clock that nobody sets, and so has a server
		} else if !s.process.turnedAt.IsZero() || !p.turnedAt.IsZero() {
			continue // nor by how much the clocks differed when the journal got its times
		}
		if s.operation == operation && isKnown && now.Sub(s.at) < limit.Window-apart {
			known[of] = true
			count++
		}
	}
	if count > limit.Requests {
		o.violate("I7", "%d requests of operation %s within %v, %d are allowed", count, operation, limit.Window, limit.Requests)
	}
}

// request is asked when a request to create was written, before it is on its way: I4, I7 and
// law 1. It returns the request's ref_id.
func (o *oracle) request(p *process, m message) string {
	refID := refIDOf(m.body)
	begun, ok := o.takeStart(p, refID)
	if !ok {
		o.violate("I7", "%s writes a request of %s that was not begun", p.id, refID)
	}
	if why := o.mayNotSend(p, m, refID, begun); why != "" {
		o.violate("I4", "%s sends %s: %s: %s", p.id, refID, why, m.body)
	}
	o.world.log("%s sends %s", p.id, refID)
	return refID
}

// takeStart takes the start of a request that was written: each has one of its own, since
// starts are what the limit counts. A state that was lost meanwhile has forgotten them.
func (o *oracle) takeStart(p *process, refID string) (start, bool) {
	for i := range o.starts {
		if s := &o.starts[i]; s.process == p && s.refID == refID && !s.written {
			s.written = true
			return *s, true
		}
	}
	now := o.world.kernel.Now()
	return start{at: now, off: p.wall().Sub(now)}, o.stale
}

func (o *oracle) mayNotSend(p *process, m message, refID string, begun start) string {
	now := o.world.kernel.Now()
	line := p.line(refID)
	intended, ok := p.intended[refID]
	mustLook := p.looksFirst || o.world.traits.hasLookup && intended.again
	if why := cmp.Or(o.forbidden(p, refID, begun, mustLook), p.expired(), o.unapproved(p)); why != "" {
		return why
	}
	switch {
	case !p.sends:
		return "this process settles by lookup alone"
	case line == nil || line.Action != planner.Submit && line.Action != planner.Resolve:
		return "no line of its plan says so"
	case !ok:
		return "there is no durable intent of this run"
	case intended.intent.Body != m.body || intended.intent.Path != m.path:
		return "its intent says something else: " + intended.intent.Body
	case !p.fencedAt.IsZero() && now.Sub(p.fencedAt) > startMax:
		return "its lock was taken away before"
	case p.crew != nil && p.crew.forbids(p, refID) != "":
		return p.crew.forbids(p, refID)
	case p.crew != nil && p.crew.isDeaf(p, begun) != "":
		return p.crew.isDeaf(p, begun)
	case p.planControls != p.controls:
		return "its plan was made under other controls"
	case line.Action == planner.Submit && string(line.Request.Body()) != m.body:
		return "its plan says something else: " + string(line.Request.Body())
	}
	if !intended.again {
		return ""
	}
	return o.mayNotSendAgain(p, line, intended, begun)
}

func (o *oracle) mayNotSendAgain(p *process, line *planner.Change, i intended, begun start) string {
	isOfThisRun := p.crew != nil && i.before == p.crew.runID // another runner of it had it before
	switch {
	case line.Action != planner.Resolve && !isOfThisRun && (!p.saved || o.world.plannedBy[i.before] != p.plan.Header.PlanID):
		return "it is in doubt, and neither does its plan say so nor is it an earlier run of that plan that it finishes"
	case o.world.traits.holdDoubt:
		return "on_doubt is hold"
	case p.declared[line.RefID].Request.Fingerprint().String() != i.intent.Fingerprint:
		return "its declaration was edited"
	}
	return o.mayOutlast(begun, i.first)
}

// made is told of each transfer that the bank makes: I1, and that no duty is paid under two
// names unless a person wants it.
func (o *oracle) made(m *movement) {
	list := o.world.bank.made[m.refID]
	if len(list) > 1 {
		o.world.report.Duplicates++
		o.violate("I1", "%s was made %d times", m.refID, len(list))
	}
	o.limited(m)
	duty := o.world.author.duties[m.refID]
	for refID, other := range o.world.author.duties {
		if other != duty || refID == m.refID || o.stale || o.world.author.twice[duty] {
			continue
		}
		for _, twin := range o.world.bank.made[refID] {
			if !twin.isFailed && twin.request.Twin() == m.request.Twin() {
				o.world.report.Duplicates++
				o.violate("I1", "what %s paid is paid again as %s, and nobody accepted that", refID, m.refID)
			}
		}
	}
}

// settledEvent is asked of what a run says that it has written.
func (o *oracle) settledEvent(p *process, refID string, says state.Status) {
	row := o.of(p).rows[refID]
	if p.fencedAt.IsZero() && (says.Made() || says == state.Conflict) && !row.Status.Made() && row.Status != state.Conflict {
		o.violate("I2", "%s says that %s is %v, durable is %v", p.id, refID, says, row.Status)
	}
}

// step is checked after every event: I2.
func (o *oracle) step() {
	for refID := range o.world.bank.made {
		row := o.model.rows[refID]
		if !row.Status.MayBeMade() && !o.forgotten[refID] {
			o.world.report.Lost++
			o.violate("I2", "the bank made %s, and the state says %v", refID, row.Status)
		}
	}
}

// rest is checked when a process has ended: each recorded transfer was made, as its record says (law 7).
func (o *oracle) rest() {
	for refID, row := range o.model.rows {
		if !row.Status.Made() {
			continue
		}
		list := o.world.bank.made[refID]
		if len(list) == 0 {
			o.violate("I2", "%s is %v, and the bank never made it", refID, row.Status)
			continue
		}
		m := list[0]
		if o.model.closed[refID] {
			continue
		}
		switch first, isOurs := o.model.first[refID]; {
		case !m.isShownTrue:
			o.violate("I2", "%s is %v, and every record that was shown of it says something else than was asked for", refID, row.Status)
		case row.Status == state.Recorded && !isOurs:
			o.violate("I2", "%s is recorded as made by this state, which never meant to send it", refID)
		case row.Status == state.Recorded && m.at.Before(first.Add(-ageMax)) && m.seen.Before(first.Add(-ageMax)): // its record may lie about when
			o.violate("I2", "%s is recorded as made by this state, and was made %v before it first meant to send it", refID, first.Sub(m.at))
		}
		if !m.shown[row.RecordID] {
			o.violate("I2", "%s is %v by the record %q, which the bank never showed for it", refID, row.Status, row.RecordID)
		}
		if row.Status != state.Unverified && !o.world.healed && !m.isFailed {
			o.whole(m, row)
		}
		if !transfer.SameNumber(m.amount, row.Amount.String()) || m.request.Asset != row.Asset {
			o.violate("I3", "%s is %v over %s %s, moved were %s %s", refID, row.Status, row.Amount, row.Asset, m.amount, m.request.Asset)
		}
	}
}

// ageMax is how much older than the first intent of its request a record may be that is called recorded, by
// the worst of clocks.
const ageMax = 5*time.Minute + time.Second

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// whole is checked of each transfer that is called recorded: its record has all its fields.
func (o *oracle) whole(m *movement, row state.Transfer) {
	switch {
	case row.GroupID == "" || !m.sick[foreignGroup] && row.GroupID != groupOf(m.number):
		o.violate("I2", "%s is %v with the group_id %q, and its own is %s", row.RefID, row.Status, row.GroupID, groupOf(m.number))
	case m.sick[wrongTotal] && !m.sick[feeOnTop] && !m.sick[feeWithin]:
		o.violate("I2", "%s is %v although its total is none of what it may be", row.RefID, row.Status)
	}
	for refID, other := range o.model.rows {
		if refID != row.RefID && other.Status.Made() && other.Status != state.Unverified && other.GroupID == row.GroupID && other.RecordStatus != transfer.Failed && !o.model.closed[refID] {
			o.violate("I2", "%s and %s are recorded with one group_id, %s", row.RefID, refID, row.GroupID)
		}
	}
}

// knowsCustomer reports whether a record was stored.
func (o *oracle) knowsCustomer() bool {
	for _, row := range o.model.rows {
		if row.Status.Made() {
			return true
		}
	}
	return false
}

// sums is checked at the end: I3.
func (o *oracle) sums() {
	var recorded, moved transfer.Totals
	for refID, row := range o.model.rows {
		if row.Status.Made() && row.RecordStatus != transfer.Failed && !o.model.closed[refID] {
			recorded.Add(row.Asset, row.Amount)
		}
	}
	for refID, list := range o.world.bank.made {
		for _, m := range list {
			if !m.isFailed && !o.model.closed[refID] && (!o.forgotten[refID] || o.model.rows[refID].Status.Made()) {
				moved.Add(m.request.Asset, transfer.MustAmount(m.amount))
			}
		}
	}
	for total := range moved.All() {
		if !recorded.Sum(total.Asset).Equal(total.Sum) {
			o.violate("I3", "moved were %s %s, recorded are %s", total.Sum, total.Asset, recorded.Sum(total.Asset))
		}
	}
}
