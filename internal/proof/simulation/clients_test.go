//go:build unix

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"remit/executor"
	"remit/internal/proof/simulation/history"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// run is a client whose executor is given something else.
func run(change func(executor.Run, history.View) executor.Run) history.Client {
	return history.Client{Run: change}
}

// submit is one that changes the answers to requests.
func submit(change func(executor.Submitter, string, []byte, executor.Answer) executor.Answer) history.Client {
	return run(func(r executor.Run, _ history.View) executor.Run {
		r.Submitter = &answers{r.Submitter, change}
		return r
	})
}

// policy is one with another policy.
func policy(change func(*executor.Settings)) history.Client {
	return run(func(r executor.Run, _ history.View) executor.Run {
		change(&r.Settings)
		return r
	})
}

// write is one that changes, or drops, written entries.
func write(change func(*journal, []state.Entry) ([]state.Entry, bool)) history.Client {
	return run(func(r executor.Run, _ history.View) executor.Run {
		r.Journal = &journal{placed: placed{r.Journal}, change: change, doubted: make(map[string]bool)}
		return r
	})
}

// lines is one that changes the lines of a plan.
func lines(change func(*planner.Change, history.View)) history.Client {
	return run(func(r executor.Run, view history.View) executor.Run {
		if r.Plan == nil {
			return r
		}
		plan := *r.Plan
		plan.Changes = planner.ListChanges(plan.Changes.Slice()...)
		for i := range plan.Changes.Len() {
			plan.Changes.Update(i, func(c *planner.Change) { change(c, view) })
		}
		r.Plan = &plan
		return r
	})
}

