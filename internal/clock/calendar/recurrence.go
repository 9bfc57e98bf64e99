package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// Recurrence is a recurrence rule of RFC 5545, section 3.3.10, whose smallest unit is a day.
type Recurrence struct {
	option rrule.ROption
	count  int
	until  Date // 0 for none
}

const (
	// OccurrencesMax bounds what a rule may make.
	OccurrencesMax = 10_000

	intervalMax = 1000
	ruleTextMax = 1000

	weeksOfYear, weeksOfMonth = 53, 5 // how often a day of the week can come in it
)

func parseUntil(text string) (Date, error) {
	t, err := time.Parse(rrule.DateFormat, text)
	if err != nil {
		return 0, fmt.Errorf("has UNTIL=%s; a schedule has days, so it takes a date such as UNTIL=20261231", text)
	}
	until, err := ParseDate(t.Format(time.DateOnly))
	if err != nil {
		return 0, fmt.Errorf("has UNTIL=%s, which %w", text, err)
	}
	return until, nil
}

// ParseRecurrence reads a rule such as "FREQ=MONTHLY;BYMONTHDAY=-1". It is stricter than the
// library, which takes much that section 3.3.10 forbids, and then makes something of it that
// nobody asked for.
func ParseRecurrence(text string) (*Recurrence, error) {
	text = strings.ToUpper(strings.TrimSpace(text)) // section 2: nothing here depends on case
	if len(text) > ruleTextMax {
		return nil, fmt.Errorf("is longer than %d characters", ruleTextMax)
	}
	parts, err := splitRule(strings.TrimPrefix(text, "RRULE:"))
	if err != nil {
		return nil, err
	}
	if err := checkParts(parts); err != nil {
		return nil, err
	}
	r := &Recurrence{}
	if until := parts["UNTIL"]; until != "" {
		if r.until, err = parseUntil(until); err != nil {
			return nil, err
		}
	}
	if r.count, err = wholePart(parts, "COUNT", OccurrencesMax); err != nil {
		return nil, err
	}
	if _, err := wholePart(parts, "INTERVAL", intervalMax); err != nil {
		return nil, err
	}
	delete(parts, "UNTIL")
	delete(parts, "COUNT")
	option, err := rrule.StrToROption(joinRule(parts))
	if err == nil {
		_, err = rrule.NewRRule(*option)
	}
	if err != nil {
		return nil, fmt.Errorf("is no recurrence rule of RFC 5545: %w", err)
	}
	if err := checkNumbers(option); err != nil {
		return nil, err
	}
	option.Byweekday = numberedAlike(option)
	r.option = *option
	return r, nil
}

// checkNumbers refuses numbers of BYDAY that no month has so many weeks for: the library falls over
// them. The library itself refuses numbers that no year has.
func checkNumbers(option *rrule.ROption) error {
	most := weeksOf(option)
	for _, day := range option.Byweekday {
		if n := day.N(); n > most || n < -most {
			return fmt.Errorf("has %v in BYDAY; no month has that day more than %d times", day, most)
		}
	}
	return nil
}

// weeksOf is how often a day of the week can come in the period in which the numbers of BYDAY count.
func weeksOf(option *rrule.ROption) int {
	if option.Freq == rrule.MONTHLY || len(option.Bymonth) > 0 {
		return weeksOfMonth
	}
	return weeksOfYear
}

// numberedAlike gives each day of BYDAY a number where some have one: the library takes "MO,1FR"
// for the Mondays that are the first Friday.
func numberedAlike(option *rrule.ROption) []rrule.Weekday {
	isNumbered := func(day rrule.Weekday) bool { return day.N() != 0 }
	if !slices.ContainsFunc(option.Byweekday, isNumbered) {
		return option.Byweekday
	}
	var all []rrule.Weekday
	for _, day := range option.Byweekday {
		if isNumbered(day) {
			all = append(all, day)
			continue
		}
		for n := range weeksOf(option) {
			all = append(all, day.Nth(n+1))
		}
	}
	return all
}

