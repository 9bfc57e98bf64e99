package config

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
	"remit/config/rows"
	"remit/internal/clock/calendar"
	"remit/internal/files/confined"
	"remit/internal/transfer"
)

// datesMax bounds the dates of a calendar's file.
const datesMax = 10_000

// calendarType is the type of calendar.NAME.
var calendarType = cty.Capsule("calendar", reflect.TypeFor[calendar.Calendar]())

func calendarKind() blockKind {
	return blockKind{
		name: "calendar", labels: []string{"name"},
		optional: []string{"description", "weekend", "holidays", "dates", "file", "except", "calendars"},
		read:     (*loader).readCalendar,
	}
}

func (l *loader) readCalendar(b *block) {
	l.readNamed(b, "calendar", func(r *reader) cty.Value {
		rules := calendar.Rules{Named: map[calendar.Date]string{}}
		r.text("description")
		rules.Weekend = r.weekdays("weekend", time.Saturday, time.Sunday)
		rules.Holidays = r.holidays()
		rules.Dates = r.dates("dates")
		rules.Except = r.dates("except")
		rules.Also = r.calendars()
		r.datesOfFile(l.config.sources, &rules)
		if r.diags.HasErrors() {
			return cty.NilVal
		}
		made, err := calendar.New(rules)
		if err != nil {
			panic(err) // the names of holidays were checked
		}
		return cty.CapsuleVal(calendarType, made)
	})
}

// readNamed declares a block whose only label is its name, and whose value evaluate makes. A
// value that could not be made is never used: evaluate then found a mistake.
func (l *loader) readNamed(b *block, root string, evaluate func(*reader) cty.Value) {
	name := b.label(0)
	if !l.declareNamed(b, root+"."+name) {
		return
	}
	var arguments []*argument
	arguments = append(arguments, b.all()...)
	n := &node{
		root: root, name: name, at: b.at, arguments: arguments,
		compute: func() (cty.Value, hcl.Diagnostics) {
			r := &reader{scope: l.config.scope, block: b}
			value := evaluate(r)
			return value, r.diags
		},
	}
	if b.incomplete {
		n.progress = failed
	}
	l.config.scope.add(n)
}

// weekdays is a list of days of the week, otherwise where it is absent.
func (r *reader) weekdays(name string, otherwise ...time.Weekday) []time.Weekday {
	if _, _, found := r.value(name); found == nothing {
		return otherwise
	}
	var days []time.Weekday
	for _, text := range r.texts(name) {
		day, ok := calendar.ParseWeekday(text)
		if !ok {
			r.refuse(r.block.arguments[name].expr.Range(), "Unknown day", "%s has %q; days are %s.%s", name, text,
				strings.Join(calendar.Weekdays(), ", "), mistake.DidYouMean(text, calendar.Weekdays()))
			continue
		}
		days = append(days, day)
	}
	return days
}

func (r *reader) holidays() []string {
	var known, dates []string
	sets := calendar.HolidaySets()
	for _, text := range r.texts("holidays") {
		switch {
		case slices.Contains(sets, text):
			known = append(known, text)
		case text != "" && text[0] >= '0' && text[0] <= '9':
			dates = append(dates, text)
		default:
			r.refuse(r.block.arguments["holidays"].expr.Range(), "Unknown holidays",
				"There are no holidays %q.%s They go by the names of countries and their parts, such as us or de-by, or of central banks: ecb, fed. Dates stand in the argument dates.",
				text, mistake.DidYouMean(text, sets))
		}
	}
	if len(dates) > 0 {
		r.refuseDates(dates)
	}
	return known
}

// refuseDates says where dates stand that were written as the names of holidays: all of them in one
// mistake.
func (r *reader) refuseDates(texts []string) {
	const shown = 3
	isDate, list := true, ""
	for i, text := range texts {
		_, err := calendar.ParseDate(text)
		isDate = isDate && err == nil
		switch {
		case i == 0:
			list = strconv.Quote(text)
		case i < shown:
			list += ", " + strconv.Quote(text)
		case i == shown:
			list += ", …"
		}
	}
	how := ":\n\n  dates = [" + list + "]"
	if !isDate {
		how = ", as ISO 8601 writes them, such as \"2026-11-30\". Here are " + list + "."
	}
	r.refuse(r.block.arguments["holidays"].expr.Range(), "Dates in holidays",
		"holidays has the names of holidays, such as us or fed. Dates that are no business days stand in the argument dates%s", how)
}

