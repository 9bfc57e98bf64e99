package calendar

import (
	"errors"
	"fmt"
	"time"

	"remit/internal/clock/zone"
)

// Schedule is a recurrence with the time of day, the zone and the business days of its
// occurrences.
type Schedule struct {
	Recurrence *Recurrence
	Start      Date
	Until      Date // 0 where the rule says itself when it ends
	Clock      Clock
	Zone       *time.Location
	Calendar   *Calendar // nil where all days are business days
	Convention Convention
}

// Occurrence is one date of a schedule.
type Occurrence struct {
	Date     Date
	Adjusted Date      // the business day that it was moved to; Date where it was not
	Why      string    // what Date is that it was moved; "" where it was not
	Due      time.Time // in the zone of the schedule
}

// ErrNone says that a schedule has no date, and so would never pay anything.
var ErrNone = errors.New("has no date from its start to its end")

// ErrEndless says that neither the rule nor the schedule has an end.
var ErrEndless = errors.New("has no end: it needs until, or COUNT in its rule")

// Occurrences are all dates of the schedule, in order. The error is [ErrEndless],
// [ErrTooMany], [ErrNone], [ErrTooFew], or names a date that can't be moved to a business day.
func (s *Schedule) Occurrences() ([]Occurrence, error) {
	if s.Until == 0 && !s.Recurrence.Ends() {
		return nil, ErrEndless
	}
	dates, err := s.Recurrence.Dates(s.Start, s.Until)
	if err != nil {
		return nil, err
	}
	switch {
	case len(dates) == 0:
		return nil, ErrNone
	case s.Until == 0 && len(dates) < s.Recurrence.count:
		return nil, ErrTooFew
	}
	all := make([]Occurrence, 0, len(dates))
	for _, d := range dates {
		o := Occurrence{Date: d}
		if o.Adjusted, err = s.Calendar.Adjust(d, s.Convention); err != nil {
			return nil, fmt.Errorf("has %s, which cannot be moved: %w", d, err)
		}
		if o.Adjusted != d {
			o.Why = s.Calendar.Closed(d)
		}
		o.Due = s.Clock.on(o.Adjusted, s.Zone)
		all = append(all, o)
	}
	return all, nil
}

// ErrTooFew says that a rule does not make as many dates as it counts.
var ErrTooFew = fmt.Errorf("makes fewer occurrences than its COUNT before the year %d", YearMax+1)

// Clock is a time of day, in minutes since midnight: at most 24:00, the end of the day.
type Clock int

const dayEnd Clock = 24 * 60

// ErrClock says that a text is no time of day.
var ErrClock = errors.New("is not a time of day such as \"09:00\"")

// ParseClock reads a time of day such as "09:00", up to "23:59". The error is [ErrClock].
func ParseClock(text string) (Clock, error) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, ErrClock
	}
	return Clock(t.Hour()*60 + t.Minute()), nil
}

// ParseClockEnd is ParseClock that takes "24:00" too.
func ParseClockEnd(text string) (Clock, error) {
	if text == "24:00" {
		return dayEnd, nil
	}
	return ParseClock(text)
}

// String is the time of day as ParseClockEnd reads it.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// on is when the clocks of a zone show c on a date.
func (c Clock) on(d Date, in *time.Location) time.Time {
	return zone.At(d.Midnight().Add(time.Duration(c)*time.Minute), in)
}
