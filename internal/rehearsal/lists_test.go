package rehearsal_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"remit/internal/rehearsal"
	"remit/internal/transfer"
	"remit/planner"
)

// TestTheLowestHeedsWhoWaitsForWhat has transfers into p0 that one payment waits for, and that two wait for, in either order.
func TestTheLowestHeedsWhoWaitsForWhat(t *testing.T) {
	for name, all := range map[string][]sent{
		"one, and then both": {{from: 1, to: 0, amount: 10}, {from: 2, to: 0, amount: 20}, {from: 0, to: 1, amount: 5, after: []int{0, 1}}, {from: 0, to: 1, amount: 90, after: []int{1}}},
		"both, and then one": {{from: 2, to: 0, amount: 20}, {from: 1, to: 0, amount: 10}, {from: 0, to: 1, amount: 5, after: []int{0, 1}}, {from: 0, to: 1, amount: 90, after: []int{0}}},
	} {
		for _, a := range rehearse(t, all, 50, 50, 50).Accounts {
			if want := lowestByTrying(all, a.ProfileID); !a.LowestKnown || a.LowestOfAll.IntPart() != int64(want) {
				t.Errorf("%s: %s has %s at the lowest, want %d", name, a.ProfileID, a.LowestOfAll, want)
			}
		}
	}
}

// TestAListThatBeginsAsAnotherIsOneOfItsOwn has lists of dependencies that share their memory, as those of a block and of its batch may.
func TestAListThatBeginsAsAnotherIsOneOfItsOwn(t *testing.T) {
	all := []sent{{from: 1, to: 0, amount: 10}, {from: 2, to: 0, amount: 20}, {from: 0, to: 1, amount: 55}, {from: 0, to: 1, amount: 7}, {from: 0, to: 2, amount: 3}}
	shared := []string{refID(0), refID(1)}
	for _, lengths := range [][3]int{{1, 2, 1}, {2, 1, 2}, {1, 2, 2}, {2, 1, 1}} {
		plan := planOf(all)
		for i, length := range lengths {
			plan.Changes.Update(2+i, func(c *planner.Change) { c.After = shared[:length] })
			all[2+i].after = []int{0, 1}[:length]
		}
		for profileID, n := range needs(t, plan, rehearsal.Known{}) {
			if want := 50 - lowestByTrying(all, profileID); !n.IsLeast || n.Least().IntPart() != int64(want) {
				t.Errorf("lists of %v: %s needs %s, want %d", lengths, profileID, n.Least(), want)
			}
		}
	}
}

// TestWhatIsPendingComesInOnce has two transfers that wait for one of an earlier run, each with a list of its own.
func TestWhatIsPendingComesInOnce(t *testing.T) {
	coming := transfer.Request{Operation: transfer.Internal, RefID: "old", Asset: "USD", Amount: transfer.MustAmount("30"), FromProfileID: "x", ToProfileID: profile(0)}
	plan := planOf([]sent{{from: 0, to: 1, amount: 80}, {from: 0, to: 1, amount: 40}})
	for i := range 2 {
		plan.Changes.Update(i, func(c *planner.Change) { c.After = []string{"old"} })
	}
	n := needs(t, plan, rehearsal.Known{Credits: map[string]transfer.Request{"old": coming}})[profile(0)]
	if n.Takes.String() != "120" || n.Covered.String() != "30" || n.Least().String() != "90" {
		t.Errorf("it needs %+v", n)
	}
}

// TestADoubtIsTakenWithItsFee has a doubt that was refused before it was sent again: no plan leaves it, and its fee is in doubt as well.
func TestADoubtIsTakenWithItsFee(t *testing.T) {
	plan := planOf([]sent{{from: 0, to: 1, amount: 80}, {from: 0, to: 1, amount: 7}})
	plan.Changes.Update(0, inDoubt)
	plan.Changes.Update(0, func(c *planner.Change) { c.Again = true })
	fee := func(*transfer.Request) decimal.Decimal { return decimal.RequireFromString("0.5") }
	n := needs(t, plan, rehearsal.Known{Fee: fee, LeavesRefused: true})[profile(0)]
	if n.Takes.String() != "88" || n.Fees.String() != "1" || n.InDoubt.String() != "80.5" {
		t.Errorf("it needs %+v", n)
	}
}

// TestWhatWaitsForTwoFailuresIsNotAttemptedOnce has two transfers that fail, and one that waits for both.
func TestWhatWaitsForTwoFailuresIsNotAttemptedOnce(t *testing.T) {
	r := rehearse(t, []sent{{from: 0, to: 1, amount: 80}, {from: 0, to: 1, amount: 90}, {from: 1, to: 2, amount: 1, after: []int{0, 1}}, {from: 1, to: 2, amount: 1, after: []int{2}}}, 10, 10)
	if r.Failed.Count() != 2 || r.NotAttempted.Count() != 2 || len(r.Failures) != 4 || r.NotAttempted.Sum("USD").String() != "2" {
		t.Errorf("%d failed, %d not attempted of %s, %d failures", r.Failed.Count(), r.NotAttempted.Count(), r.NotAttempted.Sum("USD"), len(r.Failures))
	}
}
