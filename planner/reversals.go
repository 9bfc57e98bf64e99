package planner

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/state"
)

// Reversed has the amount that a transfer moved, and how much of it may still go back.
type Reversed struct {
	Request transfer.Request
	Left    decimal.Decimal
	// Why it can't be reversed; "" where it can.
	Why string
}

// FindReversed says of each given ref_id whether it can be reversed: it is COMPLETED, the moved
// amount is known and as it was asked for, and not all of it was given back or may have been, as
// far as record holds. A reversal is known by its intent, so one that was imported without one is
// not counted.
func FindReversed(ctx context.Context, record Record, refIDs []string) (map[string]*Reversed, error) {
	found := make(map[string]*Reversed, len(refIDs))
	for chunk := range slices.Chunk(refIDs, detailsPerCall) {
		details, err := record.Details(ctx, chunk...)
		if err != nil {
			return nil, fmt.Errorf("read what is to be reversed: %w", err)
		}
		for i := range details {
			found[details[i].RefID] = newReversed(&details[i])
		}
	}
	for _, refID := range refIDs {
		if found[refID] == nil {
			found[refID] = &Reversed{Why: "which is not recorded"}
		}
	}
	return found, subtractReversals(ctx, record, found)
}

func newReversed(d *state.Detail) *Reversed {
	switch {
	case d.Status != state.Recorded && d.Status != state.Adopted:
		return &Reversed{Why: "which is " + d.Status.String()}
	case d.RecordStatus != transfer.Completed:
		return &Reversed{Why: "which the service says is " + cmp.Or(string(d.RecordStatus), "not COMPLETED")}
	case d.Intent.Body == "":
		return &Reversed{Why: "of which the state knows no request: it was imported"}
	}
	if was := otherwise(d); was != nil {
		return &Reversed{Why: fmt.Sprintf("which the service has otherwise than it was asked for: %s %q, asked %q", was.Field, was.Answered, was.Asked)}
	}
	r, err := recordedRequest(d)
	if err != nil {
		return &Reversed{Why: "of which the request can't be read: " + err.Error()}
	}
	return &Reversed{Request: r, Left: r.Amount.Decimal()}
}

// otherwise is a difference between the moved amount and the request, which a person accepted or has
// not settled yet; nil where they agree. Metadata moves nothing, and that one word said FAILED of what the record has as COMPLETED is none of
// the movement.
func otherwise(d *state.Detail) *transfer.Difference {
	if d.Outcome == nil {
		return nil
	}
	for i := range d.Outcome.Differences {
		field, _, _ := strings.Cut(d.Outcome.Differences[i].Field, ".")
		if isOfCompleted := field == "status" && d.RecordStatus == transfer.Completed; field != "metadata" && !isOfCompleted {
			return &d.Outcome.Differences[i]
		}
	}
	return nil
}

// givenBack is what a reversal moved, at most: where the service has another amount than was
// asked for, the greater one.
func givenBack(d *state.Detail) decimal.Decimal {
	back := d.Amount.Decimal()
	if d.Outcome == nil {
		return back
	}
	for _, was := range d.Outcome.Differences {
		if answered, err := transfer.ParseAmount(was.Answered); was.Field == "amount" && err == nil {
			back = decimal.Max(back, answered.Decimal())
		}
	}
	return back
}

func recordedRequest(d *state.Detail) (transfer.Request, error) {
	return transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), "")
}

