package planner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// now is the time of every plan in these tests unless they say otherwise.
var now = time.Date(2026, 11, 27, 15, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// memory is a state in memory: rows by ref_id, and a journal without hashes.
type memory struct {
	meta    state.Meta
	holder  *state.Holder
	details map[string]state.Detail
	events  []state.Event
	past    map[string][]pastDetail
	at      time.Time // of events; zero for now
	names   []state.Name
	told    []state.Event // by persons, the newest first
}

func newMemory(details ...state.Detail) *memory {
	m := &memory{
		meta: state.Meta{
			Lineage: "5a3c", Serial: 7, Environment: "test",
			Service: state.Identity{BaseURL: "https://api.test", Operator: "platform", ClientID: "me"},
		},
		details: make(map[string]state.Detail),
	}
	for _, d := range details {
		m.details[d.RefID] = d
	}
	m.past = make(map[string][]pastDetail)
	for refID, d := range m.details {
		m.past[refID] = []pastDetail{{m.meta.Serial, d}}
	}
	return m
}

// pastDetail is the knowledge of a ref_id from an event on.
type pastDetail struct {
	serial int64
	detail state.Detail
}

func (m *memory) Then(_ context.Context, serial int64, refIDs ...string) ([]state.Detail, error) {
	var found []state.Detail
	for _, refID := range refIDs {
		var known []state.Detail
		for _, p := range m.past[refID] {
			if p.serial <= serial {
				known = append(known, p.detail)
			}
		}
		if len(known) > 0 {
			found = append(found, known[len(known)-1])
		}
	}
	return found, nil
}

func (m *memory) Meta() state.Meta { return m.meta }

func (m *memory) Holder() (state.Holder, bool) {
	if m.holder == nil {
		return state.Holder{}, false
	}
	return *m.holder, true
}

func (m *memory) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for _, refID := range slices.Sorted(maps.Keys(m.details)) {
			if !yield(m.details[refID].Transfer, nil) {
				return
			}
		}
	}
}

func (m *memory) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return state.OutlinesOf(m.Transfers(ctx))
}

func (m *memory) Details(_ context.Context, refIDs ...string) ([]state.Detail, error) {
	var found []state.Detail
	for _, refID := range refIDs {
		if d, ok := m.details[refID]; ok {
			found = append(found, d)
		}
	}
	return found, nil
}

