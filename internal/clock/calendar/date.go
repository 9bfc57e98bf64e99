// Package calendar is the time of settlements: business days, recurrences and opening hours.
//
// Its one invariant: everything here is a function of the declaration. No clock, locale,
// zone or file of the machine is read.
package calendar

import (
	"errors"
	"time"
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

// ParseDate reads an ISO 8601 date such as "2026-11-30". The error is [ErrDate].
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < YearMin || t.Year() > YearMax {
		return 0, ErrDate
	}
	return dateOf(t), nil
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
