package planner

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/config"
	"remit/internal/clock/calendar"
	"remit/internal/transfer"
	"remit/state"
)

// Kept is a declared transfer that has no line of its own in a plan, but without which the plan
// could not be computed again: one that belongs to a batch with a control block, that looks like
// a transfer that is to be sent, or that is of a schedule of which more is to be sent.
type Kept struct {
	RefID string `json:"ref_id"`
	Block string `json:"block,omitempty"` // where it is of a schedule
	Batch string `json:"batch,omitempty"` // where that has a control block
	// Request is declared, where the record differs or is missing: the transfer was not targeted.
	// The state has the others'.
	Request    *transfer.Request `json:"request,omitempty"`
	Occurrence string            `json:"occurrence,omitempty"`
	Due        time.Time         `json:"due,omitzero"`
	Reverses   string            `json:"reverses,omitempty"`
}

// occurrenceText is for which date of which schedule a transfer is declared; "" for none.
func occurrenceText(o *config.Occurrence) string {
	if o == nil || o.Schedule == "" { // an older version saved it
		return ""
	}
	return o.Schedule + " " + o.Date.String()
}

// occurrenceOfText is the inverse of occurrenceText.
func occurrenceOfText(text string, due time.Time, catchUp time.Duration) *config.Occurrence {
	if due.IsZero() {
		return nil
	}
	o := &config.Occurrence{Due: due, CatchUp: catchUp}
	cut := strings.LastIndexByte(text, ' ')
	schedule, date := text[:max(cut, 0)], text[cut+1:]
	if parsed, err := calendar.ParseDate(date); err == nil {
		o.Schedule, o.Date = schedule, parsed
	}
	return o
}

// textOfPlace is a place as a plan has it; "" for none.
func textOfPlace(p config.Place) string {
	if p == (config.Place{}) {
		return ""
	}
	return p.String()
}

// word has the statements of the author of a saved plan, which are not computed again: whether
// the time of a transfer has come, what it waits for, and for which batches and dates others
// without a line are declared.
type word struct {
	plan *Plan
	line *Change // of the transfer that is being added; nil where it has none
	// isElsewhere says of it that the plan is not about it, and that it is not recorded as declared.
	isElsewhere bool
	// isUnknown says of it that its request is not known either.
	isUnknown bool
	// said is the record as the file has it, where the state is not at hand; else nil.
	said *said
	// since is there where it is computed as of now.
	since *since
	// isErased says that the state lost its display names since: which destination had another one is the
	// file's word.
	isErased bool
	// failed says of what the file does not agree with itself.
	failed error
	find   func(refID string) (number int, ok bool) // of a line; nil before the first look
	// inFlight are the ref_ids of which an attempt was under way in a run that was alive.
	inFlight map[string]bool
}

func newWord(p *Plan) *word {
	w := &word{plan: p, inFlight: make(map[string]bool)}
	for _, c := range p.Changes.All() {
		if c.Action == Wait && c.Recorded != nil {
			w.inFlight[c.RefID] = true
		}
	}
	return w
}

// isDue reports whether the line that is being added says so.
func (w *word) isDue() bool {
	return w.line == nil || w.line.Action != Wait && w.line.Until.IsZero()
}

// declared is a line as a declared transfer.
func (c *Change) declared() config.Transfer {
	return config.Transfer{
		Request: c.Request, Address: c.Address, Block: blockOf(c.Address), FromLabel: c.FromLabel,
		Place: config.PlaceOf(c.Place), Batch: c.Batch, Expires: c.Expires,
		Occurrence: occurrenceOfText(c.Occurrence, c.Due, c.CatchUp), DuplicateWithin: c.DuplicateWithin, Naming: c.Naming,
		DisplayName:       c.DisplayName,
		FromPlace:         config.PlaceOf(c.FromPlace),
		ToPlace:           config.PlaceOf(c.ToPlace),
		AcceptDuplicateOf: c.AcceptOf, Reverses: c.Reverses,
	}
}

