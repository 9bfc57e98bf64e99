package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/clock/calendar"
	"remit/internal/clock/zone"
	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
)

// catchUpMax bounds catch_up.
const catchUpMax = 10 * 365 * 24 * time.Hour

// Schedule is a schedule block.
type Schedule struct {
	Name        string
	Description string
	Place       Place
	Convention  calendar.Convention
	Zone        *time.Location
	Occurrences []calendar.Occurrence // in order
	CatchUp     time.Duration

	end         hcl.Range // of the argument that says when it ends
	endedByRule bool      // by UNTIL of the rule
	counts      bool      // its rule has COUNT
}

func scheduleKind() eval.Kind {
	return eval.Kind{
		Name: "schedule", Labels: []string{"name"},
		Required: []string{"rrule", "start"},
		Optional: []string{"description", "until", "timezone", "time", "calendar", "convention", "catch_up"},
		Shared:   true,
	}
}

// scheduleAttributes are what a schedule has as a value.
func scheduleAttributes() []string { return []string{"name", "description", "occurrences"} }

func readSchedule(c *checker, b *eval.Block) *Schedule {
	s := &Schedule{Name: b.Label(0), Place: placeOf(b.At)}
	readNamed(c, b, "schedule", func(r *eval.Reader) cty.Value {
		s.Description, _ = r.Text("description")
		s.CatchUp = r.Duration("catch_up", 0, catchUpMax, CatchUpDefault)
		if !s.read(r) {
			return cty.NilVal
		}
		return s.value()
	})
	return s
}

// read expands the schedule; it is false where that has a mistake.
func (s *Schedule) read(r *eval.Reader) bool {
	made := calendar.Schedule{
		Start: dateArgument(r, "start"), Until: dateArgument(r, "until"), Zone: zoneArgument(r), Clock: clockArgument(r, "time", 0, calendar.ParseClock),
		Calendar: calendarArgument(r, "calendar"),
	}
	made.Recurrence = recurrenceArgument(r)
	made.Convention = conventionArgument(r, made.Calendar)
	if r.Diags.HasErrors() {
		return false
	}
	if made.Until != 0 && made.Until < made.Start {
		r.Refuse(r.Block.Arguments["until"].Expr.Range(), "Ends before it starts", "until must not be before start.")
		return false
	}
	all, err := made.Occurrences()
	if err != nil {
		r.Refuse(r.Block.Arguments["rrule"].Expr.Range(), "Schedule cannot be expanded", "The schedule %s", mistake.Sentence(err))
		return false
	}
	s.Convention, s.Zone, s.Occurrences = made.Convention, made.Zone, all
	s.end, s.endedByRule, s.counts = r.Block.Arguments["rrule"].Expr.Range(), made.Until == 0 || made.Recurrence.EndsBefore(made.Until), made.Recurrence.Counts()
	if !s.endedByRule {
		s.end = r.Block.Arguments["until"].Expr.Range()
	}
	s.warnUnknown(r, made.Calendar)
	s.warnSkipped(r, made.Recurrence)
	return true
}

// warnUnknown says from which date on the holidays are not all known.
func (s *Schedule) warnUnknown(r *eval.Reader, c *calendar.Calendar) {
	for _, o := range s.Occurrences {
		set, known := c.Unknown(o.Date)
		if set == "" {
			continue
		}
		r.Diags = append(r.Diags, mistake.Warning(r.Block.Arguments["calendar"].Expr.Range(), "Holidays are not known yet",
			"The schedule has the date %s. remit knows the holidays %q for certain until %d; later ones are estimates, or missing. Add the missing days to dates of the calendar, or end the schedule earlier.",
			o.Date, set, known))
		return
	}
	if last, isWhole := c.Last(); !isWhole {
		s.warnEnded(r, last)
	}
}

