package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// ErrLookup says that the service could not be asked about all that is PENDING. The answers that it
// gave are in the state.
var ErrLookup = errors.New("the service could not be asked about all that is PENDING")

const (
	// passMax bounds the ref_ids of PENDING transfers that are in memory at once.
	passMax = 50_000
	// readMax is how many of them are read in full at once. To open a state costs as much as its
	// newest 65,000 events, so a page of a lookup would be too few.
	readMax = 5000
	// findFailuresMax is how many lookups in a row may fail before no other is tried.
	findFailuresMax = 3
	// pendingNamed bounds [Refreshed.Named].
	pendingNamed = 20
)

// Refresh looks up the transfers that are recorded and neither COMPLETED nor FAILED in the state, which
// the caller has locked, and writes the news down. Once it looks up again those whose fate one record or one
// answer alone says, see [again]. It sends no transfer and is no run: of
// run it uses Journal, Submitter, Finder, Handler, Policy and Clock. With wait over 0 it goes on
// until all of them are final or that time is over. Only those that takes accepts are looked up;
// nil accepts all.
//
// The error says that no token was to be had, that clocks differ, that the state could not be
// read or written (wrapped [ErrJournal]), or that the service could not be asked about all
// ([ErrLookup]); Refreshed holds in any case. The first cancellation of ctx lets a
// lookup under way end.
func Refresh(ctx context.Context, run Run, wait time.Duration, takes func(state.Detail) bool) (Refreshed, error) {
	return refresh(ctx, run, wait, takes, passMax)
}

func refresh(ctx context.Context, run Run, wait time.Duration, takes func(state.Detail) bool, most int) (Refreshed, error) {
	active := newActiveRun(ctx, run, 0)
	defer active.life.release()
	r := newRefresher(active, unfinished(allOutlines), takes)
	r.most = most
	first, err := r.next("")
	if err == nil {
		err = r.readAgain(allOutlines)
	}
	if err != nil || len(first.list)+len(r.again.refIDs) == 0 && !r.again.more {
		r.finish()
		return r.summary, err
	}
	if err := active.ready(ctx); err != nil {
		return r.summary, err
	}
	err = r.untilFinal(wait, 0)
	r.finish()
	return r.summary, err
}

// awaitFinal looks up, after the last request, what the run recorded, and what it settled of attempts
// of earlier runs, until all of it is final or Policy.Wait is over. An error is the state's.
func awaitFinal(run *activeRun, isOfRun func(state.Transfer) bool) error {
	r := newRefresher(run, unfinished(outlinesOf(isOfRun)), nil)
	if run.report.has(ResultFailed) {
		if err := r.readAgain(outlinesOf(isOfRun)); err != nil {
			return err
		}
	}
	var err error
	if !run.lookups.possible() || run.Settings.Wait <= 0 {
		err = r.round()
	} else {
		err = r.untilFinal(run.Settings.Wait, pollFirst)
	}
	run.report.waited(&r.summary)
	if !run.lookups.possible() && r.summary.Pending.Count() > 0 {
		run.report.tell(Event{
			Type: EventNotice, Reason: "The service cannot be asked what became of what is PENDING: its service block has no lookup_path. A person says it, with a record that the service shows elsewhere.",
			Next: command("REF_ID", "--recorded FILE"),
		})
	}
	if errors.Is(err, ErrLookup) {
		run.report.tell(Event{Type: EventNotice, Reason: err.Error()})
		return nil
	}
	return err
}

// pass are transfers that are recorded and not final, in byte order of ref_id.
type pass struct {
	after string // the ref_id after which they begin
	most  int
	list  []left
	more  bool // than the list has
}

// left is a transfer that is to be looked up.
type left struct {
	refID, asset string
	amount       transfer.Amount
	status       transfer.RecordStatus
}

// add adds a transfer where it belongs to the pass. It reports whether another one may.
func (p *pass) add(o state.Outline) bool {
	switch {
	case o.RefID <= p.after || !o.Status.Made() || o.RecordStatus.Final():
		return true
	case len(p.list) == p.most:
		p.more = true
		return false
	}
	p.list = append(p.list, newLeft(o.RefID, o.Asset, o.Amount, o.RecordStatus))
	return true
}

// newLeft copies its texts: parts of a larger text would keep that.
func newLeft(refID, asset string, amount transfer.Amount, status transfer.RecordStatus) left {
	l := left{refID: strings.Clone(refID), asset: strings.Clone(asset), status: transfer.Pending}
	if !status.Known() {
		l.status = transfer.RecordStatus(strings.Clone(string(status)))
	}
	if !amount.IsZero() {
		l.amount = transfer.MustAmount(strings.Clone(amount.String()))
	}
	return l
}

