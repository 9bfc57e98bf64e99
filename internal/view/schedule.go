package view

import (
	"fmt"
	"io"
	"time"

	"remit/config"
	"remit/internal/clock/calendar"
	"remit/internal/text/english"
)

// Schedule writes the dates of a schedule for a person: each with the day of the week, the
// business day that it was moved to and why, and when it is due there and in UTC. It returns
// only errors of w.
func Schedule(w io.Writer, s *config.Schedule, until calendar.Date, screen Screen) error {
	page := newPage(w, screen)
	some := upTo(s.Occurrences, until)
	title := fmt.Sprintf("schedule.%s: %s", s.Name, english.Plural(len(some), "occurrence"))
	if rest := len(s.Occurrences) - len(some); rest > 0 {
		title += fmt.Sprintf(", and %d after %s", rest, until)
	}
	page.line(strong(title))
	if s.Description != "" {
		page.paragraph("", Visible(s.Description), toneDim)
	}
	if len(some) > 0 {
		page.line()
		page.table("  ", scheduleRows(s, some))
	}
	return page.Flush()
}

func scheduleRows(s *config.Schedule, some []calendar.Occurrence) [][]span {
	inZone := s.Zone != time.UTC
	head := []span{dim("date"), dim(""), dim("paid on"), dim("")}
	if inZone {
		head = append(head, dim("due"))
	}
	rows := [][]span{append(head, dim("due in UTC"), dim("moved from"))}
	for _, o := range some {
		adjusted := plain(o.Adjusted.String())
		if o.Adjusted != o.Date {
			adjusted.tone = toneDoubt
		}
		row := []span{strong(o.Date.String()), plain(short(o.Date)), adjusted, plain(short(o.Adjusted))}
		if inZone {
			row = append(row, plain(o.Due.Format("15:04 MST")))
		}
		rows = append(rows, append(row, plain(moment(o.Due)), plain(Visible(o.Why))))
	}
	return rows
}

// short is the day of the week in three letters.
func short(d calendar.Date) string { return d.Weekday().String()[:3] }

// upTo are the occurrences until a date, all with 0.
func upTo(all []calendar.Occurrence, until calendar.Date) []calendar.Occurrence {
	if until == 0 {
		return all
	}
	for i, o := range all {
		if o.Date > until {
			return all[:i]
		}
	}
	return all
}

// occurrenceLine is one date of a schedule.
type occurrenceLine struct {
	Type     string        `json:"type"` // "occurrence"
	Schedule string        `json:"schedule"`
	Date     calendar.Date `json:"date"`
	Weekday  string        `json:"weekday"`
	Adjusted calendar.Date `json:"adjusted_date"`
	Reason   string        `json:"reason,omitempty"` // what the date is that it was moved
	DueAt    time.Time     `json:"due_at"`           // in the zone of the schedule
	DueUTC   time.Time     `json:"due_utc"`
}

// Schedule writes an "occurrence" for each date. It returns the first error of writing.
func (j *JSON) Schedule(s *config.Schedule, until calendar.Date) error {
	j.begin()
	for _, o := range upTo(s.Occurrences, until) {
		j.write(occurrenceLine{
			Type: "occurrence", Schedule: s.Name, Date: o.Date, Weekday: o.Date.Weekday().String(),
			Adjusted: o.Adjusted, Reason: o.Why, DueAt: o.Due, DueUTC: o.Due.UTC(),
		})
	}
	return j.end()
}
