package planner_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"remit/config"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestActions walks the table of actions for one declared transfer, "a".
func TestActions(t *testing.T) {
	tests := map[string]struct {
		declared config.Transfer
		recorded []state.Detail
		holder   *state.Holder
		controls planner.Controls

		want      planner.Action
		reason    string // a part of it
		until     time.Time
		again     bool
		differs   []transfer.Difference
		signal    planner.SignalKind
		obstacle  planner.ObstacleKind
		unchanged bool // no line at all
	}{
		"nothing is recorded": {declared: declare("a"), want: planner.Submit},
		"every attempt wrote nothing": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Unsent)}, want: planner.Submit,
		},
		"another request was intended and never sent": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) { amount("70")(&c.Request) }), state.Unsent)},
			want:     planner.Submit,
		},
		"its time has come just now": {declared: declare("a", notBefore(now)), want: planner.Submit},
		"its time has not come in a rehearsal": {
			declared: declare("a", notBefore(now.Add(time.Second))), controls: planner.Controls{Rehearsal: true}, want: planner.Submit,
			until: now.Add(time.Second),
		},
		"its time has not come": {
			declared: declare("a", notBefore(now.Add(time.Second))), want: planner.Wait,
			until: now.Add(time.Second),
		},
		"it expires in a second": {declared: declare("a", expires(now.Add(time.Second))), want: planner.Submit},
		"it expired just now": {
			declared: declare("a", expires(now)), want: planner.Expired, reason: "expires passed at 2026-11-27T15:00:00Z",
		},
		"it was refused": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Refused, because("no funds"))},
			want: planner.Submit, again: true,
		},
		"it was refused and corrected": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) { amount("70")(&c.Request) }), state.Refused)},
			want:     planner.Submit, again: true,
			differs: []transfer.Difference{{Field: "amount", Asked: "80.00", Answered: "70"}},
		},
		"it was refused and has expired": {
			declared: declare("a", expires(now)), recorded: []state.Detail{record(declare("a"), state.Refused)},
			want: planner.Expired, again: true,
		},
		"it was refused and is to be tried later": {
			declared: declare("a", notBefore(now.Add(day))), recorded: []state.Detail{record(declare("a"), state.Refused)},
			want: planner.Wait, again: true, until: now.Add(day),
		},
		"it is in doubt": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			want: planner.Resolve, reason: "The next apply sends the recorded request again.",
		},
		"it is in doubt and lookup is configured": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			controls: planner.Controls{Lookup: true},
			want:     planner.Resolve, reason: "The next apply looks it up, and sends the recorded request again where the service lists nothing.",
		},
		"it is in doubt and its declaration was edited": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) { amount("70")(&c.Request) }), state.InDoubt)},
			want:     planner.Resolve, reason: "Not sent again: its declaration differs from the recorded request. Without lookup_path no apply ends the doubt: restore the declaration, or ",
			differs: []transfer.Difference{{Field: "amount", Asked: "80.00", Answered: "70"}},
		},
		"it is in doubt and expired": {
			declared: declare("a", expires(now)), recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			want: planner.Resolve, reason: "Not sent again: it expired at 2026-11-27T15:00:00Z.",
		},
		"it is in doubt and its time was put off": {
			declared: declare("a", notBefore(now.Add(day))), recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			want: planner.Resolve, until: now.Add(day), reason: "Not sent again: it is not due before 2026-11-28T15:00:00Z. An apply from then on",
		},
		"it is in doubt and its time was put off in a rehearsal": {
			declared: declare("a", notBefore(now.Add(day))), recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			controls: planner.Controls{Rehearsal: true},
			want:     planner.Resolve, reason: "The next apply sends the recorded request again",
		},
		"it is in doubt and doubts are held": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			controls: planner.Controls{HoldDoubt: true},
			want:     planner.Resolve, reason: `Not sent again: on_doubt is "hold". Without lookup_path no apply ends the doubt: give the record`,
		},
		"it is in doubt for longer than the replay window": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.InDoubt, intended(25*time.Hour))},
			controls: planner.Controls{TooOld: olderThan(day), Lookup: true},
			want:     planner.Resolve, reason: "(replay_window). Each apply looks it up. Where the service never lists it, give the record",
		},
		"it is in doubt for longer than the replay window, and its declaration was edited": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) { amount("70")(&c.Request) }), state.InDoubt, intended(25*time.Hour))},
			controls: planner.Controls{TooOld: olderThan(day), Lookup: true},
			want:     planner.Resolve, reason: "(replay_window). Each apply looks it up. Where the service never lists it, give the record",
			differs: []transfer.Difference{{Field: "amount", Asked: "80.00", Answered: "70"}},
		},
		"its run is alive": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.InDoubt, open)},
			holder: &state.Holder{RunID: "run-0", Host: "pay-1"},
			want:   planner.Wait, reason: "in flight in run run-0 on pay-1",
		},
		"its run died and another is alive": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.InDoubt, open)},
			holder: &state.Holder{RunID: "run-1", Host: "pay-1"},
			want:   planner.Resolve,
		},
		"its run died and a command without a run holds the lock": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a"), state.InDoubt, open, func(d *state.Detail) { d.RunID = "" })},
			holder:   &state.Holder{Host: "pay-1"},
			want:     planner.Resolve,
		},
		"its attempt timed out in a run that is alive": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			holder: &state.Holder{RunID: "run-0", Host: "pay-1"},
			want:   planner.Resolve,
		},
		"it is recorded": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Recorded)}, want: planner.None, unchanged: true,
		},
		"it is recorded with another scale": {
			declared:  declare("a"),
			recorded:  []state.Detail{record(declare("a", func(c *config.Transfer) { amount("80")(&c.Request) }), state.Recorded)},
			want:      planner.None,
			unchanged: true,
		},
		"it is recorded with its fingerprint in the metadata": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) { c.Request.FingerprintKey = "fp" }), state.Recorded)},
			want:     planner.None, unchanged: true,
		},
		"it is recorded and PENDING": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Recorded, recordStatus(transfer.Pending))},
			want: planner.None, unchanged: true,
		},
		"it is recorded and long expired": {
			declared: declare("a", expires(now)), recorded: []state.Detail{record(declare("a"), state.Recorded)},
			want: planner.None, unchanged: true,
		},
		"it is adopted": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Adopted)}, want: planner.None, unchanged: true,
		},
		"it is unverified": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Unverified)},
			want: planner.None, signal: planner.Unverified,
		},
		"it FAILED": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Recorded, recordStatus(transfer.Failed))},
			want: planner.Failed, reason: "under a new ref_id",
		},
		"it FAILED and was edited": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) { amount("70")(&c.Request) }), state.Recorded, recordStatus(transfer.Failed))},
			want:     planner.Conflict, obstacle: planner.ObstacleConflict,
			differs: []transfer.Difference{{Field: "amount", Asked: "80.00", Answered: "70"}},
		},
		"it is recorded and was edited": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) {
				c.Request.Operation = transfer.Platform
				c.Request.ToProfileID = "other"
				c.Request.Metadata = transfer.Metadata{{Key: "k", Value: "v"}}
			}), state.Adopted)},
			want: planner.Conflict, obstacle: planner.ObstacleConflict, reason: "restore it",
			differs: []transfer.Difference{
				{Field: "operation", Asked: "internal", Answered: "platform"},
				{Field: "to_profile_id", Asked: "to-a", Answered: "other"},
				{Field: "metadata.k", Asked: "", Answered: "v"},
			},
		},
		"it is edited where the fingerprint travelled in the metadata": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a", func(c *config.Transfer) {
				amount("70")(&c.Request)
				c.Request.FingerprintKey = "fp"
			}), state.Recorded)},
			want: planner.Conflict, obstacle: planner.ObstacleConflict,
			differs: []transfer.Difference{{Field: "amount", Asked: "80.00", Answered: "70"}},
		},
		"the answer was in conflict": {
			declared: declare("a"),
			recorded: []state.Detail{record(declare("a"), state.Conflict, because("asset EUR"), func(d *state.Detail) {
				d.Outcome.Differences = []transfer.Difference{{Field: "asset", Asked: "USD", Answered: "EUR"}}
			})},
			want: planner.Conflict, obstacle: planner.ObstacleConflict, reason: "not what was asked for: asset EUR",
			differs: []transfer.Difference{{Field: "asset", Asked: "USD", Answered: "EUR"}},
		},
		"a person settled it as not made": {
			declared: declare("a"), recorded: []state.Detail{record(declare("a"), state.Tombstone)},
			want: planner.Failed, reason: "never sent again",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemory(test.recorded...)
			m.holder = test.holder
			p := plan(t, m, test.controls, test.declared)
			if p.Count(test.want) != 1 {
				t.Errorf("the plan counts no %s: %v", test.want, actions(p))
			}
			if test.unchanged {
				if p.Changes.Len() != 0 || !p.Applicable() {
					t.Errorf("the plan has lines %v and obstacles %v, want none", actions(p), obstacles(p))
				}
				return
			}
			c := find(t, p, "a")
			if c.Action != test.want || c.Again != test.again || !c.Until.Equal(test.until) || !strings.Contains(c.Reason, test.reason) {
				t.Errorf("%s, again %v, until %v, %q", c.Action, c.Again, c.Until, c.Reason)
			}
			if diff := cmp.Diff(test.differs, c.Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if (c.Recorded != nil) != (len(test.recorded) > 0) {
				t.Errorf("what is recorded is %v", c.Recorded)
			}
			if c.Recorded != nil && (c.Recorded.Place != "old.hcl:9" || c.Place != "pay.hcl:3") {
				t.Errorf("the places are %q and %q", c.Recorded.Place, c.Place)
			}
			wantSignals, wantObstacles := 0, 0
			if test.signal != "" {
				wantSignals = 1
			}
			if test.obstacle != "" {
				wantObstacles = 1
			}
			if c.Action == planner.Submit {
				c.Signals = c.Signals[len(historySignals(c)):]
			}
			if len(c.Signals) != wantSignals || wantSignals == 1 && c.Signals[0].Kind != test.signal {
				t.Errorf("signals %v, want %q", c.Signals, test.signal)
			}
			if len(p.Obstacles) != wantObstacles || wantObstacles == 1 && p.Obstacles[0].Kind != test.obstacle {
				t.Errorf("obstacles %v, want %q", obstacles(p), test.obstacle)
			}
		})
	}
}

