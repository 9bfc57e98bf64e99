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

const (
	// againMax bounds how many transfers of each kind are looked up again.
	againMax = 5000
	// failedFor is how long after its latest attempt a FAILED transfer is looked up again.
	failedFor = 7 * 24 * time.Hour
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

// readAgain returns the ref_ids of transfers that are looked up again although their status is final: the FAILED ones,
// since an answer or a list that says so wrongly would have them paid twice, for a week and not against a
// person's word; and the unverified ones whose credit side is not COMPLETED. It returns at most [againMax] of
// each kind, of the outlines that list yields; takes may be nil.
func readAgain(run *activeRun, list outlines, takes func(state.Detail) bool) ([]string, error) {
	if !run.lookups.possible() {
		return nil, nil
	}
	snapshot, err := run.journal.snapshot()
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	since := run.Clock.Now().Add(-failedFor)
	var failed, unverified []string
	for o, err := range list(run.life.lasting, snapshot) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read the state: %w", err)
		case !o.Status.Made():
		case o.RecordStatus == transfer.Failed && o.AttemptedAt.After(since) && len(failed) < againMax:
			failed = append(failed, strings.Clone(o.RefID))
		case o.RecordStatus == transfer.Completed && o.Status == state.Unverified && len(unverified) < againMax:
			unverified = append(unverified, strings.Clone(o.RefID))
		}
	}
	var again []string
	err = eachDetail(run.life.lasting, snapshot, slices.Concat(failed, unverified), func(d state.Detail) {
		if isForAgain(d) && (takes == nil || takes(d)) {
			again = append(again, d.RefID)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	slices.Sort(again)
	return again, nil
}

// isForAgain reports whether a transfer is one of [readAgain].
func isForAgain(d state.Detail) bool {
	switch {
	case !d.Status.Made() || d.Outcome == nil:
		return false
	case d.RecordStatus == transfer.Failed:
		return d.Outcome.Source != state.SourcePerson
	}
	_, isUnpaid := unpaidCredit(d)
	return isUnpaid && d.RecordStatus == transfer.Completed
}

// lookAgain looks them up once. An error is the state's.
func (r *refresher) lookAgain() error {
	again := r.again
	r.again = nil
	for lot := range slices.Chunk(again, FindMax) {
		list, err := r.run.watcher.read(lot, isForAgain)
		if err != nil {
			return err
		}
		if !r.mayAsk() {
			r.leaveAgain(list)
			continue
		}
		all, err := r.run.watcher.watch(list)
		if r.isUnasked(err) {
			r.leaveAgain(list)
			continue
		}
		if err != nil {
			return err
		}
		for i := range all {
			r.noteAgain(&all[i])
		}
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
	var err error
	if r.again, err = readAgain(run, outlinesOf(isOfRun), nil); err != nil {
		return err
	}
	return r.lookAgain()
}

// leaveAgain counts transfers that could not be looked up again.
func (r *refresher) leaveAgain(list []watched) {
	for i := range list {
		r.noteAgain(&news{watched: list[i], kind: newsAbsent})
	}
}

// noteAgain counts and tells what a lookup has of a transfer that was looked up again. Where it has nothing, the state
// stands.
func (r *refresher) noteAgain(n *news) {
	s := &r.summary
	n.count(&s.Again)
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
