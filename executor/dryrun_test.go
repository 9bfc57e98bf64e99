package executor_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"remit/executor"
	"remit/state"
)

// imported is what an import says of a record with such fields.
func imported(refID string, status state.Status, fields map[string]string) state.Entry {
	record := edited(*debit(request(refID), time.Now()), fields)
	return state.Outcome{RefID: refID, Status: status, Source: state.SourceImport, Records: []json.RawMessage{record.Raw}}
}

// TestADryRunRefusesWhatTheStateWould has a file say of ref_ids what a state does not take.
func TestADryRunRefusesWhatTheStateWould(t *testing.T) {
	shared := map[string]string{"group_id": "shared"}
	of := func(customer string) map[string]string { return map[string]string{"customer_id": customer} }
	record := func(id string) map[string]string { return map[string]string{"id": id} }
	adopted, unverified := state.Adopted, state.Unverified
	tests := map[string]struct {
		stored  []state.Entry
		appends [][]state.Entry
		refused string // of the last one; "" where it is not
	}{
		"a record that the state has": {
			[]state.Entry{imported("fund", adopted, record("one"))},
			[][]state.Entry{{imported("rent", adopted, record("one"))}},
			`stored under ref_id "fund"`,
		},
		"a record that was appended before": {
			nil,
			[][]state.Entry{{imported("fund", adopted, record("one"))}, {imported("rent", adopted, record("one"))}},
			"stored under ref_id",
		},
		"one record of two that are appended together": {
			nil,
			[][]state.Entry{{imported("fund", adopted, record("one")), imported("rent", adopted, record("one"))}},
			"stored under ref_id",
		},
		"a group_id that another one was adopted with": {
			[]state.Entry{imported("fund", adopted, shared)},
			[][]state.Entry{{imported("rent", adopted, shared)}},
			`that of ref_id "fund"`,
		},
		"a group_id that another one was adopted with, and that it has unverified": {
			[]state.Entry{imported("fund", adopted, shared), imported("rent", unverified, shared)},
			[][]state.Entry{{imported("rent", adopted, shared)}},
			`that of ref_id "fund"`,
		},
		"the same, with the other one later in the state": {
			[]state.Entry{imported("fund", unverified, shared), imported("rent", adopted, shared)},
			[][]state.Entry{{imported("fund", adopted, shared)}},
			`that of ref_id "rent"`,
		},
		"a group_id that it was adopted with, and another one has unverified": {
			[]state.Entry{imported("fund", adopted, shared), imported("rent", unverified, shared)},
			[][]state.Entry{{imported("fund", adopted, shared)}},
			"",
		},
		"another customer than that of the one before": {
			nil,
			[][]state.Entry{{imported("fund", adopted, of("ours"))}, {imported("rent", adopted, of("theirs"))}},
			`of customer "theirs", the state of customer "ours"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, entry := range test.stored {
				if err := w.journal.Append(t.Context(), entry); err != nil {
					t.Fatal(err)
				}
			}
			snapshot, err := w.journal.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			paper, err := executor.NewDryRun(t.Context(), snapshot)
			if err != nil {
				t.Fatal(err)
			}
			for i, entries := range test.appends {
				err := paper.Append(t.Context(), entries...)
				isRefused := i == len(test.appends)-1 && test.refused != ""
				if (err != nil) != isRefused || err != nil && !strings.Contains(err.Error(), test.refused) {
					t.Errorf("append %d: %v, want %q", i, err, test.refused)
				}
			}
		})
	}
}
