package planner_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// limit is a limit that caps nothing yet, of USD, in UTC.
func limit(name string, per config.LimitPer, edits ...func(*config.Limit)) config.Limit {
	l := config.Limit{
		Name: name, Place: config.Place{File: "limits.hcl", Line: 1}, Per: per,
		Asset: "USD", CountMax: -1, Zone: time.UTC,
	}
	for _, edit := range edits {
		edit(&l)
	}
	return l
}

func amountMax(text string) func(*config.Limit) {
	return func(l *config.Limit) { l.AmountMax = transfer.MustAmount(text) }
}

func countMax(n int) func(*config.Limit) { return func(l *config.Limit) { l.CountMax = n } }

func in(zone string) func(*config.Limit) {
	return func(l *config.Limit) {
		found, err := time.LoadLocation(zone)
		if err != nil {
			panic(err)
		}
		l.Zone = found
	}
}

func limits(all ...config.Limit) planner.Controls {
	return planner.Controls{Declared: config.Controls{Limits: all}}
}

func attempted(age time.Duration) func(*state.Detail) {
	return func(d *state.Detail) { d.AttemptedAt = now.Add(-age) }
}

// TestLimits plans a and b, of 80.00 USD each, at 15:00 UTC.
func TestLimits(t *testing.T) {
	of := func(edits ...func(*transfer.Request)) func(*config.Transfer) {
		return func(t *config.Transfer) {
			for _, edit := range edits {
				edit(&t.Request)
			}
		}
	}
	old := func(status state.Status, edits ...func(*state.Detail)) []state.Detail {
		return []state.Detail{record(declare("old"), status, edits...)}
	}
	tests := map[string]struct {
		limits   []config.Limit
		recorded []state.Detail
		declared []config.Transfer
		override []string
		want     string // the obstacles: which limits, of which transfers, and by how much
	}{
		"a transfer of just as much": {limits: []config.Limit{limit("l", config.PerTransfer, amountMax("80"))}},
		"a transfer of more": {
			limits: []config.Limit{limit("l", config.PerTransfer, amountMax("79.99"))},
			want:   `limit.l [a b] allows 79.99 USD a transfer: "a" at pay.hcl:3 moves 80.00 USD, and 1 more exceed it`,
		},
		"a transfer of another asset": {limits: []config.Limit{limit("l", config.PerTransfer, amountMax("1"), func(l *config.Limit) { l.Asset = "EUR" })}},
		"a transfer of the asset in small letters": {
			limits: []config.Limit{limit("l", config.PerTransfer, amountMax("79.99"), func(l *config.Limit) { l.Asset = "usd" })},
			want:   `limit.l [a b] allows 79.99 usd a transfer: "a" at pay.hcl:3 moves 80.00 USD, and 1 more exceed it`,
		},
		"a plan of just as much": {limits: []config.Limit{limit("l", config.PerPlan, amountMax("160"), countMax(2))}},
		"a plan of more": {
			limits: []config.Limit{limit("l", config.PerPlan, amountMax("150"))},
			want:   "limit.l [] allows 150.00 USD a plan: this one has 160.00 USD, 10.00 too much",
		},
		"a plan of more transfers": {
			limits: []config.Limit{limit("l", config.PerPlan, countMax(1), func(l *config.Limit) { l.Asset = "" })},
			want:   "limit.l [] allows 1 transfer a plan: this one has 2, 1 too many",
		},
		"a day without others": {limits: []config.Limit{limit("l", config.PerDay, amountMax("160"))}},
		"a day on which something was sent": {
			limits: []config.Limit{limit("l", config.PerDay, amountMax("239.99"))}, recorded: old(state.Recorded),
			want: "limit.l [] allows 239.99 USD a day: 80.00 so far on 2026-11-27 (UTC), and this plan adds 160.00 USD, 0.01 too much",
		},
		"what was sent yesterday does not count": {
			limits: []config.Limit{limit("l", config.PerDay, amountMax("160"))}, recorded: old(state.Recorded, attempted(15*time.Hour+time.Millisecond)),
		},
		"what was sent at midnight counts": {
			limits: []config.Limit{limit("l", config.PerDay, amountMax("160"))}, recorded: old(state.Recorded, attempted(15*time.Hour)),
			want: "limit.l [] allows 160.00 USD a day: 80.00 so far on 2026-11-27 (UTC), and this plan adds 160.00 USD, 80.00 too much",
		},
		"yesterday in UTC is today in New York": {
			limits:   []config.Limit{limit("l", config.PerDay, amountMax("160"), in("America/New_York"))},
			recorded: old(state.Recorded, attempted(10*time.Hour)), // 05:00 UTC, midnight there
			want:     "limit.l [] allows 160.00 USD a day: 80.00 so far on 2026-11-27 (America/New_York), and this plan adds 160.00 USD, 80.00 too much",
		},
		"what is in doubt counts": {
			limits: []config.Limit{limit("l", config.PerDay, countMax(2))}, recorded: old(state.InDoubt),
			want: "limit.l [] allows 2 transfers of USD a day: 1 so far on 2026-11-27 (UTC), and this plan adds 2, 1 too many",
		},
		"what is in doubt counts once": {
			limits: []config.Limit{limit("l", config.PerDay, amountMax("160"))}, recorded: []state.Detail{record(declare("a"), state.InDoubt)},
		},
		"what is in doubt since yesterday may be sent today": {
			limits: []config.Limit{limit("l", config.PerDay, amountMax("159"))}, recorded: []state.Detail{record(declare("a"), state.InDoubt, attempted(20*time.Hour))},
			want: "limit.l [] allows 159.00 USD a day: 0.00 so far on 2026-11-27 (UTC), and this plan adds 160.00 USD, 1.00 too much",
		},
		"what is in doubt since yesterday and declared otherwise by now is not sent": {
			limits: []config.Limit{limit("l", config.PerDay, amountMax("80"))}, recorded: []state.Detail{record(declare("a", sum("70.00")), state.InDoubt, attempted(20*time.Hour))},
		},
		"a conflict counts": {
			limits: []config.Limit{limit("l", config.PerDay, countMax(2))}, recorded: old(state.Conflict),
			want: "limit.l [] allows 2 transfers of USD a day: 1 so far on 2026-11-27 (UTC), and this plan adds 2, 1 too many",
		},
		"what was refused does not count":  {limits: []config.Limit{limit("l", config.PerDay, countMax(2))}, recorded: old(state.Refused)},
		"what was not written does not":    {limits: []config.Limit{limit("l", config.PerDay, countMax(2))}, recorded: old(state.Unsent)},
		"what FAILED does not":             {limits: []config.Limit{limit("l", config.PerDay, countMax(2))}, recorded: old(state.Recorded, recordStatus(transfer.Failed))},
		"a full day stops no empty plan":   {limits: []config.Limit{limit("l", config.PerDay, countMax(0))}, recorded: old(state.Recorded), declared: []config.Transfer{declare("old")}},
		"two destinations of just as much": {limits: []config.Limit{limit("l", config.PerDestinationDay, amountMax("80"), countMax(1))}},
		"a destination that got some today": {
			limits: []config.Limit{limit("l", config.PerDestinationDay, amountMax("100"))}, recorded: []state.Detail{record(declare("old", twin), state.Recorded)},
			declared: []config.Transfer{declare("a"), declare("b", twin, of(amount("20.01"))), declare("old", twin)},
			want:     `limit.l [b] allows 100.00 USD to one destination a day: 80.00 so far on 2026-11-27 (UTC), and this plan adds 20.01 USD, 0.01 too much, to profile "landlord"`,
		},
		"destinations that get too much, of which the one with the least room is named": {
			limits: []config.Limit{limit("l", config.PerDestinationDay, amountMax("100"))}, recorded: []state.Detail{record(declare("old", to("to-b"), sum("50.00")), state.Recorded)},
			declared: []config.Transfer{declare("a", sum("110.00")), declare("b", sum("60.00")), declare("c", sum("120.00")), declare("old", to("to-b"), sum("50.00"))},
			want:     `limit.l [a b c] allows 100.00 USD to one destination a day: 50.00 so far on 2026-11-27 (UTC), and this plan adds 60.00 USD, 10.00 too much, to profile "to-b"; 2 more destinations would get too much as well`,
		},
		"several, of which the tightest comes first": {
			limits: []config.Limit{
				limit("wide", config.PerDay, amountMax("150")), limit("plan", config.PerPlan, amountMax("159")),
				limit("narrow", config.PerDay, amountMax("100")), limit("enough", config.PerDay, amountMax("1000")),
			},
			want: "limit.narrow [] allows 100.00 USD a day: 0.00 so far on 2026-11-27 (UTC), and this plan adds 160.00 USD, 60.00 too much\n" +
				"limit.wide [] allows 150.00 USD a day: 0.00 so far on 2026-11-27 (UTC), and this plan adds 160.00 USD, 10.00 too much\n" +
				"limit.plan [] allows 159.00 USD a plan: this one has 160.00 USD, 1.00 too much",
		},
		"one that is overridden opens no other": {
			limits:   []config.Limit{limit("x", config.PerPlan, amountMax("100")), limit("y", config.PerPlan, amountMax("120"))},
			override: []string{"x"},
			want:     "limit.y [] allows 120.00 USD a plan: this one has 160.00 USD, 40.00 too much",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			controls := limits(test.limits...)
			controls.OverrideLimit = test.override
			if test.declared == nil {
				test.declared = []config.Transfer{declare("a"), declare("b")}
			}
			p := plan(t, newMemory(test.recorded...), controls, test.declared...)
			var got []string
			for _, o := range p.Obstacles {
				if o.Kind == planner.ObstacleLimit {
					_, said, _ := cutBetween(o.Detail, "limits.hcl:1 ", ". ")
					got = append(got, fmt.Sprint(o.Address, " ", o.RefIDs, " ", said))
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestATooLargePlanIsNotToldToWait plans 160.00 USD to two destinations: too much for a day of 100.00 whenever it comes, and
// for one of 200.00 after 80.00 were sent.
func TestATooLargePlanIsNotToldToWait(t *testing.T) {
	const waits, never = "Wait for another day", "too much for any day"
	old := record(declare("old"), state.Recorded)
	paid := record(declare("paid", to("to-a"), sum("70")), state.Recorded)
	for name, test := range map[string]struct {
		limit    config.Limit
		recorded state.Detail
		want     string
	}{
		"more than a day":                   {limit("l", config.PerDay, amountMax("100")), old, never},
		"more than is left of the day":      {limit("l", config.PerDay, amountMax("200")), old, waits},
		"more transfers than a day":         {limit("l", config.PerDay, countMax(1)), old, never},
		"more to one than a day":            {limit("l", config.PerDestinationDay, amountMax("79")), paid, never},
		"more to one than is left for them": {limit("l", config.PerDestinationDay, amountMax("80")), paid, waits},
		"more than a plan":                  {limit("l", config.PerPlan, amountMax("100")), old, "Send less, for instance"},
	} {
		p := plan(t, newMemory(test.recorded), limits(test.limit), declare("a"), declare("b"))
		if len(p.Obstacles) != 1 || !strings.Contains(p.Obstacles[0].Detail, test.want) || test.want != waits && strings.Contains(p.Obstacles[0].Detail, waits) {
			t.Errorf("%s: obstacles %v", name, p.Obstacles)
		}
	}
}

func TestAnOverrideIsPartOfTheDigest(t *testing.T) {
	controls := limits(limit("l", config.PerPlan, amountMax("100")), limit("m", config.PerPlan, amountMax("1000")))
	declared := []config.Transfer{declare("a"), declare("b")}
	before := plan(t, newMemory(), controls, declared...)
	controls.OverrideLimit = []string{"l", "m", "typo"}
	after := plan(t, newMemory(), controls, declared...)
	if !after.Applicable() || before.Digest == after.Digest {
		t.Errorf("obstacles %v, digests %s and %s", after.Obstacles, before.Digest, after.Digest)
	}
	if diff := cmp.Diff([]string{"override-limit=l"}, after.Header.Accepted); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"override-limit=m", "override-limit=typo"}, after.Unused); diff != "" {
		t.Error(diff)
	}
}

// TestAnOverrideOpensTheLimitThatItNames applies a plan that may exceed one limit after another run used up what another limit leaves
// of the day.
func TestAnOverrideOpensTheLimitThatItNames(t *testing.T) {
	controls := limits(limit("desk", config.PerPlan, amountMax("100")), limit("daily", config.PerDay, amountMax("200")))
	controls.OverrideLimit = []string{"desk"}
	m := newMemory()
	p := plan(t, m, controls, declare("a"), declare("b"))
	p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
	opened, err := planner.Open(bytes.NewReader(save(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	under := planner.Controls{Declared: controls.Declared}
	left, err := opened.Recheck(t.Context(), m, under, now)
	if got := outcomeOf(left, err); got != "[+ a + b]" {
		t.Errorf("with the day empty: %s", got)
	}
	m.put("run-1", record(declare("x"), state.Recorded, attempted(0)))
	left, err = opened.Recheck(t.Context(), m, under, now)
	if got := outcomeOf(left, err); got != "obstacle limit []" || !strings.Contains(err.Error(), `limit.daily`) {
		t.Errorf("with 80.00 sent on the day: %s, %v", got, err)
	}
}

// TestImportedTransfersCountByTheirRecord holds that a record which this state did not make
// counts on the day on which the service says that it was created.
func TestImportedTransfersCountByTheirRecord(t *testing.T) {
	controls := limits(limit("l", config.PerDay, countMax(1)))
	for age, applicable := range map[time.Duration]bool{time.Hour: false, 2 * day: true} {
		imported := record(declare("old"), state.Recorded, func(d *state.Detail) {
			d.AttemptedAt, d.IntendedAt = time.Time{}, time.Time{}
			d.Outcome.Source = state.SourceImport
			d.Outcome.Records = append(d.Outcome.Records, []byte(fmt.Sprintf(
				`{"id":"1","ref_id":"old","group_id":"g","type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","direction":"DEBIT","asset":"USD","balance_asset":"USD","amount":"80.00","total":"80.00","fee":"0","profile_id":"treasury","customer_id":"c","created_at":%q,"updated_at":%[1]q}`,
				now.Add(-age).Format(time.RFC3339))))
		})
		p := plan(t, newMemory(imported), controls, declare("a"), declare("old"))
		if p.Applicable() != applicable {
			t.Errorf("imported %s ago: obstacles %v", age, p.Obstacles)
		}
	}
}

// TestNoRunExceedsADay plays plans that are made, saved and applied in any order over some
// days, and holds that no limit is ever exceeded on a day of its zone.
func TestNoRunExceedsADay(t *testing.T) {
	zones := []string{"UTC", "America/New_York", "Asia/Tokyo"}
	rapid.Check(t, func(t *rapid.T) {
		l := limit("l", rapid.SampledFrom([]config.LimitPer{config.PerDay, config.PerDestinationDay}).Draw(t, "per"),
			in(rapid.SampledFrom(zones).Draw(t, "zone")))
		if rapid.Bool().Draw(t, "by count") {
			l.CountMax = rapid.IntRange(0, 4).Draw(t, "most")
		} else {
			l.AmountMax = transfer.MustAmount(fmt.Sprint(rapid.IntRange(1, 300).Draw(t, "most")))
		}
		w := limitWorld{memory: newMemory(), limit: l, at: now, sent: make(map[string]transfer.Sum), seen: make(map[string]bool)}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				w.at = w.at.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "hours")) * time.Hour)
				w.memory.at = w.at
			},
			"declare": func(t *rapid.T) {
				n := len(w.declared)
				w.declared = append(w.declared, declare(fmt.Sprintf("t%03d", n), func(c *config.Transfer) {
					c.Request.ToProfileID = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "to")
					c.Request.Amount = transfer.MustAmount(fmt.Sprint(rapid.IntRange(1, 200).Draw(t, "amount")))
					c.DuplicateWithin = 0
				}))
			},
			"plan":  func(t *rapid.T) { w.plan(t) },
			"apply": func(t *rapid.T) { w.apply(t) },
		})
	})
}

