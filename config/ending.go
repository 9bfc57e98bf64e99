package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// How long before its last date, and after it, a schedule is said to end: a period before, within bounds, so that one of
// each night is not told on its last day alone.
const (
	endingSoonest = 31 * 24 * time.Hour
	endingLatest  = 7 * 24 * time.Hour
	endedFor      = 31 * 24 * time.Hour
)

// Ending warns of those schedules for whose dates transfers are made, and that have none to come at a time, or the last one. A
// schedule with COUNT has as many as are meant, and one that ended long ago was meant to.
func Ending(c *Configuration, isUsed func(schedule string) bool, now time.Time) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i := range c.Schedules {
		s := &c.Schedules[i]
		if s.counts || len(s.Occurrences) == 0 || !isUsed(s.Name) {
			continue
		}
		last := s.Occurrences[len(s.Occurrences)-1]
		quiet := last.Due.Add(endedFor)
		if now.Before(last.Due.Add(-s.endsSoon())) || now.After(quiet) {
			continue
		}
		end := last.Date.Midnight().AddDate(1, 0, 0)
		remedy := "until = \"" + end.Format(time.DateOnly) + "\""
		if s.endedByRule {
			remedy = "UNTIL=" + end.Format("20060102")
		}
		if now.Before(last.Due) {
			diags = append(diags, mistake.Warning(s.end, "Schedule ends soon",
				"The last date of schedule.%s is %s. If its payments go on after that, move its end, such as to:\n\n  %s\n\nIf they end with it, leave it as it is.", s.Name, last.Date, remedy))
			continue
		}
		diags = append(diags, mistake.Warning(s.end, "Schedule has ended",
			"The last date of schedule.%s was %s, and no payment of it is to come. If its payments go on, move its end, such as to:\n\n  %s\n\nIf they ended with it, leave it as it is: remit says this until %s.", s.Name, last.Date, remedy, quiet.In(s.Zone).Format(time.DateOnly)))
	}
	return diags
}

// endsSoon is how long before its last date a schedule is said to end.
func (s *Schedule) endsSoon() time.Duration {
	n := len(s.Occurrences)
	if n == 1 {
		return endingLatest
	}
	return min(max(s.Occurrences[n-1].Due.Sub(s.Occurrences[n-2].Due), endingLatest), endingSoonest)
}
