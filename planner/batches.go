package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"remit/config"
	"remit/internal/transfer"
)

// Batch is one declared batch.
type Batch struct {
	Name string
	// Totals are of all its declared transfers, of every action, also where something was
	// targeted, so that they stay the same from plan to plan of the same files.
	Totals transfer.Totals
	// Controlled says that it has a control block, with which the totals agree unless an
	// obstacle says otherwise.
	Controlled bool
	// Control is what it says; nil of one that has none, and of a plan that an older version saved.
	Control *config.BatchControl
	// Changed is set where the plan was computed again by its own control blocks, and the configuration has another one
	// for this batch: nobody but its author says then that Control was ever in a configuration.
	Changed *ControlBlock
}

// batchTally adds up the declared transfers of each batch.
type batchTally struct {
	batches []Batch
	numbers map[string]int
	last    int // number of the latest one, of which most transfers are as well
}

func newBatchTally(declared []config.Batch) *batchTally {
	t := &batchTally{numbers: make(map[string]int)}
	for _, b := range declared {
		batch := &t.batches[t.number(b.Name)]
		batch.Controlled, batch.Control = b.Control != nil, b.Control
	}
	return t
}

func (t *batchTally) number(name string) int {
	if t.last < len(t.batches) && t.batches[t.last].Name == name {
		return t.last
	}
	n, ok := t.numbers[name]
	if !ok {
		n = len(t.batches)
		t.numbers[name] = n
		t.batches = append(t.batches, Batch{Name: name})
	}
	t.last = n
	return n
}

func (t *batchTally) add(declared *config.Transfer) {
	if declared.Batch != "" {
		t.batches[t.number(declared.Batch)].Totals.AddRequest(&declared.Request)
	}
}

// isControlled reports whether a batch has a control block.
func (t *batchTally) isControlled(name string) bool {
	return name != "" && t.batches[t.number(name)].Controlled
}

// checkBatches keeps the batches that have transfers or a control block, and holds each
// against its control block.
func (b *builder) checkBatches() {
	if b.word != nil {
		b.word.restoreTotals(b.batches.batches)
	}
	for _, declared := range b.controls.Batches {
		if declared.Control == nil {
			continue
		}
		totals := b.batches.batches[b.batches.numbers[declared.Name]].Totals
		if differences := controlDifferences(declared.Control, totals); len(differences) > 0 {
			b.plan.Obstacles = append(b.plan.Obstacles, Obstacle{
				Kind: ObstacleControl, Address: "batch." + declared.Name, Count: totals.Count(),
				Detail: fmt.Sprintf("The control totals of batch %q at %s do not agree with the transfers that are declared: %s. %s",
					declared.Name, declared.Control.Place, strings.Join(differences, "; "), controlRemedy(declared.Name, totals)),
			})
		}
	}
	b.plan.Batches = slices.DeleteFunc(b.batches.batches, func(batch Batch) bool {
		return !batch.Controlled && batch.Totals.Count() == 0
	})
}

// controlRemedy says what to look at where totals differ from a control block.
func controlRemedy(batch string, totals transfer.Totals) string {
	if totals.Count() == 0 {
		return fmt.Sprintf("Is a file empty, or does its transfer block not say batch = batch.%s? The batch has no transfer. Mend the files.", batch)
	}
	return "Is a file cut off, or one of another period? Mend the files, or the control block where that one is wrong."
}

// controlDifferences says how totals differ from a control block, in words.
func controlDifferences(control *config.BatchControl, totals transfer.Totals) []string {
	var all []string
	if control.Count >= 0 && control.Count != totals.Count() {
		all = append(all, difference("count", decimal.NewFromInt(int64(control.Count)), decimal.NewFromInt(int64(totals.Count()))))
	}
	if control.Totals != nil {
		assets := maps.Clone(control.Totals)
		for total := range totals.All() {
			if _, ok := assets[total.Asset]; !ok {
				assets[total.Asset] = decimal.Zero
			}
		}
		for _, asset := range slices.Sorted(maps.Keys(assets)) {
			if sum := totals.Sum(asset); !sum.Equal(assets[asset]) {
				all = append(all, difference(asset, assets[asset], sum))
			}
		}
	}
	if control.HashTotal != nil {
		if hash, _ := totals.HashTotal(); !hash.Equal(*control.HashTotal) {
			all = append(all, difference("hash total", *control.HashTotal, hash))
		}
	}
	return all
}

func difference(of string, control, declared decimal.Decimal) string {
	scale := max(0, -control.Exponent(), -declared.Exponent())
	digits := func(d decimal.Decimal) string { return transfer.Scales(nil).Shown(d.StringFixed(scale), of) }
	text, word := declared.Sub(control), "more"
	if text.IsNegative() {
		text, word = text.Neg(), "less"
	}
	return fmt.Sprintf("%s is %s in the control block and %s declared, %s %s",
		of, digits(control), digits(declared), digits(text), word)
}

// Sent are the control totals of what an apply may send: submits and resolves.
func (p *Plan) Sent() transfer.Totals {
	var sent transfer.Totals
	for _, action := range Actions() {
		if t := p.Totals[action]; t != nil && action.Sends() {
			sent.Merge(*t)
		}
	}
	return sent
}