// splitRule cuts a rule into its parts by name.
func splitRule(text string) (map[string]string, error) {
	parts := make(map[string]string)
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" || value == "" {
			return nil, unnamedPart(part)
		}
		if _, twice := parts[name]; twice {
			return nil, fmt.Errorf("has %s twice", name)
		}
		parts[name] = value
	}
	return parts, nil
}

// unnamedPart says how a rule is written of which a part has no name or no value.
func unnamedPart(part string) error {
	meant := map[string]string{
		"DAILY": "FREQ=DAILY", "WEEKLY": "FREQ=WEEKLY", "MONTHLY": "FREQ=MONTHLY", "YEARLY": "FREQ=YEARLY", "ANNUALLY": "FREQ=YEARLY",
		"QUARTERLY": "FREQ=MONTHLY;INTERVAL=3", "BIWEEKLY": "FREQ=WEEKLY;INTERVAL=2", "FORTNIGHTLY": "FREQ=WEEKLY;INTERVAL=2",
	}[part]
	if meant != "" {
		return fmt.Errorf("is no rule of RFC 5545; write %q", meant)
	}
	return fmt.Errorf("has %q, and each part of a rule is NAME=VALUE, as in \"FREQ=MONTHLY;BYMONTHDAY=-1\"", part)
}

func joinRule(parts map[string]string) string {
	var all []string
	for _, name := range partNames {
		if value := parts[name]; value != "" {
			all = append(all, name+"="+value)
		}
	}
	return strings.Join(all, ";")
}

