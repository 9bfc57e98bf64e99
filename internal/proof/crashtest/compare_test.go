package crashtest_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/sandbox"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/sqlite"
)

// payroll is how many rows the example has.
const payroll = 118

// readLedger reads what a service that has ended has made.
func readLedger(t *testing.T, path string) []transfer.Record {
	t.Helper()
	box, err := sandbox.Open(context.Background(), sandbox.Options{Path: path, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	var records []transfer.Record
	for record, err := range box.Ledger(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return records
}

// readState reads the rows of a state in a file of a directory, as [readStore] does.
func readState(t *testing.T, dir string) []state.Transfer {
	t.Helper()
	store, err := sqlite.OpenReadOnly(context.Background(), filepath.Join(dir, "remit.db"))
	if err != nil {
		t.Fatal(err)
	}
	return readStore(t, store)
}

// verified is a state that can be held against its own journal.
type verified interface {
	state.Store
	Verify(ctx context.Context, head string) (state.Meta, error)
}

// readStore verifies the journal's chain, and all rows against it, reads the rows, and closes
// the state.
func readStore(t *testing.T, store verified) []state.Transfer {
	t.Helper()
	ctx := context.Background()
	defer store.Close()
	if _, err := store.Verify(ctx, ""); err != nil {
		t.Error(err)
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	var rows []state.Transfer
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// compare holds a ledger against a state with nothing left to do. It returns the differences, in
// words.
func compare(ledger []transfer.Record, rows []state.Transfer, want int) []string {
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	debits := make(map[string]transfer.Record)
	var debited, recorded transfer.Totals
	for _, record := range ledger {
		if record.Direction != transfer.Debit {
			continue
		}
		if _, twice := debits[record.RefID]; twice {
			complain("%s was paid twice", record.RefID)
		}
		debits[record.RefID] = record
		amount, err := transfer.ParseAmount(record.Amount)
		if err != nil {
			complain("the amount of %s: %v", record.RefID, err)
		}
		debited.Add(record.Asset, amount)
	}
	left := maps.Clone(debits)
	for _, row := range rows {
		record, made := debits[row.RefID]
		delete(left, row.RefID)
		switch {
		case row.Status != state.Recorded:
			complain("%s is %s", row.RefID, row.Status)
		case !made:
			complain("%s is recorded and was never made", row.RefID)
		case row.GroupID != record.GroupID || row.RecordID != record.ID:
			complain("%s is recorded under group_id %s, the ledger says %s", row.RefID, row.GroupID, record.GroupID)
		}
		recorded.Add(row.Asset, row.Amount)
	}
	for _, refID := range slices.Sorted(maps.Keys(left)) {
		complain("%s was made and is not in the state", refID)
	}
	if len(debits) != want {
		complain("%d transfers were made, %d are declared", len(debits), want)
	}
	if diff := cmp.Diff(sums(recorded), sums(debited)); diff != "" {
		complain("recorded (-) and debited (+) sums differ: %s", diff)
	}
	return wrong
}

func sums(totals transfer.Totals) map[string]string {
	found := make(map[string]string)
	for total := range totals.All() {
		found[total.Asset] = total.Sum.String()
	}
	return found
}

// TestTheComparisonCanFail shows that each fault that the crash test looks for is found.
func TestTheComparisonCanFail(t *testing.T) {
	amount := func(text string) transfer.Amount {
		a, err := transfer.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	record := func(refID, group, text string) transfer.Record {
		return transfer.Record{ID: "id of " + group, RefID: refID, GroupID: group, Asset: "USD", Amount: text, Direction: transfer.Debit}
	}
	row := func(refID, group, text string) state.Transfer {
		return state.Transfer{RefID: refID, RecordID: "id of " + group, GroupID: group, Status: state.Recorded, Asset: "USD", Amount: amount(text)}
	}
	doubt := row("a", "g", "1")
	doubt.Status = state.InDoubt
	for name, c := range map[string]struct {
		ledger []transfer.Record
		rows   []state.Transfer
		want   []string
	}{
		"nothing": {[]transfer.Record{record("a", "g", "1")}, []state.Transfer{row("a", "g", "1")}, nil},
		"a second payment": {
			[]transfer.Record{record("a", "g", "1"), record("a", "h", "1")},
			[]state.Transfer{row("a", "h", "1")},
			[]string{"a was paid twice", "sums differ"},
		},
		"a lost payment": {[]transfer.Record{record("a", "g", "1")}, nil, []string{"a was made and is not in the state", "sums differ"}},
		"a payment that was never made": {
			nil,
			[]state.Transfer{row("a", "g", "1")},
			[]string{"a is recorded and was never made", "0 transfers were made", "sums differ"},
		},
		"a doubt":         {[]transfer.Record{record("a", "g", "1")}, []state.Transfer{doubt}, []string{"a is in doubt"}},
		"another link":    {[]transfer.Record{record("a", "g", "1")}, []state.Transfer{row("a", "h", "1")}, []string{"the ledger says g"}},
		"another amount":  {[]transfer.Record{record("a", "g", "1")}, []state.Transfer{row("a", "g", "2")}, []string{"sums differ"}},
		"an undone batch": {nil, nil, []string{"0 transfers were made, 1 are declared"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare(c.ledger, c.rows, 1)
			if len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("got %q, want ...%s...", got[i], want)
				}
			}
		})
	}
}
