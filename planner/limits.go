package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/config"
	"remit/internal/clock/zone"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// limitTally adds up what limits cap: what the state says was sent on the day of now, and what
// a plan would send. A transfer that may have been made counts, in doubt or not, by the time of its
// latest attempt; one that provably was not made does not.
//
// A transfer in doubt is counted once: as it is recorded where it was attempted on the day, else
// with the plan's line where that may send it again.
type limitTally struct {
	moments *moments
	limits  []limitCount
	// unread may be recorded without an attempt of this state's, so that their own times count, or are conflicts, of
	// which the record counts as well.
	unread []string
	// unclear are not made by their outlines.
	unclear unclear
	// otherwise are transfers that were made otherwise than they were asked for, by ref_id.
	otherwise map[string]*otherwiseMade
}

// limitCount is what one limit counts.
type limitCount struct {
	config.Limit
	from, until time.Time // the day of now

	sent    transfer.Sum // on the day, as recorded
	planned transfer.Sum
	doubts  map[string]bool                           // ref_ids in doubt that count as sent
	to      map[transfer.Destination]destinationCount // per destination and day
	over    Obstacle                                  // per transfer: those that exceed it
	first   string                                    // of them, with its place
}

type destinationCount struct{ sent, planned transfer.Sum }

// newLimitTally is nil where there is no limit.
func newLimitTally(limits []config.Limit, m *moments) *limitTally {
	if len(limits) == 0 {
		return nil
	}
	t := &limitTally{moments: m}
	for _, l := range limits {
		count := limitCount{Limit: l, doubts: make(map[string]bool)}
		if l.Per.IsDaily() {
			year, month, day := m.now.In(l.Zone).Date()
			count.from = zone.Midnight(year, month, day, l.Zone)
			count.until = zone.Midnight(year, month, day+1, l.Zone)
		}
		if l.Per == config.PerDestinationDay {
			count.to = make(map[transfer.Destination]destinationCount)
		}
		t.limits = append(t.limits, count)
	}
	return t
}

// isDaily reports whether recorded transfers matter.
func (t *limitTally) isDaily() bool {
	return t != nil && slices.ContainsFunc(t.limits, func(l limitCount) bool { return l.Per.IsDaily() })
}

// counts reports whether the limit is about an asset, in whatever case it is written: usd, which
// the service may take for USD, is not outside of what USD has.
func (l *limitCount) counts(asset string) bool {
	return l.Asset == "" || l.Asset == asset || transfer.AssetSpelled(l.Asset) == transfer.AssetSpelled(asset)
}

func (l *limitCount) isOn(at time.Time) bool { return !at.Before(l.from) && at.Before(l.until) }

// recorded takes a row of the state in.
func (t *limitTally) recorded(o *state.Outline) {
	switch {
	case !t.isDaily():
	case o.MayBeMade():
		t.made(o)
	default:
		t.unclear.note(o)
	}
}

// made takes in a row that was made, or may have been.
func (t *limitTally) made(o *state.Outline) {
	switch {
	case !t.isDaily():
	case o.AttemptedAt.IsZero() || o.Status == state.Conflict || mayBeAdopted(o.Status) && t.isOfDay(o.AttemptedAt):
		t.unread = append(t.unread, strings.Clone(o.RefID))
	default:
		t.sentAt(o, o.AttemptedAt)
	}
}

// isOfDay reports whether a transfer that was sent at a time may be of a limit's day.
func (t *limitTally) isOfDay(at time.Time) bool {
	return slices.ContainsFunc(t.limits, func(l limitCount) bool { return l.Per.IsDaily() && t.moments.mayBe(at, l.isOn) })
}

func (t *limitTally) sentAt(o *state.Outline, at time.Time) {
	var other *otherwiseMade
	if len(t.otherwise) > 0 {
		other = t.otherwise[o.RefID]
	}
	for i := range t.limits {
		l := &t.limits[i]
		if !l.Per.IsDaily() || other == nil && !l.counts(o.Asset) || !t.moments.mayBe(at, l.isOn) {
			continue
		}
		if o.Status == state.InDoubt {
			l.doubts[strings.Clone(o.RefID)] = true
		}
		if other != nil {
			l.sentOtherwise(other)
			continue
		}
		l.send(o.Destination, o.Amount)
	}
}

