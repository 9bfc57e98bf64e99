package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"remit/executor/ratelimit"
	"remit/internal/transfer"
)

// balancesMax bounds how long balances are asked for, of all profiles together: they are advice, and a
// run must not wait for it.
const balancesMax = time.Minute

// BalanceReader asks the service what a profile has.
type BalanceReader interface {
	// Balances returns the available balances. An error says nothing about any asset.
	Balances(ctx context.Context, profileID string) (Balances, error)
}

// Balances are a profile's balances as the service lists them. They are advice and no proof: others may pay
// at the same time, and lists lag. The zero value has none.
type Balances struct {
	At time.Time // the Date of the answer; zero where it had none

	available map[string]balance // by asset in one spelling
}

type balance struct {
	amount  decimal.Decimal
	problem string // why it is not known; "" where it is
}

// Add takes what the service says of an asset, which may be no number.
func (b *Balances) Add(asset string, amount decimal.Decimal, isNumber bool) {
	if b.available == nil {
		b.available = make(map[string]balance)
	}
	asset = transfer.AssetSpelled(asset)
	given := balance{amount: amount}
	_, isTwice := b.available[asset]
	switch {
	case isTwice:
		given.problem = "the answer has two balances of the asset"
	case !isNumber:
		given.problem = "the balance is not a number"
	}
	b.available[asset] = given
}

// Of returns the balance of an asset, however that is spelled, or why it is not known.
func (b Balances) Of(asset string) (decimal.Decimal, error) {
	given, ok := b.available[transfer.AssetSpelled(asset)]
	switch {
	case !ok:
		return decimal.Decimal{}, errors.New("the answer does not have the asset")
	case given.problem != "":
		return decimal.Decimal{}, errors.New(given.problem)
	}
	return given.amount, nil
}

// Read is the answer about one profile.
type Read struct {
	Balances
	Err error // why there is none; nil where there is
}

// ReadBalances asks once for each of the given profiles, with as many requests under way as
// the settings allow and no faster than their slowest rate limit, and returns an answer for each, in
// their order. Where ctx ends, or that takes longer than a minute, the rest have an error.
func ReadBalances(ctx context.Context, reader BalanceReader, settings Settings, clock Clock, profileIDs []string) []Read {
	ctx, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		if clock.Sleep(ctx, balancesMax) == nil {
			stop(fmt.Errorf("no answer within %v", balancesMax))
		}
	})
	pace := ratelimit.New(clock, slowest(settings.RateLimits), nil, func(time.Duration) {})
	answers := make([]Read, len(profileIDs))
	var asking sync.WaitGroup
	next := make(chan int)
	for range min(max(settings.InFlightMax, 1), len(profileIDs)) {
		asking.Go(func() {
			for i := range next {
				answers[i] = readOne(ctx, reader, pace, profileIDs[i])
			}
		})
	}
	for i := range profileIDs {
		next <- i
	}
	close(next)
	asking.Wait()
	stop(context.Canceled)
	all.Wait()
	return answers
}

func readOne(ctx context.Context, reader BalanceReader, pace *ratelimit.Limiter, profileID string) Read {
	if err := pace.Take(ctx); err != nil {
		return Read{Err: err}
	}
	ages, err := pace.Start(ctx, func() error { return nil })
	if err != nil {
		pace.Release()
		return Read{Err: err}
	}
	defer pace.Arrived(ages)
	read, err := reader.Balances(ctx, profileID)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return Read{read, err}
}

// slowest is the limit that lets the fewest requests start in a time; none where there is no limit.
func slowest(limits map[transfer.Operation]ratelimit.Limit) ratelimit.Limit {
	var least ratelimit.Limit
	for _, l := range limits {
		if l.Requests > 0 && (least.Requests == 0 || l.Window/time.Duration(l.Requests) > least.Window/time.Duration(least.Requests)) {
			least = l
		}
	}
	return least
}
