package planner

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/state"
)

// DifferentError says that a saved plan is not what remit makes of its requests and of the state as
// it was: somebody changed the file, or it was made by a version that computes otherwise.
type DifferentError struct {
	What     string // such as `the signals of "rent-2026-11"`
	Said     string // in the file
	Computed string
}

// Error names the first difference and says what to do.
func (e *DifferentError) Error() string {
	return fmt.Sprintf("the plan file is not what remit computes of its requests and the state: %s: the file has %s, computed is %s. "+
		"The file was changed, or another version of remit made it: make a new plan, and review that", e.What, e.Said, e.Computed)
}

// clockSlack is how far the clocks of machines that share a state may be apart.
const clockSlack = 5 * time.Minute

// again computes a saved plan again, at its time, from its requests and its author's words, against the
// record as it was at the plan's serial, and compares. It returns the plan as it was computed, so that
// no sentence of it is the file's, with the author's words from the file. past has the events after the
// serial.
//
// The error is a *[DifferentError], a *[ControlBlockError], or that of a failed read.
func (p *Plan) again(ctx context.Context, record History, controls Controls, past past, now time.Time) (*Plan, error) {
	if err := p.fitsSerial(ctx, record, now); err != nil {
		return nil, err
	}
	was, err := newThen(ctx, record, p, past.touched())
	if err != nil {
		return nil, err
	}
	was.isErased = past.isErased
	return p.compute(ctx, was, controls)
}

// compute is again against a record that is as it was, or as the file says.
func (p *Plan) compute(ctx context.Context, record Record, under Controls) (*Plan, error) {
	_, isAlone := record.(*said)
	controls, err := p.controls(under, isAlone)
	if err != nil {
		return nil, err
	}
	p = p.sayingAll()
	b, err := p.builder(ctx, record, controls, p.Header.Created)
	if err != nil {
		return nil, err
	}
	b.word.said, _ = record.(*said)
	if was, ok := record.(*then); ok {
		b.word.isErased = was.isErased
	}
	if missing := p.keptUnknown(b.rows); missing != "" {
		return nil, &DifferentError{fmt.Sprintf("the transfer %q, which has no line", missing), "that it is recorded", "that it was not"}
	}
	var failed error
	if err := b.build(ctx, b.word.declared(ctx, record, &failed)); err != nil {
		return nil, err
	}
	if failed = cmp.Or(failed, b.word.failed); failed != nil {
		return nil, failed
	}
	computed := b.plan
	computed.markBlocks(under)
	if err := b.checkAfter(); err != nil {
		return nil, err
	}
	if err := p.compare(computed, under); err != nil {
		return nil, err
	}
	if b.isAlone() {
		computed.saysMore(b.word)
	}
	p.takeSpelling(computed)
	computed.Header, computed.SHA256, computed.Kept, computed.Namings = p.Header, p.SHA256, p.Kept, p.Namings
	computed.Undeclared, computed.Unused = nil, nil
	computed.Pending, computed.Unknown = p.Pending, p.Unknown
	return computed, nil
}

// checkAfter refuses a line that waits for a ref_id that no transfer of the plan, and no recorded one, can meet. A ref_id in
// doubt may wait for what this plan does not meet, such as another doubt, but not for what nobody knows.
func (b *builder) checkAfter() error {
	if b.isAlone() { // the state knows the recorded ones
		return nil
	}
	var submits, pending, known map[string]bool
	for _, c := range b.plan.Changes.All() {
		if c.Action != Submit && c.Action != Resolve || len(c.After) == 0 {
			continue
		}
		switch {
		case c.Action == Submit && submits == nil:
			submits, pending = b.mayMeet()
		case c.Action == Resolve && known == nil:
			known = b.knows()
		}
		for _, refID := range c.After {
			switch {
			case c.Action == Resolve && !known[refID]:
				return &DifferentError{fmt.Sprintf("what %q waits for", c.RefID), fmt.Sprintf("%q", refID), "that it is neither in the plan nor recorded"}
			case c.Action == Submit && !submits[refID] && !pending[refID]:
				return &DifferentError{fmt.Sprintf("what %q waits for", c.RefID), fmt.Sprintf("%q", refID), "that it is neither submitted nor recorded as PENDING"}
			}
		}
	}
	return nil
}