// send counts one transfer as sent.
func (l *limitCount) send(destination transfer.Destination, amount transfer.Amount) {
	if l.to == nil {
		l.sent.Add(amount)
		return
	}
	to := l.to[destination]
	to.sent.Add(amount)
	l.to[destination] = to
}

// sentOtherwise counts a transfer that was made otherwise than it was asked for, as it was asked for and as it was made,
// and once where both come to one sum of the limit: the greater amount.
func (l *limitCount) sentOtherwise(o *otherwiseMade) {
	greatest := make(map[transfer.Destination]transfer.Amount)
	for _, r := range append(o.made[:len(o.made):len(o.made)], o.asked) {
		if !l.counts(r.Asset) {
			continue
		}
		var to transfer.Destination
		if l.to != nil {
			to = r.Destination()
		}
		if greatest[to].Cmp(r.Amount) < 0 {
			greatest[to] = r.Amount
		}
	}
	for to, amount := range greatest {
		l.send(to, amount)
	}
}

// readUnread takes in transfers that may have been made although their outlines say otherwise, conflicts, and those that were
// recorded without an attempt of this state's, such as an import, by the time of the service's record, others by the time of
// their attempt.
func (t *limitTally) readUnread(ctx context.Context, record Record) error {
	if t == nil {
		return nil
	}
	err := t.unclear.eachMade(ctx, record, func(d *state.Detail) error {
		o := d.Outline()
		t.made(&o)
		return nil
	})
	if err != nil {
		return err
	}
	return eachDetail(ctx, record, t.unread, func(d *state.Detail) error {
		if d.Status == state.Conflict {
			other, err := newOtherwiseMade(d, keptRecords(d))
			if err != nil {
				return err
			}
			t.otherwise = withOtherwise(t.otherwise, d.RefID, other)
		}
		was := d
		if d.AttemptedAt.IsZero() {
			var err error
			if was, err = beforeForgotten(ctx, record, d); err != nil || was == nil {
				return err
			}
		}
		if at, ok := t.sentOn(was); ok {
			o := d.Outline()
			t.sentAt(&o, at)
		}
		return nil
	})
}

// sentOn is when a transfer counts as sent. A record that does not say when it was made counts as made when it was found,
// or now; ok is false of what a list alone has, without an attempt.
func (t *limitTally) sentOn(d *state.Detail) (at time.Time, ok bool) {
	if !d.AttemptedAt.IsZero() {
		return cmp.Or(adoptedAt(d), d.AttemptedAt), true
	}
	return cmp.Or(createdAt(d), t.moments.now), len(keptRecords(d)) > 0
}

// line takes in what the plan would send. isLeft is false where it was sent already, and so
// counts as recorded.
func (t *limitTally) line(c *Change, isLeft bool) error {
	if !c.Action.Sends() {
		return nil
	}
	request, err := c.InForce()
	if err != nil {
		return err
	}
	for i := range t.limits {
		l := &t.limits[i]
		if !l.counts(request.Asset) {
			continue
		}
		switch l.Per {
		case config.PerTransfer:
			l.transfer(c, &request)
		case config.PerPlan:
			l.planned.Add(request.Amount)
		case config.PerDay:
			if isLeft && l.mayAdd(c) {
				l.planned.Add(request.Amount)
			}
		case config.PerDestinationDay:
			if isLeft && l.mayAdd(c) {
				destination := request.Destination()
				to := l.to[destination]
				to.planned.Add(request.Amount)
				l.to[destination] = to
			}
		}
	}
	return nil
}

// mayAdd reports whether a line may send a transfer that does not count as sent on the day already.
func (l *limitCount) mayAdd(c *Change) bool {
	return !l.doubts[c.RefID] && (c.Action == Submit || c.Declared() && len(c.Differences) == 0)
}

// transfer looks at one transfer alone. A transfer in doubt may be made already, and is not
// stopped by it.
func (l *limitCount) transfer(c *Change, request *transfer.Request) {
	if c.Action != Submit || l.AmountMax.IsZero() || request.Amount.Cmp(l.AmountMax) <= 0 {
		return
	}
	if l.over.Count == 0 {
		l.first = fmt.Sprintf("%q at %s moves %s %s", c.RefID, c.Place, shownAmount(request.Amount, request.Asset), request.Asset)
	}
	l.over.add(c.RefID)
}

