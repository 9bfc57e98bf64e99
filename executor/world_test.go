package executor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// clock is the real one; under synctest it is the bubble's.
type clock struct{}

func (clock) Now() time.Time { return time.Now() }

// Boot goes on as the clock does.
func (clock) Boot() executor.Boot {
	return executor.Boot{ID: "boot", Machine: "machine", Up: time.Since(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC))}
}

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// world is a state, a service that keeps a ledger, and what a run told.
type world struct {
	t        testing.TB
	journal  *memory
	settings executor.Settings
	service  *service
	lookup   bool
	runs     int
	clock    executor.Clock

	mu     sync.Mutex
	events []executor.Event
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, journal: newMemory(t, time.Now), clock: clock{}}
	w.service = &service{made: make(map[string][]transfer.Record), clock: clock{}, tries: make(map[string]int)}
	w.settings = executor.Settings{
		ReplayWindow: 24 * time.Hour, InFlightMax: 4, RequestTimeout: 30 * time.Second, Wait: 2 * time.Minute,
	}
	return w
}

func (w *world) Handle(e executor.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// results are the settled results by ref_id; it fails where one is settled twice.
func (w *world) results() map[string]executor.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	results := make(map[string]executor.Result)
	for _, e := range w.events {
		if e.Type != executor.EventSettled {
			continue
		}
		if before, twice := results[e.RefID]; twice {
			w.t.Errorf("%q was settled twice in a run: %s, %s", e.RefID, before, e.Result)
		}
		results[e.RefID] = e.Result
	}
	return results
}

func (w *world) reason(refID string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Type == executor.EventSettled && e.RefID == refID {
			return e.Reason
		}
	}
	return ""
}

// run is a run of the given plan; each has its own id.
func (w *world) run(plan *planner.Plan) executor.Run {
	w.runs++
	w.mu.Lock()
	w.events = nil
	w.mu.Unlock()
	run := executor.Run{
		Plan: plan, Begun: state.Begun{RunID: fmt.Sprintf("run-%d", w.runs), Digest: "digest"},
		Journal: w.journal, Submitter: w.service, Handler: w,
		Settings: w.settings, Clock: w.clock, Random: rand.New(rand.NewPCG(1, 2)).Float64,
	}
	if w.lookup {
		run.Finder = w.service
	}
	return run
}

// apply plans and applies, and fails on an error.
func (w *world) apply(requests ...transfer.Request) executor.Summary {
	w.t.Helper()
	return w.applyPlan(w.plan(requests...))
}

func (w *world) applyPlan(plan *planner.Plan) executor.Summary {
	w.t.Helper()
	summary, err := executor.Apply(w.t.Context(), w.run(plan))
	if err != nil {
		w.t.Fatalf("apply: %v", err)
	}
	w.checkPast(summary.RunID)
	return summary
}

// outcomes counts those of a ref_id that a run wrote.
func (w *world) outcomes(runID, refID string) int {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	n := 0
	for _, e := range w.journal.events {
		if e.RunID == runID && e.RefID == refID && e.Kind == state.KindOutcome {
			n++
		}
	}
	return n
}

