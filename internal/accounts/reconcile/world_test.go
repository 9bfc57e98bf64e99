package reconcile_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/records"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

// row is a record as an export has it: the service's fields, and metadata.KEY.
type row map[string]string

// world is a state, and the service's own records of it.
type world struct {
	store    *sqlite.Store
	snapshot state.Snapshot
	requests map[string]transfer.Request // by ref_id
	export   []row                       // both sides of each, in the order of ref_ids
}

const runID = "run-1"

// newWorld makes a state of some transfers that were all recorded and completed.
func newWorld(t testing.TB, transfers int) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "remit.db")
	store, err := sqlite.Create(t.Context(), path, statetest.Created(), sqlite.Options{
		Now: func() time.Time { return time.Date(2026, 11, 1, 0, 1, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &world{store: store, requests: make(map[string]transfer.Request)}
	for i := range transfers {
		r := request(i)
		w.requests[r.RefID] = r
		w.export = append(w.export, sides(r, i)...)
	}
	w.append(t, func(add func(...state.Entry)) {
		for i := range transfers {
			r := request(i)
			add(intent(r), recorded(r.RefID, state.Recorded, state.SourceAnswer, w.export[2*i]))
		}
	})
	return w
}

// append writes to the state and reads it anew.
func (w *world) append(t testing.TB, write func(add func(...state.Entry))) {
	t.Helper()
	journal, err := w.store.Lock(t.Context(), statetest.Holder("apply"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []state.Entry
	write(func(entries ...state.Entry) { all = append(all, entries...) })
	for entries := range slices.Chunk(all, 1000) {
		if err := journal.Append(t.Context(), entries...); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Unlock(); err != nil {
		t.Fatal(err)
	}
	if w.snapshot != nil {
		_ = w.snapshot.Close()
	}
	if w.snapshot, err = w.store.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.snapshot.Close() })
}

func request(i int) transfer.Request {
	r := transfer.Request{
		Operation: transfer.Internal, RefID: fmt.Sprintf("pay-%07d", i),
		FromProfileID: "treasury", ToProfileID: fmt.Sprintf("profile-%d", i%17),
		Asset: []string{"USD", "EUR", "BTC"}[i%3], Amount: transfer.MustAmount(fmt.Sprintf("%d.%02d", i+1, i%100)),
	}
	if i%2 == 1 {
		r.Metadata = transfer.Metadata{{Key: "employee", Value: fmt.Sprintf("E-%d", i)}}
	}
	if i%4 == 3 {
		r.Operation = transfer.Platform
		r.RecipientMetadata = transfer.Metadata{{Key: "invoice", Value: fmt.Sprintf("R-%d", i)}}
	}
	return r
}

func intent(r transfer.Request) state.Intent {
	return state.Intent{
		RefID: r.RefID, RunID: runID, Operation: r.Operation, Path: transfer.DefaultOperator.Path(r.Operation),
		Body: string(r.Body()), Fingerprint: r.Fingerprint().String(), Address: "transfer.pay", Place: "pay.csv:1", Batch: "payroll",
	}
}

// sides are both records of a request, the debit first.
func sides(r transfer.Request, i int) []row {
	created := time.Date(2026, 11, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339)
	side := func(id, profile string, direction transfer.Direction, metadata transfer.Metadata) row {
		fee, total := "0", r.Amount.String()
		if i%5 == 4 && direction == transfer.Debit {
			fee, total = "0.25", r.Amount.Decimal().Add(decimal.RequireFromString("0.25")).String()
		}
		record := row{
			"id": id, "customer_id": statetest.Customer, "profile_id": profile,
			"amount": r.Amount.String(), "total": total, "fee": fee, "asset": r.Asset, "balance_asset": r.Asset,
			"direction": string(direction), "type": string(transfer.DefaultOperator.RecordType(r.Operation, direction)),
			"status": "COMPLETED", "created_at": created, "updated_at": created,
			"ref_id": r.RefID, "group_id": fmt.Sprintf("group-%d", i),
		}
		for _, pair := range metadata {
			record["metadata."+pair.Key] = pair.Value
		}
		return record
	}
	received := r.Metadata
	if r.Operation == transfer.Platform {
		received = r.RecipientMetadata
	}
	return []row{
		side(fmt.Sprintf("debit-%d", i), r.FromProfileID, transfer.Debit, r.Metadata),
		side(fmt.Sprintf("credit-%d", i), r.ToProfileID, transfer.Credit, received),
	}
}

func recorded(refID string, status state.Status, source state.Source, records ...row) state.Outcome {
	o := state.Outcome{RefID: refID, RunID: runID, Status: status, Source: source}
	for _, record := range records {
		o.Records = append(o.Records, json.RawMessage(record.json()))
	}
	return o
}

func (r row) json() string {
	object, metadata := make(map[string]any), make(map[string]string)
	for name, value := range r {
		if key, ok := strings.CutPrefix(name, "metadata."); ok {
			metadata[key] = value
		} else {
			object[name] = value
		}
	}
	object["metadata"] = metadata
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (r row) with(changes ...string) row {
	changed := maps.Clone(r)
	for i := 0; i < len(changes); i += 2 {
		changed[changes[i]] = changes[i+1]
		if changes[i+1] == "" {
			delete(changed, changes[i])
		}
	}
	return changed
}

// plus is the record with another amount.
func (r row) plus(amount string) row {
	return r.with("amount", decimal.RequireFromString(r["amount"]).Add(decimal.RequireFromString(amount)).String())
}

// format writes rows in one of the forms that an export may have.
func format(form int, rows []row) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, r.json())
	}
	switch form {
	case 0:
		return strings.Join(lines, "\n")
	case 1:
		return "[" + strings.Join(lines, ",\n") + "]"
	case 2:
		return `{"items":[` + strings.Join(lines, ",") + `],"next_page_cursor":""}`
	}
	columns := make(map[string]bool)
	for name := range sides(request(0), 0)[0] {
		columns[name] = true
	}
	for _, r := range rows {
		for name := range r {
			columns[name] = true
		}
	}
	header := slices.Sorted(maps.Keys(columns))
	delimiter := []string{",", ";", "\t"}[form%3]
	text := strings.Join(header, delimiter) + "\n"
	for _, r := range rows {
		var cells []string
		for _, name := range header {
			cells = append(cells, r[name])
		}
		text += strings.Join(cells, delimiter) + "\n"
	}
	return text
}

// reconciled reads files and holds them against the state of w.
func (w *world) reconciled(t testing.TB, o reconcile.Options, files ...string) *reconcile.Summary {
	t.Helper()
	o.TempDir = t.TempDir()
	r := reconcile.New(o)
	defer r.Close()
	for i, text := range files {
		name := fmt.Sprintf("export-%d", i+1)
		r.AddFile(name)
		for record, err := range records.NewReader(name, strings.NewReader(text), 1<<30).All() {
			if err == nil {
				err = r.Add(record.Record, record.Line)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return w.judged(t, r)
}

func (w *world) judged(t testing.TB, r *reconcile.Reconciliation) *reconcile.Summary {
	t.Helper()
	summary, err := r.Judge(t.Context(), w.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// lookedUp holds what a lookup of the ref_ids of the state finds in rows against it.
func (w *world) lookedUp(t testing.TB, o reconcile.Options, rows []row) *reconcile.Summary {
	t.Helper()
	o.TempDir, o.LookedUp, o.CanLookUp = t.TempDir(), true, true
	r := reconcile.New(o)
	defer r.Close()
	for _, row := range rows {
		if _, isAsked := w.requests[row["ref_id"]]; !isAsked {
			continue
		}
		record, err := transfer.ParseRecord([]byte(row.json()))
		if err == nil {
			err = r.Add(record, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return w.judged(t, r)
}
