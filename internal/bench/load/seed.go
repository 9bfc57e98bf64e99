package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/sqlite"
)

// seedLot is how many transfers share a commit.
const seedLot = 1000

// Seed records all transfers of a sorted file of payouts of a size in the state that "remit
// init" made at path, as one run that sent and recorded them would have.
func Seed(ctx context.Context, path string, size int, now func() time.Time) (err error) {
	store, err := sqlite.Open(ctx, path, sqlite.Options{Now: now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	const run = "bench-seed"
	journal, err := store.Lock(ctx, state.Holder{RunID: run, Command: "bench seed", Since: now()}, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Unlock()) }()
	if err := journal.Append(ctx, state.Begun{RunID: run, Digest: run}); err != nil {
		return err
	}
	for from := 0; from < size; from += seedLot {
		var entries []state.Entry
		for number := from; number < min(from+seedLot, size); number++ {
			intent, outcome, err := life(NewRow(number), number, run, now())
			if err != nil {
				return err
			}
			entries = append(entries, intent, outcome)
		}
		if err := journal.Append(ctx, entries...); err != nil {
			return fmt.Errorf("record transfers from %d: %w", from, err)
		}
	}
	return journal.Append(ctx, state.Ended{RunID: run, Complete: true, Outcomes: map[string]int{"recorded": size}})
}

// life is what a run writes of one transfer.
func life(row Row, number int, run string, at time.Time) (state.Intent, state.Outcome, error) {
	request, err := row.Request()
	if err != nil {
		return state.Intent{}, state.Outcome{}, err
	}
	raw, err := json.Marshal(wish{
		RefID: request.RefID, FromProfileID: treasury, Amount: row.Amount, Asset: asset,
		Metadata: map[string]string{"id": row.ID, "team": row.Team},
	}.record(at))
	if err != nil {
		return state.Intent{}, state.Outcome{}, err
	}
	intent := state.Intent{
		RefID: request.RefID, RunID: run, Operation: request.Operation,
		Path: transfer.DefaultOperator.Path(request.Operation), Body: string(request.Body()),
		Fingerprint: request.Fingerprint().String(),
		Address:     fmt.Sprintf("transfer.internal.payouts[%q]", row.ID), Place: fmt.Sprintf("rows.csv:%d", number+2),
		Batch: batch,
	}
	outcome := state.Outcome{
		RefID: request.RefID, RunID: run, Status: state.Recorded, Source: state.SourceAnswer, HTTPStatus: 201,
		Records: []json.RawMessage{raw},
	}
	return intent, outcome, nil
}
