package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// historySignals are those that come from earlier payments, in short.
func historySignals(c *planner.Change) []string {
	var all []string
	for _, s := range c.Signals {
		switch s.Kind {
		case planner.FirstDestination:
			all = append(all, string(s.Kind))
		case planner.AmountOutOfLine, planner.OtherAsset:
			all = append(all, string(s.Kind)+" after "+s.RefID)
		case planner.LookAlike, planner.Rename, planner.Unverified, planner.MixedScripts, planner.UnusualForm, planner.OtherName, planner.OtherAccount, planner.Late:
		}
	}
	return all
}

func TestSignalsOfHistory(t *testing.T) {
	of := func(text, asset string) func(*config.Transfer) {
		return func(t *config.Transfer) { t.Request.Amount, t.Request.Asset = transfer.MustAmount(text), asset }
	}
	paid := func(refID, text, asset string, status state.Status, edits ...func(*state.Detail)) state.Detail {
		return record(declare(refID, twin, of(text, asset)), status, edits...)
	}
	first := []string{"first-time destination"}
	tests := map[string]struct {
		recorded []state.Detail
		declared config.Transfer
		want     []string
	}{
		"nothing was ever paid to it":             {nil, declare("a", twin), first},
		"something was paid to it":                {[]state.Detail{paid("x", "80.00", "USD", state.Recorded)}, declare("a", twin, of("81.00", "USD")), nil},
		"something was adopted":                   {[]state.Detail{paid("x", "80.00", "USD", state.Adopted)}, declare("a", twin, of("81.00", "USD")), nil},
		"what was paid to it failed":              {[]state.Detail{paid("x", "80.00", "USD", state.Recorded, recordStatus(transfer.Failed))}, declare("a", twin), first},
		"what was paid to it is unverified":       {[]state.Detail{paid("x", "80.00", "USD", state.Unverified)}, declare("a", twin, of("81.00", "USD")), first},
		"what was paid to it is in doubt":         {[]state.Detail{paid("x", "80.00", "USD", state.InDoubt)}, declare("a", twin, of("81.00", "USD")), first},
		"another was paid":                        {[]state.Detail{record(declare("x"), state.Recorded)}, declare("a", twin), first},
		"less than nine times the largest so far": {[]state.Detail{paid("x", "7.00", "USD", state.Recorded), paid("y", "8.00", "USD", state.Recorded)}, declare("a", twin, of("71.999999", "USD")), nil},
		"nine times the largest so far":           {[]state.Detail{paid("x", "7.00", "USD", state.Recorded), paid("y", "8.00", "USD", state.Recorded)}, declare("a", twin, of("72.00", "USD")), []string{"amount out of line after y"}},
		"one zero too many":                       {[]state.Detail{paid("x", "1814.32", "USD", state.Recorded)}, declare("a", twin, of("18140.32", "USD")), []string{"amount out of line after x"}},
		"nine times, and another asset is more":   {[]state.Detail{paid("x", "9000", "JPY", state.Recorded), paid("y", "8", "USD", state.Recorded)}, declare("a", twin, of("81", "USD")), []string{"amount out of line after y"}},
		"the first amount of an asset":            {[]state.Detail{paid("x", "9", "JPY", state.Recorded)}, declare("a", twin, of("8100", "USD")), []string{"another asset after x"}},
		"the same asset in small letters":         {[]state.Detail{paid("x", "9", "usd", state.Recorded)}, declare("a", twin, of("10", "USD")), nil},
		"it waits":                                {nil, declare("a", twin, notBefore(now.Add(day))), nil},
		"eight times the largest of its asset, and another asset was first": {
			[]state.Detail{paid("x", "9000", "JPY", state.Recorded), paid("y", "100.00", "USD", state.Recorded), paid("z", "8.00", "USD", state.Recorded)}, declare("a", twin, of("800.00", "USD")), nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(test.recorded...), planner.Controls{}, test.declared)
			if diff := cmp.Diff(test.want, historySignals(find(t, p, "a"))); diff != "" {
				t.Errorf("signals (-want +got):\n%s", diff)
			}
			if !p.Applicable() {
				t.Errorf("a mark stops the plan: %v", p.Obstacles)
			}
		})
	}
}

