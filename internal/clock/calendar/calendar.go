package calendar

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Calendar says which dates are business days. It is not to be changed once it is in use.
type Calendar struct {
	weekend [7]bool
	closed  map[Date]string // and why
	sets    []string        // of holidays
	joined  []*Calendar     // a business day is one of all of these too
	last    Date            // the last of its dates, where it knows no other holidays; 0 for any other calendar
}

// Rules are what a calendar is made of.
type Rules struct {
	Weekend  []time.Weekday
	Holidays []string        // names of sets, of [HolidaySets]
	Dates    []Date          // more days that are none
	Except   []Date          // days that are business days all the same
	Also     []*Calendar     // whose other days are none here either
	Named    map[Date]string // names of some of Dates
}

// ErrNoBusinessDay says that a calendar has no business day near a date.
var ErrNoBusinessDay = errors.New("there is no business day within a year")

// New makes a calendar. Except goes before Holidays and the weekend, not before what the
// calendars of Also say. The error names a set of holidays that does not exist.
func New(rules Rules) (*Calendar, error) {
	c := &Calendar{closed: make(map[Date]string), joined: rules.Also}
	for _, day := range rules.Weekend {
		c.weekend[day] = true
	}
	for _, d := range rules.Dates {
		c.closed[d] = "closed by its date"
		if name := rules.Named[d]; name != "" {
			c.closed[d] = name
		}
	}
	for _, set := range rules.Holidays {
		if !addHolidays(set, c.closed) {
			return nil, fmt.Errorf("there are no holidays of the name %q", set)
		}
		c.sets = append(c.sets, set)
	}
	for d := range c.closed {
		if c.weekend[d.Weekday()] {
			delete(c.closed, d) // it would be closed anyway
		}
	}
	if len(rules.Holidays) == 0 && len(rules.Dates) > 1 {
		c.last = slices.Max(rules.Dates)
	}
	for _, d := range rules.Except {
		c.closed[d] = ""
	}
	return c, nil
}

// Closed says why a date is no business day; "" where it is one. A nil calendar has business
// days only.
func (c *Calendar) Closed(d Date) string {
	if c == nil {
		return ""
	}
	why, isNamed := c.closed[d]
	switch {
	case why != "":
		return why
	case !isNamed && c.weekend[d.Weekday()]:
		return d.Weekday().String()
	}
	for _, other := range c.joined {
		if why := other.Closed(d); why != "" {
			return why
		}
	}
	return ""
}

// Unknown returns a set of holidays, of c or of a calendar of [Rules].Also, that does not know every
// holiday of the date's year, and the last year that it knows; "" where all do.
func (c *Calendar) Unknown(d Date) (set string, known int) {
	if c == nil {
		return "", 0
	}
	for _, name := range c.sets {
		if last := HolidaysKnown(name); d.Midnight().Year() > last {
			return name, last
		}
	}
	for _, other := range c.joined {
		if set, known := other.Unknown(d); set != "" {
			return set, known
		}
	}
	return "", 0
}

// Last is the last holiday of a calendar that knows its holidays by their dates alone. A calendar has no last one, and is whole,
// where it names sets of holidays, or at most one date, or where one of [Rules].Also is so.
func (c *Calendar) Last() (last Date, isWhole bool) {
	if c == nil || c.last == 0 {
		return 0, true
	}
	last = c.last
	for _, other := range c.joined {
		of, isWhole := other.Last()
		if isWhole {
			return 0, true
		}
		last = max(last, of)
	}
	return last, false
}

// Convention is how a date that is no business day is moved to one. The names and meanings
// are those of the ISDA definitions, section 4.12.
type Convention string

// The conventions.
const (
	Following         Convention = "following"          // to the next business day
	ModifiedFollowing Convention = "modified_following" // to the next, unless that is in the next month: then to the one before
	Preceding         Convention = "preceding"          // to the business day before
	ModifiedPreceding Convention = "modified_preceding" // to the one before, unless that is in the month before: then to the next
	Unadjusted        Convention = "unadjusted"         // not at all
)

// Conventions lists every convention.
func Conventions() []Convention {
	return []Convention{Following, ModifiedFollowing, Preceding, ModifiedPreceding, Unadjusted}
}

// Adjust moves a date to a business day. The error is [ErrNoBusinessDay].
func (c *Calendar) Adjust(d Date, convention Convention) (Date, error) {
	switch convention {
	case Unadjusted:
		return d, nil
	case Following:
		return c.next(d, 1)
	case Preceding:
		return c.next(d, -1)
	case ModifiedFollowing:
		return c.modified(d, 1)
	case ModifiedPreceding:
		return c.modified(d, -1)
	}
	panic("no such convention: " + string(convention))
}

// modified goes the other way where a step would leave the month.
func (c *Calendar) modified(d Date, step Date) (Date, error) {
	moved, err := c.next(d, step)
	if err == nil && moved.isSameMonth(d) {
		return moved, nil
	}
	return c.next(d, -step)
}

const searchMax = 366

func (c *Calendar) next(d, step Date) (Date, error) {
	for n := range Date(searchMax) {
		if at := d + n*step; c.Closed(at) == "" {
			return at, nil
		}
	}
	return 0, ErrNoBusinessDay
}

// weekdays are the days as the language names them.
var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// Weekdays lists the days of the week as the language names them, Monday first.
func Weekdays() []string { return append(slices.Clone(weekdays[1:]), weekdays[0]) }

// ParseWeekday reads a name of [Weekdays].
func ParseWeekday(name string) (time.Weekday, bool) {
	day := slices.Index(weekdays, name)
	return time.Weekday(day), day >= 0
}
