package planner

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// New compares the declared transfers, in declaration order, with the recorded ones, and says for
// each ref_id what an apply at the given time would do. It is pure: the same arguments make
// the same plan, and the order of the declared transfers changes nothing but the order of
// the plan's changes.
//
// The plan's header lacks what New can't know; see [Header]. A plan that must not be applied
// is no error: it has obstacles. The error is a *[TargetError] where a target names nothing,
// or says that the record can't be read, that it contradicts itself, or that a ref_id is
// declared twice (which config finds as well, and says better).
func New(ctx context.Context, declared iter.Seq[config.Transfer], record Record, controls Controls, now time.Time) (*Plan, error) {
	b, err := newBuilder(ctx, record, controls, now)
	if err != nil {
		return nil, err
	}
	if err := b.build(ctx, declared); err != nil {
		return nil, err
	}
	return b.plan, nil
}

func newBuilder(ctx context.Context, record Record, controls Controls, now time.Time) (*builder, error) {
	moments, err := newMoments(ctx, record, now)
	if err != nil {
		return nil, err
	}
	limits := newLimitTally(controls.Declared.Limits, moments)
	accepted, err := readAccepted(ctx, record)
	if err != nil {
		return nil, err
	}
	if limits != nil {
		limits.otherwise = accepted
	}
	pending := newPendingSince(controls, now)
	recorded, err := readRows(ctx, record, limits, pending)
	if err != nil {
		return nil, err
	}
	meta := record.Meta()
	b := &builder{
		plan: &Plan{
			Header: Header{
				Format: Format, FormatVersion: FormatVersion, Environment: meta.Environment, Service: meta.Service,
				Lineage: meta.Lineage, Serial: meta.Serial, Lacks: lackOf(meta), Created: now, Targets: controls.Targets,
				Controls: controls.Declared.Digest(), ControlList: controls.Declared.List(),
				Scales: controls.Scales,
			},
			Totals:  make(map[Action]*transfer.Totals),
			Pending: pending.unfinished, Unknown: pending.unknown, Unverified: StatusGroup{Group: GroupUnverified},
		},
		record: record, rows: recorded, controls: controls, now: now, moments: moments,
		targets: newTargets(controls.Targets), batches: newBatchTally(controls.Batches), limits: limits,
		seed: maphash.MakeSeed(), openings: make(openings), occurrences: make(occurrencesOf),
		blockFacts: make([]blockFacts, 1), // a transfer that is no longer declared has none
	}
	return b, b.readMadeOtherwise(ctx, accepted)
}

// builder holds what New needs while it runs.
type builder struct {
	plan       *Plan
	facts      list[facts]  // of the plan's change with the same index
	blockFacts []blockFacts // that facts and pending transfers name
	record     Record
	rows       *rows
	controls   Controls
	now        time.Time
	moments    *moments
	targets    *targets
	batches    *batchTally
	limits     *limitTally // nil where there is none
	declared   int
	pending    []pendingRow
	sent       list[fingerprinted] // Submits as they were declared
	payees     *payees             // nil before the first Submit
	// paidForgotten are transfers that had paid when a person forgot them; nil before the first Submit.
	paidForgotten map[*row]bool
	names         *paidNames // nil before the first Submit with a display name
	// reversed are declared reversals that were made, by ref_id.
	reversed map[string]config.Transfer

	openings openings
	windows  map[**config.Window][]string // names by list
	newest   map[string]time.Time         // Due of the newest occurrence that may have been made, by block

	occurrences occurrencesOf
	paidDates   map[scheduledDate]bool
	isUncounted bool   // Submits are counted at the end
	kept        []Kept // of batches with a control block
	word        *word  // of a saved plan that is computed again; nil where the files are at hand

	renamed    map[int32]*renaming       // by the number of a change
	corrected  map[int32]*correction     // by the number of a change
	neighbours map[*row]bool             // declared, and but for the amount like a line that is due
	waiting    map[transfer.Twin][]int32 // declared changes that are not due; nil before it is asked for
	namings    map[string]bool           // of declared transfers, those that are written as they are left out
	lastNaming string                    // that was put there

	repaid map[*row]repaid // of declared transfers that FAILED

	otherwise     map[*row]*otherwiseMade // recorded transfers; nil where there is none
	otherwiseRows []otherwiseRow          // in order of ref_id
	dated         map[*row]int64          // when those were made that are dated by their records, as a row has it

	seed     maphash.Seed // of twins that are not recorded
	movement []byte       // of one of them
}

