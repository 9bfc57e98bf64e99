package rehearsal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/internal/proof/suite"
	"remit/internal/rehearsal"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// sent is a transfer to rehearse.
type sent struct {
	from, to int
	amount   int
	after    []int // earlier ones
}

func planOf(all []sent) *planner.Plan {
	var changes planner.Changes
	for i, s := range all {
		c := planner.Change{
			Action: planner.Submit, RefID: refID(i), Address: "transfer.internal." + refID(i),
			Request: transfer.Request{
				Operation: transfer.Internal, RefID: refID(i), Asset: "USD", Amount: transfer.MustAmount(fmt.Sprint(s.amount)),
				FromProfileID: profile(s.from), ToProfileID: profile(s.to),
			},
		}
		for _, n := range s.after {
			c.After = append(c.After, refID(n))
		}
		changes.Add(&c)
	}
	return &planner.Plan{Changes: changes}
}

// inDoubt makes a transfer one that is in doubt.
func inDoubt(c *planner.Change) {
	c.Action = planner.Resolve
	c.Recorded = &planner.Recorded{
		Status: state.InDoubt, Operation: c.Request.Operation, Body: string(c.Request.Body()), Fingerprint: c.Request.Fingerprint().String(),
	}
}

func refID(i int) string   { return fmt.Sprintf("t%d", i) }
func profile(i int) string { return fmt.Sprintf("p%d", i) }