func leftOf(list []watched) []left {
	all := make([]left, len(list))
	for i := range list {
		all[i] = newLeft(list[i].refID, list[i].detail.Asset, list[i].detail.Amount, list[i].detail.RecordStatus)
	}
	return all
}

// lister reads the next pass, of at most so many, after a ref_id.
type lister func(ctx context.Context, snapshot state.Snapshot, after string, most int) (*pass, error)

// unfinished lists those of some outlines.
func unfinished(list outlines) lister {
	return func(ctx context.Context, snapshot state.Snapshot, after string, most int) (*pass, error) {
		p := &pass{after: after, most: most}
		for o, err := range list(ctx, snapshot) {
			if err != nil {
				return nil, err
			}
			if !p.add(o) {
				break
			}
		}
		return p, nil
	}
}

// refresher looks recorded transfers up, again and again. Its invariant: of what it looks up no
// more than [passMax] outlines and [readMax] records are in memory.
type refresher struct {
	run   *activeRun
	lists lister
	takes func(state.Detail) bool // nil takes all
	most  int                     // of a pass
	again *again                  // is looked up once, by the first round; nil from then on

	summary  Refreshed
	left     []left          // all that are still to be looked up, where that was one pass; else nil
	refused  map[string]bool // whom a lookup does not settle
	told     map[string]bool // of whom a notice was told
	failures int             // lookups in a row that failed
	failed   error           // the latest of the round
}

func newRefresher(run *activeRun, lists lister, takes func(state.Detail) bool) *refresher {
	return &refresher{run: run, lists: lists, takes: takes, most: passMax, refused: make(map[string]bool), told: make(map[string]bool)}
}

// next reads the pass after a ref_id.
func (r *refresher) next(after string) (*pass, error) {
	snapshot, err := r.run.journal.snapshot()
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	p, err := r.lists(r.run.life.lasting, snapshot, after, r.most)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	return p, nil
}

// untilFinal looks everything up, after a pause, until it is final, wait is over, nothing new
// may start, or the state fails. Lookups that fail are an error of the last round alone.
func (r *refresher) untilFinal(wait, pause time.Duration) error {
	until := r.run.Clock.Now().Add(wait)
	for next := pollFirst; ; next = min(next*3/2, pollMax) {
		if pause > 0 {
			_ = r.run.Clock.Sleep(r.run.life.starting, pause) // where it ends early, the round only counts
		}
		err := r.round()
		now := r.run.Clock.Now()
		switch {
		case err != nil && !errors.Is(err, ErrLookup):
			return err
		case r.summary.Pending.Count() == 0, !r.run.life.mayStart(), !now.Before(until):
			return err
		}
		pause = min(next, until.Sub(now))
		r.run.report.tell(Event{
			Type: EventWaiting, Total: r.summary.Pending.Count(),
			Reason: fmt.Sprintf("%d still %s; looked up again until %s UTC.", r.summary.Pending.Count(), r.summary.pendingWord(), until.UTC().Format(time.TimeOnly)),
		})
	}
}

// round looks everything up once. Transfers that can't be looked up are counted. The error wraps
// [ErrLookup], or is the state's.
func (r *refresher) round() error {
	s := &r.summary
	s.Pending, s.Unknown, s.Absent, s.Unreadable, s.Unasked, s.Named = transfer.Totals{}, nil, 0, 0, 0, nil
	r.failures, r.failed = 0, nil
	if err := r.lookAgain(); err != nil {
		return err
	}
	if known := r.left; known != nil {
		var err error
		r.left, err = r.pass(known)
		return errors.Join(err, r.failed)
	}
	for after := ""; ; {
		p, err := r.next(after)
		if err != nil {
			return err
		}
		still, err := r.pass(p.list)
		if err != nil {
			return err
		}
		if !p.more {
			if after == "" {
				r.left = still
			}
			return r.failed
		}
		after = p.list[len(p.list)-1].refID
	}
}

// pass looks transfers up, a page at a time, and returns those that are still not final.
func (r *refresher) pass(list []left) ([]left, error) {
	var still []left
	for lot := range slices.Chunk(list, readMax) {
		if !r.mayAsk() && r.takes == nil {
			still = append(still, r.leave(lot)...)
			continue
		}
		refIDs := make([]string, len(lot))
		for i, l := range lot {
			refIDs[i] = l.refID
		}
		taken, err := r.run.watcher.read(refIDs, r.wanted)
		if err != nil {
			return nil, err
		}
		for page := range slices.Chunk(taken, FindMax) {
			more, err := r.page(page)
			if err != nil {
				return nil, err
			}
			still = append(still, more...)
		}
	}
	return still, nil
}