// breach is a limit that would be exceeded.
type breach struct {
	limit *limitCount
	room  decimal.Decimal // what it leaves; the least is the tightest
	said  string
	over  Obstacle // the ref_ids concerned
	// isAlone says that the plan exceeds the limit of a day by itself, so that it is too much for any day.
	isAlone bool
}

// breaches are the limits that the plan would exceed, the tightest first.
func (t *limitTally) breaches(changes *Changes) ([]breach, error) {
	var all []breach
	for i := range t.limits {
		l := &t.limits[i]
		switch l.Per {
		case config.PerTransfer:
			if l.over.Count > 0 {
				all = append(all, breach{limit: l, room: l.AmountMax.Decimal(), said: l.saidTransfers(), over: l.over})
			}
		case config.PerPlan, config.PerDay:
			if said, room, ok := l.exceeded(l.sent, l.planned); ok {
				all = append(all, breach{limit: l, room: room, said: said, isAlone: l.isTooMuch(l.planned)})
			}
		case config.PerDestinationDay:
			b, ok, err := l.destinations(changes)
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, b)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b breach) int {
		return cmp.Or(cmp.Compare(a.limit.Asset, b.limit.Asset), a.room.Cmp(b.room))
	})
	return all, nil
}

func (l *limitCount) saidTransfers() string {
	more := ""
	if l.over.Count > 1 {
		more = fmt.Sprintf(", and %d more exceed it", l.over.Count-1)
	}
	return fmt.Sprintf("allows %s %s a transfer: %s%s", shownAmount(l.AmountMax, l.Asset), l.Asset, l.first, more)
}

// exceeded says by how much the sent and the planned transfers exceed the limit together.
// Where the plan adds nothing, it exceeds nothing.
func (l *limitCount) exceeded(sent, planned transfer.Sum) (said string, room decimal.Decimal, ok bool) {
	if planned.Count() == 0 {
		return "", decimal.Zero, false
	}
	if !l.AmountMax.IsZero() {
		most, before, more := l.AmountMax.Decimal(), sent.Decimal(), planned.Decimal()
		if over := before.Add(more).Sub(most); over.IsPositive() {
			return l.saidOver(shownAmount(l.AmountMax, l.Asset)+" "+l.Asset, shownSum(before, l.Asset), shownSum(more, l.Asset)+" "+l.Asset, shownSum(over, l.Asset)+" too much"),
				most.Sub(before), true
		}
	}
	if l.CountMax >= 0 {
		if over := sent.Count() + planned.Count() - l.CountMax; over > 0 {
			return l.saidOver(l.countText(), fmt.Sprint(sent.Count()), fmt.Sprint(planned.Count()), fmt.Sprintf("%d too many", over)),
				decimal.NewFromInt(int64(l.CountMax - sent.Count())), true
		}
	}
	return "", decimal.Zero, false
}

// isTooMuch reports whether planned transfers exceed the limit where nothing was sent before.
func (l *limitCount) isTooMuch(planned transfer.Sum) bool {
	_, _, ok := l.exceeded(transfer.Sum{}, planned)
	return ok
}

// countText is how many transfers the limit allows.
func (l *limitCount) countText() string {
	text := "1 transfer"
	if l.CountMax != 1 {
		text = fmt.Sprintf("%d transfers", l.CountMax)
	}
	if l.Asset != "" {
		text += " of " + l.Asset
	}
	return text
}

func (l *limitCount) saidOver(most, before, more, over string) string {
	if l.Per == config.PerPlan {
		return fmt.Sprintf("allows %s a plan: this one has %s, %s", most, more, over)
	}
	whom := ""
	if l.Per == config.PerDestinationDay {
		whom = " to one destination"
	}
	return fmt.Sprintf("allows %s%s a day: %s so far on %s (%s), and this plan adds %s, %s",
		most, whom, before, l.from.Format(time.DateOnly), l.Zone, more, over)
}

