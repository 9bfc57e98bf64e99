package executor_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestARecordOfAnotherYearIsAdoptedWithAWord has a new state find a record under the ref_id of a transfer that it is about to send. One that a
// state which was lost may have made needs no word, nor does one of an export.
func TestARecordOfAnotherYearIsAdoptedWithAWord(t *testing.T) {
	tests := map[string]struct {
		age    time.Duration
		exists bool // an answer says so, and not the lookup before it
		export bool
		want   string
	}{
		"of a year ago":                    {365 * day, false, false, "Nothing was paid now: its record debit-of-rent is of 1999-01-01T00:00:00Z, and this state first asked for it at 2000-01-01T00:00:00Z. "},
		"of a year ago, by a 409":          {365 * day, true, false, "Nothing was paid now: its record debit-of-rent is of 1999-01-01T00:00:00Z, "},
		"of as long as a ref_id is known":  {day, false, false, ""},
		"of an hour ago":                   {time.Hour, false, false, ""},
		"of a year ago, that was imported": {365 * day, false, true, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
				w := newWorld(t)
				w.lookup, w.settings.LookUpFirst = true, !test.exists
				made := time.Now().Add(-test.age)
				if test.age == 365*day {
					made = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
				}
				both := map[string][]transfer.Record{"rent": sides(request("rent"), made, transfer.Completed)}
				w.service.find = func([]string) (map[string][]transfer.Record, error) { return both, nil }
				w.service.after = func(string, int, executor.Answer) executor.Answer {
					return executor.Answer{Kind: executor.Exists, HTTPStatus: 409}
				}
				if test.export {
					w.settings.ReplayWindow = 0 // as of an import
					if _, err := executor.Adopt(t.Context(), exported(w.run(w.plan(request("rent"))), both), unknown(nil)); err != nil {
						t.Fatal(err)
					}
				} else {
					w.apply(request("rent"))
				}
				if w.results()["rent"] != executor.ResultAdopted || !strings.HasPrefix(w.reason("rent"), test.want) || (test.want == "") != (w.reason("rent") == "") {
					t.Errorf("it is %s: %q", w.results()["rent"], w.reason("rent"))
				}
				outcome := w.detail(t, "rent").Outcome
				if outcome.Status != state.Adopted || executor.IsByOldRecord(outcome) != (test.want != "") {
					t.Errorf("the state has %+v", outcome)
				}
			})
		})
	}
}
