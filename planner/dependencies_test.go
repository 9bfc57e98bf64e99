package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestDependencies is about the transfer "z", which depends on others.
func TestDependencies(t *testing.T) {
	soon := now.Add(day)
	tests := map[string]struct {
		declared []config.Transfer
		recorded []state.Detail
		holder   *state.Holder
		want     planner.Action
		after    []string
		reason   string
		until    time.Time
	}{
		"met: recorded and COMPLETED": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.Recorded)},
			want:     planner.Submit,
		},
		"COMPLETED, but unverified": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.Unverified)},
			want:     planner.Wait, reason: `waits for "a", which is unverified`,
		},
		"met: a block without transfers": {declared: []config.Transfer{declare("z", after("nothing"))}, want: planner.Submit},
		"submitted by this plan": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))}, want: planner.Submit, after: []string{"a"},
		},
		"submitted by this plan and declared later": {
			declared: []config.Transfer{declare("z", after("a")), declare("a")}, want: planner.Submit, after: []string{"a"},
		},
		"submitted again by this plan": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.Refused)},
			want:     planner.Submit, after: []string{"a"},
		},
		"PENDING": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.Recorded, recordStatus(transfer.Pending))},
			want:     planner.Submit, after: []string{"a"},
		},
		"of a status that the document does not list": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.Adopted, recordStatus("SETTLING"))},
			want:     planner.Submit, after: []string{"a"},
		},
		"in doubt itself, with what is unmet of any kind": {
			declared: []config.Transfer{declare("a"), declare("b"), declare("c"), declare("d"), declare("z", after("a", "b", "c", "d"))},
			recorded: []state.Detail{
				record(declare("z"), state.InDoubt), record(declare("b"), state.InDoubt), record(declare("c"), state.Recorded),
				record(declare("d"), state.Recorded, recordStatus(transfer.Pending)),
			},
			want: planner.Resolve, after: []string{"a", "b", "d"}, reason: `Not sent again: it depends on "a", which is not COMPLETED`,
		},
		"in doubt itself, and in a circle, which config refuses": {
			declared: []config.Transfer{declare("a", after("z")), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("z"), state.InDoubt)},
			want:     planner.Resolve, after: []string{"a"}, reason: "Not sent again",
		},
		"in doubt itself, and in the batch that it waits for, which config refuses": {
			declared: []config.Transfer{declare("y", afterBatch("pay")), declare("z", inBatch("pay"), afterBatch("pay"))},
			recorded: []state.Detail{record(declare("z"), state.InDoubt)},
			want:     planner.Resolve, after: []string{"z"}, reason: "Not sent again",
		},
		"a batch, of which some are COMPLETED": {
			declared: []config.Transfer{declare("a", inBatch("pay")), declare("b", inBatch("pay")), declare("c", inBatch("pay")), declare("z", afterBatch("pay"))},
			recorded: []state.Detail{record(declare("a"), state.Recorded), record(declare("b"), state.Recorded, recordStatus(transfer.Pending))},
			want:     planner.Submit, after: []string{"b", "c"},
		},
		"a block and the batch that it is in": {
			declared: []config.Transfer{declare("a", inBatch("pay")), declare("b", inBatch("pay")), declare("z", after("b"), afterBatch("pay"))},
			want:     planner.Submit, after: []string{"b", "a"},
		},
		"waits for its time": {
			declared: []config.Transfer{declare("a", notBefore(soon)), declare("z", after("a"))},
			want:     planner.Wait, until: soon, reason: `waits for "a", which waits until 2026-11-28T15:00:00Z`,
		},
		"expired": {
			declared: []config.Transfer{declare("a", expires(now)), declare("z", after("a"))},
			want:     planner.Wait, reason: `waits for "a", which expired`,
		},
		"in doubt": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			want:     planner.Wait, reason: `waits for "a", which is in doubt`,
		},
		"in flight": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.InDoubt, open)},
			holder:   &state.Holder{RunID: "run-0", Host: "pay-1"},
			want:     planner.Wait, reason: `waits for "a", which is in flight`,
		},
		"left in doubt by the run that is alive, which is done with it": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			holder:   &state.Holder{RunID: "run-0", Host: "pay-1"},
			want:     planner.Wait, reason: `waits for "a", which is in doubt`,
		},
		"in conflict": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.Conflict)},
			want:     planner.Wait, reason: `waits for "a", which is in conflict`,
		},
		"failed": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"))},
			recorded: []state.Detail{record(declare("a"), state.Recorded, recordStatus(transfer.Failed))},
			want:     planner.Wait, reason: `waits for "a", which failed`,
		},
		"one is submitted, one is in doubt": {
			declared: []config.Transfer{declare("a"), declare("b"), declare("z", after("a", "b"))},
			recorded: []state.Detail{record(declare("b"), state.InDoubt)},
			want:     planner.Wait, reason: `waits for "b", which is in doubt`,
		},
		"submitted after one that is submitted": {
			declared: []config.Transfer{declare("a"), declare("b", after("a")), declare("z", after("b"))},
			want:     planner.Submit, after: []string{"b"},
		},
		"waits for one that waits for its time": {
			declared: []config.Transfer{declare("z", after("b")), declare("b", after("a")), declare("a", notBefore(soon))},
			want:     planner.Wait, until: soon, reason: `waits for "b", which waits until 2026-11-28T15:00:00Z`,
		},
		"waits for one that waits for a doubt": {
			declared: []config.Transfer{declare("z", after("b")), declare("b", after("a")), declare("a")},
			recorded: []state.Detail{record(declare("a"), state.InDoubt)},
			want:     planner.Wait, reason: `waits for "b", which waits itself`,
		},
		"what z itself waits for matters only when it is due": {
			declared: []config.Transfer{declare("a"), declare("z", after("a"), expires(now))},
			want:     planner.Expired, reason: "expires passed",
		},
		"a circle, which config refuses, is never sent": {
			declared: []config.Transfer{declare("z", after("a")), declare("a", after("b")), declare("b", after("z"))},
			want:     planner.Wait, reason: "waits",
		},
		"its own batch, which config refuses, is never sent": {
			declared: []config.Transfer{declare("a", inBatch("pay")), declare("z", inBatch("pay"), afterBatch("pay"))},
			want:     planner.Wait, reason: "circle",
		},
		"its own batch, which another one waits for, is never sent": {
			declared: []config.Transfer{declare("y", afterBatch("pay")), declare("a", inBatch("pay")), declare("z", inBatch("pay"), afterBatch("pay"))},
			want:     planner.Wait, reason: "circle",
		},
		"a circle through a batch is never sent": {
			declared: []config.Transfer{declare("a", inBatch("pay"), after("z")), declare("b", inBatch("pay")), declare("z", afterBatch("pay"))},
			want:     planner.Wait, reason: "circle",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemory(test.recorded...)
			m.holder = test.holder
			p := plan(t, m, planner.Controls{}, test.declared...)
			z := find(t, p, "z")
			if z.Action != test.want || !strings.Contains(z.Reason, test.reason) || !z.Until.Equal(test.until) {
				t.Errorf("%s until %v, %q", z.Action, z.Until, z.Reason)
			}
			if diff := cmp.Diff(test.after, z.After); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingInACircleIsSubmitted begins the walk at each member of it.
func TestNothingInACircleIsSubmitted(t *testing.T) {
	circle := []config.Transfer{declare("a", after("b")), declare("b", after("c")), declare("c", after("a"))}
	for n := range circle {
		p := plan(t, newMemory(), planner.Controls{}, slices.Concat(circle[n:], circle[:n])...)
		if p.Count(planner.Wait) != 3 {
			t.Errorf("from %q: %v", circle[n].Request.RefID, actions(p))
		}
	}
}

// TestListsThatShareMemoryAreNotOneList is about a list that is the beginning of another.
func TestListsThatShareMemoryAreNotOneList(t *testing.T) {
	list := []config.Dependency{{Block: "transfer.internal.a"}, {Block: "transfer.internal.b"}}
	depends := func(n int) func(*config.Transfer) { return func(t *config.Transfer) { t.DependsOn = list[:n] } }
	p := plan(t, newMemory(), planner.Controls{}, declare("a"), declare("b"), declare("y", depends(1)), declare("z", depends(2)))
	if diff := cmp.Diff([]string{"a"}, find(t, p, "y").After); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, find(t, p, "z").After); diff != "" {
		t.Error(diff)
	}
}
