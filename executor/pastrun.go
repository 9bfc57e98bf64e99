package executor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// ErrUnknownRun says that the state knows no run of the given ID.
var ErrUnknownRun = errors.New("the state knows no such run")

// PastRun is a run as the journal has it.
type PastRun struct {
	Run   state.Run
	Lines []PastLine // in the order of the journal
}

// PastLine is what a run made of one transfer.
type PastLine struct {
	RefID   string
	Result  Result
	Request transfer.Request // its ref_id alone where the state has no request

	Address string // of the declaration; "" where this run wrote no intent
	Place   string
	Batch   string

	RecordID     string
	GroupID      string
	RecordStatus transfer.RecordStatus
	Reason       string    // in words
	At           time.Time // of its outcome, or of its intent where there is none

	last int64 // number of its latest event in the run
}

// Archive is what [ReadPast] reads of a run; a [state.Snapshot] is one.
type Archive interface {
	Runs(ctx context.Context) iter.Seq2[state.Run, error]
	Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error]
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
}

// ReadPast reads what a run made of each transfer that it wrote something of, as of the end of the
// run, however they were settled later. No journal has the transfers that a run did not attempt:
// [state.Ended] counts them. The error is [ErrUnknownRun], or the state's.
func ReadPast(ctx context.Context, archive Archive, runID string) (*PastRun, error) {
	past := new(PastRun)
	for run, err := range archive.Runs(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read run %q: %w", runID, err)
		}
		if run.Begun.RunID == runID {
			past.Run = run
			break
		}
	}
	if past.Run.Begun.RunID == "" {
		return nil, fmt.Errorf("run %q: %w", runID, ErrUnknownRun)
	}
	r := pastReader{past: past, lines: make(map[string]int)}
	if err := r.read(ctx, archive); err != nil {
		return nil, fmt.Errorf("read run %q: %w", runID, err)
	}
	return past, nil
}

// Summary is the past run as a run's end: totals, and exceptions.
func (p *PastRun) Summary() Summary {
	s := Summary{RunID: p.Run.Begun.RunID, Totals: make(map[Result]*transfer.Totals)}
	if ended := p.Run.Ended; ended != nil {
		s.Complete, s.Stopped, s.Runners = ended.Complete, ended.Error, ended.Runners
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		if s.Totals[l.Result] == nil {
			s.Totals[l.Result] = new(transfer.Totals)
		}
		if l.Request.ToProfileID != "" {
			s.Totals[l.Result].AddRequest(&l.Request)
		} else { // the state has no request
			s.Totals[l.Result].Add(l.Request.Asset, l.Request.Amount)
		}
		switch l.Result {
		case ResultRecorded, ResultAdopted, ResultUnverified:
			if l.RecordStatus != "" && !l.RecordStatus.Final() {
				s.Unfinished++
				s.Unknown.add(l.RecordStatus, 1)
			}
		case ResultRefused, ResultFailed, ResultInDoubt, ResultConflict, ResultNotAttempted:
		}
		if l.Result != ResultRecorded && l.Result != ResultAdopted && len(s.Exceptions) < exceptionsMax {
			s.Exceptions = append(s.Exceptions, Event{
				Time: l.At, Type: EventSettled, RefID: l.RefID, Group: l.GroupID, Result: l.Result,
				Reason: l.Reason, Amount: l.Request.Amount, Asset: l.Request.Asset,
			})
		}
	}
	return s
}

type pastReader struct {
	past  *PastRun
	lines map[string]int // by ref_id
}

func (r *pastReader) read(ctx context.Context, archive Archive) error {
	runID := r.past.Run.Begun.RunID
	for event, err := range archive.Events(ctx, 0, "") {
		if err != nil {
			return err
		}
		if event.RunID != runID {
			continue
		}
		entry, err := event.Entry()
		if err != nil {
			return err
		}
		switch e := entry.(type) {
		case state.Intent:
			r.intent(e, event)
		case state.Outcome:
			r.outcome(e, event)
		}
		if event.Kind == state.KindEnded {
			break
		}
	}
	if err := r.replay(ctx, archive); err != nil {
		return err
	}
	return r.complete(ctx, archive)
}

func (r *pastReader) line(event state.Event) *PastLine {
	n, ok := r.lines[event.RefID]
	if !ok {
		n = len(r.past.Lines)
		r.lines[event.RefID] = n
		r.past.Lines = append(r.past.Lines, PastLine{RefID: event.RefID})
	}
	l := &r.past.Lines[n]
	l.At, l.last = event.Time, event.Seq
	return l
}

func (r *pastReader) intent(e state.Intent, event state.Event) {
	l := r.line(event)
	l.Result, l.Reason = ResultInDoubt, "The run wrote no outcome of it."
	l.Address, l.Place, l.Batch = e.Address, e.Place, e.Batch
	l.Request = requestIn(e)
}

func (r *pastReader) outcome(e state.Outcome, event state.Event) {
	l := r.line(event)
	l.Reason = e.Reason
	if len(e.Records) > 0 {
		if record, err := transfer.ParseRecord(e.Records[0]); err == nil {
			// A line keeps these, and would keep the whole record with parts of it.
			kept := record.ID + record.GroupID
			l.RecordID, l.GroupID, l.RecordStatus = kept[:len(record.ID)], kept[len(record.ID):], record.Status.Own()
		}
	}
	if e.Listed != nil {
		l.GroupID = e.Listed.GroupID
	}
	l.Result = resultOf(e.Status, l.RecordStatus)
}

// replay finds the results of transfers that were refused or not written: neither ends the doubt of
// an earlier attempt (law 3).
func (r *pastReader) replay(ctx context.Context, archive Archive) error {
	for i := range r.past.Lines {
		l := &r.past.Lines[i]
		if l.Result != ResultRefused && l.Result != ResultNotAttempted {
			continue
		}
		var t state.Transfer
		for event, err := range archive.Events(ctx, 0, l.RefID) {
			if err != nil {
				return err
			}
			if event.Seq > l.last {
				break
			}
			draft, err := event.Draft()
			if err == nil {
				t, err = t.Apply(draft, event.Seq, event.Time)
			}
			if err != nil {
				return fmt.Errorf("event %d: %w", event.Seq, err)
			}
		}
		l.Result = resultOf(t.Status, t.RecordStatus)
	}
	return nil
}

// complete finds the requests of transfers of which the run wrote no intent.
func (r *pastReader) complete(ctx context.Context, archive Archive) error {
	var refIDs []string
	for i := range r.past.Lines {
		if r.past.Lines[i].Request.RefID == "" {
			refIDs = append(refIDs, r.past.Lines[i].RefID)
		}
	}
	return eachDetail(ctx, archive, refIDs, func(d state.Detail) {
		l := &r.past.Lines[r.lines[d.RefID]]
		l.Request = transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
		if d.Intent.Body != "" {
			l.Request, l.Batch = requestIn(d.Intent), d.Intent.Batch
		}
	})
}
