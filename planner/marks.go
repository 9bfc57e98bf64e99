package planner

import (
	"fmt"
	"strings"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// marks are what the state says of the destinations of a saved plan, to hold the signals of its
// lines against: a plan file is its author's, who may have left out what a reviewer, or a policy
// that counts signals, should see.
//
// A mark that the state no longer asks for may stay, and what came up since the plan was made
// asks for none that the plan could not have.
type marks struct {
	planned time.Time // when the plan was made
	paid    map[transfer.Destination]map[string]largest
}

// largest is the largest amount of an asset that a destination got.
type largest struct {
	amount transfer.Amount
	known  bool // the plan could know of a payment of the asset
}

// wants notes the destination of a line, before what is recorded is read.
func (m *marks) wants(r *transfer.Request) {
	if m.paid == nil {
		m.paid = make(map[transfer.Destination]map[string]largest)
	}
	m.paid[r.Destination()], m.paid[r.SpelledDestination()] = nil, nil
}

// recorded takes a transfer of the state in.
func (m *marks) recorded(t *state.Transfer) {
	assets, isWanted := m.paid[t.Destination]
	hasPaid := t.Status.Made() && t.Status != state.Unverified && t.RecordStatus != transfer.Failed && t.Destination != 0
	if !isWanted || !hasPaid {
		return
	}
	if assets == nil {
		assets = make(map[string]largest)
		m.paid[t.Destination] = assets
	}
	asset := transfer.AssetSpelled(t.Asset)
	l := assets[asset]
	l.known = l.known || t.IntendedAt.Before(m.planned)
	if l.amount.IsZero() || t.Amount.Cmp(l.amount) > 0 {
		l.amount = t.Amount
	}
	assets[asset] = l
}

// missing names the mark that a line should have and has not; "" for none.
func (m *marks) missing(c *Change) SignalKind {
	has := make(map[SignalKind]bool, len(c.Signals))
	for _, s := range c.Signals {
		has[s.Kind] = true
	}
	assets := m.paid[c.Request.Destination()]
	if len(assets) == 0 { // or it is recorded as it is spelled
		assets = m.paid[c.Request.SpelledDestination()]
	}
	l := assets[transfer.AssetSpelled(c.Request.Asset)]
	switch {
	case len(assets) == 0 && !has[FirstDestination]:
		return FirstDestination
	case l.known && isOutOfLine(c.Request.Amount, l.amount) && !has[AmountOutOfLine] && !has[FirstDestination]:
		return AmountOutOfLine
	case !has[MixedScripts] && mixedScripts(&config.Transfer{Request: c.Request, Address: c.Address, Batch: c.Batch}) != nil:
		return MixedScripts
	}
	return ""
}

// UnmarkedError says that lines of a plan lack marks for the reviewer that they should have.
type UnmarkedError struct {
	Lines []string // what is missing where, of at most 20 of them
	Count int
}

// Error names them.
func (e *UnmarkedError) Error() string {
	return fmt.Sprintf("%d of the plan's transfers lack a mark that a reviewer should see: the state has changed since, or the plan is not as remit made it. Make a new plan, and review that\n  %s",
		e.Count, strings.Join(e.Lines, "\n  "))
}

// unmarked looks for marks that are missing on what is left to do.
func (r *recheck) unmarked(done map[int]bool) error {
	var e UnmarkedError
	for i, c := range r.plan.Changes.All() {
		if c.Action != Submit || done[i] {
			continue
		}
		kind := r.marks.missing(c)
		if kind == "" {
			continue
		}
		if e.Count++; e.Count <= refIDsMax {
			e.Lines = append(e.Lines, fmt.Sprintf("%q at %s is not marked as %s", c.RefID, c.Place, kind))
		}
	}
	if e.Count > 0 {
		return &e
	}
	return nil
}
