package calendar_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/clock/calendar"
)

// schedule is one at 09:00 in Berlin, on business days from Monday to Friday.
func schedule(t *testing.T, rule, start, until string, convention calendar.Convention) *calendar.Schedule {
	t.Helper()
	recurrence, err := calendar.ParseRecurrence(rule)
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s := &calendar.Schedule{
		Recurrence: recurrence, Start: day(t, start), Clock: 9 * 60, Zone: berlin, Convention: convention,
		Calendar: newCalendar(t, calendar.Rules{
			Weekend: []time.Weekday{time.Saturday, time.Sunday},
			Dates:   []calendar.Date{day(t, "2026-12-25")}, Named: map[calendar.Date]string{day(t, "2026-12-25"): "Christmas"},
		}),
	}
	if until != "" {
		s.Until = day(t, until)
	}
	return s
}

// TestOccurrencesAreDueOnBusinessDays has days that move to a later one and to an earlier one: each is
// due on the day that it was moved to, and says why it moved.
func TestOccurrencesAreDueOnBusinessDays(t *testing.T) {
	for name, test := range map[string]struct {
		convention calendar.Convention
		want       []string
	}{
		"to the next": {calendar.Following, []string{
			"2026-11-25 stays, due 2026-11-25T09:00:00+01:00",
			"2026-12-25 moves to 2026-12-28 (Christmas), due 2026-12-28T09:00:00+01:00",
			"2027-01-25 stays, due 2027-01-25T09:00:00+01:00",
		}},
		"to the one before": {calendar.Preceding, []string{
			"2026-11-25 stays, due 2026-11-25T09:00:00+01:00",
			"2026-12-25 moves to 2026-12-24 (Christmas), due 2026-12-24T09:00:00+01:00",
			"2027-01-25 stays, due 2027-01-25T09:00:00+01:00",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := schedule(t, "FREQ=MONTHLY", "2026-11-25", "2027-01-31", test.convention).Occurrences()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range all {
				text := o.Date.String() + " stays"
				if o.Adjusted != o.Date || o.Why != "" {
					text = o.Date.String() + " moves to " + o.Adjusted.String() + " (" + o.Why + ")"
				}
				got = append(got, text+", due "+o.Due.Format(time.RFC3339))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAScheduleHasAllOccurrencesOfItsCount(t *testing.T) {
	for rule, want := range map[string]error{
		"FREQ=YEARLY;COUNT=2": nil, // 2098 and 2099, the last year
		"FREQ=YEARLY;COUNT=3": calendar.ErrTooFew,
		"FREQ=YEARLY":         calendar.ErrEndless,
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1": calendar.ErrNone,
	} {
		if _, err := schedule(t, rule, "2098-06-02", "", calendar.Following).Occurrences(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
}
