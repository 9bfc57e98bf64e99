package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/accounts/report"
	"remit/internal/transfer"
	"remit/state"
)

// TestTheOldestExceptionsAreListed has more than are listed, of which those that come last by ref_id are the oldest.
func TestTheOldestExceptionsAreListed(t *testing.T) {
	const more = 3
	p := november(t)
	var all archive
	var want []string
	for i := range report.LinesMax + more {
		refID := fmt.Sprintf("t-%03d", i)
		all = append(all, paid(refID, "to", p.Until.Add(-time.Duration(i+1)*time.Minute), func(d *state.Detail) { d.RecordStatus = transfer.Pending }))
		if i >= more {
			want = append([]string{refID}, want...)
		}
	}
	e := gather(t, all).Exceptions[report.Pending]
	var got []string
	for _, line := range e.Lines {
		got = append(got, line.RefID)
	}
	if diff := cmp.Diff(want, got); diff != "" || e.Totals.Count() != report.LinesMax+more {
		t.Errorf("%d exceptions (-want +got):\n%s", e.Totals.Count(), diff)
	}
}

// TestAPaymentIsLateFromADayOn pays around a day after the occurrence.
func TestAPaymentIsLateFromADayOn(t *testing.T) {
	p := november(t)
	due := p.From.AddDate(0, 0, 3)
	for after, want := range map[time.Duration]int{0: 0, 24 * time.Hour: 0, 24*time.Hour + time.Second: 1, 72 * time.Hour: 1, -time.Hour: 0} {
		r := gather(t, archive{paid("x", "to", due.Add(after), func(d *state.Detail) { d.Intent.Due = due })})
		got := 0
		if e := r.Exceptions[report.Late]; e != nil {
			got = e.Totals.Count()
		}
		if got != want {
			t.Errorf("%s after its occurrence: %d late, want %d", after, got, want)
		}
	}
}

// TestNoHashTotalWithoutADestination has a payment of which nothing says whom it was for beside one that says it.
func TestNoHashTotalWithoutADestination(t *testing.T) {
	p := november(t)
	known := paid("x", "to", p.From, nil)
	unknown := paid("y", "", p.From, func(d *state.Detail) { d.Intent.Body = "" })
	for name, test := range map[string]struct {
		all  archive
		want bool
	}{"known": {archive{known}, true}, "unknown": {archive{unknown}, false}, "both": {archive{known, unknown}, false}} {
		totals := gather(t, test.all).Totals[report.Paid]
		_, has := totals.HashTotal()
		if has != test.want || totals.Count() != len(test.all) {
			t.Errorf("%s: %d payments, hash total %t, want %t", name, totals.Count(), has, test.want)
		}
	}
}
