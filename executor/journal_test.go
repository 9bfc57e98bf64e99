package executor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"remit/state"
)

// memory is a journal without a disk: it keeps every rule of the state's contract.
type memory struct {
	now func() time.Time
	// before is asked before anything is done; its error is the call's, and nothing is done.
	before func(effect string) error
	// refuse are the refusals of entries, by ref_id.
	refuse map[string]error

	mu     sync.Mutex
	file   state.FilePlace
	meta   state.Meta
	rows   map[string]state.Transfer
	runs   map[string]state.Run
	events []state.Event
	fenced bool
	checks int
	reads  atomic.Int64 // ref_ids of which snapshots were asked for the details
}

func newMemory(t testing.TB, now func() time.Time) *memory {
	t.Helper()
	m := &memory{
		now: now, before: func(string) error { return nil },
		file: state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: "77"},
		rows: make(map[string]state.Transfer), runs: make(map[string]state.Run),
	}
	err := m.Append(t.Context(), state.Created{
		Lineage: "lineage", Environment: "test",
		Service: state.Identity{BaseURL: "https://service.test", Operator: "platform", ClientID: "client"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Place implements state.Placed.
func (m *memory) Place() state.FilePlace { return m.file }

func (m *memory) Append(_ context.Context, entries ...state.Entry) error {
	if err := m.before("append " + string(entries[len(entries)-1].Kind())); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fenced {
		return state.ErrFenced
	}
	meta, rows, runs, events := m.meta, maps.Clone(m.rows), maps.Clone(m.runs), m.events
	for _, entry := range entries {
		draft, err := state.NewDraft(entry)
		if err != nil {
			return err
		}
		at, seq := m.now().UTC().Truncate(time.Millisecond), int64(len(events)+1)
		refID, runID := entry.Subject()
		switch entry.(type) {
		case state.Intent, state.Outcome:
			if err := m.refuse[refID]; err != nil {
				return err
			}
			row, err := rows[refID].Apply(draft, seq, at)
			if err != nil {
				return err
			}
			for other, r := range rows {
				if other != refID && row.RecordID != "" && r.RecordID == row.RecordID && !row.SharesID && !r.SharesID {
					return fmt.Errorf("record outcome of %q: %w", refID, &state.DuplicateRecordError{RecordID: row.RecordID, RefID: other})
				}
			}
			rows[refID] = row
		case state.Begun, state.Ended:
			run, err := runs[runID].Apply(draft, at)
			if err != nil {
				return err
			}
			runs[runID] = run
		default:
		}
		meta, err = meta.Apply(draft, seq, at)
		if err != nil {
			return err
		}
		event := state.Event{Seq: seq, Time: at, Kind: entry.Kind(), RefID: refID, RunID: runID, Data: draft.Data}
		event.Hash = event.Chain(meta.Head)
		meta.Head = event.Hash
		events = append(events, event)
	}
	m.meta, m.rows, m.runs, m.events = meta, rows, runs, events
	return nil
}

// count counts the events of a kind.
func (m *memory) count(kind state.Kind) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, e := range m.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// openIntents counts the attempts that have no outcome.
func (m *memory) openIntents() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, row := range m.rows {
		if row.Open() {
			n++
		}
	}
	return n
}

func (m *memory) Check(context.Context) error {
	if err := m.before("check"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checks++
	if m.fenced {
		return state.ErrFenced
	}
	return nil
}

func (m *memory) fence() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fenced = true
}

func (m *memory) row(refID string) state.Transfer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[refID]
}

// kinds are the kinds of the events about one ref_id, outcomes with their status.
func (m *memory) kinds(refID string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var kinds []string
	for _, e := range m.events {
		if e.RefID != refID {
			continue
		}
		word := string(e.Kind)
		if e.Kind == state.KindOutcome {
			var o state.Outcome
			if err := json.Unmarshal(e.Data, &o); err != nil {
				panic(err)
			}
			word = fmt.Sprintf("%s: %v", o.Source, o.Status)
		}
		kinds = append(kinds, word)
	}
	return kinds
}

func (m *memory) ended(runID string) *state.Ended {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs[runID].Ended
}

func (m *memory) Snapshot(context.Context) (state.Snapshot, error) {
	if err := m.before("snapshot"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memorySnapshot{m.meta, m.rows, m.runs, m.events, &m.reads}, nil
}

// memorySnapshot shares the maps of its moment: Append replaces them, and changes none.
type memorySnapshot struct {
	meta   state.Meta
	rows   map[string]state.Transfer
	runs   map[string]state.Run
	events []state.Event
	reads  *atomic.Int64
}

func (s *memorySnapshot) Meta() state.Meta             { return s.meta }
func (s *memorySnapshot) Holder() (state.Holder, bool) { return state.Holder{}, false }
func (s *memorySnapshot) Close() error                 { return nil }

func (s *memorySnapshot) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for _, refID := range slices.Sorted(maps.Keys(s.rows)) {
			if !yield(s.rows[refID], nil) {
				return
			}
		}
	}
}

func (s *memorySnapshot) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return state.OutlinesOf(s.Transfers(ctx))
}

func (s *memorySnapshot) Details(_ context.Context, refIDs ...string) ([]state.Detail, error) {
	s.reads.Add(int64(len(refIDs)))
	var details []state.Detail
	for _, refID := range refIDs {
		row, ok := s.rows[refID]
		if !ok {
			continue
		}
		event := func(seq int64) *state.Event {
			if seq == 0 {
				return nil
			}
			return &s.events[seq-1]
		}
		d, err := state.NewDetail(row, event(row.IntentSeq), event(row.OutcomeSeq))
		if err != nil {
			return nil, err
		}
		details = append(details, d)
	}
	return details, nil
}

func (s *memorySnapshot) Events(_ context.Context, after int64, refID string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, e := range s.events[after:] {
			if (refID == "" || e.RefID == refID) && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *memorySnapshot) Jumps(context.Context) iter.Seq2[state.Jump, error] {
	return func(func(state.Jump, error) bool) {}
}

func (s *memorySnapshot) Told(context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, e := range slices.Backward(s.events) {
			entry, err := e.Entry()
			if outcome, ok := entry.(state.Outcome); ok && outcome.Source == state.SourcePerson && !yield(e, err) {
				return
			}
		}
	}
}

func (s *memorySnapshot) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(func(state.Name, error) bool) {}
}

func (s *memorySnapshot) Clocks(context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, e := range slices.Backward(s.events) {
			if e.Kind == state.KindClock && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *memorySnapshot) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(yield func(state.Run, error) bool) {
		for _, runID := range slices.Backward(slices.Sorted(maps.Keys(s.runs))) {
			if !yield(s.runs[runID], nil) {
				return
			}
		}
	}
}

// kindsOf are the events of a kind.
func (m *memory) kindsOf(kind state.Kind) []state.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.events), func(e state.Event) bool { return e.Kind != kind })
}