func TestUndeclared(t *testing.T) {
	tests := map[string]struct {
		status   state.Status
		edit     func(*state.Detail)
		listed   bool
		line     string
		obstacle bool
	}{
		"recorded is counted and listed":         {status: state.Recorded, listed: true},
		"adopted is counted and listed":          {status: state.Adopted, listed: true},
		"unverified is counted and listed":       {status: state.Unverified, listed: true},
		"FAILED is counted and listed":           {status: state.Recorded, edit: recordStatus(transfer.Failed), listed: true},
		"unsent needs no word":                   {status: state.Unsent},
		"refused needs no word":                  {status: state.Refused},
		"a tombstone needs no word":              {status: state.Tombstone},
		"in doubt stays to be resolved":          {status: state.InDoubt, line: "? gone"},
		"a conflict stays until it is closed":    {status: state.Conflict, line: "! gone", obstacle: true},
		"in doubt while its run is alive, waits": {status: state.InDoubt, edit: open, line: "> gone"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			edit := test.edit
			if edit == nil {
				edit = func(*state.Detail) {}
			}
			m := newMemory(record(declare("gone"), test.status, edit))
			m.holder = &state.Holder{RunID: "run-0", Host: "pay-1"}
			p := plan(t, m, planner.Controls{}, declare("a"))
			want := []string{"+ a"}
			if test.line != "" {
				want = append(want, test.line)
				c := find(t, p, "gone")
				if c.Declared() || c.Request.ToProfileID != "to-gone" {
					t.Errorf("the line is %+v, want the recorded request", c)
				}
				if c.Action == planner.Resolve && !strings.Contains(c.Reason, "no longer declared") {
					t.Errorf("the reason is %q", c.Reason)
				}
			}
			if diff := cmp.Diff(want, actions(p)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if got := len(p.Undeclared) == 1 && p.Count(planner.Undeclared) == 1; got != test.listed {
				t.Errorf("undeclared %v, count %d", p.Undeclared, p.Count(planner.Undeclared))
			}
			if p.Applicable() == test.obstacle {
				t.Errorf("obstacles are %v", obstacles(p))
			}
		})
	}
}

