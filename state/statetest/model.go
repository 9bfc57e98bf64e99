package statetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/state"
)

// model is a state as simple as can be: a list of entries, and maps that are copied whole
// for each append.
type model struct {
	entries  []state.Entry
	rows     map[string]state.Transfer
	records  map[string]string
	runs     map[string]state.Run
	customer string
}

func (m *model) clone() model {
	return model{
		slices.Clone(m.entries), maps.Clone(m.rows), maps.Clone(m.records), maps.Clone(m.runs), m.customer,
	}
}

// append is what Append promises, without anything that makes it fast or durable. Its
// events have no times.
func (m *model) append(entries []state.Entry) error {
	next := m.clone()
	for _, entry := range entries {
		draft, err := state.NewDraft(entry)
		if err != nil {
			return err
		}
		refID, runID := entry.Subject()
		switch e := entry.(type) {
		case state.Intent, state.Outcome:
			if o, ok := e.(state.Outcome); ok && o.Status.Made() && o.Listed == nil {
				record, err := transfer.ParseRecord(o.Records[0])
				if err != nil {
					return err
				}
				if next.customer != "" && record.CustomerID != next.customer && o.Source != state.SourcePerson {
					return &state.CustomerError{}
				}
				next.customer = record.CustomerID
			}
			row, err := next.rows[refID].Apply(draft, int64(len(next.entries)+1), start)
			if err != nil {
				return err
			}
			next.rows[refID] = row
			if row.RecordID != "" && !row.SharesID {
				if owner, ok := next.records[row.RecordID]; ok && owner != refID {
					return &state.DuplicateRecordError{}
				}
				next.records[row.RecordID] = refID
			}
		case state.Begun, state.Ended:
			run, err := next.runs[runID].Apply(draft, start)
			if err != nil {
				return err
			}
			next.runs[runID] = run
		}
		next.entries = append(next.entries, entry)
	}
	*m = next
	return nil
}

// machine runs a store beside the model. Its ref_ids begin with a prefix of their own, so
// that one state serves all histories.
type machine struct {
	b      *bench
	store  state.Store
	lock   state.Journal
	model  model
	prefix string
}

// agreesWithModel plays random histories: appends of up to four entries, locks let go and
// taken again, by this process's store or another's.
func agreesWithModel(t *testing.T, b *bench) {
	stores := []state.Store{b.create(), b.open()}
	m := &machine{b: b, store: stores[0]}
	m.model = model{rows: map[string]state.Transfer{}, records: map[string]string{}, runs: map[string]state.Run{}}
	if err := m.model.append([]state.Entry{Created()}); err != nil {
		t.Fatal(err)
	}
	m.lock = b.lock(m.store)
	history := 0
	suite.CheckSome(t, suite.Dose(8, 15, 100), func(rt *rapid.T) {
		history++
		m.prefix = fmt.Sprintf("h%d-", history)
		rt.Repeat(map[string]func(*rapid.T){
			"append": m.append,
			"relock": func(rt *rapid.T) {
				if err := m.lock.Unlock(); err != nil {
					rt.Fatal(err)
				}
				m.store = stores[rapid.IntRange(0, 1).Draw(rt, "store")]
				var err error
				if m.lock, err = m.store.Lock(t.Context(), Holder("apply"), 0); err != nil {
					rt.Fatal(err)
				}
			},
		})
		m.compare(rt)
	})
	b.unlock(m.lock)
}

func (m *machine) append(rt *rapid.T) {
	entries := rapid.SliceOfN(rapid.Custom(m.entry), 1, 4).Draw(rt, "entries")
	if i, ok := entries[len(entries)-1].(state.Intent); ok && rapid.Bool().Draw(rt, "by a list") {
		entries = append(entries, Listed(i.RefID, i.RunID, state.SourceImport, rapid.SampledFrom([]state.Status{state.Unverified, state.Conflict}).Draw(rt, "says")))
	}
	want := m.model.append(entries)
	got := m.lock.Append(m.b.t.Context(), entries...)
	if (got == nil) != (want == nil) {
		rt.Fatalf("got %v, the model says %v", got, want)
	}
	for _, sentinel := range []error{state.ErrRecorded, state.ErrDifferent, state.ErrTombstone, state.ErrNoAttempt, state.ErrRun} {
		if errors.Is(want, sentinel) != errors.Is(got, sentinel) {
			rt.Fatalf("got %v, the model says %v", got, want)
		}
	}
}