// dates is a list of ISO 8601 dates.
func (r *reader) dates(name string) []calendar.Date {
	var all []calendar.Date
	for _, text := range r.texts(name) {
		d, err := calendar.ParseDate(text)
		if err != nil {
			r.refuse(r.block.arguments[name].expr.Range(), "Invalid date", "%s: %q %s", name, text, mistake.Sentence(err))
			continue
		}
		all = append(all, d)
	}
	return all
}

// calendar is an argument that is a calendar, nil where it is absent.
func (r *reader) calendar(name string) *calendar.Calendar {
	v, a, found := r.value(name)
	if found != present {
		return nil
	}
	if v.Type() != calendarType {
		r.refuse(a.expr.Range(), "Not a calendar", "%s must be a calendar, such as calendar.bank, not %s.", name, v.Type().FriendlyName())
		return nil
	}
	return v.EncapsulatedValue().(*calendar.Calendar)
}

// calendars is the argument of that name: a list of calendars.
func (r *reader) calendars() []*calendar.Calendar {
	v, a, found := r.value("calendars")
	if found != present {
		return nil
	}
	isList := v.Type().IsTupleType() || v.Type().IsListType() || v.Type().IsSetType()
	var all []*calendar.Calendar
	for isList && len(all) < v.LengthInt() {
		item := v.AsValueSlice()[len(all)]
		if item.Type() != calendarType || item.IsNull() {
			isList = false
			break
		}
		all = append(all, item.EncapsulatedValue().(*calendar.Calendar))
	}
	if !isList {
		r.refuse(a.expr.Range(), "Not a list of calendars", "calendars must be a list of calendars, such as [calendar.new_york, calendar.target].")
	}
	return all
}

// datesOfFile adds the dates of the calendar's file: one a line, ISO 8601, with the name of
// the day behind it or not; empty lines and what follows a # are left out.
func (r *reader) datesOfFile(s *sources, rules *calendar.Rules) {
	name, a := r.text("file")
	if name == "" {
		return
	}
	if !filepath.IsLocal(name) {
		r.refuse(a.expr.Range(), "File is outside of the directory",
			"file %q must be in the directory of the configuration or below it.", name)
		return
	}
	name = filepath.ToSlash(filepath.Clean(name))
	file, err := confined.Open(s.root, name)
	if err != nil {
		r.refuse(a.expr.Range(), "File of dates cannot be read", "%s: %s", name, mistake.Sentence(err))
		return
	}
	defer func() { _ = file.Close() }() // only read
	s.noteRead(name)
	lines := bufio.NewScanner(file)
	offset := 0
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if err := addDate(line, n == 1, rules); err != nil {
			end := hcl.Pos{Line: n, Column: len(line) + 1, Byte: offset + len(line)}
			r.refuse(hcl.Range{Filename: name, Start: hcl.Pos{Line: n, Column: 1, Byte: offset}, End: end},
				"Not a date", "Each line of a file of dates is a date, such as \"2026-11-27\", and the name of the day or nothing: %s", mistake.Sentence(err))
			s.data.NeedSnippet(name, end.Byte)
		}
		offset += len(line) + 1
		if len(rules.Dates) > datesMax {
			r.refuse(a.expr.Range(), "Too many dates", "%s has more than %d dates.", name, datesMax)
			return
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("a line is too long")
		}
		r.refuse(a.expr.Range(), "File of dates cannot be read", "%s: %s", name, mistake.Sentence(err))
	}
}

func addDate(line string, isFirst bool, rules *calendar.Rules) error {
	if isFirst {
		line = strings.TrimPrefix(line, rows.ByteOrderMark)
	}
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if line == "" {
		return nil
	}
	text, name := line, ""
	if cut := strings.IndexAny(line, " \t,;"); cut > 0 {
		text, name = line[:cut], strings.Trim(line[cut:], " \t,;\"")
	}
	d, err := calendar.ParseDate(text)
	if err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	if err := transfer.CheckText(name); name != "" && err != nil {
		return fmt.Errorf("the name %w", err)
	}
	rules.Dates = append(rules.Dates, d)
	if name != "" {
		rules.Named[d] = name
	}
	return nil
}
