package planner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// year plays a year of a company against a state: salaries on the last working day of a month,
// rent every Friday, sweeps every evening, each time the same amounts.
type year struct {
	t        *testing.T
	memory   *memory
	declared []config.Transfer
	isKept   bool // paid transfers stay declared
	stopped  int  // doubles that were stopped
}

const employees = 20

// The windows within which the same movement again is a double: shorter than the shortest
// time between two that are meant.
const (
	payrollWindow = 10 * day
	rentWindow    = 3 * day
	sweepWindow   = 12 * time.Hour
)

// pays declares a movement of the year under a ref_id.
func pays(refID, to, text string, within time.Duration) config.Transfer {
	return declare(refID, window(within), func(t *config.Transfer) {
		t.Request.ToProfileID, t.Request.Amount = to, transfer.MustAmount(text)
	})
}

func payroll(period string) []config.Transfer {
	var all []config.Transfer
	for e := range employees {
		// The profile is one for all: only the account tells two equal salaries apart.
		salary := pays(fmt.Sprintf("salary-%s-%02d", period, e), "staff", "4200.00", payrollWindow)
		salary.Request.ToAccountID, salary.Batch = fmt.Sprintf("account-%02d", e), "payroll"
		all = append(all, salary)
	}
	return all
}

func rent(at time.Time) config.Transfer {
	return pays("rent-"+at.Format(time.DateOnly), "landlord", "1900.00", rentWindow)
}

func sweep(at time.Time) config.Transfer {
	return pays("sweep-"+at.Format(time.DateOnly), "vault", "50000.00", sweepWindow)
}

// plan plans the declared transfers and the given ones.
func (y *year) plan(at time.Time, more ...config.Transfer) *planner.Plan {
	y.t.Helper()
	p, err := planner.New(y.t.Context(), slices.Values(slices.Concat(y.declared, more)), y.memory, planner.Controls{}, at)
	if err != nil {
		y.t.Fatal(err)
	}
	return p
}

// pay declares transfers and carries the plan out, which must neither stop nor leave one out.
func (y *year) pay(at time.Time, due ...config.Transfer) {
	y.t.Helper()
	if !y.isKept {
		y.declared = nil
	}
	y.declared = append(y.declared, due...)
	p := y.plan(at)
	if !p.Applicable() {
		y.t.Fatalf("%s: a false stop: %+v", at, p.Obstacles)
	}
	if p.Count(planner.Submit) != len(due) {
		y.t.Fatalf("%s: %d of %d are submitted", at, p.Count(planner.Submit), len(due))
	}
	for _, t := range due {
		y.memory.details[t.Request.RefID] = record(t, state.Recorded, func(d *state.Detail) {
			d.IntendedAt, d.AttemptedAt, d.SettledAt = at, at, at
		})
	}
}

// double declares transfers that make movements again which were just made: the plan must stop
// for each of them, and for nothing else. Then they are taken back.
func (y *year) double(at time.Time, doubles ...config.Transfer) {
	y.t.Helper()
	p := y.plan(at, doubles...)
	var want, got []string
	for _, d := range doubles {
		want = append(want, d.Request.RefID)
	}
	count := 0
	for _, o := range p.Obstacles {
		if o.Kind != planner.ObstacleLookAlike {
			y.t.Fatalf("%s: stopped by %s: %s", at, o.Kind, o.Detail)
		}
		got = append(got, o.RefIDs...)
		count += o.Count
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || count != len(doubles) {
		y.t.Fatalf("%s: %d doubles are stopped (-declared +stopped):\n%s", at, count, diff)
	}
	y.stopped += count
}

// renamed are the same movements under other ref_ids.
func renamed(transfers ...config.Transfer) []config.Transfer {
	again := slices.Clone(transfers)
	for i := range again {
		t := &again[i]
		t.Request.RefID += "-again"
		t.Address, t.Block = "transfer.internal."+t.Request.RefID, "transfer.internal."+t.Request.RefID
	}
	return again
}

// lastWorkday is the last day of at's month that is no weekend.
func lastWorkday(at time.Time) int {
	last := time.Date(at.Year(), at.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	for last.Weekday() == time.Saturday || last.Weekday() == time.Sunday {
		last = last.AddDate(0, 0, -1)
	}
	return last.Day()
}

// A year of equal salaries, rents and sweeps stops for no reason; and every double in it stops:
// the whole payroll again, one salary in the next days, rent paid by two people, a sweep that
// ran twice.
func TestAYearOfEqualPayments(t *testing.T) {
	suite.Slow(t)
	for name, isKept := range map[string]bool{"what was paid stays declared": true, "what was paid is removed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := year{t: t, memory: newMemory(), isKept: isKept}
			want := 0
			stops := func(at time.Time, doubles ...config.Transfer) {
				y.double(at, renamed(doubles...)...)
				want += len(doubles)
			}
			for date := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC); date.Year() == 2027; date = date.AddDate(0, 0, 1) {
				morning := date.Add(9 * time.Hour)
				if date.Day() == lastWorkday(date) {
					salaries := payroll(date.Format("2006-01"))
					y.pay(morning, salaries...)
					stops(morning.Add(time.Minute), salaries...)
					stops(morning.Add(payrollWindow), salaries[int(date.Month())])
				}
				if date.Weekday() == time.Friday {
					y.pay(morning.Add(time.Hour), rent(date))
					stops(morning.AddDate(0, 0, 1+date.Day()%2), rent(date))
				}
				// Not at the same time each evening, as people and queues have it.
				evening := date.Add(18*time.Hour + time.Duration(date.Day()%5)*30*time.Minute)
				y.pay(evening, sweep(date))
				stops(evening.Add(time.Duration(1+date.Day()%12)*time.Hour), sweep(date))
			}
			if y.stopped != want || want != 12*(employees+1)+53+365 {
				t.Errorf("%d of %d doubles were stopped", y.stopped, want)
			}
		})
	}
}

// The same windows let a double pass that comes later than they reach: what the reader of a
// shortened duplicate_within accepts. The default stops it.
func TestAYearWithTheDefaultWindow(t *testing.T) {
	y := year{t: t, memory: newMemory()}
	at := time.Date(2027, 1, 29, 9, 0, 0, 0, time.UTC)
	salaries := payroll("2027-01")
	y.pay(at, salaries...)
	late := renamed(salaries[0])
	if p := y.plan(at.Add(payrollWindow+time.Second), late...); !p.Applicable() || p.Shortened() != 1 {
		t.Errorf("beyond the window: %v, %d shortened", p.Obstacles, p.Shortened())
	}
	late[0].DuplicateWithin = config.DuplicateWithinDefault
	y.double(at.Add(payrollWindow+time.Second), late...)
}