// TestAForgottenTransferHasPaid has a person close a transfer, in several ways, and pay its destination anew.
func TestAForgottenTransferHasPaid(t *testing.T) {
	const forget, notMade = "remit state forget", "remit resolve"
	for name, test := range map[string]struct {
		status  state.Status
		command string
		edit    func(*state.Detail)
		want    string
	}{
		"recorded":             {state.Recorded, forget, nil, "amount out of line after old"},
		"adopted":              {state.Adopted, forget, nil, "amount out of line after old"},
		"unverified":           {state.Unverified, forget, nil, "first-time destination"},
		"FAILED":               {state.Recorded, forget, recordStatus(transfer.Failed), "first-time destination"},
		"in conflict":          {state.Conflict, forget, func(d *state.Detail) { d.RecordID = "id-old" }, "first-time destination"},
		"a doubt":              {state.InDoubt, forget, nil, "first-time destination"},
		"closed as not made":   {state.Conflict, notMade, func(d *state.Detail) { d.RecordID = "id-old" }, "first-time destination"},
		"made by a list alone": {state.Adopted, forget, func(d *state.Detail) { d.RecordID, d.RecordStatus = "", "" }, "first-time destination"},
	} {
		t.Run(name, func(t *testing.T) {
			edit := test.edit
			if edit == nil {
				edit = func(*state.Detail) {}
			}
			m := newMemory(record(declare("old", twin, func(t *config.Transfer) { amount("50.00")(&t.Request) }), test.status, edit))
			closed(m, "old", test.command)
			p := plan(t, m, planner.Controls{}, declare("new", twin, func(t *config.Transfer) { amount("7000.00")(&t.Request) }))
			if got := strings.Join(historySignals(find(t, p, "new")), ", "); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestSignalsOfHistoryAreThoseOfASearch compares the index with a look at every row.
func TestSignalsOfHistoryAreThoseOfASearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(refID string) config.Transfer {
			return declare(refID, func(c *config.Transfer) {
				c.DuplicateWithin = 0
				c.Request.ToProfileID = fmt.Sprint("to-", rapid.IntRange(0, 3).Draw(t, "to"))
				c.Request.Asset = rapid.SampledFrom([]string{"USD", "EUR", "JPY"}).Draw(t, "asset")
				c.Request.Amount = transfer.MustAmount(rapid.SampledFrom([]string{"1", "9.5", "10", "100", "101.00", "1000"}).Draw(t, "amount"))
			})
		}
		var recorded []state.Detail
		for n := range rapid.IntRange(0, 12).Draw(t, "recorded") {
			recorded = append(recorded, record(draw(fmt.Sprint("old-", n)), rapid.SampledFrom(state.Statuses()).Draw(t, "status")))
		}
		d := draw("new")
		isKnown, over := false, true
		seen := false
		for _, r := range recorded {
			if r.Status != state.Recorded && r.Status != state.Adopted || r.Destination != d.Request.Destination() {
				continue
			}
			isKnown = true
			if r.Asset == d.Request.Asset {
				seen = true
				nine := transfer.MustAmount(r.Amount.Decimal().Shift(1).Sub(r.Amount.Decimal()).String())
				over = over && d.Request.Amount.Cmp(nine) >= 0
			}
		}
		p := newPlan(t, world{memory: newMemory(recorded...)}, []config.Transfer{d})
		c := p.Changes.At(0) // undeclared transfers come behind it
		got := historySignals(&c)
		want := 0
		if !isKnown || !seen || over {
			want = 1
		}
		if len(got) != want || want == 1 && (got[0] == string(planner.FirstDestination)) == isKnown ||
			want == 1 && strings.HasPrefix(got[0], string(planner.OtherAsset)) != (isKnown && !seen) {
			t.Fatalf("%v, known %v, over %v", got, isKnown, seen && over)
		}
	})
}
