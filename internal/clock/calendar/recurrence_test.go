package calendar_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/clock/calendar"
)

func day(t rapid.TB, text string) calendar.Date {
	t.Helper()
	d, err := calendar.ParseDate(text)
	if err != nil {
		t.Fatalf("%q %v", text, err)
	}
	return d
}

func dates(t rapid.TB, rule, start, until string) []string {
	t.Helper()
	r, err := calendar.ParseRecurrence(rule)
	if err != nil {
		t.Fatalf("%q %v", rule, err)
	}
	var last calendar.Date
	if until != "" {
		last = day(t, until)
	}
	all, err := r.Dates(day(t, start), last)
	if err != nil {
		t.Fatalf("%q %v", rule, err)
	}
	var texts []string
	for _, d := range all {
		texts = append(texts, d.String())
	}
	return texts
}

// TestRecurrence has the traps; those of RFC 5545 are marked with the example of its
// section 3.8.5.3 that they come from.
func TestRecurrence(t *testing.T) {
	for name, test := range map[string]struct{ rule, start, until, want string }{
		"month ends": {"FREQ=MONTHLY;BYMONTHDAY=-1", "2027-11-30", "2028-03-31", "2027-11-30 2027-12-31 2028-01-31 2028-02-29 2028-03-31"},
		"the 31st is left out where there is none": {"FREQ=MONTHLY", "2026-01-31", "2026-08-01", "2026-01-31 2026-03-31 2026-05-31 2026-07-31"},
		"the 29th of February":                     {"FREQ=YEARLY", "2024-02-29", "2033-01-01", "2024-02-29 2028-02-29 2032-02-29"},
		"the last weekday of a month (RFC)":        {"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-01-01", "2026-05-31", "2026-01-30 2026-02-27 2026-03-31 2026-04-30 2026-05-29"},
		"the second to last weekday (RFC)":         {"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "2026-01-01", "2026-03-31", "2026-01-29 2026-02-26 2026-03-30"},
		"COUNT counts from the start":              {"FREQ=MONTHLY;BYDAY=1FR;COUNT=3", "2026-01-10", "", "2026-02-06 2026-03-06 2026-04-03"},
		"UNTIL is included":                        {"FREQ=WEEKLY;UNTIL=20260119", "2026-01-05", "", "2026-01-05 2026-01-12 2026-01-19"},
		"the earlier of UNTIL and until":           {"FREQ=WEEKLY;UNTIL=20260119", "2026-01-05", "2026-01-13", "2026-01-05 2026-01-12"},
		"every other week, by WKST=MO (RFC)":       {"FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "2026-08-04", "", "2026-08-04 2026-08-09 2026-08-18 2026-08-23"},
		"every other week, by WKST=SU (RFC)":       {"FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "2026-08-04", "", "2026-08-04 2026-08-16 2026-08-18 2026-08-30"},
		"the first day of each week, by WKST=MO":   {"FREQ=WEEKLY;COUNT=2;BYDAY=SU,SA;BYSETPOS=1;WKST=MO", "2026-08-03", "", "2026-08-08 2026-08-15"},
		"the first day of each week, by WKST=SU":   {"FREQ=WEEKLY;COUNT=2;BYDAY=SU,SA;BYSETPOS=1;WKST=SU", "2026-08-03", "", "2026-08-09 2026-08-16"},
		"BYSETPOS in a week that start cuts":       {"FREQ=WEEKLY;BYDAY=MO,TU,FR;BYSETPOS=1", "2026-01-07", "2026-01-20", "2026-01-12 2026-01-19"},
		"the week that start cuts has a day":       {"FREQ=WEEKLY;BYDAY=MO,FR;BYSETPOS=1", "2026-01-07", "2026-01-20", "2026-01-12 2026-01-19"},
		"BYSETPOS in every other week":             {"FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYSETPOS=1", "2026-01-05", "2026-02-01", "2026-01-05 2026-01-19"},
		"BYWEEKNO takes the weekday of start":      {"FREQ=YEARLY;BYWEEKNO=20", "2026-05-11", "2028-12-31", "2026-05-11 2027-05-17 2028-05-15"},
		"week 1 that begins in December":           {"FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "2025-12-01", "2027-01-31", "2025-12-29 2027-01-04"},
		"the 100th day (RFC)":                      {"FREQ=YEARLY;BYYEARDAY=1,100,-1", "2028-01-01", "2028-12-31", "2028-01-01 2028-04-09 2028-12-31"},
		"Friday the 13th (RFC)":                    {"FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2026-01-01", "2026-12-31", "2026-02-13 2026-03-13 2026-11-13"},
		"days with a number and without":           {"FREQ=MONTHLY;BYDAY=MO,1FR", "2026-11-01", "2026-11-30", "2026-11-02 2026-11-06 2026-11-09 2026-11-16 2026-11-23 2026-11-30"},
		"the same in a month of a year":            {"FREQ=YEARLY;BYMONTH=12;BYDAY=MO,1FR", "2026-12-01", "2026-12-31", "2026-12-04 2026-12-07 2026-12-14 2026-12-21 2026-12-28"},
		"BYWEEKNO with days of the year":           {"FREQ=YEARLY;BYWEEKNO=20;BYYEARDAY=131,132", "2026-01-01", "2026-12-31", "2026-05-11 2026-05-12"},
		"BYWEEKNO with a day of year and of month": {"FREQ=YEARLY;BYWEEKNO=20;BYYEARDAY=131,132;BYMONTHDAY=11,13", "2026-01-01", "2026-12-31", "2026-05-11"},
		"BYSETPOS of a week's days":                {"FREQ=YEARLY;BYWEEKNO=20,21;BYSETPOS=-1", "2026-01-01", "2026-12-31", "2026-05-21"},
		"BYSETPOS of days of the year":             {"FREQ=YEARLY;BYYEARDAY=1,100;BYSETPOS=2", "2028-01-01", "2028-12-31", "2028-04-09"},
		"the 53rd Thursday of a year":              {"FREQ=YEARLY;BYDAY=53TH", "2020-01-01", "2026-12-31", "2020-12-31 2026-12-31"},
		"lower case and a name in front":           {"rrule:freq=daily;count=2", "2026-01-31", "", "2026-01-31 2026-02-01"},
		"nothing":                                  {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "2026-01-01", "", ""},
		"not to the first day after the years":     {"FREQ=YEARLY", "2098-01-01", "", "2098-01-01 2099-01-01"},
		"to the last day of the years":             {"FREQ=YEARLY", "2098-12-31", "", "2098-12-31 2099-12-31"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(dates(t, test.rule, test.start, test.until), " ")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s from %s (-want +got):\n%s", test.rule, test.start, diff)
			}
		})
	}
}

// TestRecurrenceSaysWhatItTakes has mistakes of people who don't know RFC 5545 by heart.
func TestRecurrenceSaysWhatItTakes(t *testing.T) {
	const isPart = ", and each part of a rule is NAME=VALUE, as in \"FREQ=MONTHLY;BYMONTHDAY=-1\""
	const isAfterDays = "; a schedule has one time a day, which the argument time says"
	for rule, want := range map[string]string{
		"Quarterly":                        `is no rule of RFC 5545; write "FREQ=MONTHLY;INTERVAL=3"`,
		"biweekly":                         `is no rule of RFC 5545; write "FREQ=WEEKLY;INTERVAL=2"`,
		"each month":                       `has "EACH MONTH"` + isPart,
		"FREQ=DAILY;COUNT=":                `has "COUNT="` + isPart,
		"FREQ=DAILY;=5":                    `has "=5"` + isPart,
		"FREQ=DAILY;COUNT":                 `has "COUNT"` + isPart,
		"FREQ=DAILY;":                      `has ""` + isPart,
		"FREQ=DAILY;COUNT=1;COUNT=1":       "has COUNT twice",
		"FREQ=DAILY;BYHOUR=9":              "has BYHOUR" + isAfterDays,
		"FREQ=DAILY;BYMINUTE=1":            "has BYMINUTE" + isAfterDays,
		"FREQ=DAILY;BYSECOND=1":            "has BYSECOND" + isAfterDays,
		"FREQ=HOURLY":                      "has FREQ=HOURLY" + isAfterDays,
		"FREQ=DAILY;BYEASTER=0":            "has BYEASTER, which RFC 5545 does not know",
		"FREQ=FORTNIGHTLY":                 "has FREQ=FORTNIGHTLY; it takes YEARLY, MONTHLY, WEEKLY or DAILY",
		"BYMONTHDAY=1":                     "has no FREQ, such as FREQ=MONTHLY",
		"FREQ=DAILY;COUNT=10001":           "has COUNT=10001; it takes a number from 1 to 10000",
		"FREQ=DAILY;INTERVAL=1001":         "has INTERVAL=1001; it takes a number from 1 to 1000",
		"FREQ=DAILY;UNTIL=20260101T0900":   "has UNTIL=20260101T0900; a schedule has days, so it takes a date such as UNTIL=20261231",
		"FREQ=DAILY;UNTIL=19991231":        "has UNTIL=19991231, which " + calendar.ErrDate.Error(),
		"FREQ=MONTHLY;BYDAY=6MO":           "has +6MO in BYDAY; no month has that day more than 5 times",
		"FREQ=YEARLY;BYMONTH=1;BYDAY=-6MO": "has -6MO in BYDAY; no month has that day more than 5 times",
		"FREQ=MONTHLY;BYDAY=+0MO":          "has +0MO in BYDAY; days are counted from 1, or from -1 backwards",
		"FREQ=MONTHLY;BYMONTHDAY=1" + strings.Repeat(",1", 488):  "is longer than 1000 characters",
		"FREQ=MONTHLY;BYMONTHDAY=10" + strings.Repeat(",1", 487): "",
		"FREQ=YEARLY;BYMONTH=1;BYDAY=-5MO":                       "",
		"FREQ=YEARLY;BYDAY=-53MO":                                "",
		"FREQ=DAILY;COUNT=10000":                                 "",
		"FREQ=DAILY;INTERVAL=1000":                               "",
	} {
		_, err := calendar.ParseRecurrence(rule)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%.40q: %s, want %s", rule, got, want)
		}
	}
}

func TestRecurrenceRefuses(t *testing.T) {
	for _, rule := range []string{
		"", "FREQ", "FREQ=", "MONTHLY", "BYMONTHDAY=1", "FREQ=FORTNIGHTLY", "FREQ=HOURLY", "FREQ=MINUTELY", "FREQ=SECONDLY",
		"FREQ=DAILY;BYHOUR=9", "FREQ=DAILY;BYMINUTE=1", "FREQ=DAILY;BYSECOND=1", "FREQ=YEARLY;BYEASTER=0", "FREQ=DAILY;DTSTART=20260101",
		"FREQ=DAILY;COUNT=0", "FREQ=DAILY;COUNT=-1", "FREQ=DAILY;COUNT=10001", "FREQ=DAILY;COUNT=2;UNTIL=20260101", "FREQ=DAILY;FREQ=DAILY",
		"FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;INTERVAL=-2", "FREQ=DAILY;INTERVAL=1001", "FREQ=DAILY;INTERVAL=99999999999999999999",
		"FREQ=DAILY;UNTIL=20260101T090000Z", "FREQ=DAILY;UNTIL=20261301", "FREQ=DAILY;UNTIL=19991231", "FREQ=DAILY;;COUNT=1", "FREQ=DAILY;",
		"FREQ=WEEKLY;BYDAY=1MO", "FREQ=WEEKLY;BYMONTHDAY=1", "FREQ=MONTHLY;BYYEARDAY=1", "FREQ=MONTHLY;BYWEEKNO=1", "FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO",
		"FREQ=MONTHLY;BYDAY=0MO", "FREQ=MONTHLY;BYDAY=6MO", "FREQ=MONTHLY;BYDAY=-6MO", "FREQ=YEARLY;BYDAY=54MO", "FREQ=MONTHLY;BYDAY=MONDAY", "FREQ=MONTHLY;BYDAY=,MO", "FREQ=MONTHLY;BYMONTHDAY=32",
		"FREQ=MONTHLY;BYMONTHDAY=0", "FREQ=MONTHLY;BYSETPOS=1", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=0", "FREQ=YEARLY;BYMONTH=13",
		"DTSTART:20260101\nRRULE:FREQ=DAILY", "FREQ=MONTHLY;WKST=1MO", "FREQ=DAILY;" + strings.Repeat("A", 1000),
	} {
		if r, err := calendar.ParseRecurrence(rule); err == nil {
			t.Errorf("%q is %v", rule, r)
		}
	}
	r, err := calendar.ParseRecurrence("FREQ=DAILY")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Dates(day(t, "2026-01-01"), 0); !errors.Is(err, calendar.ErrTooMany) {
		t.Errorf("a rule of 27,000 days returned %v", err)
	}
}

// TestARuleForgetsWhereItStarted has rules that leave something to their start, and are asked from two starts in turn.
func TestARuleForgetsWhereItStarted(t *testing.T) {
	for rule, want := range map[string][2]string{
		"FREQ=WEEKLY;COUNT=2":                         {"[2026-05-11 2026-05-18]", "[2026-05-13 2026-05-20]"},
		"FREQ=YEARLY;BYWEEKNO=20;COUNT=2":             {"[2026-05-11 2027-05-17]", "[2026-05-13 2027-05-19]"},
		"FREQ=MONTHLY;COUNT=2":                        {"[2026-05-11 2026-06-11]", "[2026-05-13 2026-06-13]"},
		"FREQ=WEEKLY;BYDAY=MO,WE;BYSETPOS=-1;COUNT=2": {"[2026-05-13 2026-05-20]", "[2026-05-13 2026-05-20]"},
	} {
		r, err := calendar.ParseRecurrence(rule)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for i, start := range []string{"2026-05-11", "2026-05-13"} {
				if got, err := r.Dates(day(t, start), 0); err != nil || fmt.Sprint(got) != want[i] {
					t.Errorf("%s from %s: %v, %v; want %s", rule, start, got, err, want[i])
				}
			}
		}
	}
}