// mayMeet are the ref_ids that a plan submits, and those that are recorded and not COMPLETED.
func (b *builder) mayMeet() (submits, pending map[string]bool) {
	submits, pending = make(map[string]bool), make(map[string]bool)
	for i := range b.facts.len() {
		if b.plan.Changes.Action(i) == Submit {
			submits[b.plan.Changes.At(i).RefID] = true
		}
	}
	for _, r := range b.rows.all() {
		if r.status.Made() && !r.is(markCompleted) {
			pending[b.rows.refID(r)] = true
		}
	}
	return submits, pending
}

// knows are the ref_ids that a plan has, and those that are recorded.
func (b *builder) knows() map[string]bool {
	known := make(map[string]bool)
	for i := range b.facts.len() {
		known[b.plan.Changes.At(i).RefID] = true
	}
	for _, r := range b.rows.all() {
		known[b.rows.refID(r)] = true
	}
	return known
}

// builder makes a plan again at a time, by its word.
func (p *Plan) builder(ctx context.Context, record Record, controls Controls, at time.Time) (*builder, error) {
	b, err := newBuilder(ctx, record, controls, at)
	if err != nil {
		return nil, err
	}
	b.word = newWord(p)
	for _, r := range b.rows.all() {
		if r.status == state.InDoubt && b.word.inFlight[b.rows.refID(r)] {
			r.set(markInFlight)
		}
	}
	return b, nil
}

// sayingAll is a plan with what 0.1.0 does not say, as far as it follows from what it says.
func (p *Plan) sayingAll() *Plan {
	if p.Header.FormatVersion != 0 {
		return p
	}
	older := *p
	older.Kept = p.keptByOlder()
	older.Changes = p.datedByOlder()
	return &older
}

// controls are those under which the plan was made, with what the header says was accepted.
func (p *Plan) controls(now Controls, isAlone bool) (Controls, error) {
	declared := now.Batches
	now = p.Header.acceptances(now)
	now.Rehearsal = p.Header.Service.IsSandbox()
	now.Batches = nil
	var changed ControlBlockError
	for i := range p.Batches {
		said := &p.Batches[i]
		batch := config.Batch{Name: said.Name, Control: said.Control}
		here, _ := controlOf(declared, said.Name)
		if said.Controlled && said.Control == nil { // an older version saved it
			batch.Control = here
		}
		if here != nil && (!said.Controlled || !sameControl(here, batch.Control)) {
			changed.Blocks = append(changed.Blocks, ControlBlock{said.Name, controlText(batch.Control), controlText(here)})
		}
		if said.Controlled && batch.Control == nil && (!isAlone || p.Header.FormatVersion != 0) {
			return now, &DifferentError{fmt.Sprintf("the control block of batch %q", said.Name), "no values, as an older version of remit saves it", "not known without the configuration"}
		}
		now.Batches = append(now.Batches, batch)
	}
	if len(changed.Blocks) > 0 && !now.OwnBlocks {
		return now, &changed
	}
	return now, nil
}

// keptByOlder is what a plan of 0.1.0, which does not say it, lets one know of declared transfers
// without a line: those that lines are said to look like, where they are not called renamed.
func (p *Plan) keptByOlder() []Kept {
	find := p.Changes.Find()
	seen := make(map[string]bool)
	var kept []Kept
	for _, c := range p.Changes.All() {
		for _, s := range c.Signals {
			if _, hasLine := find(s.RefID); s.Kind != LookAlike || hasLine || seen[s.RefID] {
				continue
			}
			seen[s.RefID] = true
			kept = append(kept, Kept{RefID: s.RefID})
		}
	}
	slices.SortFunc(kept, func(x, y Kept) int { return strings.Compare(x.RefID, y.RefID) })
	return kept
}