// warnEnded says that the dates of the calendar end in a year before the last date of the schedule.
func (s *Schedule) warnEnded(r *eval.Reader, last calendar.Date) {
	for _, o := range s.Occurrences {
		if o.Date.Midnight().Year() > last.Midnight().Year() {
			r.Diags = append(r.Diags, mistake.Warning(r.Block.Arguments["calendar"].Expr.Range(), "Calendar has ended",
				"The schedule has the date %s, and the last holiday of the calendar is %s: each later weekday is a business day. Add the later holidays to the calendar, or name a set of them, such as:\n\n  holidays = [\"ecb\"]", o.Date, last))
			return
		}
	}
}

// warnSkipped says which months a monthly schedule leaves out because they have no such day.
func (s *Schedule) warnSkipped(r *eval.Reader, rule *calendar.Recurrence) {
	dates := make([]calendar.Date, len(s.Occurrences))
	for i, o := range s.Occurrences {
		dates[i] = o.Date
	}
	months, day := rule.ShortMonths(dates)
	if len(months) == 0 {
		return
	}
	last := "FREQ=MONTHLY;BYMONTHDAY=-1"
	if day < 31 {
		last = fmt.Sprintf("FREQ=MONTHLY;BYMONTHDAY=%s;BYSETPOS=-1", map[int]string{29: "28,29", 30: "28,29,30"}[day])
	}
	r.Diags = append(r.Diags, mistake.Warning(r.Block.Arguments["rrule"].Expr.Range(), "Months are left out",
		"The schedule has no date in %s, which have no day %d. To pay on the last day of a shorter month, write:\n\n  rrule = %q\n\nIf these months are meant to be left out, name the others with BYMONTH.",
		mistake.Listed(months, 3), day, last))
}

// value is what schedule.NAME is.
func (s *Schedule) value() cty.Value {
	occurrences := map[string]cty.Value{}
	for _, o := range s.Occurrences {
		mark := eval.Moved{Of: &Occurrence{Schedule: s.Name, Date: o.Date, Due: o.Due.UTC(), CatchUp: s.CatchUp}}
		occurrences[o.Date.String()] = cty.ObjectVal(map[string]cty.Value{
			"date":          cty.StringVal(o.Date.String()),
			"adjusted_date": cty.StringVal(o.Adjusted.String()).Mark(mark),
			"due_at":        cty.StringVal(o.Due.Format(time.RFC3339)).Mark(mark),
		})
	}
	all := cty.MapValEmpty(cty.Object(map[string]cty.Type{"date": cty.String, "adjusted_date": cty.String, "due_at": cty.String}))
	if len(occurrences) > 0 {
		all = cty.MapVal(occurrences)
	}
	description := cty.NullVal(cty.String)
	if s.Description != "" {
		description = cty.StringVal(s.Description)
	}
	return cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(s.Name), "description": description, "occurrences": all,
	})
}

// dateArgument is an ISO 8601 date, 0 where it is absent.
func dateArgument(r *eval.Reader, name string) calendar.Date {
	text, a := r.Text(name)
	if text == "" {
		if a != nil && name == "start" {
			r.Required(name) // it is null
		}
		return 0
	}
	d, err := calendar.ParseDate(text)
	if err != nil {
		r.Refuse(a.Expr.Range(), "Invalid date", "%s %s %s", name, eval.Shown(a, text), mistake.Sentence(err))
	}
	return d
}

// zoneArgument is the argument timezone.
func zoneArgument(r *eval.Reader) *time.Location {
	text, a := r.Text("timezone")
	if text == "" {
		return time.UTC
	}
	found, err := zone.Load(text)
	if err != nil {
		hint := ""
		if err.Error() == zone.ErrUnknown.Error() { // which names no zone that is meant
			hint = mistake.DidYouMean(text, zone.Names())
		}
		r.Refuse(a.Expr.Range(), "Unknown time zone", "timezone %s %s%s", eval.Shown(a, text), mistake.Sentence(err), hint)
		return time.UTC
	}
	if what := fixedZone(text); what != "" && eval.Shown(a, text) == strconv.Quote(text) {
		r.Diags = append(r.Diags, mistake.Warning(a.Expr.Range(), "Time zone without summer time", "timezone %q %s", text, what))
	}
	return found
}

