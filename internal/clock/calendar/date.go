// Package calendar is the time of settlements: business days, recurrences and opening hours.
//
// Its one invariant: everything here is a function of the declaration. No clock, locale,
// zone or file of the machine is read.
package calendar

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"remit/internal/text/lazyregexp"
)

// Date is a day without a zone: the days since 1970-01-01.
type Date int32

// The years that dates may be in: rules of holidays say little about others.
const (
	YearMin = 2000
	YearMax = 2099
)

// ErrDate says that a text is no date.
var ErrDate = errors.New("is not a date as ISO 8601 writes it, such as \"2026-11-30\", from the years 2000 to 2099")

const secondsOfDay = 24 * 60 * 60

// NewDate makes a date. A part out of range is carried over, as by [time.Date].
func NewDate(year int, month time.Month, day int) Date {
	return dateOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// dateOf is the date that t shows.
func dateOf(t time.Time) Date {
	year, month, day := t.Date()
	seconds := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	return Date(seconds / secondsOfDay) // no date before 1970 is asked for
}

// ParseDate reads an ISO 8601 date such as "2026-11-30". The error is [ErrDate], which says more where the text is the
// date of a day that no calendar has, or a date in another form.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err == nil && t.Year() >= YearMin && t.Year() <= YearMax {
		return dateOf(t), nil
	}
	if why, _ := NoSuchDay(text); why != "" {
		return 0, wrongDate(why)
	}
	const notISO = "is not a date as ISO 8601 writes it; write "
	switch days := Written(text); len(days) {
	case 0:
		return 0, ErrDate
	case 1:
		return 0, wrongDate(notISO + strconv.Quote(days[0].String()))
	default:
		return 0, wrongDate(notISO + fmt.Sprintf("\"%s\" for %s, or \"%s\" for %s", days[0], days[0].InWords(), days[1], days[1].InWords()))
	}
}

// wrongDate is an [ErrDate] that says more.
type wrongDate string

func (w wrongDate) Error() string { return string(w) }

func (wrongDate) Is(target error) bool { return target == ErrDate }

var dateParts = lazyregexp.New(`^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])`)

// NoSuchDay says why the date with which a text begins is the date of no day, such as the 31st of a month that has 30,
// and shows the last day of that month. Both are "" for any other text.
func NoSuchDay(text string) (why, last string) {
	parts := dateParts.FindStringSubmatch(text)
	if parts == nil {
		return "", ""
	}
	year, _ := strconv.Atoi(parts[1])
	if year < YearMin || year > YearMax {
		return "", ""
	}
	month, _ := strconv.Atoi(parts[2])
	day, _ := strconv.Atoi(parts[3])
	const monthsOfYear = 12
	switch {
	case month > monthsOfYear && month <= 31 && day >= 1 && day <= monthsOfYear:
		swapped := parts[1] + "-" + parts[3] + "-" + parts[2]
		return fmt.Sprintf("names the month %d. The month stands before the day, as in %q", month, swapped), swapped
	case month < 1 || month > monthsOfYear:
		return fmt.Sprintf("names the month %d, and a year has 12", month), ""
	}
	end := NewDate(year, time.Month(month)+1, 0).Midnight()
	if day >= 1 && day <= end.Day() {
		return "", ""
	}
	return fmt.Sprintf("is the date of no day: %s has %d days", end.Format("January 2006"), end.Day()), end.Format(time.DateOnly)
}

// Midnight is the beginning of the date in UTC.
func (d Date) Midnight() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// String is the ISO 8601 date.
func (d Date) String() string { return d.Midnight().Format(time.DateOnly) }

// MarshalText is String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Weekday is the day of the week.
func (d Date) Weekday() time.Weekday { return d.Midnight().Weekday() }

// isSameMonth reports whether two dates are in one month of one year.
func (d Date) isSameMonth(other Date) bool {
	a, b := d.Midnight(), other.Midnight()
	return a.Month() == b.Month() && a.Year() == b.Year()
}
