package calendar_test

import (
	"errors"
	"testing"

	"remit/internal/clock/calendar"
)

// TestTheDateOfNoDaySaysWhy has dates whose month or day no calendar has, beside the nearest that are dates.
func TestTheDateOfNoDaySaysWhy(t *testing.T) {
	for text, want := range map[string]struct{ why, last string }{
		"2026-02-29":           {"is the date of no day: February 2026 has 28 days", "2026-02-28"},
		"2024-02-30":           {"is the date of no day: February 2024 has 29 days", "2024-02-29"},
		"2026-01-32":           {"is the date of no day: January 2026 has 31 days", "2026-01-31"},
		"2026-12-32":           {"is the date of no day: December 2026 has 31 days", "2026-12-31"},
		"2026-04-00":           {"is the date of no day: April 2026 has 30 days", "2026-04-30"},
		"2026-04-31T10:00:00Z": {"is the date of no day: April 2026 has 30 days", "2026-04-30"},
		"2000-04-31 10:00":     {"is the date of no day: April 2000 has 30 days", "2000-04-30"},
		"2099-04-31":           {"is the date of no day: April 2099 has 30 days", "2099-04-30"},
		"2026-13-01":           {`names the month 13. The month stands before the day, as in "2026-01-13"`, "2026-01-13"},
		"2026-31-12":           {`names the month 31. The month stands before the day, as in "2026-12-31"`, "2026-12-31"},
		"2026-32-12":           {"names the month 32, and a year has 12", ""},
		"2026-31-13":           {"names the month 31, and a year has 12", ""},
		"2026-31-00":           {"names the month 31, and a year has 12", ""},
		"2026-00-10":           {"names the month 0, and a year has 12", ""},
		"2024-02-29":           {},
		"2026-01-01":           {},
		"2026-12-12T10:00:00Z": {},
		"2026-04-30":           {},
		"1999-04-31":           {}, // no date may be in that year
		"2100-04-31":           {},
		"2026-04-311":          {},
		"31.04.2026":           {},
		"":                     {},
	} {
		why, last := calendar.NoSuchDay(text)
		if why != want.why || last != want.last {
			t.Errorf("%q: %q, and the last is %q; want %q, %q", text, why, last, want.why, want.last)
		}
		if _, err := calendar.ParseDate(text); why != "" && (!errors.Is(err, calendar.ErrDate) || err.Error() != why) {
			t.Errorf("%q: %v, want %s", text, err, why)
		}
	}
}

// TestADateInAnotherFormIsShownInISO has days as spreadsheets show them, of which one may be two days.
func TestADateInAnotherFormIsShownInISO(t *testing.T) {
	const isNot = "is not a date as ISO 8601 writes it; write "
	for text, want := range map[string]string{
		"27.11.2026": isNot + `"2026-11-27"`,
		"11/05/2026": isNot + `"2026-11-05" for 5 November 2026, or "2026-05-11" for 11 May 2026`,
		"tomorrow":   calendar.ErrDate.Error(),
		"1999-12-31": calendar.ErrDate.Error(),
	} {
		if d, err := calendar.ParseDate(text); !errors.Is(err, calendar.ErrDate) || err.Error() != want {
			t.Errorf("%q is %s: %v, want %s", text, d, err, want)
		}
	}
}
