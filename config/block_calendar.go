package config

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/clock/calendar"
	"remit/internal/text/english"
)

// calendarType is the type of calendar.NAME.
var calendarType = cty.Capsule("calendar", reflect.TypeFor[calendar.Calendar]())

func calendarKind() eval.Kind {
	return eval.Kind{
		Name: "calendar", Labels: []string{"name"},
		Optional: []string{"description", "weekend", "holidays", "dates", "file", "except", "calendars"},
		Shared:   true,
	}
}

func readCalendar(c *checker, s *sourceFiles, b *eval.Block) {
	readNamed(c, b, "calendar", func(r *eval.Reader) cty.Value {
		rules := calendar.Rules{Named: map[calendar.Date]string{}}
		r.Text("description")
		rules.Weekend = weekdaysArgument(r, "weekend", time.Saturday, time.Sunday)
		rules.Holidays = holidaysArgument(r)
		rules.Dates = datesArgument(r, "dates")
		rules.Except = datesArgument(r, "except")
		rules.Also = calendarsArgument(r)
		readDatesFile(r, s, &rules)
		if r.Diags.HasErrors() {
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
func readNamed(c *checker, b *eval.Block, root string, evaluate func(*eval.Reader) cty.Value) {
	name := b.Label(0)
	if !c.declareNamed(b, root+"."+name) {
		return
	}
	var arguments []*eval.Argument
	arguments = append(arguments, b.All()...)
	n := &eval.Node{
		Root: root, Name: name, At: b.At, Arguments: arguments,
		Compute: func() (cty.Value, hcl.Diagnostics) {
			r := &eval.Reader{Scope: c.scope, Block: b}
			value := evaluate(r)
			return value, r.Diags
		},
	}
	if b.Incomplete {
		n.Progress = eval.Failed
	}
	c.scope.Add(n)
}

// weekdaysArgument is a list of days of the week, otherwise where it is absent.
func weekdaysArgument(r *eval.Reader, name string, otherwise ...time.Weekday) []time.Weekday {
	if _, _, found := r.Value(name); found == eval.Absent {
		return otherwise
	}
	var days []time.Weekday
	var wrong, meant []string
	for _, text := range r.Texts(name) {
		day, ok := calendar.ParseWeekday(text)
		if !ok {
			wrong = append(wrong, text)
			text = strings.TrimSuffix(strings.TrimPrefix(meantDay(text), " Did you mean \""), "\"?")
		}
		meant, days = append(meant, text), append(days, day)
	}
	if len(wrong) == 0 {
		return days
	}
	hint := meantDay(wrong[0])
	if len(wrong) > 1 && !slices.Contains(meant, "") {
		hint = fmt.Sprintf(" Write:\n\n  %s = [%s]", name, strings.Join(mistake.QuotedAll(meant), ", "))
	}
	r.Refuse(r.Block.Arguments[name].Expr.Range(), "Unknown day", "%s has %s; days are %s.%s", name, english.List(mistake.QuotedAll(wrong)),
		strings.Join(calendar.Weekdays(), ", "), hint)
	return nil
}

// countries are names of countries, with their holidays.
var countries = map[string]string{
	"germany": "de", "deutschland": "de", "austria": "at", "österreich": "at", "switzerland": "ch", "schweiz": "ch", "france": "fr", "italy": "it", "spain": "es",
	"netherlands": "nl", "belgium": "be", "poland": "pl", "ireland": "ie", "portugal": "pt", "sweden": "se", "denmark": "dk", "norway": "no", "finland": "fi",
	"uk": "gb", "united kingdom": "gb", "england": "gb", "great britain": "gb", "usa": "us", "united states": "us", "america": "us", "canada": "ca", "japan": "jp",
	"china": "cn", "india": "in", "brazil": "br", "mexico": "mx", "singapore": "sg", "hong kong": "hk", "target": "ecb", "target2": "ecb", "t2": "ecb", "eu": "ecb", "eurozone": "ecb",
}

// meantHolidays says which holidays a word may mean.
func meantHolidays(text string, sets []string) string {
	if set := countries[strings.ToLower(strings.TrimSpace(text))]; slices.Contains(sets, set) {
		return fmt.Sprintf(" Did you mean %q?", set)
	}
	return mistake.DidYouMean(strings.ToLower(text), sets)
}

// meantDay says which day a short or misspelt name of one may mean.
func meantDay(text string) string {
	days := calendar.Weekdays()
	short := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), ".")
	for _, day := range days {
		if len(short) > 1 && strings.HasPrefix(day, short) {
			return fmt.Sprintf(" Did you mean %q?", day)
		}
	}
	return mistake.DidYouMean(short, days)
}

func holidaysArgument(r *eval.Reader) []string {
	var known, dates []string
	sets := calendar.HolidaySets()
	for _, text := range r.Texts("holidays") {
		switch {
		case slices.Contains(sets, text):
			known = append(known, text)
		case text != "" && text[0] >= '0' && text[0] <= '9':
			dates = append(dates, text)
		default:
			r.Refuse(r.Block.Arguments["holidays"].Expr.Range(), "Unknown holidays",
				"There are no holidays %q.%s They go by the names of countries and their parts, such as us or de-by, or of central banks: ecb, fed. Dates stand in the argument dates.",
				text, meantHolidays(text, sets))
		}
	}
	if len(dates) > 0 {
		refuseDates(r, dates)
	}
	return known
}

// refuseDates refuses dates that were written as the names of holidays: all of them in one mistake,
// with their places.
func refuseDates(r *eval.Reader, texts []string) {
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
	r.Refuse(r.Block.Arguments["holidays"].Expr.Range(), "Dates in holidays",
		"holidays has the names of holidays, such as us or fed. Dates that are no business days stand in the argument dates%s", how)
}

// datesArgument is a list of ISO 8601 dates.
func datesArgument(r *eval.Reader, name string) []calendar.Date {
	var all []calendar.Date
	for _, text := range r.Texts(name) {
		d, err := calendar.ParseDate(text)
		if err != nil {
			r.Refuse(r.Block.Arguments[name].Expr.Range(), "Invalid date", "%s: %q %s", name, text, mistake.Sentence(err))
			continue
		}
		all = append(all, d)
	}
	return all
}

// calendarArgument is an argument that is a calendar, nil where it is absent.
func calendarArgument(r *eval.Reader, name string) *calendar.Calendar {
	v, a, found := r.Value(name)
	if found != eval.Present {
		return nil
	}
	if v.Type() != calendarType {
		r.Refuse(a.Expr.Range(), "Not a calendar", "%s must be a calendar, such as calendar.bank, not %s.%s", name, mistake.Kind(v.Type()), asReference("calendar", v, a.Expr.Range()))
		return nil
	}
	return v.EncapsulatedValue().(*calendar.Calendar)
}

// calendarsArgument is the argument of that name: a list of calendars.
func calendarsArgument(r *eval.Reader) []*calendar.Calendar {
	v, a, found := r.Value("calendars")
	if found != eval.Present {
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
		r.Refuse(a.Expr.Range(), "Not a list of calendars", "calendars must be a list of calendars, such as [calendar.new_york, calendar.target].")
	}
	return all
}

// readDatesFile adds the dates of the calendar's file: one a line, ISO 8601, with the name of
// the day behind it or not; empty lines and comments, from a # on, are left out.
func readDatesFile(r *eval.Reader, s *sourceFiles, rules *calendar.Rules) {
	name, a := r.Text("file")
	if name == "" {
		return
	}
	root, below, directory := s.root, "", "the directory of the configuration"
	if included := r.Block.Included; included != nil {
		root, below, directory = included.Root, included.Name, "the included directory "+included.Name
	}
	if !filepath.IsLocal(name) {
		r.Refuse(a.Expr.Range(), "File is outside of the directory", "file %q must be in %s or below it.", name, directory)
		return
	}
	name = filepath.ToSlash(filepath.Clean(name))
	name, below = path.Join(below, name), name
	file, err := root.Open(below)
	if err != nil {
		r.Refuse(a.Expr.Range(), "File of dates cannot be read", "%s: %s", name, mistake.Sentence(err))
		return
	}
	defer func() { _ = file.Close() }() // only read
	s.noteRead(name, root, below)
	readDates(r, s, a, newDatesFile(name, file), rules)
}
