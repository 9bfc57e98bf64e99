package view_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"remit/internal/rehearsal"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
)

func rehearsed(t *testing.T, r *rehearsal.Result, showAll bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := view.Rehearsal(&b, &planner.Plan{}, r, view.RehearsalOptions{Plan: view.PlanOptions{ShowAll: showAll}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestARehearsalCountsTheFailuresThatItDoesNotList has more failures than a result keeps.
func TestARehearsalCountsTheFailuresThatItDoesNotList(t *testing.T) {
	r := &rehearsal.Result{Funded: true}
	for i := range rehearsal.FailuresMax + 7 {
		amount := transfer.MustAmount("1.00")
		if r.Failed.Add("USD", amount); i < rehearsal.FailuresMax {
			r.Failures = append(r.Failures, rehearsal.Failure{RefID: fmt.Sprintf("t%d", i), From: "treasury", Asset: "USD", Amount: amount})
		}
	}
	for showAll, want := range map[bool]string{false: "  and 987 more\n", true: "  and 7 more\n"} {
		if got := rehearsed(t, r, showAll); !strings.Contains(got, want) {
			t.Errorf("all %t: want %q in\n%s", showAll, want, got[max(0, len(got)-400):])
		}
	}
}

// TestARehearsalListsWhoMayBeInWant has a payer of whom nothing is made and who is in want in another order, one whose balance is
// below nothing at first, and one that only receives.
func TestARehearsalListsWhoMayBeInWant(t *testing.T) {
	d := decimal.RequireFromString
	got := rehearsed(t, &rehearsal.Result{Funded: true, Accounts: []rehearsal.Account{
		{ProfileID: "unmade", Asset: "USD", Opening: d("10"), Closing: d("10"), Lowest: d("10"), LowestOfAll: d("-5"), LowestKnown: true},
		{ProfileID: "overdrawn", Asset: "USD", Opening: d("-3"), Closing: d("-3"), Lowest: d("-3"), LowestOfAll: d("-4"), LowestKnown: true},
		{ProfileID: "receiver", Asset: "USD", In: d("1"), Closing: d("1"), LowestKnown: true},
	}}, false)
	for text, want := range map[string]int{
		"of unmade": 1, "of overdrawn": 1, "of receiver": 0, "1 more account that only receives": 1, "an order exists in which it is not enough": 1,
	} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%q stands there %d times, want %d:\n%s", text, n, want, got)
		}
	}
}
