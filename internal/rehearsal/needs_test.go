package rehearsal_test

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/internal/rehearsal"
	"remit/internal/transfer"
	"remit/planner"
)

func needs(t interface{ Fatal(...any) }, plan *planner.Plan, known rehearsal.Known) map[string]rehearsal.Need {
	list, err := rehearsal.Needs(plan, known)
	if err != nil {
		t.Fatal(err)
	}
	by := make(map[string]rehearsal.Need)
	for _, n := range list {
		by[n.ProfileID] = n
	}
	return by
}

// TestTheLeastIsEnoughInEveryOrder compares the least balance with every order that there is.
func TestTheLeastIsEnoughInEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Custom(drawSent).Draw(t, "transfers")
		for profileID, n := range needs(t, planOf(all), rehearsal.Known{}) {
			// From 50, the lowest of all orders is 50 less the least balance.
			if want := 50 - lowestByTrying(all, profileID); !n.IsLeast || n.Least().IntPart() != int64(want) {
				t.Fatalf("%s: at least %s, want %d", profileID, n.Least(), want)
			}
		}
	})
}

func TestWhatIsKnownBeyondAPlan(t *testing.T) {
	fee := func(*transfer.Request) decimal.Decimal { return decimal.RequireFromString("0.5") }
	coming := transfer.Request{Operation: transfer.Internal, RefID: "old", Asset: "usd", Amount: transfer.MustAmount("30"), FromProfileID: "x", ToProfileID: profile(0)}
	plan := planOf([]sent{{from: 0, to: 1, amount: 80}})
	waiting := plan.Changes.At(0)
	waiting.After = []string{"old"}
	var changes planner.Changes
	changes.Add(&waiting)

	n := needs(t, plan, rehearsal.Known{Fee: fee})[profile(0)]
	if n.Takes.String() != "80.5" || n.Fees.String() != "0.5" || n.Least().String() != "80.5" {
		t.Errorf("with a fee: %+v", n)
	}
	pending := map[string]transfer.Request{"old": coming}
	n = needs(t, &planner.Plan{Changes: changes}, rehearsal.Known{Fee: fee, Credits: pending})[profile(0)]
	if n.Takes.String() != "80.5" || n.Covered.String() != "30" || n.Least().String() != "50.5" {
		t.Errorf("after what is PENDING: %+v", n)
	}
	n = needs(t, plan, rehearsal.Known{Credits: pending})[profile(0)]
	if !n.Covered.IsZero() {
		t.Errorf("what nothing waits for covers %s", n.Covered)
	}
	for name, elsewhere := range map[string]func(r *transfer.Request){
		"another asset":   func(r *transfer.Request) { r.Asset = "EUR" },
		"another profile": func(r *transfer.Request) { r.ToProfileID = profile(1) },
	} {
		other := coming
		elsewhere(&other)
		n = needs(t, &planner.Plan{Changes: changes}, rehearsal.Known{Credits: map[string]transfer.Request{"old": other}, LeavesRefused: true})[profile(0)]
		if n.Takes.String() != "80" || !n.Covered.IsZero() || !n.IsLeast {
			t.Errorf("after what is PENDING in %s: %+v", name, n)
		}
	}
	if got := needs(t, plan, rehearsal.Known{}); len(got) != 1 {
		t.Errorf("who only receives needs something: %+v", got)
	}
}

// TestWhatIsLeftNeedsNothing has one transfer that was refused before, one that waits for it, and one that waits
// for nothing.
func TestWhatIsLeftNeedsNothing(t *testing.T) {
	plan := planOf([]sent{{from: 0, to: 1, amount: 30}, {from: 1, to: 2, amount: 20, after: []int{0}}, {from: 0, to: 2, amount: 5}})
	refused := plan.Changes.At(0)
	refused.Again = true
	plan.Changes.Set(0, &refused)
	if got := needs(t, plan, rehearsal.Known{}); got[profile(0)].Takes.String() != "35" || got[profile(1)].Takes.String() != "20" {
		t.Errorf("with all: %+v", got)
	}
	got := needs(t, plan, rehearsal.Known{LeavesRefused: true})
	if n := got[profile(0)]; len(got) != 1 || n.Takes.String() != "5" || n.Least().String() != "5" {
		t.Errorf("with what is left: %+v", got)
	}
	fee := func(*transfer.Request) decimal.Decimal { return decimal.RequireFromString("0.5") }
	got = needs(t, plan, rehearsal.Known{Fee: fee, LeavesRefused: true})
	if n := got[profile(0)]; len(got) != 1 || n.Takes.String() != "5.5" || n.Fees.String() != "0.5" {
		t.Errorf("with what is left and its fee: %+v", got)
	}
}

// TestWhatIsLeftLeavesTheRestAsItIs has refused transfers before, between and after others that nothing else tells apart from them.
func TestWhatIsLeftLeavesTheRestAsItIs(t *testing.T) {
	for name, refused := range map[string][]int{"the first": {0}, "two in front": {0, 1}, "the second": {1}, "the last": {3}, "all but the last": {0, 1, 2}} {
		plan := planOf(slices.Repeat([]sent{{from: 0, to: 1, amount: 5}}, 4))
		for _, i := range refused {
			plan.Changes.Update(i, func(c *planner.Change) { c.Again = true })
		}
		n := needs(t, plan, rehearsal.Known{LeavesRefused: true})[profile(0)]
		if want := decimal.NewFromInt(int64(5 * (4 - len(refused)))); !n.Takes.Equal(want) || !n.Least().Equal(want) || !n.IsLeast {
			t.Errorf("%s: it takes %s, and needs %s at least; want %s", name, n.Takes, n.Least(), want)
		}
	}
}

