package calendar_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"remit/internal/clock/calendar"
)

func newCalendar(t rapid.TB, rules calendar.Rules) *calendar.Calendar {
	t.Helper()
	if rules.Weekend == nil {
		rules.Weekend = []time.Weekday{time.Saturday, time.Sunday}
	}
	c, err := calendar.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAdjustByHand has month ends that were worked out by hand, on the calendars of the
// Federal Reserve and of the Eurosystem together.
func TestAdjustByHand(t *testing.T) {
	both := newCalendar(t, calendar.Rules{Holidays: []string{"fed", "ecb"}})
	for _, test := range []struct{ date, following, modified, preceding, modifiedPreceding string }{
		{"2024-03-31", "2024-04-02", "2024-03-28", "2024-03-28", "2024-03-28"}, // Easter Sunday; Monday and Friday are closed
		{"2026-01-31", "2026-02-02", "2026-01-30", "2026-01-30", "2026-01-30"}, // Saturday
		{"2026-05-01", "2026-05-04", "2026-05-04", "2026-04-30", "2026-05-04"}, // Labour Day, a Friday
		{"2026-05-31", "2026-06-01", "2026-05-29", "2026-05-29", "2026-05-29"}, // Sunday
		{"2026-07-04", "2026-07-06", "2026-07-06", "2026-07-03", "2026-07-03"}, // a Saturday, not observed on Friday
		{"2026-12-25", "2026-12-28", "2026-12-28", "2026-12-24", "2026-12-24"}, // Friday; the 26th is a Saturday
		{"2027-07-04", "2027-07-06", "2027-07-06", "2027-07-02", "2027-07-02"}, // a Sunday, observed on Monday
		{"2027-10-31", "2027-11-01", "2027-10-29", "2027-10-29", "2027-10-29"}, // Sunday
		{"2026-09-30", "2026-09-30", "2026-09-30", "2026-09-30", "2026-09-30"}, // a business day
	} {
		for convention, want := range map[calendar.Convention]string{
			calendar.Following: test.following, calendar.ModifiedFollowing: test.modified, calendar.Preceding: test.preceding,
			calendar.ModifiedPreceding: test.modifiedPreceding, calendar.Unadjusted: test.date,
		} {
			got, err := both.Adjust(day(t, test.date), convention)
			if err != nil || got.String() != want {
				t.Errorf("%s of %s is %v, %v; want %s", convention, test.date, got, err, want)
			}
		}
	}
}

func TestCalendarRules(t *testing.T) {
	inner := newCalendar(t, calendar.Rules{Weekend: []time.Weekday{}, Dates: []calendar.Date{day(t, "2026-06-02")}})
	c := newCalendar(t, calendar.Rules{
		Holidays: []string{"us"},
		Dates:    []calendar.Date{day(t, "2026-11-27"), day(t, "2026-06-03"), day(t, "2026-11-11")},
		Named:    map[calendar.Date]string{day(t, "2026-11-27"): "The day after", day(t, "2026-11-11"): "Our own day"},
		Except:   []calendar.Date{day(t, "2026-07-03"), day(t, "2026-06-06"), day(t, "2026-06-02"), day(t, "2026-06-03")},
		Also:     []*calendar.Calendar{inner},
	})
	for date, want := range map[string]string{
		"2026-11-26": "Thanksgiving Day (us)",
		"2026-11-27": "The day after",
		"2026-11-11": "Our own day",        // and a holiday
		"2026-07-03": "",                   // the observed holiday is taken back
		"2026-06-06": "",                   // a Saturday that is worked
		"2026-06-07": "Sunday",             //
		"2026-07-04": "Saturday",           // and a holiday: the bank would be closed anyway
		"2026-06-03": "",                   // except goes before dates
		"2026-06-02": "closed by its date", // except says nothing about another calendar
	} {
		if got := c.Closed(day(t, date)); got != want {
			t.Errorf("%s is closed because of %q, want %q", date, got, want)
		}
	}
	if _, err := calendar.New(calendar.Rules{Holidays: []string{"atlantis"}}); err == nil {
		t.Error("there are holidays of Atlantis")
	}
}

// TestABusinessDayIsLookedForWithinAYear has calendars with no business day but those named.
func TestABusinessDayIsLookedForWithinAYear(t *testing.T) {
	for name, test := range map[string]struct {
		convention calendar.Convention
		except     []string
		want       string // "" for an error
	}{
		"none":                                    {calendar.Following, nil, ""},
		"none, in the month either":               {calendar.ModifiedPreceding, nil, ""},
		"after a year":                            {calendar.Following, []string{"2027-06-15"}, "2027-06-15"},
		"after more than a year":                  {calendar.Following, []string{"2027-06-16"}, ""},
		"a year before":                           {calendar.Preceding, []string{"2025-06-15"}, "2025-06-15"},
		"more than a year before":                 {calendar.Preceding, []string{"2025-06-14"}, ""},
		"in the same month of the next year":      {calendar.ModifiedFollowing, []string{"2026-06-01", "2027-06-10"}, "2026-06-01"},
		"in the same month of the year before":    {calendar.ModifiedPreceding, []string{"2026-06-30", "2025-06-20"}, "2026-06-30"},
		"none after, and one before in the month": {calendar.ModifiedFollowing, []string{"2026-06-01"}, "2026-06-01"},
		"none in the month at all":                {calendar.ModifiedFollowing, []string{"2026-05-29", "2026-07-01"}, "2026-05-29"},
	} {
		rules := calendar.Rules{Weekend: []time.Weekday{0, 1, 2, 3, 4, 5, 6}}
		for _, text := range test.except {
			rules.Except = append(rules.Except, day(t, text))
		}
		to, err := newCalendar(t, rules).Adjust(day(t, "2026-06-15"), test.convention)
		if test.want == "" && !errors.Is(err, calendar.ErrNoBusinessDay) || test.want != "" && (err != nil || to.String() != test.want) {
			t.Errorf("%s: %s, %v; want %q", name, to, err, test.want)
		}
	}
}

// TestWithoutACalendarAllDaysAreBusinessDays has the calendar of a schedule that names none.
func TestWithoutACalendarAllDaysAreBusinessDays(t *testing.T) {
	var none *calendar.Calendar
	christmas := day(t, "2027-12-25") // a Saturday
	if why := none.Closed(christmas); why != "" {
		t.Errorf("it is closed because of %q", why)
	}
	if to, err := none.Adjust(christmas, calendar.ModifiedFollowing); err != nil || to != christmas {
		t.Errorf("it moves to %s: %v", to, err)
	}
	if set, _ := none.Unknown(day(t, "2099-12-25")); set != "" {
		t.Errorf("%s does not know a holiday", set)
	}
	if last, isWhole := none.Last(); !isWhole {
		t.Errorf("it ends on %s", last)
	}
}

// TestWeekdays has each name for the day that it names, Monday first.
func TestWeekdays(t *testing.T) {
	names := calendar.Weekdays()
	if want := "[monday tuesday wednesday thursday friday saturday sunday]"; fmt.Sprint(names) != want {
		t.Errorf("%s, want %s", names, want)
	}
	for _, name := range names {
		if got, ok := calendar.ParseWeekday(name); !ok || strings.ToLower(got.String()) != name {
			t.Errorf("%s is %s, %t", name, got, ok)
		}
	}
	for _, name := range []string{"", "Monday", "mon", "someday"} {
		if got, ok := calendar.ParseWeekday(name); ok {
			t.Errorf("%q is %s", name, got)
		}
	}
}

// TestDatesAreOfACentury has the first and the last day of the years that dates may be in, and those beside them.
func TestDatesAreOfACentury(t *testing.T) {
	for text, want := range map[string]bool{"1999-12-31": false, "2000-01-01": true, "2099-12-31": true, "2100-01-01": false} {
		if d, err := calendar.ParseDate(text); (err == nil) != want || err == nil && d.String() != text {
			t.Errorf("%s is %s: %v", text, d, err)
		}
	}
}

// TestTheLastHolidayOfACalendar has calendars of which some know their holidays by their dates alone, and so end.
func TestTheLastHolidayOfACalendar(t *testing.T) {
	dates := func(all ...string) calendar.Rules {
		var rules calendar.Rules
		for _, text := range all {
			rules.Dates = append(rules.Dates, day(t, text))
		}
		return rules
	}
	also := func(rules calendar.Rules, of ...calendar.Rules) calendar.Rules {
		for _, other := range of {
			rules.Also = append(rules.Also, newCalendar(t, other))
		}
		return rules
	}
	whole, one := calendar.Rules{Holidays: []string{"ecb"}}, dates("2026-12-24")
	short, long := dates("2025-12-24", "2026-12-24"), dates("2027-12-24", "2025-12-24")
	for name, test := range map[string]struct {
		rules calendar.Rules
		want  string // "" where it is whole
	}{
		"a set of holidays":                {whole, ""},
		"one date":                         {one, ""},
		"a set of holidays, and dates too": {calendar.Rules{Holidays: whole.Holidays, Dates: long.Dates}, ""},
		"no holidays at all":               {calendar.Rules{}, ""},
		"dates":                            {long, "2027-12-24"},
		"dates, and others that go on":     {also(short, long), "2027-12-24"},
		"dates, and others that end":       {also(long, short), "2027-12-24"},
		"dates, and a set of holidays":     {also(short, whole), ""},
		"dates, others, and a set":         {also(short, long, whole), ""},
		"a set of holidays, and dates":     {also(whole, short), ""},
		"dates, others with a set of them": {also(short, also(long, whole)), ""},
	} {
		last, isWhole := newCalendar(t, test.rules).Last()
		if isWhole != (test.want == "") || !isWhole && last.String() != test.want {
			t.Errorf("%s: %s, whole %t; want %q", name, last, isWhole, test.want)
		}
	}
}

// TestAdjustLaws holds conventions to their definitions on any calendar.
func TestAdjustLaws(t *testing.T) {
	sets := calendar.HolidaySets()
	rapid.Check(t, func(t *rapid.T) {
		c := newCalendar(t, calendar.Rules{Holidays: []string{rapid.SampledFrom(sets).Draw(t, "set")}})
		d := calendar.NewDate(2010, 1, 1) + calendar.Date(rapid.IntRange(0, 20000).Draw(t, "day"))
		moved := map[calendar.Convention]calendar.Date{}
		for _, convention := range calendar.Conventions() {
			to, err := c.Adjust(d, convention)
			if err != nil {
				t.Fatal(err)
			}
			if convention != calendar.Unadjusted && c.Closed(to) != "" {
				t.Fatalf("%s moves %s to %s, which is closed", convention, d, to)
			}
			if c.Closed(d) == "" && to != d {
				t.Fatalf("%s moves %s, a business day, to %s", convention, d, to)
			}
			moved[convention] = to
		}
		for between := moved[calendar.Preceding] + 1; between < moved[calendar.Following]; between++ {
			if c.Closed(between) == "" {
				t.Fatalf("%s was passed over between %s and %s", between, moved[calendar.Preceding], moved[calendar.Following])
			}
		}
		month := d.String()[:7]
		for _, convention := range []calendar.Convention{calendar.ModifiedFollowing, calendar.ModifiedPreceding} {
			if got := moved[convention].String()[:7]; got != month {
				t.Fatalf("%s moves %s out of its month, to %s", convention, d, moved[convention])
			}
		}
	})
}
