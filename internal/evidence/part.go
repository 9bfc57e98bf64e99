package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"remit/state"
)

// brokenError says where the journal's part of a pack is not one.
type brokenError struct {
	line   int   // of the file
	event  int64 // 0 where it has no number
	reason string
}

func (e *brokenError) Error() string { return e.reason }

// part is the journal's part of a pack, with a chain that holds: an [executor.Archive] of one run.
type part struct {
	file    io.ReaderAt
	run     state.Run
	journal JournalFacts
	offsets map[string][]int64 // of the events of each ref_id, up to the run's last
	kept    int64              // number of the event with the hash that was kept elsewhere; 0 for none
}

// readPart reads a journal's part and checks its chain. The error is a *brokenError, or what
// file returned. kept is a hash to look for; "" for none.
func readPart(file io.ReaderAt, kept string) (*part, error) {
	r := partReader{
		part: &part{file: file, offsets: map[string][]int64{}}, kept: kept,
		lines: newLineReader(io.NewSectionReader(file, 0, math.MaxInt64)),
	}
	for {
		l, err := r.lines.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.take(&l)
		}
		if err != nil {
			event := l.Seq
			if event < 1 { // of a line that cannot be read, say
				event = r.last.Seq + 1
			}
			return nil, &brokenError{r.lines.number, event, err.Error()}
		}
	}
	if r.phase == beforeRun {
		return nil, &brokenError{r.lines.number, 0, "it has no run"}
	}
	j := &r.part.journal
	j.Head, j.HeadHash = r.last.Seq, r.last.Hash
	return r.part, nil
}

// phase is a reader's place in the part.
type phase uint8

const (
	beforeRun phase = iota // only earlier events of the run's transfers are in full
	inRun                  // all are
	afterRun               // none is
)

type partReader struct {
	part  *part
	lines *lineReader
	phase phase
	last  state.Event // its number and its hash
	kept  string
}

// take checks a line against the one before it.
func (r *partReader) take(l *line) error {
	first := r.lines.number == 1
	switch {
	case first && (!l.isShown() || l.Seq < 1):
		return errors.New("it does not begin with an event in full")
	case first:
		r.part.journal.First, r.last.Hash = l.Seq, l.Previous
	case l.Seq != r.last.Seq+1:
		return fmt.Errorf("event %d follows event %d", l.Seq, r.last.Seq)
	}
	digest, err := l.digest()
	if err != nil {
		return err
	}
	hash := digest.Follow(r.last.Hash)
	if l.isShown() {
		err = r.show(l, hash)
	} else {
		err = r.withhold(l)
	}
	r.last.Seq, r.last.Hash = l.Seq, hash
	if hash == r.kept {
		r.part.kept = l.Seq
	}
	if r.phase == inRun {
		r.part.journal.Last, r.part.journal.LastHash = l.Seq, hash
		if err == nil && l.Kind == state.KindEnded {
			r.phase = afterRun
		}
	}
	return err
}

func (r *partReader) withhold(l *line) error {
	switch {
	case r.phase == inRun:
		return errors.New("it is of the run's time and withheld")
	case !l.isBare():
		return errors.New("it has a digest in place of its content, and content")
	}
	r.part.journal.Withheld++
	return nil
}

// show checks an event in full, which must have the hash that follows from the one before it.
func (r *partReader) show(l *line, hash string) error {
	e := l.event()
	switch {
	case l.Previous != r.last.Hash || l.Hash != hash:
		return errors.New("its hash is not that of its content after the event before it")
	case r.phase == afterRun:
		return errors.New("it is in full, although it comes after the run")
	}
	draft, err := e.Draft()
	if err != nil {
		return err
	}
	if refID, runID := draft.Entry.Subject(); refID != e.RefID || runID != e.RunID {
		return errors.New("its payload is of another ref_id or run")
	}
	r.part.journal.Shown++
	switch entry := draft.Entry.(type) {
	case state.Begun:
		if r.phase == inRun { // the run died, and this is the next one
			r.phase = afterRun
			return nil
		}
		r.phase, r.part.journal.Begun = inRun, e.Seq
		r.part.run, err = r.part.run.Apply(draft, e.Time)
	case state.Ended:
		if entry.RunID != r.part.run.Begun.RunID {
			return errors.New("it is the end of another run")
		}
		r.part.run, err = r.part.run.Apply(draft, e.Time)
	case state.Intent, state.Outcome:
		r.part.offsets[e.RefID] = append(r.part.offsets[e.RefID], r.lines.offset)
	case state.Created, state.Unlocked, state.Rebound, state.ClockConfirmed, state.Asked, state.Erased:
	}
	return err
}

// Runs yields the one run.
func (p *part) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(yield func(state.Run, error) bool) { yield(p.run, nil) }
}

// Events yields the events in full, up to the run's last one, after the given number: of one
// ref_id or, with "", all.
func (p *part) Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for l, err := range p.lines(refID) {
			switch {
			case err == nil && ctx.Err() != nil:
				err = context.Cause(ctx)
			case err == nil && l.Seq > p.journal.Last:
				return
			case err == nil && (l.Seq <= after || !l.isShown()):
				continue
			}
			if !yield(l.event(), err) || err != nil {
				return
			}
		}
	}
}

// lines yields lines again: those of one ref_id or, with "", all.
func (p *part) lines(refID string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		if refID != "" {
			for _, offset := range p.offsets[refID] {
				l, err := newTrustingReader(io.NewSectionReader(p.file, offset, lineBytesMax)).read()
				if !yield(l, err) {
					return
				}
			}
			return
		}
		r := newTrustingReader(io.NewSectionReader(p.file, 0, math.MaxInt64))
		for {
			l, err := r.read()
			if errors.Is(err, io.EOF) || !yield(l, err) {
				return
			}
		}
	}
}

// Details returns the details of ref_ids as they were when the run ended.
func (p *part) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	var details []state.Detail
	for _, refID := range refIDs {
		d, known, err := p.detail(ctx, refID)
		if err != nil {
			return nil, err
		}
		if known {
			details = append(details, d)
		}
	}
	return details, nil
}

func (p *part) detail(ctx context.Context, refID string) (state.Detail, bool, error) {
	var t state.Transfer
	events := map[int64]*state.Event{}
	for e, err := range p.Events(ctx, 0, refID) {
		if err != nil {
			return state.Detail{}, false, err
		}
		draft, err := e.Draft()
		if err == nil {
			t, err = t.Apply(draft, e.Seq, e.Time)
		}
		if err != nil {
			return state.Detail{}, false, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		events[e.Seq] = &e
	}
	if len(events) == 0 {
		return state.Detail{}, false, nil
	}
	d, err := state.NewDetail(t, events[t.IntentSeq], events[t.OutcomeSeq])
	return d, true, err
}