func refID(body []byte) string {
	var in struct {
		RefID string `json:"ref_id"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		panic(err)
	}
	return in.RefID
}

// other is body under another ref_id.
func other(body []byte) []byte {
	id := refID(body)
	return bytes.Replace(body, []byte(`"ref_id":"`+id+`"`), []byte(`"ref_id":"`+id+`-again"`), 1)
}

// customer is whose records the service has.
const customer = "c0ffee00-0000-4000-8000-000000000001"

// agreeing is the record that a client would like to see.
func agreeing(path string, body []byte, id string) *transfer.Record {
	op := transfer.Platform
	if strings.HasSuffix(path, "internal") {
		op = transfer.Internal
	}
	request, err := transfer.ParseRequest(op, body, "")
	if err != nil {
		panic(err)
	}
	raw, err := json.Marshal(map[string]any{
		"id": id, "customer_id": customer, "profile_id": request.FromProfileID,
		"amount": request.Amount.String(), "total": request.Amount.String(), "fee": "0", "asset": request.Asset,
		"direction": "DEBIT", "type": string(transfer.DefaultOperator.RecordType(op, transfer.Debit)), "status": "COMPLETED",
		"created_at": "2036-11-27T09:00:00Z", "updated_at": "2036-11-27T09:00:00Z", "ref_id": request.RefID,
	})
	if err != nil {
		panic(err)
	}
	record, err := transfer.ParseRecord(raw)
	if err != nil {
		panic(err)
	}
	return &record
}

// ended is an outcome that ends a doubt as not made.
func ended(o state.Outcome, reason string) state.Outcome {
	return state.Outcome{
		RefID: o.RefID, RunID: o.RunID, Status: state.Tombstone, Source: state.SourcePerson,
		Reason: reason, By: &state.Holder{User: "mutant", Command: "apply", Host: "simulation"},
	}
}

// answers changes answers.
type answers struct {
	executor.Submitter
	change func(executor.Submitter, string, []byte, executor.Answer) executor.Answer
}

func (s *answers) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	return s.change(s.Submitter, path, body, s.Submitter.Submit(ctx, path, body))
}

// renamer sends what it has sent before under a new ref_id.
type renamer struct {
	executor.Submitter
	mu   sync.Mutex
	seen map[string]int
}

func (s *renamer) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	s.mu.Lock()
	s.seen[string(body)]++
	again := s.seen[string(body)] > 1
	s.mu.Unlock()
	if again {
		body = other(body)
	}
	return s.Submitter.Submit(ctx, path, body)
}

// placed is a journal that says where its state is, as the one below it does.
type placed struct{ executor.Journal }

func (j placed) Place() state.FilePlace { return j.Journal.(state.Placed).Place() }

// journal changes, or drops, written entries.
type journal struct {
	placed
	change func(*journal, []state.Entry) (changed []state.Entry, keep bool)

	mu      sync.Mutex
	count   int
	doubted map[string]bool // ref_ids that were in doubt before this run intended them
	known   bool
}

func (j *journal) Append(ctx context.Context, entries ...state.Entry) error {
	if err := j.learn(ctx); err != nil {
		return err
	}
	j.mu.Lock()
	changed, keep := j.change(j, entries)
	j.mu.Unlock()
	if !keep {
		return nil
	}
	return j.Journal.Append(ctx, changed...)
}

func (j *journal) learn(ctx context.Context) error {
	j.mu.Lock()
	known := j.known
	j.known = true
	j.mu.Unlock()
	if known {
		return nil
	}
	snapshot, err := j.Snapshot(ctx)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return err
		}
		j.doubted[row.RefID] = row.Status == state.InDoubt
	}
	return snapshot.Close()
}

// lateIntents writes an intent with its outcome.
type lateIntents struct {
	placed
	mu   sync.Mutex
	held map[string]state.Entry
}

func (j *lateIntents) Append(ctx context.Context, entries ...state.Entry) error {
	id, _ := entries[0].Subject()
	j.mu.Lock()
	if _, isIntent := entries[0].(state.Intent); isIntent && len(entries) == 1 {
		j.held[id] = entries[0]
		j.mu.Unlock()
		return nil
	}
	if intent := j.held[id]; intent != nil {
		entries = append([]state.Entry{intent}, entries...)
		delete(j.held, id)
	}
	j.mu.Unlock()
	return j.Journal.Append(ctx, entries...)
}

// lazy writes an outcome when it writes something else.
type lazy struct {
	placed
	mu   sync.Mutex
	held []state.Entry
}

func (j *lazy) Append(ctx context.Context, entries ...state.Entry) error {
	j.mu.Lock()
	if _, isOutcome := entries[0].(state.Outcome); isOutcome && len(entries) == 1 {
		j.held = append(j.held, entries...)
		j.mu.Unlock()
		return nil
	}
	entries = append(j.held, entries...)
	j.held = nil
	j.mu.Unlock()
	return j.Journal.Append(ctx, entries...)
}

// lockless goes on without the lock.
type lockless struct{ placed }

func (j lockless) Check(context.Context) error { return nil }

func (j lockless) Append(ctx context.Context, entries ...state.Entry) error {
	_ = j.Journal.Append(ctx, entries...)
	return nil
}

// believer settles as not made what a lookup does not find.
type believer struct {
	executor.Finder
	journal executor.Journal
}

func (f *believer) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	found, err := f.Finder.Find(ctx, refIDs)
	if err != nil {
		return nil, err
	}
	for _, id := range refIDs {
		if len(found[id]) == 0 {
			_ = f.journal.Append(ctx, ended(state.Outcome{RefID: id}, "it is not listed"))
		}
	}
	return found, nil
}

// overlooker has not found what it can't read.
type overlooker struct{ executor.Finder }

func (f overlooker) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	found, err := f.Finder.Find(ctx, refIDs)
	if _, torn := errors.AsType[*executor.UnreadableError](err); torn {
		return found, nil
	}
	return found, err
}

// recordedAsDeclared makes the executor take a doubt whose declaration was edited for one
// that agrees. It sends the recorded bytes, or the present declaration.
func recordedAsDeclared(r executor.Run, view history.View, declared bool) executor.Run {
	if r.Plan == nil {
		return r
	}
	plan := *r.Plan
	plan.Changes = planner.ListChanges(plan.Changes.Slice()...)
	for i := range plan.Changes.Len() {
		plan.Changes.Update(i, func(c *planner.Change) {
			if c.Action != planner.Resolve || len(c.Differences) == 0 {
				return
			}
			if request, err := c.Recorded.Request(); err == nil {
				c.Request, c.Differences = request, nil
			}
		})
	}
	r.Plan = &plan
	if declared {
		r.Submitter = &evaluator{r.Submitter, view}
	}
	return r
}

// turnedClock has every clock say what the machine's own says, or least where that is later.
type turnedClock struct {
	executor.Clock
	least time.Time
}

func (c *turnedClock) Now() time.Time {
	now := c.Clock.Now()
	if now.Before(c.least) {
		return c.least
	}
	return now
}

func (c *turnedClock) Boot() executor.Boot {
	return executor.Boot{ID: "boot", Machine: "machine", Up: c.Now().Sub(time.Unix(0, 0))}
}

// timed is a run that believes one clock alone.
func timed(r executor.Run, c *turnedClock) executor.Run {
	r.Clock, r.Submitter = c, &dated{r.Submitter, c}
	return r
}

// dated takes its own time for the service's.
type dated struct {
	executor.Submitter
	clock executor.Clock
}

func (s *dated) Ready(ctx context.Context) (time.Time, error) {
	_, err := s.Submitter.Ready(ctx)
	return s.clock.Now(), err
}

// newest is the time of the newest event.
func newest(j executor.Journal) time.Time {
	snapshot, err := j.Snapshot(context.Background())
	if err != nil {
		return time.Time{}
	}
	var at time.Time
	for event, err := range snapshot.Events(context.Background(), 0, "") {
		if err == nil && event.Time.After(at) {
			at = event.Time
		}
	}
	return at
}

// evaluator sends the present declaration.
type evaluator struct {
	executor.Submitter
	view history.View
}

func (s *evaluator) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	if now, ok := s.view.Declared(refID(body)); ok {
		body = now
	}
	return s.Submitter.Submit(ctx, path, body)
}
