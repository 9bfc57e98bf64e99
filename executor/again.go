package executor

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// outlines yields some of what a state has.
type outlines func(ctx context.Context, snapshot state.Snapshot) iter.Seq2[state.Outline, error]

// allOutlines yields all.
func allOutlines(ctx context.Context, snapshot state.Snapshot) iter.Seq2[state.Outline, error] {
	return snapshot.Outlines(ctx)
}

// outlinesOf yields those of the rows that isAsked accepts.
func outlinesOf(isAsked func(state.Transfer) bool) outlines {
	return func(ctx context.Context, snapshot state.Snapshot) iter.Seq2[state.Outline, error] {
		return func(yield func(state.Outline, error) bool) {
			for row, err := range snapshot.Transfers(ctx) {
				if (err != nil || isAsked(row)) && !yield(row.Outline(), err) {
					return
				}
			}
		}
	}
}

// again are transfers that are looked up again although their status is final: the FAILED ones, since an answer, a list or a person
// that says so wrongly would have them paid twice, for a week from then on; what a person settled as not made,
// for as long; and the unverified ones whose credit side is not COMPLETED. They are read a pass at a time.
type again struct {
	list  outlines                // among which they are
	takes func(state.Detail) bool // nil takes all
	most  int                     // where a pass has so many, it ends
	since time.Time               // of the FAILED ones, and of those settled as not made, the latest outcome is newer

	refIDs []string // of the pass, in byte order
	more   bool     // after the pass
	last   string   // where more, the ref_id up to which the state was read
}

// readAgain reads the first pass of those among some outlines.
func (r *refresher) readAgain(list outlines) error {
	r.again = &again{list: list, takes: r.takes, most: r.most, since: r.run.Clock.Now().Add(-state.FailedFor)}
	if !r.run.lookups.possible() {
		return nil
	}
	return r.again.next(r.run)
}

// next reads the next pass.
func (a *again) next(run *activeRun) error {
	snapshot, err := run.journal.snapshot()
	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	if err := a.readFrom(run, snapshot); err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	return nil
}

func (a *again) readFrom(run *activeRun, snapshot state.Snapshot) error {
	after := a.last
	a.refIDs, a.more, a.last = nil, false, ""
	var some []string // whose details are to be read
	read := func() error {
		err := eachDetail(run.life.lasting, snapshot, some, func(d state.Detail) {
			if a.has(d) && (a.takes == nil || a.takes(d)) {
				a.refIDs = append(a.refIDs, d.RefID)
			}
		})
		some = some[:0]
		return err
	}
	for o, err := range a.list(run.life.lasting, snapshot) {
		switch {
		case err != nil:
			return err
		case o.RefID <= after || !mayBeForAgain(&o):
			continue
		}
		some = append(some, strings.Clone(o.RefID))
		if len(some) < min(detailsMax, a.most) {
			continue
		}
		last := some[len(some)-1]
		if err := read(); err != nil {
			return err
		}
		if len(a.refIDs) >= a.most {
			a.more, a.last = true, last
			return nil
		}
	}
	return read()
}

// mayBeForAgain reports whether a transfer may be one of those, as far as its outline says.
func mayBeForAgain(o *state.Outline) bool {
	switch {
	case o.Status == state.Tombstone:
		return !o.HasRecord
	case !o.Status.Made():
		return false
	case o.RecordStatus == transfer.Failed:
		return true
	}
	return o.RecordStatus == transfer.Completed && o.Status == state.Unverified
}

// has reports whether a transfer is one of those.
func (a *again) has(d state.Detail) bool {
	switch {
	case d.Status == state.Tombstone:
		return d.Intent.Body != "" && d.IsSettledSince(a.since)
	case d.RecordStatus == transfer.Failed:
		return d.IsFailedSince(a.since)
	}
	_, isUnpaid := unpaidCredit(d)
	return isUnpaid && d.RecordStatus == transfer.Completed
}

