package planner

import "remit/internal/transfer"

// uncount takes back that a Submit was counted, which becomes something else or is no part of the plan.
// The others are counted anew at the end: a sum keeps the digits of amounts that were taken from it.
func (b *builder) uncount() {
	delete(b.plan.Totals, Submit)
	b.isUncounted = true
}

// count counts a transfer that has no line.
func (p *Plan) count(a Action, asset string, amount transfer.Amount) {
	p.totalsOf(a).Add(asset, amount)
}

// countLine counts the request of a line.
func (p *Plan) countLine(a Action, request *transfer.Request) {
	if hasLines(a) {
		p.totalsOf(a).AddRequest(request)
	} else {
		p.count(a, request.Asset, request.Amount)
	}
}

// hasLines reports whether each transfer of an action has a line, so that its totals have a
// hash total.
func hasLines(a Action) bool { return a != None && a != Undeclared }

func (p *Plan) totalsOf(a Action) *transfer.Totals {
	t := p.Totals[a]
	if t == nil {
		t = new(transfer.Totals)
		p.Totals[a] = t
	}
	return t
}

// addTotals counts the plan's lines. Submits are most of them, and were counted when they
// were declared, unless some were taken back.
func (b *builder) addTotals() error {
	for i := range b.facts.len() {
		if b.plan.Changes.Action(i) == Submit && !b.isUncounted {
			continue
		}
		c := b.plan.Changes.At(i)
		request, err := c.InForce()
		if err != nil {
			return err
		}
		b.plan.countLine(c.Action, &request)
	}
	if b.word != nil {
		b.word.splitTotals(b.plan)
	}
	return nil
}

// addTotals counts the plan's lines.
func (p *Plan) addTotals() error {
	for _, c := range p.Changes.All() {
		request, err := c.InForce()
		if err != nil {
			return err
		}
		p.countLine(c.Action, &request)
	}
	return nil
}