func TestTheLongestTextsAreKept(t *testing.T) {
	t.Parallel()
	const count = 9_000 // more than fit into one chunk of rows, or of texts
	amount := transfer.MustAmount(strings.Repeat("9", 60) + ".25")
	// A letter has one to four bytes; 254 and 255 bytes are the two sides of what a row has room for.
	refIDs := []string{
		strings.Repeat("x", 96), strings.Repeat("é", 96), strings.Repeat("中", 96), strings.Repeat("𝄞", 96),
		strings.Repeat("中", 83) + "x", strings.Repeat("中", 83) + "é",
	}
	m := newMemory()
	for i := range count {
		t := declare(refIDs[i%len(refIDs)] + fmt.Sprintf("%04d", i))
		t.Request.Amount = amount
		d := record(t, state.Recorded)
		m.details[d.RefID] = d
	}
	p := plan(t, m, planner.Controls{}, declare("a"))
	sorted := slices.Sorted(maps.Keys(m.details))
	for i, c := range p.Undeclared {
		if c.RefID != sorted[i] || c.Request.Amount.Cmp(amount) != 0 {
			t.Fatalf("%d is %s of %s, and should be %s", i, c.RefID, c.Request.Amount, sorted[i])
		}
	}
	want := amount.Decimal().Mul(decimal.NewFromInt(count))
	if got := p.Totals[planner.Undeclared].Sum("USD").String(); got != want.String() {
		t.Errorf("the sum is %s, and should be %s", got, want)
	}
	// Each is found again by its ref_id.
	var declared []config.Transfer
	for _, refID := range sorted {
		t := declare(refID)
		t.Request.Amount = amount
		declared = append(declared, t)
	}
	if p := plan(t, m, planner.Controls{}, declared...); p.Count(planner.None) != count || p.Count(planner.Undeclared) != 0 {
		t.Errorf("%d need nothing, and %d are not declared", p.Count(planner.None), p.Count(planner.Undeclared))
	}
}