// checkPast reads a run out of the journal: it says of each transfer what the run told.
func (w *world) checkPast(runID string) {
	w.t.Helper()
	snapshot, err := w.journal.Snapshot(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	past, err := executor.ReadPast(w.t.Context(), snapshot, runID)
	if err != nil {
		w.t.Fatal(err)
	}
	told := w.results()
	for _, e := range w.events {
		if e.Type == executor.EventChanged {
			told[e.RefID] = e.Result
		}
	}
	for _, l := range past.Lines {
		_, isTold := told[l.RefID]
		if isTold && w.outcomes(runID, l.RefID) < 2 && l.Result != told[l.RefID] { // a poll went on
			w.t.Errorf("the journal has %q as %s (%s), the run told %s", l.RefID, l.Result, l.Reason, told[l.RefID])
		}
		if l.Request.RefID != l.RefID || l.At.IsZero() {
			w.t.Errorf("the journal's line of %q is %+v", l.RefID, l)
		}
		if row := w.journal.row(l.RefID); row.RunID == runID && row.Status == state.Recorded && (l.RecordID != row.RecordID || l.GroupID != row.GroupID) {
			w.t.Errorf("the journal's line of %q has the record %q of %q, and its row %q of %q", l.RefID, l.RecordID, l.GroupID, row.RecordID, row.GroupID)
		}
		delete(told, l.RefID)
	}
	for refID, result := range told {
		if result != executor.ResultNotAttempted && result != executor.ResultInDoubt && w.journal.row(refID).RunID == runID {
			w.t.Errorf("the journal says nothing of %q, which the run told as %s", refID, result)
		}
	}
}

// plan is what the planner would say of requests that are all due.
func (w *world) plan(requests ...transfer.Request) *planner.Plan {
	plan := new(planner.Plan)
	for _, request := range requests {
		change := planner.Change{Action: planner.Submit, RefID: request.RefID, Address: "transfer.internal." + request.RefID, Place: "main.hcl:1", Request: request}
		switch row := w.journal.row(request.RefID); row.Status {
		case 0, state.Unsent:
		case state.Refused:
			change.Again, change.Recorded = true, &planner.Recorded{Status: row.Status, RunID: row.RunID}
		case state.InDoubt:
			change.Action = planner.Resolve
		case state.Recorded, state.Adopted, state.Unverified:
			change.Action = planner.None
		case state.Conflict, state.Tombstone:
			change.Action = planner.Conflict
		}
		plan.Changes.Add(&change)
	}
	return plan
}

func request(refID string) transfer.Request {
	return transfer.Request{
		Operation: transfer.Internal, RefID: refID, Amount: transfer.MustAmount("80.00"), Asset: "USD",
		FromProfileID: "treasury", ToProfileID: "staff-" + refID,
	}
}

func numbered(n int) []transfer.Request {
	list := make([]transfer.Request, n)
	for i := range list {
		list[i] = request(fmt.Sprintf("t-%03d", i))
	}
	return list
}

// sides are both records of a transfer that the service made of req.
func sides(req transfer.Request, at time.Time, status transfer.RecordStatus) []transfer.Record {
	side := func(direction transfer.Direction, profile string) transfer.Record {
		raw, err := json.Marshal(map[string]any{
			"id": strings.ToLower(string(direction)) + "-of-" + req.RefID, "customer_id": "customer", "profile_id": profile,
			"amount": req.Amount.String(), "total": req.Amount.String(), "fee": "0", "asset": req.Asset,
			"direction": direction, "type": transfer.DefaultOperator.RecordType(req.Operation, direction), "status": status,
			"created_at": at.UTC(), "updated_at": at.UTC(), "ref_id": req.RefID, "group_id": "group-of-" + req.RefID,
		})
		if err != nil {
			panic(err)
		}
		return parse(raw)
	}
	return []transfer.Record{side(transfer.Debit, req.FromProfileID), side(transfer.Credit, req.ToProfileID)}
}

func debit(req transfer.Request, at time.Time) *transfer.Record {
	return &sides(req, at, transfer.Completed)[0]
}

// edited is a record with other values in some fields.
func edited(record transfer.Record, fields map[string]string) *transfer.Record {
	var object map[string]any
	if err := json.Unmarshal(record.Raw, &object); err != nil {
		panic(err)
	}
	for name, value := range fields {
		object[name] = value
	}
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	changed := parse(raw)
	return &changed
}

func parse(raw []byte) transfer.Record {
	record, err := transfer.ParseRecord(raw)
	if err != nil {
		panic(err)
	}
	return record
}

// service keeps a ledger, and protects a ref_id from a second transfer: the first record is
// answered again.
type service struct {
	clock executor.Clock
	// before is asked when a request, a lookup or a token arrives; an answer ends it there.
	before func(ctx context.Context, refID string, try int) *executor.Answer
	// after may lose or change the answer to a request that made something.
	after func(refID string, try int, a executor.Answer) executor.Answer
	find  func(refIDs []string) (map[string][]transfer.Record, error) // instead of the ledger
	// status of a transfer that it makes.
	status transfer.RecordStatus
	ready  func() (time.Time, error)

	mu      sync.Mutex
	made    map[string][]transfer.Record
	bodies  []string // of all requests, in order
	tries   map[string]int
	starts  []time.Time
	busy    int
	busyMax int
	finds   [][]string
}

func (s *service) Ready(context.Context) (time.Time, error) {
	if s.ready != nil {
		return s.ready()
	}
	return s.clock.Now(), nil
}

func (s *service) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	op := transfer.Platform
	if path == transfer.DefaultOperator.Path(transfer.Internal) {
		op = transfer.Internal
	}
	req, err := transfer.ParseRequest(op, body, "")
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.starts = append(s.starts, s.clock.Now())
	s.tries[req.RefID]++
	try := s.tries[req.RefID]
	s.busy++
	s.busyMax = max(s.busyMax, s.busy)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.busy--
		s.mu.Unlock()
	}()
	if s.before != nil {
		if a := s.before(ctx, req.RefID, try); a != nil {
			return *a
		}
	}
	a := executor.Answer{Kind: executor.Answered, HTTPStatus: 200, Record: s.make(req)}
	if s.after != nil {
		a = s.after(req.RefID, try, a)
	}
	return a
}

func (s *service) make(req transfer.Request) *transfer.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.made[req.RefID]) == 0 {
		status := s.status
		if status == "" {
			status = transfer.Completed
		}
		s.made[req.RefID] = sides(req, s.clock.Now(), status)
	}
	record := s.made[req.RefID][0]
	return &record
}

func (s *service) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	if len(refIDs) == 0 || len(refIDs) > 100 {
		panic(fmt.Sprintf("lookup of %d ref_ids", len(refIDs)))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.finds = append(s.finds, slices.Clone(refIDs))
	s.mu.Unlock()
	if s.find != nil { // without the lock: it may sleep, and the bubble's time goes on only while nobody waits for a lock
		return s.find(refIDs)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[string][]transfer.Record)
	for _, refID := range refIDs {
		if records := s.made[refID]; len(records) > 0 {
			found[refID] = records
		}
	}
	return found, nil
}

func (s *service) requests(refID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries[refID]
}

// begun counts all requests.
func (s *service) begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// timeout is an answer that never came.
func timeout() *executor.Answer {
	return &executor.Answer{Kind: executor.Unclear, Reason: "No answer came."}
}
