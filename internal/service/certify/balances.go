package certify

import (
	"context"

	"github.com/shopspring/decimal"

	"remit/internal/service/contract"
	"remit/internal/transfer"
)

// funds are what the service says that the sender has, before the transfers of a series and after them.
type funds struct {
	tried         bool
	before, after decimal.Decimal
	err           error // of the first balance that could not be read
}

// readBalance asks what the sender has of the asset.
func (t *Trial) readBalance(ctx context.Context) decimal.Decimal {
	t.watch.ignore(true)
	defer t.watch.ignore(false)
	var amount decimal.Decimal
	balances, err := t.Balances.Balances(ctx, t.From.ProfileID)
	if err == nil {
		amount, err = balances.Of(t.Asset)
	}
	if err != nil && t.funds.err == nil && ctx.Err() == nil {
		t.funds.err = err
	}
	return amount
}

// beginFunds reads the balance that the series begins with.
func (t *Trial) beginFunds(ctx context.Context) {
	if t.Balances == nil || ctx.Err() != nil {
		return
	}
	t.tell("asking for the balance")
	t.funds.before = t.readBalance(ctx)
	t.funds.tried = ctx.Err() == nil
}

// endFunds reads the balance until it has fallen by the transfers of the trial, for as long as the trial waits.
func (t *Trial) endFunds(ctx context.Context) {
	if !t.funds.tried || t.funds.err != nil || ctx.Err() != nil {
		return
	}
	t.tell("asking for the balance")
	t.poll(ctx, func() bool {
		t.funds.after = t.readBalance(ctx)
		return t.funds.err != nil || t.funds.before.Sub(t.funds.after).Equal(debited(t.gate, &t.final))
	})
	t.funds.tried = ctx.Err() == nil
}

// debited is what the transfers of this series took from the sender, by their records. One that failed took nothing.
func debited(g *gate, f *final) decimal.Decimal {
	sum := decimal.Zero
	for _, r := range debits(g, f) {
		total, ok := transfer.ParseNumber(r.Total)
		if ok && r.Status != transfer.Failed {
			sum = sum.Add(total)
		}
	}
	return sum
}

func (j judgement) judgeBalances() {
	f := &j.trial.funds
	switch {
	case j.trial.Balances == nil:
		j.unknown(contract.Balance, "Not tried: the service block has no balance_path.")
		j.unknown(contract.BalanceFalls, "Not tried: the service block has no balance_path.")
	case f.err != nil:
		j.differs(contract.Balance, "%s.", sentence(f.err.Error()))
		j.unknown(contract.BalanceFalls, "Not tried: balances can't be read.")
	case f.tried:
		j.holds(contract.Balance)
		j.holds(contract.BalanceFalls)
		if fell := f.before.Sub(f.after); !fell.Equal(debited(j.trial.gate, &j.trial.final)) {
			j.differs(contract.BalanceFalls, "The balance fell by %s, and by their records the transfers took %s. Did others pay meanwhile?",
				transfer.Digits(fell), transfer.Digits(debited(j.trial.gate, &j.trial.final)))
		}
	}
}