// facts are of a change, and needed no longer than New runs.
type facts struct {
	row        *row // nil where nothing is recorded
	block      int32
	resolution resolution // of the dependencies
}

// blockFacts is what transfers of one block have in common.
type blockFacts struct {
	block     string
	batch     string
	dependsOn []config.Dependency
	acceptOf  []string
}

// pendingRow is a declared transfer without a change of its own that others may wait for.
type pendingRow struct {
	row   *row
	block int32
}

// fingerprinted is a change with the values that were computed from its request when it was declared.
type fingerprinted struct {
	fingerprint transfer.Fingerprint
	twin        transfer.Twin
	change      int32
}

func (b *builder) build(ctx context.Context, declared iter.Seq[config.Transfer]) error {
	if err := b.readDeclared(ctx, declared); err != nil {
		return err
	}
	if err := b.targets.check(); err != nil {
		return err
	}
	for _, step := range []func(){b.addUndeclared, b.keepTargets, b.resolveDependencies} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		step()
	}
	if err := b.findRepaid(ctx); err != nil {
		return err
	}
	if err := b.describe(ctx); err != nil {
		return err
	}
	b.dropAgreed()
	if err := b.findLookAlikes(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := b.addReversalObstacles(ctx); err != nil {
		return err
	}
	if err := b.findLate(ctx); err != nil {
		return err
	}
	b.checkBatches()
	b.addConflictObstacles()
	b.addEmptyObstacle()
	if err := b.addTotals(); err != nil {
		return err
	}
	if err := b.checkLimits(ctx); err != nil {
		return err
	}
	obstacles, err := b.plan.checkPolicies(b.controls.Declared.Policies)
	if err != nil {
		return err
	}
	b.plan.Obstacles = append(b.plan.Obstacles, obstacles...)
	b.plan.sortObstacles()
	if b.word == nil {
		b.keep()
	}
	digest, err := b.digest()
	b.plan.Digest = digest
	return err
}

