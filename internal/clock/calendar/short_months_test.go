package calendar_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/internal/clock/calendar"
)

func TestShortMonths(t *testing.T) {
	for name, test := range map[string]struct{ rule, start, until, want string }{
		"the 31st":              {"FREQ=MONTHLY", "2026-01-31", "2026-07-31", "2026-02 2026-04 2026-06, day 31"},
		"the 29th":              {"FREQ=MONTHLY;BYMONTHDAY=29", "2027-01-29", "2028-03-29", "2027-02, day 29"},
		"each quarter":          {"FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=31", "2026-01-31", "2027-01-31", "2026-04, day 31"},
		"every other month":     {"FREQ=MONTHLY;INTERVAL=2", "2026-12-31", "2027-08-31", "2027-02 2027-04 2027-06, day 31"},
		"each January":          {"FREQ=MONTHLY;INTERVAL=12", "2026-01-31", "2029-01-31", ""},
		"the 28th":              {"FREQ=MONTHLY;BYMONTHDAY=28", "2026-01-28", "2026-07-28", ""},
		"one of two days":       {"FREQ=MONTHLY;BYMONTHDAY=15,31", "2026-01-15", "2026-07-31", ""},
		"both of two days":      {"FREQ=MONTHLY;BYMONTHDAY=30,31", "2026-01-30", "2026-04-30", "2026-02, day 30"},
		"the last day":          {"FREQ=MONTHLY;BYMONTHDAY=-1", "2026-01-31", "2026-07-31", ""},
		"months that are named": {"FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=1,2,3", "2026-01-31", "2027-03-31", ""},
		"a month that is named": {"FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=1", "2026-01-31", "2028-01-31", ""},
		"the fifth Friday":      {"FREQ=MONTHLY;BYDAY=5FR", "2026-01-30", "2026-07-31", ""},
		"Friday the 31st":       {"FREQ=MONTHLY;BYDAY=MO,FR;BYMONTHDAY=31", "2026-07-31", "2027-05-31", ""},
		"leap days":             {"FREQ=YEARLY", "2024-02-29", "2032-02-29", ""},
		"one date":              {"FREQ=MONTHLY", "2026-01-31", "2026-02-28", ""},
		"weeks":                 {"FREQ=WEEKLY", "2026-01-31", "2026-07-31", ""},
		"no date":               {"FREQ=MONTHLY;BYMONTHDAY=31", "2026-02-01", "2026-02-28", ""},
	} {
		rule, err := calendar.ParseRecurrence(test.rule)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all, err := rule.Dates(day(t, test.start), day(t, test.until))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		if months, of := rule.ShortMonths(all); len(months) > 0 {
			got = fmt.Sprintf("%s, day %d", strings.Join(months, " "), of)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
