package executor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// listedOf has a list say of each ref_id that it has a group_id of its own.
func listedOf(claims ...executor.ListedTransfer) executor.Others {
	byRefID := make(map[string]executor.ListedTransfer)
	for _, c := range claims {
		c.Place = "list.csv:2"
		byRefID[c.RefID] = c
	}
	return executor.Others{
		Unknown: func(func(string) bool) {},
		Listed: func(refID string) (executor.ListedTransfer, bool) {
			c, ok := byRefID[refID]
			return c, ok
		},
	}
}

// TestWhatAListHasIsNeverSent takes a list over, and then applies the same plan, with a lookup
// that shows nothing, the record, or another one, and without a lookup.
func TestWhatAListHasIsNeverSent(t *testing.T) {
	for name, test := range map[string]struct {
		claim   executor.ListedTransfer
		records func([]transfer.Record) []transfer.Record // that a refresh finds; nil for no lookup
		adopted state.Status
		then    state.Status
	}{
		"without a lookup":                    {executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent"}, nil, state.Unverified, state.Unverified},
		"the service lists nothing":           {executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent"}, func([]transfer.Record) []transfer.Record { return nil }, state.Unverified, state.Unverified},
		"the service lists both sides":        {executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent"}, func(both []transfer.Record) []transfer.Record { return both }, state.Unverified, state.Adopted},
		"the service lists the debit":         {executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent"}, func(both []transfer.Record) []transfer.Record { return both[:1] }, state.Unverified, state.Unverified},
		"the service lists the credit":        {executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent"}, func(both []transfer.Record) []transfer.Record { return both[1:] }, state.Unverified, state.Unverified},
		"the service lists another group_id":  {executor.ListedTransfer{RefID: "rent", GroupID: "another"}, func(both []transfer.Record) []transfer.Record { return both }, state.Unverified, state.Conflict},
		"the list has another amount":         {executor.ListedTransfer{RefID: "rent", GroupID: "g", Amount: "7", Asset: "USD"}, nil, state.Conflict, state.Conflict},
		"the list has another asset":          {executor.ListedTransfer{RefID: "rent", GroupID: "g", Amount: request("rent").Amount.String(), Asset: "EUR"}, nil, state.Conflict, state.Conflict},
		"the group_id is of another transfer": {executor.ListedTransfer{RefID: "rent", GroupID: "g", Owner: "fund"}, nil, state.Conflict, state.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				none := exported(w.run(w.plan(request("rent"))), nil)
				none.Finder = export{nothing{}, nil}
				if _, err := executor.Adopt(t.Context(), none, listedOf(test.claim)); err != nil {
					t.Fatal(err)
				}
				if row := w.journal.row("rent"); row.Status != test.adopted || row.GroupID != test.claim.GroupID || row.RecordID != "" {
					t.Fatalf("adopted: %+v", row)
				}
				w.lookup = test.records != nil
				if test.records != nil {
					w.service.made["rent"] = test.records(sides(request("rent"), time.Now().Add(-time.Hour), transfer.Completed))
				}
				w.apply(request("rent"))
				if test.records != nil {
					refresh := w.run(w.plan())
					refresh.Begun = state.Begun{} // it is no run
					if _, err := executor.Refresh(t.Context(), refresh, 0, nil); err != nil {
						t.Fatal(err)
					}
				}
				w.apply(request("rent"))
				if n := w.service.requests("rent"); n != 0 {
					t.Errorf("%d requests were sent", n)
				}
				if diff := cmp.Diff(test.then, w.journal.row("rent").Status); diff != "" {
					t.Errorf("in the end (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestADoubtOfWhichOneSideIsExportedIsNotCalledAbsent takes an export over that has the credit side of a doubt alone, and a list or
// none: nobody is told to say that the transfer was not made.
func TestADoubtOfWhichOneSideIsExportedIsNotCalledAbsent(t *testing.T) {
	for name, test := range map[string]struct {
		sides        int // of the doubt, from the credit on
		others       executor.Others
		next, reason string
	}{
		"a credit side alone":        {1, executor.Others{Unknown: func(func(string) bool) {}}, `remit resolve rent --recorded FILE --reason "…"`, "Only the credit side is known"},
		"a credit side, and a list":  {1, listedOf(executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent"}), `remit resolve rent --recorded FILE --reason "…"`, "Only the credit side is known"},
		"nothing, and a list":        {0, listedOf(executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent"}), `remit resolve rent --recorded FILE --reason "…"`, "list.csv:2 lists it"},
		"nothing, and nothing lists": {0, executor.Others{Unknown: func(func(string) bool) {}}, `remit resolve rent --not-made --reason "…"`, "no record that settles it"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				doubtful(w)
				records := map[string][]transfer.Record{"rent": sides(request("rent"), time.Now(), transfer.Completed)[1 : 1+test.sides]}
				run := exported(w.run(w.plan(request("rent"))), records)
				run.Finder = export{nothing{}, records}
				summary, err := executor.Adopt(t.Context(), run, test.others)
				if err != nil {
					t.Fatal(err)
				}
				if len(summary.Exceptions) != 1 || summary.Exceptions[0].Next != test.next || !strings.Contains(summary.Exceptions[0].Reason, test.reason) {
					t.Errorf("%+v, want the next %q", summary.Exceptions, test.next)
				}
				if status := w.journal.row("rent").Status; status != state.InDoubt {
					t.Errorf("the state says %v", status)
				}
			})
		})
	}
}

// nothing is a lookup that lists nothing.
type nothing struct{}

func (nothing) Find(context.Context, []string) (map[string][]transfer.Record, error) { return nil, nil }
