package planner_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestMarksThatAPlanLacks takes marks out of plans, as who forges a file does.
func TestMarksThatAPlanLacks(t *testing.T) {
	pay := func(refID, to, of, asset string) config.Transfer {
		return declare(refID, func(t *config.Transfer) {
			t.Request.ToProfileID, t.Request.Amount, t.Request.Asset = to, transfer.MustAmount(of), asset
		})
	}
	known := record(pay("old", "known", "10", "USD"), state.Recorded)
	tests := map[string]struct {
		declared config.Transfer
		signals  func([]planner.Signal) []planner.Signal // what the file has in place of them
		since    func(*memory)
		want     []string
	}{
		"as it was made":                       {declared: pay("a", "new", "90", "USD")},
		"a first-time destination":             {declared: pay("a", "new", "90", "USD"), signals: none, want: []string{`"a" at pay.hcl:3 is not marked as first-time destination`}},
		"posing as an amount":                  {declared: pay("a", "new", "90", "USD"), signals: posing, want: []string{`"a" at pay.hcl:3 is not marked as first-time destination`}},
		"an amount out of line":                {declared: pay("a", "known", "101", "USD"), signals: none, want: []string{`"a" at pay.hcl:3 is not marked as amount out of line`}},
		"an amount in line":                    {declared: pay("a", "known", "100", "USD")},
		"mixed scripts":                        {declared: pay("a", "knоwn", "90", "USD"), signals: first, want: []string{`"a" at pay.hcl:3 is not marked as mixed scripts`}},
		"a known destination in a new asset":   {declared: pay("a", "known", "900", "EUR")},
		"paid in the meantime":                 {declared: pay("a", "new", "900", "USD"), since: paid(pay("b", "new", "1", "USD"))},
		"paid in a new asset in the meantime":  {declared: pay("a", "known", "900", "EUR"), since: paid(pay("b", "known", "1", "EUR"))},
		"the only payment failed in between":   {declared: pay("a", "known", "90", "USD"), since: failedLater, want: []string{`"a" at pay.hcl:3 is not marked as first-time destination`}},
		"an amount that is now less than most": {declared: pay("a", "known", "900", "USD"), since: paid(pay("b", "known", "800", "USD"))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemory(known)
			p := plan(t, m, planner.Controls{}, test.declared, pay("old", "known", "10", "USD"))
			p.Header.PlanID = "plan-1"
			if test.signals != nil {
				var forged planner.Changes
				for _, c := range p.Changes.All() {
					c.Signals = test.signals(c.Signals)
					forged.Add(c)
				}
				p.Changes = forged
			}
			if test.since != nil {
				test.since(m)
			}
			opened, err := planner.Open(bytes.NewReader(save(t, p)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = opened.Recheck(t.Context(), m, config.Controls{}, now)
			var unmarked *planner.UnmarkedError
			if !errors.As(err, &unmarked) {
				unmarked = new(planner.UnmarkedError)
				if err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, unmarked.Lines); diff != "" || unmarked.Count != len(test.want) {
				t.Errorf("%d lines (-want +got):\n%s", unmarked.Count, diff)
			}
		})
	}
}

func none([]planner.Signal) []planner.Signal { return nil }

func posing([]planner.Signal) []planner.Signal {
	return []planner.Signal{{Kind: planner.AmountOutOfLine}}
}

func first([]planner.Signal) []planner.Signal {
	return []planner.Signal{{Kind: planner.FirstDestination}}
}

// paid is a transfer that another run made after the plan.
func paid(declared config.Transfer) func(*memory) {
	return func(m *memory) {
		d := record(declared, state.Recorded)
		d.IntendedAt = now.Add(time.Minute)
		m.happen(begun("run-2", ""))
		m.put("run-2", d)
	}
}

func failedLater(m *memory) {
	d := m.details["old"]
	d.RecordStatus = transfer.Failed
	m.put("run-2", d)
}