// subtractReversals takes off the amounts that were given back already. Reversals pay the sender of what they
// reverse, so that only payments to one of these are looked at.
func subtractReversals(ctx context.Context, record Record, found map[string]*Reversed) error {
	senders := make(map[transfer.Destination]bool)
	for _, r := range found {
		if r.Why == "" {
			senders[r.Request.Back().Destination()] = true
		}
	}
	if len(senders) == 0 {
		return nil
	}
	take := func(d *state.Detail) {
		if r := found[d.Intent.Reverses]; r != nil && r.Why == "" {
			r.Left = r.Left.Sub(givenBack(d))
		}
	}
	var candidates []string
	subtract := func() error {
		details, err := record.Details(ctx, candidates...)
		candidates = candidates[:0]
		for i := range details {
			take(&details[i])
		}
		return err
	}
	var unclear unclear
	for o, err := range record.Outlines(ctx) {
		if err == nil && senders[o.Destination] {
			unclear.note(&o)
		}
		if err == nil && senders[o.Destination] && o.MayBeMade() {
			if candidates = append(candidates, o.RefID); len(candidates) == detailsPerCall {
				err = subtract()
			}
		}
		if err != nil {
			return fmt.Errorf("read the reversals: %w", err)
		}
	}
	if err := subtract(); err != nil {
		return fmt.Errorf("read the reversals: %w", err)
	}
	err := unclear.eachMade(ctx, record, func(d *state.Detail) error {
		take(d)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the reversals: %w", err)
	}
	return nil
}

// addReversalObstacles stops a plan that reverses a transfer that can't be reversed, or more than
// was moved.
func (b *builder) addReversalObstacles(ctx context.Context) error {
	if b.isAlone() {
		b.saysOf(ObstacleReversal)
		return nil
	}
	obstacles, err := reversalObstacles(ctx, b.record, b.plan.Changes.submitsThatReverse())
	b.plan.Obstacles = append(b.plan.Obstacles, obstacles...)
	if err != nil || len(b.reversed) == 0 {
		return err
	}
	return b.addLateReversals(ctx)
}

// addLateReversals stops a plan where a transfer was made and is called a reversal only since:
// it would look like one, and not count as one.
func (b *builder) addLateReversals(ctx context.Context) error {
	var late Obstacle
	err := eachDetail(ctx, b.record, slices.Sorted(maps.Keys(b.reversed)), func(d *state.Detail) error {
		t := b.reversed[d.RefID]
		if d.Intent.Body == "" || d.Intent.Reverses == t.Reverses {
			return nil
		}
		if late.add(d.RefID); late.Count == 1 {
			was := "nothing"
			if d.Intent.Reverses != "" {
				was = strconv.Quote(d.Intent.Reverses)
			}
			late.Detail = fmt.Sprintf("%q at %s reverses %q, but was made as one that reverses %s. What a transfer reverses is settled when it is made, "+
				"so this one does not count as given back: restore the declaration, and look whether %[3]q is still to be reversed.",
				d.RefID, t.Place, t.Reverses, was)
		}
		return nil
	})
	if late.Count > 0 {
		late.Kind = ObstacleReversal
		b.plan.Obstacles = append(b.plan.Obstacles, late)
	}
	return err
}

// submitsThatReverse yields the submits that would give money back now.
func (l *Changes) submitsThatReverse() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for _, at := range l.lines.all() {
			if at.shape != isWhole {
				continue // none that reverses is packed
			}
			c := l.whole[at.kept.offset]
			if c.Action == Submit && c.Reverses != "" && !yield(*c) {
				return
			}
		}
	}
}

// reversalObstacles compares lines that give money back with the rest that may still go back by record. The record must be without
// these lines themselves: one that was made, or may have been, would count twice.
func reversalObstacles(ctx context.Context, record Record, submits iter.Seq[Change]) ([]Obstacle, error) {
	lines := make(map[string][]Change)
	for c := range submits {
		lines[c.Reverses] = append(lines[c.Reverses], c)
	}
	if len(lines) == 0 {
		return nil, nil
	}
	reversed := slices.Sorted(maps.Keys(lines))
	found, err := FindReversed(ctx, record, reversed)
	if err != nil {
		return nil, err
	}
	var obstacles []Obstacle
	for _, refID := range reversed {
		if o := found[refID].obstacle(refID, lines[refID]); o.Count > 0 {
			obstacles = append(obstacles, o)
		}
		if len(obstacles) == refIDsMax {
			break // as many as one can mend before looking again
		}
	}
	return obstacles, nil
}

// obstacle describes the mistake in lines that reverse one transfer; its Count is 0 where there is none.
func (r *Reversed) obstacle(refID string, lines []Change) Obstacle {
	o := Obstacle{Kind: ObstacleReversal}
	if r.Why != "" {
		for i := range lines {
			o.add(lines[i].RefID)
		}
		o.Detail = fmt.Sprintf("%q at %s reverses %q, %s. Only a COMPLETED transfer that was made as it was asked for can be reversed.", lines[0].RefID, lines[0].Place, refID, r.Why)
		return o
	}
	back := r.Request.Back()
	sum := decimal.Decimal{}
	for i := range lines {
		c := &lines[i].Request
		if !c.HasSameParties(&back) || c.Asset != back.Asset {
			o.add(lines[i].RefID)
			o.Detail = fmt.Sprintf("%q at %s reverses %q, but does not give the same asset back to where it came from: "+
				"%s from %s, to %s.", lines[i].RefID, lines[i].Place, refID, back.Asset, partyText(back.FromProfileID, back.FromIdentityID, back.FromAccountID),
				partyText(back.ToProfileID, back.ToIdentityID, back.ToAccountID))
			return o
		}
		sum = sum.Add(c.Amount.Decimal())
	}
	if sum.LessThanOrEqual(r.Left) {
		return o
	}
	for i := range lines {
		o.add(lines[i].RefID)
	}
	o.Detail = fmt.Sprintf("%q at %s reverses %q, which moved %s %s; of these %s may still go back, and this plan would give back %s.",
		lines[0].RefID, lines[0].Place, refID, back.Asset, shownAmount(back.Amount, back.Asset), shownSum(decimal.Max(r.Left, decimal.Zero), back.Asset), shownSum(sum, back.Asset))
	return o
}

func partyText(profile, identity, account string) string {
	text := fmt.Sprintf("profile %q", profile)
	if identity != "" {
		text += fmt.Sprintf(" identity %q", identity)
	}
	if account != "" {
		text += fmt.Sprintf(" account %q", account)
	}
	return text
}