// TestARuleSaysHowItEnds has rules that end by themselves, and one that does not.
func TestARuleSaysHowItEnds(t *testing.T) {
	for rule, want := range map[string]struct{ ends, before, on, counts bool }{
		"FREQ=DAILY":                {},
		"FREQ=DAILY;COUNT=1":        {ends: true, counts: true},
		"FREQ=DAILY;UNTIL=20261231": {ends: true, on: false, before: true},
	} {
		r, err := calendar.ParseRecurrence(rule)
		if err != nil {
			t.Fatal(err)
		}
		got := struct{ ends, before, on, counts bool }{r.Ends(), r.EndsBefore(day(t, "2027-01-01")), r.EndsBefore(day(t, "2026-12-31")), r.Counts()}
		if got != want {
			t.Errorf("%s: %+v, want %+v", rule, got, want)
		}
	}
}

// rule is a rule in parts, for an oracle that looks at every day of a period by itself.
type rule struct {
	frequency                                  string
	interval, count                            int
	month, monthDay, yearDay, weekNo, position []int
	weekday                                    []nth
	weekStart                                  time.Weekday
}

type nth struct {
	n   int // 0 for every one
	day time.Weekday
}

var codes = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

func (r rule) String() string {
	parts := []string{"FREQ=" + r.frequency, fmt.Sprintf("INTERVAL=%d", r.interval), fmt.Sprintf("COUNT=%d", r.count), "WKST=" + codes[r.weekStart]}
	list := func(name string, numbers []int) {
		if len(numbers) > 0 {
			parts = append(parts, name+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]"))
		}
	}
	list("BYMONTH", r.month)
	list("BYMONTHDAY", r.monthDay)
	list("BYYEARDAY", r.yearDay)
	list("BYWEEKNO", r.weekNo)
	list("BYSETPOS", r.position)
	var days []string
	for _, w := range r.weekday {
		text := codes[w.day]
		if w.n != 0 {
			text = fmt.Sprint(w.n) + text
		}
		days = append(days, text)
	}
	if len(days) > 0 {
		parts = append(parts, "BYDAY="+strings.Join(days, ","))
	}
	return strings.Join(parts, ";")
}