func TestUndeclaredAreListedUpToABoundAndAllCounted(t *testing.T) {
	m := newMemory()
	for i := range planner.UndeclaredMax + 5 {
		d := record(declare("gone-"+time.Duration(i).String()), state.Recorded)
		m.details[d.RefID] = d
	}
	p := plan(t, m, planner.Controls{}, declare("a"))
	if len(p.Undeclared) != planner.UndeclaredMax || p.Count(planner.Undeclared) != planner.UndeclaredMax+5 {
		t.Errorf("%d are listed and %d counted", len(p.Undeclared), p.Count(planner.Undeclared))
	}
	if got := p.Totals[planner.Undeclared].Sum("USD").String(); got != "80400" {
		t.Errorf("their sum is %s", got)
	}
}

func TestEmptyDeclaration(t *testing.T) {
	m := newMemory(record(declare("a"), state.Recorded))
	p := plan(t, m, planner.Controls{})
	if diff := cmp.Diff([]string{"empty 1 [] --allow-empty"}, obstacles(p)); diff != "" {
		t.Errorf("without a flag (-want +got):\n%s", diff)
	}
	allowed := plan(t, m, planner.Controls{AllowEmpty: true})
	if !allowed.Applicable() || !slices.Equal(allowed.Header.Accepted, []string{"allow-empty"}) {
		t.Errorf("allowed: obstacles %v, accepted %v", obstacles(allowed), allowed.Header.Accepted)
	}
	if allowed.Digest == p.Digest {
		t.Error("what was accepted is no part of the digest")
	}
	if p := plan(t, newMemory(), planner.Controls{AllowEmpty: true}); !p.Applicable() || !slices.Equal(p.Unused, []string{"allow-empty"}) {
		t.Errorf("over an empty state: obstacles %v, unused %v", obstacles(p), p.Unused)
	}
}