// lookAgain looks all of them up once. An error is the state's.
func (r *refresher) lookAgain() error {
	a := r.again
	r.again = nil
	for a != nil {
		for lot := range slices.Chunk(a.refIDs, readMax) {
			list, err := r.run.watcher.read(lot, a.has)
			if err != nil {
				return err
			}
			for page := range slices.Chunk(list, FindMax) {
				if err := r.pageAgain(page); err != nil {
					return err
				}
			}
		}
		if !a.more {
			return nil
		}
		if err := a.next(r.run); err != nil {
			return err
		}
	}
	return nil
}

// pageAgain looks some of them up, and tells the news.
func (r *refresher) pageAgain(list []watched) error {
	if !r.mayAsk() {
		r.leaveAgain(list)
		return nil
	}
	all, err := r.run.watcher.watch(list)
	if r.isUnasked(err) {
		r.leaveAgain(list)
		return nil
	}
	if err != nil {
		return err
	}
	for i := range all {
		if n := &all[i]; n.kind == newsAbsent && isFailedUnasked(n.detail) {
			n.sayUnlisted(r.tell)
		}
		r.noteAgain(&all[i])
	}
	return nil
}

// lookFailedAgain looks up again, after the last request, what the run has as FAILED: nobody is told to pay it
// anew by one answer alone. A lookup that fails leaves that to a refresh. An error is the state's.
func lookFailedAgain(run *activeRun, isOfRun func(state.Transfer) bool) error {
	r := newRefresher(run, nil, nil)
	if !run.report.has(ResultFailed) {
		return nil
	}
	if err := r.readAgain(outlinesOf(isOfRun)); err != nil {
		return err
	}
	return r.lookAgain()
}

// leaveAgain counts transfers that could not be looked up again.
func (r *refresher) leaveAgain(list []watched) {
	r.summary.AgainUnasked += len(list)
	for i := range list {
		r.noteAgain(&news{watched: list[i], kind: newsAbsent})
	}
}

// noteAgain counts and tells what a lookup has of a transfer that was looked up again. Where it has nothing, the state
// stands.
func (r *refresher) noteAgain(n *news) {
	s := &r.summary
	n.count(&s.Again)
	if n.detail.Status == state.Tombstone && n.kind == newsRefused {
		if n.verdict.status == transfer.Failed {
			n.kind = newsNone
		}
		n.reason = "A person settled it as not made, and the service lists it: it was made. Do not pay it under another ref_id, and look whether that was done already."
	}
	if was, ok := unpaidCredit(n.detail); ok && n.kind != newsChanged && n.kind != newsConflict {
		n.creditFailed = was.Answered == string(transfer.Failed)
	}
	switch n.kind {
	case newsConflict:
		n.count(&s.Conflicts)
		s.AgainCounted++
		r.change(n)
	case newsChanged:
		r.change(n)
	case newsRefused:
		n.count(&s.Refused)
		s.AgainCounted++
		r.tell(n)
	case newsUnreadable:
		s.Unreadable++
		r.tell(n)
	case newsNone, newsAbsent, newsSettled:
		if n.isOpen && n.detail.RecordStatus == transfer.Failed {
			n.reason = "Its debit side FAILED, and its credit side is PENDING still: do not pay it anew before that has FAILED as well."
			r.tell(n)
		}
	}
	if n.creditFailed {
		s.CreditFailed++
	}
}

// sayUnlisted tells that the service does not list a transfer that FAILED by another word than its lookup's. Nothing is told of an imported one: an
// export may be of a time that no list reaches.
func (n *news) sayUnlisted(tell func(*news)) {
	who := "Its answer said"
	switch n.detail.Outcome.Source {
	case state.SourceLookup, state.SourceImport:
		return
	case state.SourcePerson:
		who = "The record that a person gave says"
	case state.SourceAnswer:
	}
	n.reason = who + " that it FAILED, and the service does not list it. Do not pay it anew before a lookup or the operator says that it FAILED: lists lag."
	tell(n)
}