// entry draws any entry, sensible or not.
func (m *machine) entry(rt *rapid.T) state.Entry {
	refID := m.prefix + rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "ref_id")
	runID := m.prefix + rapid.SampledFrom([]string{"run 1", "run 2"}).Draw(rt, "run")
	switch rapid.IntRange(0, 9).Draw(rt, "kind") {
	case 0:
		return state.Begun{RunID: runID, Digest: "d"}
	case 1:
		return state.Ended{RunID: runID}
	case 2, 3, 4:
		return Intent(refID, runID, rapid.SampledFrom([]string{"10.00", "10.0", "20.00"}).Draw(rt, "amount"))
	}
	sources := []state.Source{state.SourceAnswer, state.SourceAnswer, state.SourceLookup, state.SourcePerson, state.SourceImport}
	source := rapid.SampledFrom(sources).Draw(rt, "source")
	says := rapid.SampledFrom(state.Statuses()).Draw(rt, "says")
	if says == state.Tombstone {
		source = state.SourcePerson
	}
	if rapid.IntRange(0, 5).Draw(rt, "listed") == 0 {
		source, says = state.SourceImport, rapid.SampledFrom([]state.Status{state.Unverified, state.Conflict, state.Adopted}).Draw(rt, "says")
		if says == state.Adopted {
			source = state.SourcePerson
		}
		o := Listed(refID, runID, source, says)
		o.Listed.GroupID = m.prefix + rapid.SampledFrom([]string{"g-r 1", "g-r 2"}).Draw(rt, "group")
		return o
	}
	o := Outcome(refID, runID, source, says)
	if says.Made() {
		record := m.prefix + rapid.SampledFrom([]string{"r 1", "r 2", "r 3"}).Draw(rt, "record")
		customer := rapid.SampledFrom([]string{Customer, Customer, Customer, "other"}).Draw(rt, "customer")
		if m.model.customer == "" || source == state.SourcePerson {
			customer = Customer
		}
		status := rapid.SampledFrom([]transfer.RecordStatus{transfer.Pending, transfer.Completed, transfer.Failed}).Draw(rt, "status")
		o.Records[0] = Record(refID, record, customer, "10.00", status)
	}
	return o
}

// compare looks at the state through its holder and through the store.
func (m *machine) compare(rt *rapid.T) {
	for _, from := range []snapshotter{m.lock, m.store} {
		v := m.b.look(from)
		for i, entry := range v.entries(m.b.t) {
			if i >= len(m.model.entries) || !same(m.model.entries[i], entry) {
				rt.Fatalf("event %d is %v", i+1, entry)
			}
		}
		if len(v.Events) != len(m.model.entries) {
			rt.Fatalf("%d events, the model has %d", len(v.Events), len(m.model.entries))
		}
		if !same(fold(m.b.t, v.Events), v.Rows) {
			rt.Fatalf("the rows are not what the events make of them")
		}
		if len(v.Rows) != len(m.model.rows) || len(v.Runs) != len(m.model.runs) {
			rt.Fatalf("%d rows and %d runs, the model has %d and %d", len(v.Rows), len(v.Runs), len(m.model.rows), len(m.model.runs))
		}
		for _, row := range v.Rows {
			want := m.model.rows[row.RefID]
			if row.Status != want.Status || row.Doubted != want.Doubted || row.RecordID != want.RecordID || row.GroupID != want.GroupID || row.IntentSeq != want.IntentSeq {
				rt.Fatalf("the row is %+v, the model has %+v", row, want)
			}
		}
	}
}
