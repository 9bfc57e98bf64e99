package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"remit/internal/clock/calendar"
	"remit/internal/clock/zone"
)

// monthForm is how a month is written.
const monthForm = "2006-01"

// writtenMonth is a month, in any of the forms in which people write one; false for another text.
func writtenMonth(text string) (month time.Time, ok bool) {
	for _, form := range []string{monthForm, "01/2006", "1/2006", "01.2006", "1.2006", "200601", "2006/01", "2006-1", time.DateOnly, "January 2006", "Jan 2006", "2006 January", "January-2006"} {
		if month, err := time.Parse(form, text); err == nil {
			return month, true
		}
	}
	return time.Time{}, false
}

// period are the flags that say which time is meant, in days of a zone.
type period struct{ from, until, zone string }

// flags adds them; what names the transfers or records, such as "what the service made", in the
// words of the command.
func (d *period) flags(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.StringVar(&d.from, "from", "", "only "+what+" on this `date` or later, such as 2026-11-01")
	flags.StringVar(&d.until, "until", "", "only "+what+" on this `date` or earlier, such as 2026-11-30")
	flags.StringVar(&d.zone, "timezone", "UTC", "count days in this `zone`, such as Europe/Berlin")
}

// bounds are the first moment that is in the period and the first that is not any more; the
// zero time where there is no bound. Both days are in it. Days are those of where.
func (d *period) bounds(isGiven func(string) bool) (from, until time.Time, where *time.Location, err error) {
	where, err = zone.Load(d.zone)
	if err != nil {
		return from, until, nil, fmt.Errorf("--timezone=%s %w", d.zone, err)
	}
	for _, bound := range []struct {
		flag, text string
		days       int
		into       *time.Time
	}{{"from", d.from, 0, &from}, {"until", d.until, 1, &until}} {
		if !isGiven(bound.flag) {
			continue
		}
		if bound.text == "" {
			return from, until, nil, fmt.Errorf("--%s is empty, which names no day. Is a variable of the shell not set?", bound.flag)
		}
		date, err := calendar.ParseDate(bound.text)
		if err != nil {
			return from, until, nil, fmt.Errorf("--%s=%s %w", bound.flag, bound.text, err)
		}
		year, month, day := date.Midnight().Date()
		*bound.into = zone.Midnight(year, month, day+bound.days, where)
	}
	if !from.IsZero() && !until.IsZero() && !from.Before(until) {
		return from, until, nil, fmt.Errorf("--from=%s is after --until=%s", d.from, d.until)
	}
	return from, until, where, nil
}