// readDeclared gives each declared transfer its action, dependencies and look-alikes apart,
// and keeps those that need a line.
func (b *builder) readDeclared(ctx context.Context, declared iter.Seq[config.Transfer]) error {
	known := matcher{rows: b.rows, changes: &b.plan.Changes}
	for t := range declared {
		if b.declared%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.declared++
		if b.word == nil || !b.word.isUnknown {
			b.batches.add(&t)
		}
		refID := t.Request.RefID
		n, isKnown := known.match(refID)
		if b.word != nil && b.word.isElsewhere {
			b.word.elsewhere(b, &t, n, isKnown)
			continue
		}
		var r *row
		switch {
		case !isKnown:
		case n >= b.rows.len():
			return fmt.Errorf("ref_id %q is declared twice: at %s and at %s", refID, b.plan.Changes.At(n-b.rows.len()).Place, t.Place)
		case b.rows.at(n).is(markDeclared):
			return fmt.Errorf("ref_id %q is declared twice, the second time at %s", refID, t.Place)
		default:
			r = b.rows.at(n)
			r.set(markDeclared)
		}
		if err := b.addDeclared(ctx, &t, r); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) addDeclared(ctx context.Context, t *config.Transfer, r *row) error {
	targeted := b.targets.match(t)
	b.noteOccurrence(t, r)
	b.noteNaming(t)
	action := b.classify(t, r)
	if action == None && t.Reverses != "" && targeted {
		if b.reversed == nil {
			b.reversed = make(map[string]config.Transfer)
		}
		b.reversed[t.Request.RefID] = *t
	}
	b.noteBatch(t, r, action, targeted)
	if action == None && r.status != state.Unverified && !r.isImported() {
		if targeted {
			b.plan.count(None, t.Request.Asset, t.Request.Amount)
			b.noteUnknown(r)
			if at := time.UnixMilli(r.intended).UTC(); r.intended != unknownAge && !mayBeAdopted(r.status) && at.After(b.plan.Newest) {
				b.plan.Newest = at
			}
			if b.otherwise[r] != nil {
				b.plan.Otherwise = append(b.plan.Otherwise, t.Request.RefID)
			}
		}
		if !r.is(markCompleted) {
			b.pending = append(b.pending, pendingRow{r, b.blockNumber(t)})
		}
		return nil
	}
	c := newChange(t, action)
	switch action {
	case Submit:
		if err := b.addSubmit(ctx, &c, t); err != nil {
			return err
		}
	case Wait:
		if !isInFlight(r) {
			b.setUntil(&c, t)
		}
	case Expired:
		c.Reason = "expires passed at " + t.Expires.Format(time.RFC3339) + ", before it was submitted; remove it, or pay it under a new ref_id"
	case Resolve:
		c.Signals = signalsOf(&c)
		c.Windows = b.nameWindows(t.Windows)
		if b.word != nil {
			c.After = b.word.line.After
		}
		if !b.isDue(t) {
			b.setUntil(&c, t)
		}
	case None, Conflict, Failed, Undeclared:
	}
	b.add(&c, facts{row: r, block: b.blockNumber(t)}, targeted)
	return nil
}

// noteUnknown counts a recorded transfer that has no line where nobody but a person can say how it ended.
func (b *builder) noteUnknown(r *row) {
	if b.rows.hasUnknownStatus(r) {
		b.plan.UnknownRecorded++
	}
}

// newChange has what every line says of a declared transfer.
func newChange(t *config.Transfer, action Action) Change {
	c := Change{
		Action: action, RefID: t.Request.RefID, Address: t.Address, Place: t.Place.String(), Batch: t.Batch,
		Request: t.Request, FromLabel: t.FromLabel, Naming: t.Naming, Reverses: t.Reverses, Expires: t.Expires,
		DisplayName: t.DisplayName, FromPlace: textOfPlace(t.FromPlace), ToPlace: textOfPlace(t.ToPlace),
	}
	if t.Occurrence != nil && action != Expired {
		c.Due, c.CatchUp, c.Occurrence = t.Occurrence.Due, t.Occurrence.CatchUp, occurrenceText(t.Occurrence)
	}
	return c
}

// addSubmit counts a transfer that is to be sent, and gives its change the signals of one.
func (b *builder) addSubmit(ctx context.Context, c *Change, t *config.Transfer) error {
	b.occurrences.add(t)
	c.DuplicateWithin, c.AcceptOf = t.DuplicateWithin, t.AcceptDuplicateOf
	own := signalsOf(c)
	c.Windows = b.nameWindows(t.Windows)
	if b.word != nil {
		c.Until, c.After = b.word.line.Until, b.word.line.After
	} else if b.controls.Rehearsal && !t.NotBefore.IsZero() { // whenever it is made, it says the same
		c.Until = b.openings.opens(t.Windows, t.NotBefore).at
	}
	b.sent.add(fingerprinted{t.Request.Fingerprint(), b.twin(&t.Request), int32(b.plan.Changes.Len())})
	b.plan.totalsOf(Submit).AddRequest(&t.Request)
	paid, err := b.paidSignals(ctx, &t.Request)
	if err != nil {
		return err
	}
	c.Signals = append(slices.Clip(paid), own...)
	if t.DisplayName != "" {
		named, err := b.nameSignals(ctx, t, slices.ContainsFunc(paid, func(s Signal) bool { return s.Kind == FirstDestination }))
		if err != nil {
			return err
		}
		c.Signals = append(c.Signals, named...)
	}
	return nil
}

// paidSignals finds the firsts of a transfer that is to be made: the signals about earlier payments.
func (b *builder) paidSignals(ctx context.Context, r *transfer.Request) ([]Signal, error) {
	if b.isAlone() {
		return b.word.saysPaid(r), nil
	}
	if b.payees == nil {
		if err := b.readPaidForgotten(ctx); err != nil {
			return nil, err
		}
		b.payees = b.newPayees()
	}
	return b.payees.signals(r), nil
}

// twin is what twins among the declared transfers share. Where nothing is recorded to be a twin
// of, a hash of this process does, which costs less.
func (b *builder) twin(r *transfer.Request) transfer.Twin {
	if b.rows.len() > 0 {
		return r.Twin()
	}
	one := r.OneSpelling()
	b.movement = one.AppendMovement(b.movement[:0])
	return transfer.Twin(maphash.Bytes(b.seed, b.movement))
}

func (b *builder) add(c *Change, f facts, targeted bool) {
	b.targets.mark(b.plan.Changes.Len(), targeted)
	b.plan.Changes.Add(c)
	b.facts.add(f)
}

// blockNumber is the number of the facts of the block of t, mostly that of the transfer before.
func (b *builder) blockNumber(t *config.Transfer) int32 {
	if last := len(b.blockFacts) - 1; last >= 0 {
		s := &b.blockFacts[last]
		if s.block == t.Block && s.batch == t.Batch && isSameDependencies(s.dependsOn, t.DependsOn) && len(s.acceptOf)+len(t.AcceptDuplicateOf) == 0 {
			return int32(last)
		}
	}
	b.blockFacts = append(b.blockFacts, blockFacts{t.Block, t.Batch, t.DependsOn, t.AcceptDuplicateOf})
	return int32(len(b.blockFacts) - 1)
}

// blockFactsOf are those of the block of the change with the given number.
func (b *builder) blockFactsOf(change int) *blockFacts {
	return &b.blockFacts[b.facts.at(change).block]
}

// isSameDependencies reports whether two lists are one in memory, which those of a block are.
func isSameDependencies(a, b []config.Dependency) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// classify returns the action of a declared transfer (docs/commands/plan.md has the table), before
// its dependencies are looked at.
func (b *builder) classify(t *config.Transfer, r *row) Action {
	if r == nil {
		return b.due(t)
	}
	switch r.status {
	case state.Unsent, state.Refused:
		return b.due(t)
	case state.InDoubt:
		if r.is(markInFlight) {
			return Wait
		}
		return Resolve
	case state.Recorded, state.Adopted, state.Unverified:
		switch {
		case r.fingerprint != t.Request.Fingerprint() && !r.isImported(): // see describeImported
			return Conflict
		case r.is(markFailed):
			return Failed
		}
		return None
	case state.Tombstone:
		if !r.is(markMayBeMade) { // nothing was paid, and nothing will be under this ref_id
			return Failed
		}
		return Conflict
	case state.Conflict:
		return Conflict
	}
	panic(fmt.Sprintf("ref_id %q is recorded with %s", b.rows.refID(r), r.status))
}

// due says what to do with a transfer that was not made. A time that has come exactly now
// has come.
func (b *builder) due(t *config.Transfer) Action {
	switch {
	case !t.Expires.IsZero() && !b.now.Before(t.Expires):
		return Expired
	case !b.isDue(t):
		return Wait
	}
	return Submit
}

// isDue reports whether a transfer's time has come and its windows are open, which a rehearsal
// does not wait for.
func (b *builder) isDue(t *config.Transfer) bool {
	switch {
	case b.controls.Rehearsal:
		return true
	case b.word != nil:
		return b.word.isDue()
	}
	return !b.now.Before(t.NotBefore) && b.openings.opens(t.Windows, b.now).reason == ""
}

// setUntil says until when a transfer that is not due waits, and for what but its time.
func (b *builder) setUntil(c *Change, t *config.Transfer) {
	if b.word != nil {
		c.Until, c.Reason, c.Never = b.word.line.Until, b.word.line.Reason, b.word.line.Never
		c.Windows = b.word.line.Windows
		return
	}
	from := t.NotBefore
	if from.Before(b.now) {
		from = b.now
	}
	opens := b.openings.opens(t.Windows, from)
	c.Until, c.Reason = opens.at, opens.reason
	c.Never = c.Action == Wait && (opens.at.IsZero() || c.expiresBefore(opens.at))
	if !t.Expires.IsZero() && (opens.at.IsZero() || c.expiresBefore(opens.at)) {
		c.Reason = strings.TrimPrefix(c.Reason+"; it expires before that, at "+t.Expires.Format(time.RFC3339), "; ")
	}
}

// expiresBefore reports whether a transfer is no longer wanted at a time.
func (c *Change) expiresBefore(at time.Time) bool {
	return !c.Expires.IsZero() && !at.Before(c.Expires)
}

func isInFlight(r *row) bool { return r != nil && r.is(markInFlight) }
