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

// TestAScheduleHasAllOccurrencesOfItsCount has rules that say themselves when they end, and some that leave it to the schedule.
func TestAScheduleHasAllOccurrencesOfItsCount(t *testing.T) {
	for rule, test := range map[string]struct {
		start, until string
		want         error
	}{
		"FREQ=YEARLY;COUNT=2":                         {"2098-06-02", "", nil}, // 2098 and 2099, the last year
		"FREQ=YEARLY;COUNT=3":                         {"2098-06-02", "", calendar.ErrTooFew},
		"FREQ=YEARLY;COUNT=4":                         {"2098-06-02", "2099-12-31", nil}, // until may leave some of them out
		"FREQ=YEARLY;UNTIL=20990602":                  {"2098-06-02", "", nil},
		"FREQ=YEARLY":                                 {"2098-06-02", "", calendar.ErrEndless},
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1": {"2098-06-02", "", calendar.ErrNone},
		"FREQ=DAILY":                                  {"2026-06-02", "2099-06-02", calendar.ErrTooMany},
		"FREQ=DAILY;COUNT=10000":                      {"2026-06-02", "", nil},
	} {
		all, err := schedule(t, rule, test.start, test.until, calendar.Following).Occurrences()
		if !errors.Is(err, test.want) || len(all) > 0 != (test.want == nil) {
			t.Errorf("%s: %d occurrences, %v; want %v", rule, len(all), err, test.want)
		}
	}
}

// TestAnOccurrenceThatCannotMoveIsNamed has a calendar that is closed for good from its second date on.
func TestAnOccurrenceThatCannotMoveIsNamed(t *testing.T) {
	s := schedule(t, "FREQ=MONTHLY;COUNT=2", "2026-06-01", "", calendar.Following)
	s.Calendar = newCalendar(t, calendar.Rules{Weekend: []time.Weekday{0, 1, 2, 3, 4, 5, 6}, Except: []calendar.Date{day(t, "2026-06-02")}})
	_, err := s.Occurrences()
	if want := "has 2026-07-01, which cannot be moved: there is no business day within a year"; !errors.Is(err, calendar.ErrNoBusinessDay) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
