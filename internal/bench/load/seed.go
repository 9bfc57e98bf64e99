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

// Months is how long the history is that [SeedMonths] makes.
const Months = 12

// naming is how the configurations of this package make ref_ids.
const naming = `ref_id = "payout-${each.key}", key = "id"`

// Seed records all transfers of a sorted file of payouts of a size in the state that "remit
// init" made at path, as one run that sent and recorded them would have.
func Seed(ctx context.Context, path string, size int, now func() time.Time) error {
	return seed(ctx, path, []paid{{run: "bench-seed", at: now(), rows: size, row: NewRow}})
}

// SeedMonths records as many transfers, the last of them 31 days before now: the same people got
// the same amounts in each of so many months, by a file of its own each.
func SeedMonths(ctx context.Context, path string, size int, now func() time.Time) error {
	const month = 31 * 24 * time.Hour
	var runs []paid
	for m := range Months {
		runs = append(runs, paid{
			run: fmt.Sprintf("bench-seed-%d", m), at: now().Add(time.Duration(m-Months) * month), rows: size / Months,
			row: func(number int) Row { return monthRow(m, number) },
		})
	}
	return seed(ctx, path, runs)
}

// paid is a run that recorded rows at a time.
type paid struct {
	run  string
	at   time.Time
	rows int
	row  func(number int) Row
}

func seed(ctx context.Context, path string, runs []paid) (err error) {
	clock := runs[0].at
	store, err := sqlite.Open(ctx, path, sqlite.Options{Now: func() time.Time { return clock }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	journal, err := store.Lock(ctx, state.Holder{RunID: runs[0].run, Command: "bench seed", Since: clock}, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Unlock()) }()
	for _, p := range runs {
		clock = p.at
		if err := p.write(ctx, journal); err != nil {
			return err
		}
	}
	return nil
}

func (p paid) write(ctx context.Context, journal state.Journal) error {
	// The service's Date confirms the clock: the state is made after the times that are written into it.
	begun := state.Begun{RunID: p.run, Digest: p.run, Clocks: state.Clocks{Date: p.at}}
	if err := journal.Append(ctx, begun); err != nil {
		return err
	}
	for from := 0; from < p.rows; from += seedLot {
		var entries []state.Entry
		for number := from; number < min(from+seedLot, p.rows); number++ {
			intent, outcome, err := p.life(number)
			if err != nil {
				return err
			}
			entries = append(entries, intent, outcome)
		}
		if err := journal.Append(ctx, entries...); err != nil {
			return fmt.Errorf("record transfers from %d: %w", from, err)
		}
	}
	return journal.Append(ctx, state.Ended{RunID: p.run, Complete: true, Outcomes: map[string]int{"recorded": p.rows}})
}

// life is what a run writes of one transfer.
func (p paid) life(number int) (state.Intent, state.Outcome, error) {
	row := p.row(number)
	request, err := row.Request()
	if err != nil {
		return state.Intent{}, state.Outcome{}, err
	}
	raw, err := json.Marshal(row.record(p.at, p.rows))
	if err != nil {
		return state.Intent{}, state.Outcome{}, err
	}
	intent := state.Intent{
		RefID: request.RefID, RunID: p.run, Operation: request.Operation,
		Path: transfer.DefaultOperator.Path(request.Operation), Body: string(request.Body()),
		Fingerprint: request.Fingerprint().String(),
		Address:     fmt.Sprintf("transfer.internal.payouts[%q]", row.ID), Place: fmt.Sprintf("rows.csv:%d", number+2),
		Batch: batch, Naming: naming,
	}
	outcome := state.Outcome{
		RefID: request.RefID, RunID: p.run, Status: state.Recorded, Source: state.SourceAnswer, HTTPStatus: 201,
		Records: []json.RawMessage{raw},
	}
	return intent, outcome, nil
}