// TestRecurrenceAgainstAnOracle looks at each day of each period by itself, as the tables of
// section 3.3.10 do.
func TestRecurrenceAgainstAnOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRule(t)
		start := calendar.NewDate(2020, 1, 1) + calendar.Date(rapid.IntRange(0, 2500).Draw(t, "start"))
		until := start + calendar.Date(rapid.IntRange(0, 3000).Draw(t, "days"))
		var want []string
		for _, d := range r.between(start.Midnight(), until.Midnight()) {
			want = append(want, d.Format(time.DateOnly))
		}
		got := dates(t, r.String(), start.String(), until.String())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s from %s until %s (-want +got):\n%s", r, start, until, diff)
		}
	})
}

func drawRule(t *rapid.T) rule {
	r := rule{
		frequency: rapid.SampledFrom([]string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY"}).Draw(t, "frequency"),
		interval:  rapid.IntRange(1, 5).Draw(t, "interval"),
		count:     rapid.SampledFrom([]int{1, 3, 10, 10000}).Draw(t, "count"),
		weekStart: time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekStart")),
	}
	list := func(name string, low, high int) []int {
		n := rapid.IntRange(0, 3).Draw(t, "how many "+name)
		var all []int
		for range max(0, n-1) {
			number := rapid.IntRange(1, high).Draw(t, name)
			if low < 0 && rapid.Bool().Draw(t, "negative") {
				number = -number
			}
			all = append(all, number)
		}
		return all
	}
	r.month = list("month", 1, 12)
	if r.frequency != "WEEKLY" {
		r.monthDay = list("monthDay", -1, 31)
	}
	if r.frequency == "YEARLY" {
		r.yearDay = list("yearDay", -1, 366)
		r.weekNo = list("weekNo", -1, 53)
	}
	for range max(0, rapid.IntRange(-2, 3).Draw(t, "how many weekdays")) {
		w := nth{day: time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday"))}
		if (r.frequency == "YEARLY" || r.frequency == "MONTHLY") && len(r.weekNo) == 0 && rapid.Bool().Draw(t, "numbered") {
			numbers := []int{1, 2, 5, -1, -2, -5}
			if r.frequency == "YEARLY" && len(r.month) == 0 {
				numbers = append(numbers, 20, 53, -53)
			}
			w.n = rapid.SampledFrom(numbers).Draw(t, "n")
		}
		r.weekday = append(r.weekday, w)
	}
	if len(r.month)+len(r.monthDay)+len(r.yearDay)+len(r.weekNo)+len(r.weekday) > 0 {
		r.position = list("position", -1, 6)
	}
	return r
}

func (r rule) between(start, until time.Time) []time.Time {
	r = r.implied(start)
	var all []time.Time
	for period := r.periodOf(start); !period.After(until); period = r.following(period) {
		var set []time.Time
		for d := period; d.Before(r.after(period)); d = d.AddDate(0, 0, 1) {
			if r.has(d) {
				set = append(set, d)
			}
		}
		for _, d := range r.pick(set) {
			if d.Before(start) || d.After(until) {
				continue
			}
			if all = append(all, d); len(all) == r.count {
				return all
			}
		}
	}
	return all
}

// implied adds what the rule leaves to its start.
func (r rule) implied(start time.Time) rule {
	if len(r.monthDay)+len(r.yearDay)+len(r.weekday) > 0 {
		return r
	}
	switch {
	case len(r.weekNo) > 0 || r.frequency == "WEEKLY":
		r.weekday = []nth{{0, start.Weekday()}}
	case r.frequency == "MONTHLY":
		r.monthDay = []int{start.Day()}
	case r.frequency == "YEARLY":
		r.monthDay = []int{start.Day()}
		if len(r.month) == 0 {
			r.month = []int{int(start.Month())}
		}
	}
	return r
}

func (r rule) periodOf(d time.Time) time.Time {
	switch r.frequency {
	case "YEARLY":
		return time.Date(d.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	case "MONTHLY":
		return time.Date(d.Year(), d.Month(), 1, 0, 0, 0, 0, time.UTC)
	case "WEEKLY":
		return r.weekOf(d)
	}
	return d
}

func (r rule) weekOf(d time.Time) time.Time {
	return d.AddDate(0, 0, -(int(d.Weekday()-r.weekStart)+7)%7)
}

// after is the end of a period, following the beginning of the next that counts.
func (r rule) after(period time.Time) time.Time {
	return rule{frequency: r.frequency, interval: 1}.following(period)
}

func (r rule) following(period time.Time) time.Time {
	switch r.frequency {
	case "YEARLY":
		return period.AddDate(r.interval, 0, 0)
	case "MONTHLY":
		return period.AddDate(0, r.interval, 0)
	case "WEEKLY":
		return period.AddDate(0, 0, 7*r.interval)
	}
	return period.AddDate(0, 0, r.interval)
}

func (r rule) has(d time.Time) bool {
	one := func(list []int, is func(int) bool) bool { return len(list) == 0 || slices.ContainsFunc(list, is) }
	monthEnd := time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	yearEnd := time.Date(d.Year(), 12, 31, 0, 0, 0, 0, time.UTC)
	week, weeks := r.week(d)
	return one(r.month, func(m int) bool { return m == int(d.Month()) }) &&
		one(r.monthDay, func(m int) bool { return m == d.Day() || m == d.Day()-monthEnd.Day()-1 }) &&
		one(r.yearDay, func(y int) bool { return y == d.YearDay() || y == d.YearDay()-yearEnd.YearDay()-1 }) &&
		one(r.weekNo, func(w int) bool { return w == week || w == week-weeks-1 }) &&
		(len(r.weekday) == 0 || slices.ContainsFunc(r.weekday, func(w nth) bool {
			if w.day != d.Weekday() || w.n == 0 {
				return w.day == d.Weekday()
			}
			at, last := d.YearDay(), yearEnd.YearDay()
			if r.frequency == "MONTHLY" || len(r.month) > 0 {
				at, last = d.Day(), monthEnd.Day()
			}
			return w.n == (at-1)/7+1 || w.n == -((last-at)/7+1)
		}))
}

// week is the number of the week that d is in, and of how many of that year: the first has
// four days of the year or more.
func (r rule) week(d time.Time) (week, weeks int) {
	first := func(year int) time.Time { return r.weekOf(time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)) }
	year := r.weekOf(d).AddDate(0, 0, 3).Year()
	days := func(from, to time.Time) int { return int(to.Sub(from).Hours() / 24) }
	return days(first(year), d)/7 + 1, days(first(year), first(year+1)) / 7
}

func (r rule) pick(set []time.Time) []time.Time {
	if len(r.position) == 0 {
		return set
	}
	var picked []time.Time
	for i, d := range set {
		if slices.Contains(r.position, i+1) || slices.Contains(r.position, i-len(set)) {
			picked = append(picked, d)
		}
	}
	return picked
}