// datedByOlder are the lines with the dates of their schedules, of which 0.1.0 says when they are due.
func (p *Plan) datedByOlder() Changes {
	var all Changes
	for _, c := range p.Changes.All() {
		if !c.Due.IsZero() {
			c.Occurrence = "of 0.1.0 " + c.Due.UTC().Format(time.DateOnly)
		}
		all.Add(c)
	}
	return all
}

// keptUnknown is the first ref_id that the plan keeps as recorded and that is not; "" for none.
func (p *Plan) keptUnknown(all *rows) string {
	known := 0
	for i := range p.Kept {
		k := &p.Kept[i]
		if k.Request != nil {
			continue
		}
		for known < all.len() && all.refID(all.at(known)) < k.RefID {
			known++
		}
		if known == all.len() || all.refID(all.at(known)) != k.RefID || !all.at(known).status.Made() {
			return k.RefID
		}
	}
	return ""
}

// fitsSerial holds the time of a plan against those of the events around its serial. A time that a
// wrong clock wrote says nothing: one that is still to come, and one before that of an earlier event.
func (p *Plan) fitsSerial(ctx context.Context, record History, now time.Time) error {
	h := p.Header
	var newest time.Time
	for event, err := range record.Events(ctx, h.Serial-1, "") {
		if err != nil {
			return fmt.Errorf("read the event of the plan's serial: %w", err)
		}
		what := fmt.Sprintf("the time of the plan, of which event %d is the newest", h.Serial)
		if event.Seq == h.Serial {
			newest = event.Time
			if h.Created.Before(event.Time.Add(-clockSlack)) && !event.Time.After(now.Add(clockSlack)) {
				return &DifferentError{what, h.Created.Format(time.RFC3339), "that it is after the event's, " + event.Time.Format(time.RFC3339)}
			}
			continue
		}
		if h.Created.After(event.Time.Add(clockSlack)) && !event.Time.Before(newest) {
			return &DifferentError{what, h.Created.Format(time.RFC3339), "that it is before the next event's, " + event.Time.Format(time.RFC3339)}
		}
		break
	}
	return nil
}

// then is a record as it was at a serial.
type then struct {
	History
	meta  state.Meta
	since map[string]bool
	was   map[string]*state.Detail // of those that were known

	isErased bool // the display names of then are gone
}

func newThen(ctx context.Context, record History, p *Plan, since map[string]bool) (*then, error) {
	t := &then{History: record, meta: record.Meta(), since: since, was: make(map[string]*state.Detail)}
	t.meta.Serial, t.meta.Service = p.Header.Serial, p.Header.Service
	refIDs := make([]string, 0, len(since))
	for refID := range since {
		refIDs = append(refIDs, refID)
	}
	slices.Sort(refIDs)
	details, err := record.Then(ctx, p.Header.Serial, refIDs...)
	for i := range details {
		t.was[details[i].RefID] = &details[i]
	}
	return t, err
}

// Unwrap returns the record as it is now.
func (t *then) Unwrap() Record { return t.History }

// Meta implements [Record].
func (t *then) Meta() state.Meta { return t.meta }

// Holder implements [Record]: which run was alive is the author's word.
func (t *then) Holder() (state.Holder, bool) { return state.Holder{}, false }

// Outlines implements [Record].
func (t *then) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		for o, err := range t.History.Outlines(ctx) {
			if err == nil && t.since[o.RefID] {
				d := t.was[o.RefID]
				if d == nil {
					continue
				}
				o = d.Outline()
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// Details implements [Record].
func (t *then) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	var unchanged []string
	for _, refID := range refIDs {
		if !t.since[refID] {
			unchanged = append(unchanged, refID)
		}
	}
	now, err := t.History.Details(ctx, unchanged...)
	if err != nil || len(unchanged) == len(refIDs) {
		return now, err
	}
	all := make([]state.Detail, 0, len(refIDs))
	for _, refID := range refIDs {
		switch {
		case t.was[refID] != nil:
			all = append(all, *t.was[refID])
		case len(now) > 0 && now[0].RefID == refID:
			all, now = append(all, now[0]), now[1:]
		}
	}
	return all, nil
}
