package executor_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestAPersonAcceptsAGroupThatAnEarlierVersionDidNotAskAbout has a state of an earlier version, which recorded or adopted a transfer
// with the group_id of another one: a person can accept that, and the entry says whose group_id it is.
func TestAPersonAcceptsAGroupThatAnEarlierVersionDidNotAskAbout(t *testing.T) {
	group := map[string]string{"group_id": "group-of-fund"}
	for status, before := range map[state.Status]func(*world) error{
		state.Recorded: func(w *world) error { answeredAs(w, group); return nil },
		state.Adopted: func(w *world) error {
			w.apply(request("fund"))
			return w.journal.Append(w.t.Context(), imported("rent", state.Adopted, group))
		},
	} {
		t.Run(status.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if err := before(w); err != nil || w.journal.row("rent").Status != status {
					t.Fatalf("it is %v, %v", w.journal.row("rent").Status, err)
				}
				outcome, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), nil)
				if err != nil || outcome.Status != status {
					t.Fatalf("it is accepted as %v: %v", outcome.Status, err)
				}
				if want := transfer.SharedGroup("group-of-fund", "fund"); !slices.Contains(outcome.Differences, want) {
					t.Errorf("the entry says %+v, and not %+v", outcome.Differences, want)
				}
			})
		})
	}
}
