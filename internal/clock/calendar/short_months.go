package calendar

import (
	"fmt"
	"slices"

	"github.com/teambition/rrule-go"
)

// shortest is how many days every month has.
const shortest = 28

// ShortMonths lists the months, such as "2027-02", between the dates that a monthly rule makes, of which none has
// a date because the month has no such day. RFC 5545 leaves them out, in section 3.3.10. Day is the day that they lack. It lists none for a
// rule that names its months, or days of the week.
func (r *Recurrence) ShortMonths(dates []Date) (months []string, day int) {
	o := &r.option
	if len(dates) == 0 || o.Freq != rrule.MONTHLY || len(o.Bymonth) > 0 || len(o.Byweekday) > 0 {
		return nil, 0
	}
	days := o.Bymonthday
	if len(days) == 0 {
		days = []int{dates[0].Midnight().Day()}
	}
	if day = slices.Min(days); day <= shortest {
		return nil, 0
	}
	month := func(d Date) int { return 12*d.Midnight().Year() + int(d.Midnight().Month()) - 1 }
	has := map[int]bool{}
	for _, d := range dates {
		has[month(d)] = true
	}
	for m := month(dates[0]); m < month(dates[len(dates)-1]); m += max(o.Interval, 1) {
		if !has[m] {
			months = append(months, fmt.Sprintf("%d-%02d", m/12, m%12+1))
		}
	}
	return months, day
}