// acceptances turns what a header says was accepted into the flags by which it was.
func (h *Header) acceptances(controls Controls) Controls {
	controls.AcceptDuplicate, controls.AcceptDuplicates, controls.OverrideLimit = nil, make(map[string]int), nil
	controls.AcceptRenames = make(map[string]int)
	controls.AcceptLate, controls.AllowEmpty, controls.Targets = 0, false, nil
	for _, text := range h.Accepted {
		flag, value, _ := strings.Cut(text, "=")
		switch flag {
		case "accept-duplicate":
			controls.AcceptDuplicate = append(controls.AcceptDuplicate, value)
		case "accept-duplicates":
			cut := strings.LastIndexByte(value, ':')
			if count, err := strconv.Atoi(value[cut+1:]); cut > 0 && err == nil {
				controls.AcceptDuplicates[value[:cut]] = count
			}
		case "accept-renames":
			cut := strings.LastIndexByte(value, ':')
			if count, err := strconv.Atoi(value[cut+1:]); cut > 0 && err == nil {
				controls.AcceptRenames[value[:cut]] = count
			}
		case "accept-late":
			controls.AcceptLate, _ = strconv.Atoi(value)
		case "override-limit":
			controls.OverrideLimit = append(controls.OverrideLimit, value)
		case "allow-empty":
			controls.AllowEmpty = true
		}
	}
	return controls
}

// restoreTotals takes the totals of batches without a control block, to which much may belong that
// has no line, as the author says them; and those of all where nothing is sent, since such a plan keeps nothing.
func (w *word) restoreTotals(batches []Batch) {
	for i := range batches {
		for j := range w.plan.Batches {
			said := &w.plan.Batches[j]
			isApart := w.plan.Header.FormatVersion == 0 && batches[i].Totals.Count() == 0 // nothing of it is sent
			if w.said != nil && said.Name == batches[i].Name && said.Controlled && !w.plan.Empty() {
				batches[i].Controlled = true // by a control block that may not be at hand
				if err := w.saysRemainder(&batches[i].Totals, said); err != nil {
					w.failed = err
				}
				continue
			}
			if said.Name == batches[i].Name && (!said.Controlled || isApart || w.plan.Empty()) {
				batches[i].Totals = said.Totals
			}
		}
	}
}

// splitTotals takes from the author which recorded transfers are declared, where that comes to the totals that
// the state has. A plan with targets does not say it of all.
func (w *word) splitTotals(computed *Plan) {
	var here, said transfer.Totals
	for _, action := range []Action{None, Undeclared} {
		if t := computed.Totals[action]; t != nil {
			here.Merge(*t)
		}
		if t := w.plan.Totals[action]; t != nil {
			said.Merge(*t)
		}
	}
	if w.said == nil && len(w.plan.Header.Targets) == 0 && !here.SameAs(said) {
		return
	}
	for _, action := range []Action{None, Undeclared} {
		delete(computed.Totals, action)
		if t := w.plan.Totals[action]; t != nil {
			computed.Totals[action] = t
		}
	}
}

// hides reports whether a row that has no line may go without one: targets leave out transfers that are not
// declared.
func (w *word) hides(r *row) bool {
	return len(w.plan.Header.Targets) > 0 && (r.status == state.InDoubt || r.status == state.Conflict)
}

// elsewhere takes in a transfer that the plan is not about. number and isKnown are of
// its ref_id.
func (w *word) elsewhere(b *builder, t *config.Transfer, number int, isKnown bool) {
	if !isKnown || number >= b.rows.len() {
		return
	}
	r := b.rows.at(number)
	if w.since != nil && r.status == state.Conflict && len(w.plan.Header.Targets) == 0 {
		return // so that it stops the plan
	}
	r.set(markDeclared)
	b.noteOccurrence(t, r)
	if r.status.Made() {
		b.plan.count(Undeclared, b.rows.assetOf(r), b.rows.amount(r))
	}
}