func (m *memory) Told(context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, e := range m.told {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// letStand has a person accept a record of another amount than was asked for.
func (m *memory) letStand(refID, amount string) {
	outcome := state.Outcome{
		RefID: refID, Status: state.Recorded, Source: state.SourcePerson, Records: []json.RawMessage{debitOf(refID, amount, "USD")},
		Differences: []transfer.Difference{{Field: "amount", Asked: "as declared", Answered: amount}},
	}
	data, err := json.Marshal(outcome)
	if err != nil {
		panic(err)
	}
	m.told = append([]state.Event{{Seq: 3, Time: now, Kind: state.KindOutcome, RefID: refID, Data: data}}, m.told...)
}

// debitOf is a service's record of the debit side.
func debitOf(refID, amount, asset string) json.RawMessage {
	return fmt.Appendf(nil, `{"id":"id-%s","customer_id":"me","profile_id":"treasury","amount":%q,"asset":%q,"direction":"DEBIT","type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","ref_id":%[1]q}`,
		refID, amount, asset)
}

func (m *memory) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(yield func(state.Name, error) bool) {
		for _, n := range m.names {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func (m *memory) Events(_ context.Context, after int64, _ string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, e := range m.events {
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

func (m *memory) happen(entries ...state.Entry) {
	for _, entry := range entries {
		data, err := json.Marshal(entry)
		at := m.at
		if at.IsZero() {
			at = now
		}
		if err != nil {
			panic(err)
		}
		m.meta.Serial++
		refID, runID := entry.Subject()
		if d, ok := m.details[refID]; ok {
			m.past[refID] = append(m.past[refID], pastDetail{m.meta.Serial, d})
		}
		m.events = append(m.events, state.Event{Seq: m.meta.Serial, Time: at, Kind: entry.Kind(), RefID: refID, RunID: runID, Data: data})
	}
}

// put records d by a run, with the events that a run writes.
func (m *memory) put(runID string, d state.Detail) {
	d.RunID = runID
	m.details[d.RefID] = d
	m.happen(state.Intent{RefID: d.RefID, RunID: runID, Address: d.Intent.Address, Due: d.Intent.Due, FromLabel: d.FromLabel, Naming: d.Intent.Naming})
	if !d.Open() {
		m.happen(state.Outcome{RefID: d.RefID, RunID: runID, Status: d.Status, Source: state.SourceAnswer})
	}
}

// request is a movement of 80.00 USD, changed by edits.
func request(refID string, edits ...func(*transfer.Request)) transfer.Request {
	r := transfer.Request{
		Operation: transfer.Internal, RefID: refID, FromProfileID: "treasury", ToProfileID: "landlord",
		Amount: transfer.MustAmount("80.00"), Asset: "USD",
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

func amount(text string) func(*transfer.Request) {
	return func(r *transfer.Request) { r.Amount = transfer.MustAmount(text) }
}

// sum gives a transfer another amount.
func sum(text string) func(*config.Transfer) {
	return func(t *config.Transfer) { amount(text)(&t.Request) }
}

// declare declares a transfer of its own block whose ref_id is given and not a label.
// Its destination is its own, so that it is nobody's twin.
func declare(refID string, edits ...func(*config.Transfer)) config.Transfer {
	t := config.Transfer{
		Request: request(refID, func(r *transfer.Request) { r.ToProfileID = "to-" + refID }),
		Address: "transfer.internal." + refID, Block: "transfer.internal." + refID,
		Place: config.Place{File: "pay.hcl", Line: 3}, DuplicateWithin: config.DuplicateWithinDefault,
	}
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

// twin gives a transfer the destination that all twins have.
func twin(t *config.Transfer) { t.Request.ToProfileID = "landlord" }

// elsewhere says that another directory declares the profiles of a transfer.
func elsewhere(t *config.Transfer) {
	t.FromPlace, t.ToPlace = config.Place{File: "../book/accounts.hcl", Line: 1}, config.Place{File: "../book/people.hcl", Line: 3}
}

// called gives the destination of a transfer a display name.
func called(name string) func(*config.Transfer) {
	return func(t *config.Transfer) { t.DisplayName = name }
}

func label(t *config.Transfer) { t.FromLabel = true }

// named declares a transfer of a block with for_each, whose ref_id is made by words.
func named(block, words string) func(*config.Transfer) {
	return func(t *config.Transfer) {
		t.Block = "transfer.internal." + block
		t.Address = t.Block + `["` + t.Request.RefID + `"]`
		t.Naming = words
	}
}

func inBatch(batch string) func(*config.Transfer) {
	return func(t *config.Transfer) { t.Batch = batch }
}

func window(d time.Duration) func(*config.Transfer) {
	return func(t *config.Transfer) { t.DuplicateWithin = d }
}

func acceptOf(refIDs ...string) func(*config.Transfer) {
	return func(t *config.Transfer) { t.AcceptDuplicateOf = refIDs }
}

func after(blocks ...string) func(*config.Transfer) {
	return func(t *config.Transfer) {
		for _, b := range blocks {
			t.DependsOn = append(t.DependsOn, config.Dependency{Block: "transfer.internal." + b})
		}
	}
}

func afterBatch(batch string) func(*config.Transfer) {
	return func(t *config.Transfer) { t.DependsOn = append(t.DependsOn, config.Dependency{Batch: batch}) }
}

func notBefore(at time.Time) func(*config.Transfer) {
	return func(t *config.Transfer) { t.NotBefore = at }
}

func expires(at time.Time) func(*config.Transfer) {
	return func(t *config.Transfer) { t.Expires = at }
}

// record makes the record of a declared transfer, COMPLETED an hour ago where it was made.
func record(t config.Transfer, status state.Status, edits ...func(*state.Detail)) state.Detail {
	r := t.Request
	d := state.Detail{
		Transfer: state.Transfer{
			RefID: r.RefID, Status: status, Fingerprint: r.Fingerprint(), Twin: r.Twin(), Destination: r.Destination(),
			Asset: r.Asset, Amount: r.Amount, FromLabel: t.FromLabel, RunID: "run-0", IntentSeq: 2,
			IntendedAt: now.Add(-time.Hour), AttemptedAt: now.Add(-time.Hour), SettledAt: now.Add(-time.Hour),
		},
		Intent: state.Intent{
			RefID: r.RefID, RunID: "run-0", Operation: r.Operation, Path: transfer.DefaultOperator.Path(r.Operation),
			Body: string(r.Body()), Fingerprint: r.Fingerprint().String(), Address: t.Address, Place: "old.hcl:9", Batch: t.Batch,
			FromLabel: t.FromLabel, Naming: t.Naming,
		},
		Outcome: &state.Outcome{RefID: r.RefID, RunID: "run-0", Status: status, Source: state.SourceAnswer},
	}
	if status.Made() {
		d.RecordStatus, d.RecordID, d.GroupID = transfer.Completed, "id-"+r.RefID, "group-"+r.RefID
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

func recordStatus(s transfer.RecordStatus) func(*state.Detail) {
	return func(d *state.Detail) { d.RecordStatus = s }
}

func because(reason string) func(*state.Detail) {
	return func(d *state.Detail) { d.Outcome.Reason = reason }
}

func intended(age time.Duration) func(*state.Detail) {
	return func(d *state.Detail) { d.IntendedAt = now.Add(-age) }
}

func open(d *state.Detail) { d.SettledAt, d.Outcome = time.Time{}, nil }

func plan(t testing.TB, m planner.Record, controls planner.Controls, declared ...config.Transfer) *planner.Plan {
	t.Helper()
	p, err := planner.New(t.Context(), slices.Values(declared), m, controls, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func find(t testing.TB, p *planner.Plan, refID string) *planner.Change {
	t.Helper()
	for _, c := range p.Changes.All() {
		if c.RefID == refID {
			return c
		}
	}
	t.Fatalf("the plan has no line of %q", refID)
	return nil
}

// actions is a plan in short: the action of each line by ref_id, in order.
func actions(p *planner.Plan) []string {
	all := []string{}
	for _, c := range p.Changes.All() {
		all = append(all, fmt.Sprintf("%s %s", c.Action.Symbol(), c.RefID))
	}
	return all
}

// obstacles is why a plan is not applicable, in short.
func obstacles(p *planner.Plan) []string {
	all := []string{}
	for _, o := range p.Obstacles {
		all = append(all, fmt.Sprintf("%s %d %v %s", o.Kind, o.Count, o.RefIDs, o.Remedy))
	}
	return all
}

// forgetful has rows without details.
type forgetful struct{ *memory }

func (forgetful) Details(context.Context, ...string) ([]state.Detail, error) { return nil, nil }

// failing can't be read.
type failing struct{ *memory }

func (f failing) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return state.OutlinesOf(f.Transfers(ctx))
}

func (failing) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) { yield(state.Transfer{}, errors.New("disk")) }
}
