//go:build unix

package history

import (
	"math/rand/v2"
	"time"

	"github.com/shopspring/decimal"

	"remit/config"
	"remit/internal/transfer"
)

// limitsNone is the name of controls without a limit.
const limitsNone = "controls-free"

// limitAsset is the asset of which a day's sum is limited.
const limitAsset = "USD"

// drawLimits are the most of an asset that each name of controls lets a day have; nil for no limits.
func drawLimits(r *rand.Rand) map[string]string {
	if r.Float64() >= 0.2 {
		return nil
	}
	return map[string]string{
		"controls-0": pick(r, "150.00", "2500.00"), "controls-1": pick(r, "1300.00", "3000.00"), "controls-2": pick(r, "80.00", "7000.00"),
	}
}

// drawDaily has half of the histories with limits declare much on one day, of which each plan alone keeps the
// limit: the requests of earlier that day decide. Little else happens in them.
func (t *traits) drawDaily(r *rand.Rand, limits map[string]string) bool {
	if limits == nil || r.Float64() < 0.5 {
		return false
	}
	for name := range limits {
		limits[name] = "1500.00"
	}
	t.quiet()
	t.edits = 0.8
	return true
}

// quiet keeps services, machines and people from most of what they do.
func (t *traits) quiet() {
	t.isQuiet = true
	clear(t.rates)
	t.clocks.wrong, t.clocks.sets, t.clocks.jumps = 0, 0, 0
	t.crash, t.stop, t.interrupt, t.rival, t.loss, t.restore, t.saved, t.months, t.payroll = 0, 0, 0, 0, 0, 0, 0, 0, false
}

// controlsOf are what a plan is checked against: controls that differ where their name does.
func (a *author) controlsOf(name string) config.Controls {
	w := a.world
	controls := config.Controls{Files: []config.ControlFile{{Name: "limits.hcl", SHA256: name}}}
	if most := w.traits.rules.limits[name]; most != "" {
		controls.Limits = []config.Limit{{
			Name: "day", Place: config.Place{File: "limits.hcl", Line: 1}, Per: config.PerDay, Asset: limitAsset,
			AmountMax: transfer.MustAmount(most), CountMax: -1, Zone: time.UTC,
		}}
	}
	if w.client.Limits != nil {
		controls.Limits = w.client.Limits(controls.Limits)
	}
	controls.Approvals = a.approvalBlocks(name)
	return controls
}

// limited is asked of each transfer that the bank makes: I10, no day has more of an asset than the limit
// lets it have under which the process runs that sends it, or the one that attempted it first, whichever is laxer: a
// doubt is sent again also after an edit of the limits. A day is that of the intent, by the clock of who wrote it.
func (o *oracle) limited(made *movement) {
	controls, limits := made.from.controls, o.world.traits.rules.limits
	if first := o.under[made.refID]; limits[first] == "" || limits[controls] != "" && amountOf(limits[first]).GreaterThan(amountOf(limits[controls])) {
		controls = first
	}
	most := limits[controls]
	day := made.intended.Truncate(24 * time.Hour)
	if most == "" || o.stale || made.request.Asset != limitAsset {
		return
	}
	sum := decimal.Zero
	for _, list := range o.world.bank.made {
		for _, m := range list {
			if m.from.ahead.Abs() > skewMax || !m.from.turnedAt.IsZero() {
				return // what day it was, nobody can say
			}
			if m.request.Asset == limitAsset && m.intended.Truncate(24*time.Hour).Equal(day) {
				sum = sum.Add(m.request.Amount.Decimal())
			}
		}
	}
	if sum.GreaterThan(amountOf(most)) {
		o.violate("I10", "with %s, %s %s are sent on %s, and %s allows %s", made.refID, sum, limitAsset, day.Format(time.DateOnly), controls, most)
	}
}

func amountOf(limit string) decimal.Decimal { return transfer.MustAmount(limit).Decimal() }
