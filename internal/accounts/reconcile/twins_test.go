package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/accounts/reconcile"
	"remit/state"
)

// TestATwinIsNoWordOfAbsence has the record of what the state does not call made in other letters than it was sent in.
func TestATwinIsNoWordOfAbsence(t *testing.T) {
	both := sides(request(0), 0)
	upper := func(rows []row) []row {
		changed := make([]row, len(rows))
		for i, r := range rows {
			changed[i] = r.with("ref_id", strings.ToUpper(r["ref_id"])+" ")
		}
		return changed
	}
	for name, test := range map[string]struct {
		status state.Status
		export []row
		want   []string // breaks by item
	}{
		"in doubt":                       {state.InDoubt, upper(both), []string{"pay-0000000 unreadable --recorded", "PAY-0000000  service_only"}},
		"in doubt, and the debit alone":  {state.InDoubt, upper(both[:1]), []string{"pay-0000000 unreadable --recorded", "PAY-0000000  service_only"}},
		"refused":                        {state.Refused, upper(both), []string{"pay-0000000 unreadable", "PAY-0000000  service_only"}},
		"in doubt, with its own as well": {state.InDoubt, append(upper(sides(request(0), 3)), both...), []string{"pay-0000000 in_doubt --recorded", "PAY-0000000  service_only"}},
		"settled as not made":            {state.Tombstone, upper(both), []string{"PAY-0000000  service_only"}},
		"recorded, under another group":  {state.Recorded, upper(sides(request(0), 3)), []string{"pay-0000000 state_only", "PAY-0000000  service_only"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) {
				add(intent(request(0)))
				outcome := recorded(request(0).RefID, test.status, state.SourceAnswer)
				if test.status == state.Recorded {
					outcome = recorded(request(0).RefID, test.status, state.SourceAnswer, both[0])
				}
				if test.status == state.Tombstone {
					outcome = told("resolve", outcome)
				}
				add(outcome)
			})
			var got []string
			w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
				text := fmt.Sprint(l.RefID, " ", strings.Trim(fmt.Sprint(l.Breaks), "[]"))
				if strings.Contains(l.Next, "--recorded") {
					text += " --recorded"
				}
				if l.Has(reconcile.Unreadable) && !strings.Contains(l.Reason, `is "PAY-0000000 ", which differs from "pay-0000000"`) {
					t.Errorf("reason %q", l.Reason)
				}
				got = append(got, text)
				return nil
			}}, format(0, test.export))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