// destinations finds the destinations that would get too much, and their lines.
func (l *limitCount) destinations(changes *Changes) (breach, bool, error) {
	b := breach{limit: l}
	over := make(map[transfer.Destination]bool)
	var worst transfer.Destination
	for to, count := range l.to {
		said, room, ok := l.exceeded(count.sent, count.planned)
		if !ok {
			continue
		}
		if len(over) == 0 || room.Cmp(b.room) < 0 || room.Equal(b.room) && to < worst {
			b.said, b.room, worst = said, room, to
		}
		over[to] = true
		b.isAlone = b.isAlone || l.isTooMuch(count.planned)
	}
	if len(over) == 0 {
		return b, false, nil
	}
	name := ""
	for _, c := range changes.All() {
		if !c.Action.Sends() {
			continue
		}
		request, err := c.InForce()
		if err != nil {
			return b, false, err
		}
		to := request.Destination()
		if !l.counts(request.Asset) || !over[to] {
			continue
		}
		b.over.add(c.RefID)
		if to == worst && name == "" {
			name = request.ToProfileID
		}
	}
	b.said += fmt.Sprintf(", to profile %q", name)
	if len(over) > 1 {
		b.said += fmt.Sprintf("; %d more destinations would get too much as well", len(over)-1)
	}
	return b, true, nil
}

// overriding is how Header.Accepted names that a limit was overridden.
func overriding(limit string) string { return "override-limit=" + limit }

// obstacle says which limit is exceeded, and by how much.
func (b *breach) obstacle() Obstacle {
	o := b.over
	o.Kind, o.Address = ObstacleLimit, b.limit.Address()
	help := "Send less, for instance with --target,"
	switch {
	case !b.limit.Per.IsDaily():
	case b.isAlone:
		help = "That is too much for any day: send a part of it each day, for instance with --target, or raise the limit in the configuration,"
	default:
		help = "Wait for another day, send less, for instance with --target,"
	}
	o.Detail = fmt.Sprintf("%s at %s %s. %s or where that is meant, override the limit by its name: that becomes part of the plan's digest and of the journal.",
		b.limit.Address(), b.limit.Place, b.said, help)
	o.Remedy = "--" + overriding(shell.Word(b.limit.Name))
	return o
}

// checkLimits makes a plan that exceeds a limit not applicable, unless that was overridden.
func (b *builder) checkLimits(ctx context.Context) error {
	unused := make(map[string]bool)
	for _, name := range b.controls.OverrideLimit {
		unused[name] = true
	}
	if b.isAlone() {
		defer b.saysLimits()
	}
	defer func() {
		for name := range unused {
			b.plan.Unused = append(b.plan.Unused, overriding(name))
		}
		slices.Sort(b.plan.Unused)
		slices.Sort(b.plan.Header.Accepted)
	}()
	// The state knows the day on which a transfer in doubt was attempted.
	isLeft := func(_ int, c *Change) bool { return !b.isAlone() || c.Action == Submit }
	breaches, err := b.limits.check(ctx, b.record, &b.plan.Changes, isLeft)
	for i := range breaches {
		breach := &breaches[i]
		if slices.Contains(b.controls.OverrideLimit, breach.limit.Name) {
			delete(unused, breach.limit.Name)
			b.plan.Header.Accepted = append(b.plan.Header.Accepted, overriding(breach.limit.Name))
			continue
		}
		b.plan.Obstacles = append(b.plan.Obstacles, breach.obstacle())
	}
	return err
}

// checkLimits checks the rest of the plan together with the transfers that were sent on the day since, by the record as it is now: a
// transfer that a run of the plan sent, and may have made, counts as sent, and its line adds nothing.
func (r *recheck) checkLimits(ctx context.Context, record Record) ([]Obstacle, error) {
	isLeft := func(i int, c *Change) bool { return c.Action.Sends() && r.judge(i) == lineLeft }
	breaches, err := r.limits.check(ctx, record, &r.plan.Changes, isLeft)
	var obstacles []Obstacle
	for i := range breaches {
		if !slices.Contains(r.plan.Header.Accepted, overriding(breaches[i].limit.Name)) {
			obstacles = append(obstacles, breaches[i].obstacle())
		}
	}
	return obstacles, err
}

// check takes the lines of a plan in, of which isLeft says which are still to be sent, and returns the limits
// that they exceed together with the recorded transfers.
func (t *limitTally) check(ctx context.Context, record Record, changes *Changes, isLeft func(int, *Change) bool) ([]breach, error) {
	if t == nil {
		return nil, nil
	}
	if err := t.readUnread(ctx, record); err != nil {
		return nil, err
	}
	for i, c := range changes.All() {
		if err := t.line(c, isLeft(i, c)); err != nil {
			return nil, err
		}
	}
	return t.breaches(changes)
}