func TestTotals(t *testing.T) {
	euro := func(c *config.Transfer) { c.Request.Asset = "EUR" }
	m := newMemory(
		record(declare("recorded"), state.Recorded),
		record(declare("gone", func(c *config.Transfer) { amount("0.10")(&c.Request) }), state.Recorded),
		record(declare("doubt", func(c *config.Transfer) { amount("70")(&c.Request) }), state.InDoubt),
	)
	p := plan(t, m, planner.Controls{}, declare("a"), declare("recorded"), declare("b", euro), declare("doubt"), declare("c"))
	got := make(map[planner.Action]map[string]string)
	for action, totals := range p.Totals {
		got[action] = make(map[string]string)
		for total := range totals.All() {
			got[action][total.Asset] = total.Sum.String()
		}
	}
	want := map[planner.Action]map[string]string{
		planner.Submit:     {"USD": "160", "EUR": "80"},
		planner.None:       {"USD": "80"},
		planner.Undeclared: {"USD": "0.1"},
		planner.Resolve:    {"USD": "70"}, // the recorded request, not the declared one
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	broken := record(declare("a"), state.InDoubt, func(d *state.Detail) { d.Intent.Body = `{"amount":"1"}` })
	missing := newMemory(record(declare("a"), state.InDoubt))
	tests := map[string]struct {
		record   planner.Record
		declared []config.Transfer
		controls planner.Controls
		want     string
	}{
		"a ref_id declared twice":              {newMemory(), []config.Transfer{declare("a"), declare("a")}, planner.Controls{}, `ref_id "a" is declared twice: at pay.hcl:3`},
		"a recorded ref_id declared twice":     {newMemory(record(declare("a"), state.Recorded)), []config.Transfer{declare("a"), declare("a")}, planner.Controls{}, `ref_id "a" is declared twice`},
		"a recorded body of another hash":      {newMemory(broken), []config.Transfer{declare("a")}, planner.Controls{}, `read the recorded request of "a"`},
		"a row without details":                {forgetful{missing}, []config.Transfer{declare("a")}, planner.Controls{}, "the state has 0 of 1"},
		"a scan that fails":                    {failing{missing}, []config.Transfer{declare("a")}, planner.Controls{}, "read the recorded transfers: disk"},
		"a target without a name":              {newMemory(), []config.Transfer{declare("a")}, planner.Controls{Targets: []string{"batch."}}, "has the name batch."},
		"a target that names nothing declared": {newMemory(), []config.Transfer{declare("a")}, planner.Controls{Targets: []string{"batch.x"}}, "has the name batch.x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := planner.New(t.Context(), slices.Values(test.declared), test.record, test.controls, now)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestACancelledContextEndsThePlan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := planner.New(ctx, slices.Values([]config.Transfer{declare("a")}), newMemory(), planner.Controls{}, now)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTargets(t *testing.T) {
	declared := []config.Transfer{
		declare("fund"),
		declare("a", inBatch("pay"), after("fund")),
		declare("b", inBatch("pay")),
		declare("c"),
		declare("late", inBatch("later"), notBefore(now.Add(day)), after("c")),
	}
	keyed := declare("k", func(c *config.Transfer) { c.Address, c.Block = `transfer.internal.many["k"]`, "transfer.internal.many" })
	other := declare("o", func(c *config.Transfer) { c.Address, c.Block = `transfer.internal.many["o"]`, "transfer.internal.many" })
	declared = append(declared, keyed, other)
	tests := map[string]struct {
		targets []string
		want    []string
		none    int
	}{
		"all":                             {nil, []string{"+ fund", "+ a", "+ b", "+ c", "> late", "+ k", "+ o"}, 1},
		"a batch, with what it waits for": {[]string{"batch.pay"}, []string{"+ fund", "+ a", "+ b"}, 0},
		"a block":                         {[]string{"transfer.internal.many"}, []string{"+ k", "+ o"}, 0},
		"an address":                      {[]string{`transfer.internal.many["k"]`}, []string{"+ k"}, 0},
		"two of them":                     {[]string{"transfer.internal.b", "transfer.internal.c"}, []string{"+ b", "+ c"}, 0},
		"one that is not due does not bring what it waits for": {[]string{"batch.later"}, []string{"> late"}, 0},
		"one that is recorded":                                 {[]string{"transfer.internal.done"}, []string{}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemory(record(declare("done"), state.Recorded), record(declare("gone"), state.Recorded))
			p := plan(t, m, planner.Controls{Targets: test.targets}, append(declared, declare("done"))...)
			if diff := cmp.Diff(test.want, actions(p)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if p.Count(planner.None) != test.none || p.Count(planner.Undeclared) != 1 {
				t.Errorf("%d unchanged, %d undeclared", p.Count(planner.None), p.Count(planner.Undeclared))
			}
			if diff := cmp.Diff(test.targets, p.Header.Targets); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTargetsLeaveOutTheDoubtsAndConflictsOfOthers(t *testing.T) {
	m := newMemory(record(declare("doubt"), state.InDoubt), record(declare("bad"), state.Conflict), record(declare("gone"), state.InDoubt))
	p := plan(t, m, planner.Controls{Targets: []string{"transfer.internal.a"}}, declare("a"), declare("doubt"), declare("bad"))
	if diff := cmp.Diff([]string{"+ a"}, actions(p)); diff != "" || !p.Applicable() {
		t.Errorf("obstacles %v, lines (-want +got):\n%s", obstacles(p), diff)
	}
}

// olderThan is an apply that finds doubts of more than an age too old.
func olderThan(age time.Duration) func(*state.Detail) (doubt.Hold, error) {
	return func(d *state.Detail) (doubt.Hold, error) {
		if now.Sub(d.IntendedAt) > age {
			return doubt.ReplayWindowPassed(), nil
		}
		return doubt.Hold{}, nil
	}
}