// partNames are the parts of a rule that a schedule may have.
var partNames = []string{"FREQ", "UNTIL", "COUNT", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYMONTH", "BYSETPOS", "WKST"}

// checkParts refuses the parts that section 3.3.10 forbids, and those that make more than one time
// a day.
func checkParts(parts map[string]string) error {
	for name := range parts {
		switch {
		case name == "BYHOUR" || name == "BYMINUTE" || name == "BYSECOND":
			return fmt.Errorf("has %s; a schedule has one time a day, which the argument time says", name)
		case !slices.Contains(partNames, name):
			return fmt.Errorf("has %s, which RFC 5545 does not know", name)
		}
	}
	frequency := parts["FREQ"]
	has := func(name string) bool { return parts[name] != "" }
	numbered := strings.ContainsAny(parts["BYDAY"], "0123456789")
	switch {
	case frequency == "":
		return errors.New("has no FREQ, such as FREQ=MONTHLY")
	case slices.Contains([]string{"HOURLY", "MINUTELY", "SECONDLY"}, frequency):
		return fmt.Errorf("has FREQ=%s; a schedule has one time a day, which the argument time says", frequency)
	case !slices.Contains([]string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY"}, frequency):
		return fmt.Errorf("has FREQ=%s; it takes YEARLY, MONTHLY, WEEKLY or DAILY", frequency)
	case has("WKST") && len(parts["WKST"]) != len("MO"):
		return fmt.Errorf("has WKST=%s; it takes a day, such as MO", parts["WKST"])
	case has("UNTIL") && has("COUNT"):
		return errors.New("has UNTIL and COUNT; RFC 5545 allows one of them")
	case numbered && frequency != "MONTHLY" && frequency != "YEARLY":
		return errors.New("has a number in BYDAY, which RFC 5545 allows with MONTHLY and YEARLY only")
	case numbered && has("BYWEEKNO"):
		return errors.New("has a number in BYDAY beside BYWEEKNO, which RFC 5545 does not allow")
	case has("BYMONTHDAY") && frequency == "WEEKLY":
		return errors.New("has BYMONTHDAY, which RFC 5545 does not allow with WEEKLY")
	case has("BYYEARDAY") && frequency != "YEARLY":
		return errors.New("has BYYEARDAY, which RFC 5545 allows with YEARLY only")
	case has("BYWEEKNO") && frequency != "YEARLY":
		return errors.New("has BYWEEKNO, which RFC 5545 allows with YEARLY only")
	case has("BYSETPOS") && !has("BYDAY") && !has("BYMONTHDAY") && !has("BYYEARDAY") && !has("BYWEEKNO") && !has("BYMONTH"):
		return errors.New("has BYSETPOS alone; it picks from what another BY… makes")
	}
	for day := range strings.SplitSeq(parts["BYDAY"], ",") {
		if number := strings.TrimRight(day, "MOTUWEHFRSA"); number != "" && strings.Trim(number, "+-0") == "" {
			return fmt.Errorf("has %s in BYDAY; days are counted from 1, or from -1 backwards", day)
		}
	}
	return nil
}

// wholePart reads a part that is a number from 1; 0 where it is absent.
func wholePart(parts map[string]string, name string, most int) (int, error) {
	if parts[name] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(parts[name])
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("has %s=%s; it takes a number from 1 to %d", name, parts[name], most)
	}
	return n, nil
}

// later is how much later than it is a rule is followed: 19 times 400 years, after which the
// calendar is the same again. Where a rule makes nothing more, the library looks for it up to
// the year 9999, which costs it seconds from here and nothing from there.
const later = 19 * 146_097

// ErrTooMany says that a rule makes more than [OccurrencesMax] dates.
var ErrTooMany = fmt.Errorf("makes more than %d occurrences", OccurrencesMax)

// Dates are the occurrences from start to until, both included; until is 0 where the rule
// itself says when it ends. A day that does not exist, such as the 31st of April, is left out,
// as section 3.3.10 says. start is an occurrence where the rule makes it one. The error is
// [ErrTooMany].
func (r *Recurrence) Dates(start, until Date) ([]Date, error) {
	if until == 0 {
		until = NewDate(YearMax, time.December, 31)
	}
	if r.until != 0 {
		until = min(until, r.until)
	}
	option := r.option
	option.Dtstart, option.Until = (r.from(start, &option) + later).Midnight(), (until + later).Midnight()
	rule, err := rrule.NewRRule(option)
	if err != nil {
		panic(err) // it was one when it was parsed
	}
	var dates []Date
	next := rule.Iterator()
	for t, ok := next(); ok; t, ok = next() {
		d := dateOf(t) - later
		switch {
		case d < start:
			continue
		case len(dates) == OccurrencesMax:
			return nil, ErrTooMany
		}
		dates = append(dates, d)
		if len(dates) == r.count {
			break
		}
	}
	return dates, nil
}

// from is where the library starts to count, and writes into option the parts that start implies,
// where the library would not see them. With WEEKLY it is the beginning of the week: the library takes
// the days of its first week from there on for the whole week, and BYSETPOS would pick others from
// them than section 3.3.10 does. With BYWEEKNO alone, the library makes every day of the week
// an occurrence; the section takes what the rule does not say from the start.
func (r *Recurrence) from(start Date, option *rrule.ROption) Date {
	isWeekly := option.Freq == rrule.WEEKLY
	isByWeek := len(option.Byweekno) > 0 && len(option.Bymonthday)+len(option.Byyearday) == 0
	monday := (int(start.Weekday()) + 6) % 7
	if (isWeekly || isByWeek) && len(option.Byweekday) == 0 {
		days := []rrule.Weekday{rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA, rrule.SU}
		option.Byweekday = []rrule.Weekday{days[monday]}
	}
	if !isWeekly {
		return start
	}
	return start - Date((monday-option.Wkst.Day()+7)%7)
}

// Ends reports whether the rule says itself when it ends, by COUNT or UNTIL.
func (r *Recurrence) Ends() bool { return r.count > 0 || r.until != 0 }

// EndsBefore reports whether the rule says by UNTIL that it ends before a date.
func (r *Recurrence) EndsBefore(d Date) bool { return r.until != 0 && r.until < d }

// Counts reports whether the rule says by COUNT how many dates it makes.
func (r *Recurrence) Counts() bool { return r.count > 0 }