// declared yields what the plan says is declared: its lines, and what it keeps. An error of reading
// is set before it ends.
func (w *word) declared(ctx context.Context, record Record, failed *error) iter.Seq[config.Transfer] {
	return func(yield func(config.Transfer) bool) {
		for _, c := range w.plan.Changes.All() {
			if !c.Declared() {
				continue
			}
			w.line = c
			if !yield(c.declared()) {
				return
			}
		}
		w.line = nil
		var recorded []string
		kept := make(map[string]*Kept)
		for i := range w.plan.Kept {
			k := &w.plan.Kept[i]
			if k.Request == nil && w.said == nil {
				recorded = append(recorded, k.RefID)
				kept[k.RefID] = k
				continue
			}
			w.isElsewhere = true
			request := transfer.Request{RefID: k.RefID} // of one that is recorded nothing else is known
			if w.isUnknown = k.Request == nil; !w.isUnknown {
				request = *k.Request
			}
			if !yield(k.declared(request)) {
				return
			}
		}
		w.isElsewhere, w.isUnknown = false, false
		*failed = eachDetail(ctx, record, recorded, func(d *state.Detail) error {
			request, err := newRecorded(d).Request()
			if err != nil {
				return fmt.Errorf("read the recorded request of %q: %w", d.RefID, err)
			}
			yield(kept[d.RefID].declared(request))
			return nil
		})
	}
}

func (k *Kept) declared(r transfer.Request) config.Transfer {
	return config.Transfer{
		Request: r, Address: k.Block, Block: k.Block, Batch: k.Batch, Reverses: k.Reverses,
		Occurrence: occurrenceOfText(k.Occurrence, k.Due, 0),
	}
}

// noteBatch notes the transfers that belong to a batch with a control block and may have no line.
func (b *builder) noteBatch(t *config.Transfer, r *row, action Action, targeted bool) {
	if !b.batches.isControlled(t.Batch) || targeted && action != None {
		return
	}
	if action == None && !r.isImported() {
		r.batch = int32(b.batches.number(t.Batch)) + 1
		return
	}
	request := t.Request
	b.kept = append(b.kept, Kept{RefID: request.RefID, Batch: t.Batch, Request: &request, Reverses: t.Reverses})
}

// keep lists declared transfers without a line, as far as the plan depends on them.
func (b *builder) keep() {
	if b.plan.Empty() {
		return
	}
	if len(b.kept) > 0 {
		find := b.plan.Changes.Find()
		b.plan.Kept = slices.DeleteFunc(b.kept, func(k Kept) bool {
			_, hasLine := find(k.RefID)
			return hasLine
		})
	}
	b.keepRecorded()
	slices.SortFunc(b.plan.Kept, func(x, y Kept) int { return strings.Compare(x.RefID, y.RefID) })
}

// keepRecorded is keep for recorded transfers.
func (b *builder) keepRecorded() {
	if b.rows.len() == 0 {
		return
	}
	for _, f := range b.facts.all() {
		if r := f.row; r != nil {
			r.set(markHasLine)
		}
	}
	dated, due := b.datedBlocks(), b.dueTwins()
	for _, r := range b.rows.all() {
		if !r.is(markDeclared) || r.is(markHasLine) || r.isImported() || !r.status.Made() {
			continue
		}
		refID := b.rows.refID(r)
		o, hasDate := b.occurrences[refID]
		reversed, reverses := b.reversed[refID]
		isTwin := r.is(markMayBeMade) && due.has(r.twin)
		if r.batch == 0 && !isTwin && !b.neighbours[r] && !reverses && (!hasDate || !dated[o.block]) {
			continue
		}
		k := Kept{RefID: refID, Reverses: reversed.Reverses}
		if r.batch > 0 {
			k.Batch = b.batches.batches[r.batch-1].Name
		}
		if hasDate {
			k.Block, k.Occurrence, k.Due = o.block, occurrenceText(o.Occurrence), o.Due
		}
		b.plan.Kept = append(b.plan.Kept, k)
	}
}

// datedBlocks are the blocks of which an occurrence is to be sent.
func (b *builder) datedBlocks() map[string]bool {
	blocks := make(map[string]bool)
	for i := range b.facts.len() {
		if b.plan.Changes.Action(i) == Submit && !b.plan.Changes.due(i).IsZero() {
			blocks[b.blockFactsOf(i).block] = true
		}
	}
	return blocks
}

// dueTwins are those of transfers that are to be sent.
func (b *builder) dueTwins() *twinSet {
	due := make([]twinned, 0, b.sent.len())
	for _, s := range b.sent.all() {
		due = append(due, twinned{s.twin, s.change})
	}
	return newTwinSet(due)
}
