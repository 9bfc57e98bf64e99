package executor_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestARefusalOfWhatWasMadeIsFound has a server in between say no after the service made the transfer.
func TestARefusalOfWhatWasMadeIsFound(t *testing.T) {
	tests := map[string]struct {
		answer executor.Answer
		listed func(transfer.Record) []transfer.Record
		want   executor.Result
		status state.Status
		wait   bool
	}{
		"refused, and listed":       {executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}, nil, executor.ResultAdopted, state.Adopted, false},
		"not processed, and listed": {executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429}, nil, executor.ResultAdopted, state.Adopted, false},
		"refused, and waited for":   {executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}, nil, executor.ResultAdopted, state.Adopted, true},
		"listed with another amount": {
			executor.Answer{Kind: executor.Rejected, HTTPStatus: 403},
			func(r transfer.Record) []transfer.Record {
				return []transfer.Record{with(r, map[string]any{"amount": "3"})}
			},
			executor.ResultConflict, state.Conflict, false,
		},
		"not listed": {
			executor.Answer{Kind: executor.Rejected, HTTPStatus: 422},
			func(transfer.Record) []transfer.Record { return nil },
			executor.ResultRefused, state.Refused, false,
		},
		"nothing was sent": {
			executor.Answer{Kind: executor.Unwritten}, nil, executor.ResultNotAttempted, state.Unsent, false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup, w.settings.WaitFinal = true, tt.wait
				w.service.after = func(refID string, _ int, answer executor.Answer) executor.Answer {
					if tt.listed != nil {
						w.service.remade(refID, tt.listed(*answer.Record)...)
					}
					return tt.answer
				}
				summary := w.apply(request("a"))
				if diff := cmp.Diff(map[executor.Result]int{tt.want: 1}, counts(summary)); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if row := w.journal.row("a"); row.Status != tt.status {
					t.Errorf("the state has %v", row.Status)
				}
				if isSettled := tt.want != executor.ResultNotAttempted; summary.Complete != isSettled {
					t.Errorf("complete: %t", summary.Complete)
				}
			})
		})
	}
}