// limitWorld is a state over some days, with the plans that somebody saved.
type limitWorld struct {
	memory   *memory
	limit    config.Limit
	at       time.Time
	declared []config.Transfer
	saved    []*planner.Plan
	runs     int
	sent     map[string]transfer.Sum // by day and, where the limit says so, destination
	seen     map[string]bool         // the same and the ref_id
}

func (w *limitWorld) plan(t *rapid.T) {
	var some []config.Transfer
	for _, d := range w.declared {
		if rapid.Bool().Draw(t, "is declared now") {
			some = append(some, d)
		}
	}
	controls := limits(w.limit)
	controls.AllowEmpty = true
	p, err := planner.New(t.Context(), slices.Values(some), w.memory, controls, w.at)
	if err != nil {
		t.Fatal(err)
	}
	if p.Applicable() && !p.Empty() {
		p.Header.PlanID = fmt.Sprintf("plan-%d", len(w.saved))
		w.saved = append(w.saved, p)
	}
}

func (w *limitWorld) apply(t *rapid.T) {
	if len(w.saved) == 0 {
		t.Skip("no plan is saved")
	}
	p := rapid.SampledFrom(w.saved).Draw(t, "plan")
	left, err := p.Recheck(t.Context(), w.memory, planner.Controls{Declared: limits(w.limit).Declared}, w.at)
	if err != nil {
		var stale *planner.StaleError
		var obstacle *planner.ObstacleError
		if !errors.As(err, &stale) && !errors.As(err, &obstacle) && !errors.Is(err, planner.ErrCompleted) {
			t.Fatal(err)
		}
		return
	}
	w.runs++
	run := fmt.Sprintf("run-%d", w.runs)
	w.memory.happen(begunOf(run, p))
	for _, c := range left.Changes.All() {
		if c.Action == planner.Resolve && !c.Declared() { // looked up, and never sent again
			continue
		}
		if !c.Action.Sends() || rapid.IntRange(0, 4).Draw(t, "is interrupted") == 0 {
			continue
		}
		status := rapid.SampledFrom([]state.Status{state.Recorded, state.InDoubt, state.Refused}).Draw(t, "status")
		declared := w.declared[slices.IndexFunc(w.declared, func(d config.Transfer) bool { return d.Request.RefID == c.RefID })]
		before, isKnown := w.memory.details[c.RefID]
		if isKnown && before.Outline().Status == state.InDoubt && status == state.Refused {
			status = state.InDoubt // a refusal after a doubt settles nothing
		}
		w.memory.put(run, record(declared, status, func(d *state.Detail) {
			d.AttemptedAt = w.at
			if isKnown {
				d.IntendedAt = before.IntendedAt
			}
		}))
		if status != state.Refused {
			w.count(t, c)
		}
	}
}

// count adds up the transfers that were sent on each day, and fails where it is more than the
// limit.
func (w *limitWorld) count(t *rapid.T, c *planner.Change) {
	request, err := c.InForce()
	if err != nil {
		t.Fatal(err)
	}
	key := w.at.In(w.limit.Zone).Format(time.DateOnly)
	if w.limit.Per == config.PerDestinationDay {
		key += " " + request.ToProfileID
	}
	// A transfer that was in doubt on the day and is sent again is one movement.
	if w.seen[key+" "+c.RefID] {
		return
	}
	w.seen[key+" "+c.RefID] = true
	sum := w.sent[key]
	sum.Add(request.Amount)
	w.sent[key] = sum
	most := decimal.NewFromInt(1 << 40)
	if !w.limit.AmountMax.IsZero() {
		most = w.limit.AmountMax.Decimal()
	}
	if sum.Decimal().GreaterThan(most) || w.limit.CountMax >= 0 && sum.Count() > w.limit.CountMax {
		t.Fatalf("on %s %d were sent, of %s: %+v", key, sum.Count(), sum.Decimal(), w.limit)
	}
}