// mayAsk reports whether there is somebody to ask and time for it.
func (r *refresher) mayAsk() bool {
	return r.run.lookups.possible() && r.run.life.mayStart() && r.failures < findFailuresMax
}

// page looks transfers up and tells the news. It returns those that are still not final.
func (r *refresher) page(list []watched) ([]left, error) {
	if !r.mayAsk() {
		return r.leave(leftOf(list)), nil
	}
	all, err := r.run.watcher.watch(list)
	if r.isUnasked(err) {
		return r.leave(leftOf(list)), nil
	}
	if err != nil {
		return nil, err
	}
	var still []left
	for i := range all {
		if n := &all[i]; r.note(n) {
			status := n.detail.RecordStatus
			if n.kind == newsChanged {
				status = n.verdict.status
			}
			l := newLeft(n.refID, n.detail.Asset, n.detail.Amount, status)
			r.still(l)
			still = append(still, l)
		}
	}
	return still, nil
}

// isUnasked reports whether err says that the service could not be asked, and notes that; else it was asked.
func (r *refresher) isUnasked(err error) bool {
	lookup, is := errors.AsType[*lookupError](err)
	if !is {
		r.failures = 0
		return false
	}
	r.failures, r.failed = r.failures+1, fmt.Errorf("%w: %w", ErrLookup, lookup.error)
	return true
}

func (r *refresher) wanted(d state.Detail) bool {
	return isUnfinished(d) && !r.refused[d.RefID] && (r.takes == nil || r.takes(d))
}

// note counts and tells what a lookup has of a transfer, and reports whether it is still not
// final.
func (r *refresher) note(n *news) bool {
	s := &r.summary
	switch n.kind {
	case newsConflict:
		n.count(&s.Conflicts)
		r.change(n)
		return false
	case newsChanged:
		r.change(n)
		switch n.verdict.status {
		case transfer.Failed:
			n.count(&s.Failed)
			s.FailedOne = cmp.Or(s.FailedOne, n.detail.RefID)
		case transfer.Completed:
			n.count(&s.Completed)
			if n.creditFailed {
				s.CreditFailed++
			}
		case transfer.Pending: // something else is new
		case transfer.NoStatus: // the record falls short
		default:
			if n.verdict.status != n.detail.RecordStatus {
				s.UnknownNow++
			}
		}
		return !n.verdict.status.Final()
	case newsRefused:
		r.refused[n.refID] = true
		n.count(&s.Refused)
		r.tell(n)
		return false
	case newsUnreadable:
		s.Unreadable++
		r.tell(n)
	case newsAbsent:
		s.Absent++
	case newsNone, newsSettled: // a refresh has no other runners
	}
	return true
}

// change tells the news of a transfer, and of a run's own transfer its earlier result too.
func (r *refresher) change(n *news) {
	before := Result("")
	if r.run.Begun.RunID != "" {
		before = resultOf(n.detail.Status, n.detail.RecordStatus)
	}
	r.run.report.changed(n, before)
}

// still counts a transfer that is not final.
func (r *refresher) still(l left) {
	r.summary.Pending.Add(l.asset, l.amount)
	r.summary.Unknown.add(l.status, 1)
	if len(r.summary.Named) < pendingNamed {
		r.summary.Named = append(r.summary.Named, l.refID)
	}
}

// leave counts transfers that the refresh does not look up, and returns them.
func (r *refresher) leave(list []left) []left {
	still := make([]left, 0, len(list))
	for _, l := range list {
		if !r.refused[l.refID] {
			r.still(l)
			r.summary.Unasked++
			still = append(still, l)
		}
	}
	return still
}

// tell tells once why a lookup does not settle a transfer, of the first [exceptionsMax] of them.
func (r *refresher) tell(n *news) {
	if !r.told[n.refID] && len(r.told) < exceptionsMax {
		r.told[n.refID] = true
		next := command(n.refID, "--recorded FILE")
		if n.kind == newsAbsent { // nothing is there to take over
			next = "remit refresh"
		}
		r.run.report.tell(Event{Type: EventNotice, RefID: n.refID, Reason: n.reason, Next: next})
	}
}

// finish completes the summary at the end.
func (r *refresher) finish() {
	r.run.life.ignoreInterrupts()
	r.summary.Interrupted = r.run.report.interrupted()
	if snapshot, err := r.run.journal.snapshot(); err == nil {
		r.summary.Head = snapshot.Meta().Head
		_ = snapshot.Close() // nothing was written through it
	}
}