// TestNeedsAreInOrderOfProfileAndAsset has a profile that pays in two assets, one of them in two spellings, before another that pays.
func TestNeedsAreInOrderOfProfileAndAsset(t *testing.T) {
	plan := planOf([]sent{{from: 1, to: 0, amount: 1}, {from: 1, to: 2, amount: 20}, {from: 0, to: 2, amount: 300}, {from: 1, to: 2, amount: 4000}})
	plan.Changes.Update(1, func(c *planner.Change) { c.Request.Asset = "EUR" })
	plan.Changes.Update(3, func(c *planner.Change) { c.Request.Asset = "usd" })
	list, err := rehearsal.Needs(plan, rehearsal.Known{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range list {
		got = append(got, n.ProfileID+" "+n.Takes.String()+" "+n.Asset)
	}
	if want := []string{"p0 300 USD", "p1 20 EUR", "p1 4001 USD"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAFundIsShortByWhatIsKnown(t *testing.T) {
	d := decimal.RequireFromString
	need := rehearsal.Need{Takes: d("10"), Covered: d("4"), IsLeast: true}
	tests := map[string]struct {
		fund  rehearsal.Fund
		short bool
	}{
		"enough to the cent":   {rehearsal.Fund{Need: need, Available: d("6.00")}, false},
		"a cent too little":    {rehearsal.Fund{Need: need, Available: d("5.99")}, true},
		"nobody knows":         {rehearsal.Fund{Need: need, Unread: "no"}, false},
		"too entangled to say": {rehearsal.Fund{Need: rehearsal.Need{Takes: d("10")}, Available: d("1")}, false},
	}
	for name, tt := range tests {
		if tt.fund.IsShort() != tt.short {
			t.Errorf("%s: %v", name, tt.fund.IsShort())
		}
	}
}

// TestEachDoubtCounts has two transfers in doubt, and one of a profile to itself, which takes nothing.
func TestEachDoubtCounts(t *testing.T) {
	plan := planOf([]sent{{from: 0, to: 1, amount: 8}, {from: 0, to: 1, amount: 5}, {from: 0, to: 0, amount: 100}})
	for i := range 2 {
		plan.Changes.Update(i, inDoubt)
	}
	n := needs(t, plan, rehearsal.Known{})[profile(0)]
	if n.Takes.String() != "13" || n.InDoubt.String() != "13" || n.Least().String() != "13" {
		t.Errorf("it takes %s, of that %s in doubt, at least %s; want 13 each", n.Takes, n.InDoubt, n.Least())
	}
}

// TestALineThatIsInDoubtCountsAsADoubt has an earlier run of a plan that may have made one of two transfers.
func TestALineThatIsInDoubtCountsAsADoubt(t *testing.T) {
	plan := planOf([]sent{{from: 0, to: 1, amount: 8}, {from: 0, to: 1, amount: 5}})
	refID := plan.Changes.At(1).RefID
	n := needs(t, plan, rehearsal.Known{Doubts: map[string]bool{refID: true, "another": true}})[profile(0)]
	if n.Takes.String() != "13" || n.InDoubt.String() != "5" || n.Least().String() != "13" {
		t.Errorf("it takes %s, of that %s in doubt, at least %s; want 13, 5 and 13", n.Takes, n.InDoubt, n.Least())
	}
}

// TestADoubtTakesWithoutWhatItWaitedFor has a doubt that depended on money that comes in: the doubt
// may be made already, so nothing covers it.
func TestADoubtTakesWithoutWhatItWaitedFor(t *testing.T) {
	plan := planOf([]sent{{from: 1, to: 0, amount: 8}, {from: 0, to: 2, amount: 8, after: []int{0}}})
	if n := needs(t, plan, rehearsal.Known{})[profile(0)]; !n.Least().IsZero() {
		t.Errorf("a transfer that waits for its cover takes %s", n.Least())
	}
	plan.Changes.Update(1, inDoubt)
	if n := needs(t, plan, rehearsal.Known{})[profile(0)]; n.Least().String() != "8" {
		t.Errorf("a doubt takes %s, want 8", n.Least())
	}
}

// TestCoverIsSharedOutAtItsBest has two payments, of which one waits for both that come in and the other for
// the first alone: both are covered where the first payment leaves the first cover to the second one.
func TestCoverIsSharedOutAtItsBest(t *testing.T) {
	for _, firstWaitsFor := range [][]int{{0, 1}, {1, 0}} {
		plan := planOf([]sent{
			{from: 1, to: 0, amount: 10},
			{from: 1, to: 0, amount: 10},
			{from: 0, to: 2, amount: 10, after: firstWaitsFor},
			{from: 0, to: 2, amount: 10, after: []int{0}},
		})
		if n := needs(t, plan, rehearsal.Known{})[profile(0)]; n.Covered.String() != "20" || !n.IsLeast {
			t.Errorf("%s are covered, want 20", n.Covered)
		}
	}
}