// fixedZone says what a zone is that people take for that of a country, and that has one offset all year; "" for any other.
func fixedZone(name string) string {
	const remedy = " A zone that is named after a city follows the clocks there"
	switch name {
	case "EST":
		return "is 5 hours behind UTC all year, in summer too." + remedy + ": \"America/New_York\", or \"America/Panama\", which has no summer time."
	case "MST":
		return "is 7 hours behind UTC all year, in summer too." + remedy + ": \"America/Denver\", or \"America/Phoenix\", which has no summer time."
	}
	hours, isFixed := strings.CutPrefix(name, "Etc/GMT")
	if n, err := strconv.Atoi(hours); isFixed && err == nil && n != 0 {
		side := "behind"
		if n < 0 {
			side, n = "ahead of", -n
		}
		return fmt.Sprintf("is %s %s UTC: these names have their sign turned round.%s, such as \"Europe/Berlin\".", english.Plural(n, "hour"), side, remedy)
	}
	return ""
}

// clockArgument is a time of day, otherwise where it is absent.
func clockArgument(r *eval.Reader, name string, otherwise calendar.Clock, parse func(string) (calendar.Clock, error)) calendar.Clock {
	if v, a, found := r.Value(name); found == eval.Present && v.Type() == cty.Number {
		r.Refuse(a.Expr.Range(), "Not text", "%s is a time of day in quotation marks, and not a number.%s", name, cmp.Or(meantClock(a, v.AsBigFloat().Text('f', -1)), " Write, such as:\n\n  "+name+" = \"17:30\""))
		return otherwise
	}
	text, a := r.Text(name)
	if text == "" {
		return otherwise
	}
	c, err := parse(text)
	if err != nil {
		r.Refuse(a.Expr.Range(), "Invalid time of day", "%s %s %s%s", name, eval.Shown(a, text), mistake.Sentence(err), meantClock(a, text))
	}
	return c
}

// halfHour is a time with a part of an hour, or with the first digit of its minutes.
var halfHour = lazyregexp.New(`^[0-9]+\.[0-9]$`)

// meantClock says how a time of day of twelve hours, or one without its zero or its minutes, is written.
func meantClock(a *eval.Argument, text string) string {
	if eval.Shown(a, text) != strconv.Quote(text) { // it may be a secret
		return ""
	}
	if halfHour.MatchString(text) {
		return "" // 17.5 may be half past five, or ten to six
	}
	plain := strings.ToUpper(strings.NewReplacer(" ", "", ".", ":").Replace(strings.TrimSuffix(strings.TrimSpace(text), ".")))
	plain = strings.NewReplacer("A:M", "AM", "P:M", "PM").Replace(plain)
	for _, layout := range []string{"3:04PM", "3PM", "15:04", "15:04:05", "15H04", "15"} {
		if t, err := time.Parse(layout, plain); err == nil {
			return fmt.Sprintf(" Did you mean %q?", t.Format("15:04"))
		}
	}
	return ""
}

func recurrenceArgument(r *eval.Reader) *calendar.Recurrence {
	text, a := r.Required("rrule")
	if text == "" {
		return nil
	}
	found, err := calendar.ParseRecurrence(text)
	if err != nil {
		r.Refuse(a.Expr.Range(), "Invalid recurrence rule", "rrule %s %s", eval.Shown(a, text), mistake.Sentence(err))
	}
	return found
}

// conventionArgument moves dates to business days where there are any.
func conventionArgument(r *eval.Reader, business *calendar.Calendar) calendar.Convention {
	_, a, found := r.Value("convention")
	switch {
	case found == eval.Absent && business == nil:
		return calendar.Unadjusted
	case found == eval.Absent:
		return calendar.Following
	}
	c := calendar.Convention(r.OneOf("convention", Words("schedule", "convention")...))
	if business == nil && r.Block.Arguments["calendar"] == nil && c != calendar.Unadjusted {
		r.Refuse(a.Expr.Range(), "Convention without a calendar", "convention moves dates that are no business days of a calendar; say which calendar.")
	}
	return c
}