func rehearse(t interface{ Fatal(...any) }, all []sent, opening ...int) *rehearsal.Result {
	var balances []rehearsal.OpeningBalance
	for i, amount := range opening {
		balances = append(balances, rehearsal.OpeningBalance{ProfileID: profile(i), Asset: "USD", Amount: decimal.NewFromInt(int64(amount))})
	}
	result, err := rehearsal.Rehearse(planOf(all), balances)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func account(t *testing.T, r *rehearsal.Result, number int) rehearsal.Account {
	t.Helper()
	for _, a := range r.Accounts {
		if a.ProfileID == profile(number) {
			return a
		}
	}
	t.Fatalf("no account of %s", profile(number))
	return rehearsal.Account{}
}

func TestFundsThatComeTooLate(t *testing.T) {
	all := []sent{{from: 0, to: 1, amount: 80}, {from: 2, to: 0, amount: 100}, {from: 0, to: 1, amount: 90, after: []int{1}}}
	r := rehearse(t, all, 10, 0, 200)
	if len(r.Failures) != 1 || r.Failures[0].RefID != "t0" || r.Failures[0].Has.String() != "10" {
		t.Errorf("failures: %+v, want t0, which has 10", r.Failures)
	}
	a := account(t, r, 0)
	if a.Closing.String() != "20" || a.Lowest.String() != "10" || a.In.String() != "100" || a.Out.String() != "90" {
		t.Errorf("account: %+v", a)
	}
	// t0 alone first: 10 - 80. With t2 as well, t1 must be there before.
	if a.LowestOfAll.String() != "-70" || !a.LowestKnown {
		t.Errorf("lowest of all orders is %s, want -70", a.LowestOfAll)
	}
}

func TestWhatWaitsForAFailureIsNotAttempted(t *testing.T) {
	all := []sent{{from: 0, to: 1, amount: 80}, {from: 1, to: 0, amount: 1, after: []int{0}}, {from: 1, to: 0, amount: 1, after: []int{1}}}
	r := rehearse(t, all, 10, 10)
	if r.Failed.Count() != 1 || r.NotAttempted.Count() != 2 || r.Made.Count() != 0 || r.Complete() {
		t.Errorf("%d failed, %d not attempted, %d made", r.Failed.Count(), r.NotAttempted.Count(), r.Made.Count())
	}
	for _, f := range r.Failures[1:] {
		if f.Cause != "t0" {
			t.Errorf("%s fails because of %q, want t0", f.RefID, f.Cause)
		}
	}
}

// TestADependentWaitsForAllThatItNames has one that is only funded once the later of two is made.
func TestADependentWaitsForAllThatItNames(t *testing.T) {
	r := rehearse(t, []sent{
		{from: 0, to: 2, amount: 5},
		{from: 2, to: 0, amount: 10, after: []int{0, 3}},
		{from: 0, to: 1, amount: 5, after: []int{0}},
		{from: 1, to: 2, amount: 5, after: []int{2}},
	}, 10)
	if !r.Complete() {
		t.Errorf("%+v", r.Failures)
	}
}

// TestWhatBecomesReadyAtOnceGoesInThePlansOrder has funds for two of three that wait for t1, of which the second waits for t0 as well.
// The first and the third share their list, as lines of two blocks do.
func TestWhatBecomesReadyAtOnceGoesInThePlansOrder(t *testing.T) {
	plan := planOf([]sent{
		{from: 1, to: 2, amount: 1},
		{from: 1, to: 2, amount: 1},
		{from: 0, to: 2, amount: 5, after: []int{1}},
		{from: 0, to: 2, amount: 5, after: []int{1, 0}},
		{from: 0, to: 2, amount: 5},
	})
	shared := plan.Changes.At(2).After
	plan.Changes.Update(4, func(c *planner.Change) { c.After = shared })
	r, err := rehearsal.Rehearse(plan, []rehearsal.OpeningBalance{
		{ProfileID: profile(0), Asset: "USD", Amount: decimal.NewFromInt(10)}, {ProfileID: profile(1), Asset: "USD", Amount: decimal.NewFromInt(2)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Failures) != 1 || r.Failures[0].RefID != "t4" {
		t.Errorf("failures %+v, want t4 alone", r.Failures)
	}
}

func TestWithoutBalancesNothingFails(t *testing.T) {
	r := rehearse(t, []sent{{from: 0, to: 1, amount: 80}})
	if r.Funded || !r.Complete() || account(t, r, 0).Net().String() != "-80" {
		t.Errorf("%+v", r)
	}
}

// TestTheLowestBalanceIsThatOfTheFirstTransferThatLeavesIt has a balance that is 0 twice.
func TestTheLowestBalanceIsThatOfTheFirstTransferThatLeavesIt(t *testing.T) {
	r := rehearse(t, []sent{{from: 0, to: 1, amount: 10}, {from: 2, to: 0, amount: 10}, {from: 0, to: 1, amount: 10}}, 10, 0, 10)
	if a := account(t, r, 0); !a.Lowest.IsZero() || a.LowestAfter != "t0" {
		t.Errorf("the lowest is %s after %s, want 0 after t0", a.Lowest, a.LowestAfter)
	}
}

// TestWhoMayBeInWantIsListedFirst has p0, which is paid before it pays: in another order it has less, or too little.
func TestWhoMayBeInWantIsListedFirst(t *testing.T) {
	for name, test := range map[string]struct {
		all     []sent
		opening []int
		want    []string // the profile, its lowest balance, and that of all orders
	}{
		"too little in another order":      {[]sent{{from: 2, to: 0, amount: 100}, {from: 0, to: 1, amount: 80}}, []int{10, 0, 100}, []string{"p0 10 -70", "p1 0 0", "p2 0 0"}},
		"as little in another order as p1": {[]sent{{from: 2, to: 0, amount: 10}, {from: 0, to: 2, amount: 10}, {from: 1, to: 2, amount: 10}}, []int{10, 10, 100}, []string{"p1 0 0", "p0 10 0", "p2 90 90"}},
	} {
		var got []string
		for _, a := range rehearse(t, test.all, test.opening...).Accounts {
			got = append(got, fmt.Sprint(a.ProfileID, " ", a.Lowest, " ", a.LowestOfAll))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestFailuresAreBounded has one failure more than a result keeps: it is counted.
func TestFailuresAreBounded(t *testing.T) {
	r := rehearse(t, slices.Repeat([]sent{{from: 0, to: 1, amount: 5}}, rehearsal.FailuresMax+1), 1)
	if len(r.Failures) != rehearsal.FailuresMax || r.Failed.Count() != rehearsal.FailuresMax+1 {
		t.Errorf("%d failures of %d", len(r.Failures), r.Failed.Count())
	}
}

// TestWhatIsTooEntangledIsAsIfNothingCameInBefore has each payment wait for all that comes in but one.
func TestWhatIsTooEntangledIsAsIfNothingCameInBefore(t *testing.T) {
	suite.Slow(t)
	const count = 450
	all := slices.Repeat([]sent{{from: 1, to: 0, amount: 10}}, count)
	for i := range count {
		one := sent{from: 0, to: 2, amount: 10}
		for n := range count {
			if n != i {
				one.after = append(one.after, n)
			}
		}
		all = append(all, one)
	}
	if a := account(t, rehearse(t, all, 50, 10*count), 0); a.LowestKnown || a.LowestOfAll.String() != "-4450" {
		t.Errorf("the lowest of all orders is %s, known %t; want -4450, not known", a.LowestOfAll, a.LowestKnown)
	}
}

// TestBalancesOfOneProfileAddUp has a profile with two opening balances, as of two accounts.
func TestBalancesOfOneProfileAddUp(t *testing.T) {
	balance := func(amount int64) rehearsal.OpeningBalance {
		return rehearsal.OpeningBalance{ProfileID: profile(0), Asset: "USD", Amount: decimal.NewFromInt(amount)}
	}
	r, err := rehearsal.Rehearse(planOf([]sent{{from: 0, to: 1, amount: 45}}), []rehearsal.OpeningBalance{balance(30), balance(20)})
	if err != nil {
		t.Fatal(err)
	}
	if a := account(t, r, 0); a.Opening.String() != "50" || !r.Complete() {
		t.Errorf("account: %+v", a)
	}
}

// TestEachAssetHasItsOwnBalance has a profile with too little of one asset and enough of another.
func TestEachAssetHasItsOwnBalance(t *testing.T) {
	plan := planOf([]sent{{from: 0, to: 1, amount: 50}, {from: 0, to: 1, amount: 50}, {from: 0, to: 1, amount: 4}, {from: 1, to: 2, amount: 1, after: []int{1}}})
	plan.Changes.Update(0, func(c *planner.Change) { c.Request.Asset = "EUR" })
	plan.Changes.Update(1, func(c *planner.Change) { c.Place = "rent.hcl:3,1" })
	r, err := rehearsal.Rehearse(plan, []rehearsal.OpeningBalance{
		{ProfileID: profile(0), Asset: "USD", Amount: decimal.NewFromInt(10)}, {ProfileID: profile(0), Asset: "EUR", Amount: decimal.NewFromInt(60)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range r.Accounts {
		got = append(got, fmt.Sprintf("%s %s: %s + %s - %s = %s, %s after %q", a.Asset, a.ProfileID, a.Opening, a.In, a.Out, a.Closing, a.Lowest, a.LowestAfter))
	}
	for _, f := range r.Failures {
		got = append(got, fmt.Sprintf("%s at %q: %s of %s, %s has %s, cause %q", f.RefID, f.Place, f.Amount, f.Asset, f.From, f.Has, f.Cause))
	}
	for _, asset := range []string{"EUR", "USD"} {
		got = append(got, fmt.Sprintf("%s: %s made, %s failed, %s not attempted", asset, r.Made.Sum(asset), r.Failed.Sum(asset), r.NotAttempted.Sum(asset)))
	}
	want := []string{
		`EUR p1: 0 + 50 - 0 = 50, 0 after ""`,
		`EUR p0: 60 + 0 - 50 = 10, 10 after "t0"`,
		`USD p0: 10 + 0 - 4 = 6, 6 after "t2"`,
		`USD p1: 0 + 4 - 0 = 4, 0 after ""`,
		`USD p2: 0 + 0 - 0 = 0, 0 after ""`,
		`t1 at "rent.hcl:3,1": 50 of USD, p0 has 10, cause ""`,
		`t3 at "": 1 of USD, p1 has 0, cause "t1"`,
		"EUR: 50 made, 0 failed, 0 not attempted",
		"USD: 4 made, 50 failed, 1 not attempted",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAPaymentToOneselfLeavesTheBalance has one with enough, and one with too little.
func TestAPaymentToOneselfLeavesTheBalance(t *testing.T) {
	r := rehearse(t, []sent{{from: 0, to: 0, amount: 10}, {from: 0, to: 0, amount: 11}}, 10)
	a := account(t, r, 0)
	if a.Lowest.String() != "10" || a.LowestAfter != "" || a.Closing.String() != "10" || a.LowestOfAll.String() != "10" {
		t.Errorf("account: %+v", a)
	}
	if len(r.Failures) != 1 || r.Failures[0].RefID != "t1" || r.Complete() {
		t.Errorf("failures: %+v, want t1", r.Failures)
	}
}

// TestWhatIsNoLineOfAPlanIsMet has a dependency that an earlier run made, alone and beside one of this plan that fails.
func TestWhatIsNoLineOfAPlanIsMet(t *testing.T) {
	plan := planOf([]sent{{from: 0, to: 1, amount: 80}, {from: 0, to: 1, amount: 10}, {from: 0, to: 1, amount: 1}})
	plan.Changes.Update(1, func(c *planner.Change) { c.After = []string{"old"} })
	plan.Changes.Update(2, func(c *planner.Change) { c.After = []string{"old", "t0"} })
	r, err := rehearsal.Rehearse(plan, []rehearsal.OpeningBalance{{ProfileID: profile(0), Asset: "USD", Amount: decimal.NewFromInt(15)}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Made.Sum("USD").String() != "10" || r.Failed.Count() != 1 || r.NotAttempted.Count() != 1 {
		t.Errorf("%s made, %d failed, %d not attempted; want 10, 1 and 1", r.Made.Sum("USD"), r.Failed.Count(), r.NotAttempted.Count())
	}
}

// TestOnlyWhatIsSentMoves has a line that waits for a person, and a doubt whose amount was declared anew after it was sent.
func TestOnlyWhatIsSentMoves(t *testing.T) {
	plan := planOf([]sent{{from: 2, to: 0, amount: 100}, {from: 0, to: 1, amount: 8}})
	plan.Changes.Update(0, func(c *planner.Change) { c.Action = planner.Wait })
	plan.Changes.Update(1, inDoubt)
	plan.Changes.Update(1, func(c *planner.Change) { c.Request.Amount = transfer.MustAmount("99") })
	r, err := rehearsal.Rehearse(plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := account(t, r, 0); len(r.Accounts) != 2 || a.Out.String() != "8" || !a.In.IsZero() || r.Made.Sum("USD").String() != "8" {
		t.Errorf("%d accounts, of which %+v; %s made", len(r.Accounts), a, r.Made.Sum("USD"))
	}
	if n := needs(t, plan, rehearsal.Known{}); len(n) != 1 || n[profile(0)].Takes.String() != "8" {
		t.Errorf("it needs %+v", n)
	}
	plan.Changes.Update(1, func(c *planner.Change) { c.Recorded = nil })
	_, err = rehearsal.Rehearse(plan, nil)
	_, errNeeds := rehearsal.Needs(plan, rehearsal.Known{})
	if err == nil || errNeeds == nil {
		t.Errorf("a doubt of which no request is recorded passes: %v, %v", err, errNeeds)
	}
}

// TestDoubtsComeFirst has funds for a doubt, which may be made already, or for a new transfer.
func TestDoubtsComeFirst(t *testing.T) {
	plan := planOf([]sent{{from: 0, to: 1, amount: 8}, {from: 0, to: 1, amount: 5}})
	plan.Changes.Update(1, inDoubt)
	r, err := rehearsal.Rehearse(plan, []rehearsal.OpeningBalance{{ProfileID: profile(0), Asset: "USD", Amount: decimal.NewFromInt(10)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Failures) != 1 || r.Failures[0].RefID != "t0" || r.Doubts != 1 {
		t.Errorf("%d doubts, failures %+v; want t0 to fail", r.Doubts, r.Failures)
	}
}

// TestLowestOfAllOrders compares with every order that there is.
func TestLowestOfAllOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Custom(drawSent).Draw(t, "transfers")
		r := rehearse(t, all, 50, 50, 50)
		for _, a := range r.Accounts {
			if want := lowestByTrying(all, a.ProfileID); !a.LowestKnown || a.LowestOfAll.IntPart() != int64(want) {
				t.Fatalf("%s: %s, want %d", a.ProfileID, a.LowestOfAll, want)
			}
		}
	})
}

func drawSent(t *rapid.T) []sent {
	all := make([]sent, rapid.IntRange(1, 9).Draw(t, "count"))
	for i := range all {
		all[i] = sent{
			from: rapid.IntRange(0, 2).Draw(t, "from"), to: rapid.IntRange(0, 2).Draw(t, "to"),
			amount: rapid.IntRange(1, 99).Draw(t, "amount"),
		}
		if i > 0 {
			all[i].after = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, 3, rapid.ID[int]).Draw(t, "after")
		}
	}
	return all
}

// lowestByTrying looks at every set of transfers that holds what each of it waits for.
func lowestByTrying(all []sent, profileID string) int {
	lowest := 50
	for set := range 1 << len(all) {
		balance, isClosed := 50, true
		for i, s := range all {
			if set&(1<<i) == 0 {
				continue
			}
			for _, n := range s.after {
				isClosed = isClosed && set&(1<<n) != 0
			}
			if profile(s.from) == profileID {
				balance -= s.amount
			}
			if profile(s.to) == profileID {
				balance += s.amount
			}
		}
		if isClosed {
			lowest = min(lowest, balance)
		}
	}
	return lowest
}

// TestBatchesInARow is a million dependencies that a plan holds as a thousand.
func TestBatchesInARow(t *testing.T) {
	var changes planner.Changes
	var after []string
	for batch := range 3 {
		var refIDs []string
		for i := range 1000 {
			id := fmt.Sprintf("b%d-%d", batch, i)
			refIDs = append(refIDs, id)
			changes.Add(&planner.Change{
				Action: planner.Submit, RefID: id, Address: id, After: after,
				Request: transfer.Request{
					Operation: transfer.Internal, RefID: id, Asset: "USD", Amount: transfer.MustAmount("1"),
					FromProfileID: profile(batch), ToProfileID: profile(batch + 1),
				},
			})
		}
		after = refIDs
	}
	r, err := rehearsal.Rehearse(&planner.Plan{Changes: changes}, []rehearsal.OpeningBalance{{ProfileID: "p0", Asset: "USD", Amount: decimal.NewFromInt(1000)}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete() {
		t.Errorf("%d failed", r.Failed.Count())
	}
	for i, want := range []string{"0", "0", "0", "0"} {
		if a := account(t, r, i); a.LowestOfAll.String() != want {
			t.Errorf("%s: lowest of all %s, want %s", a.ProfileID, a.LowestOfAll, want)
		}
	}
}
