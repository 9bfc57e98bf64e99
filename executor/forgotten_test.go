package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestADoubtWhoseRecordIsKeptElsewhereIsNotForgotten has the answer to fund be the record of rent, which is in doubt: fund is a
// conflict that keeps that record, and may give it back.
func TestADoubtWhoseRecordIsKeptElsewhereIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
			if refID != "fund" {
				return timeout()
			}
			return &executor.Answer{Kind: executor.Answered, HTTPStatus: 200, Record: &sides(request("rent"), w.clock.Now(), transfer.Completed)[0]}
		}
		w.apply(request("fund"))
		if got := w.journal.row("fund"); got.Status != state.Conflict || got.RecordID != "" {
			t.Fatalf("fund is %v with record %q", got.Status, got.RecordID)
		}
		outcome, err := executor.ResolveForgotten(t.Context(), w.resolution("rent"))
		if _, ok := errors.AsType[*executor.UnsettledError](err); !ok {
			t.Errorf("rent is %v, %v", outcome.Status, err)
		}
	})
}
