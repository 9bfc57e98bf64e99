package calendar

import (
	_ "embed" // the table of holidays
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// holidaysText has the holidays of each set by year. data/generate.py writes holidays.txt and describes
// its content.
//
//go:embed data/holidays.txt
var holidaysText string

// holidaySet are the holidays of a country by ISO 3166-1, of a part of one by ISO 3166-2, or of a
// central bank by the name that it goes by.
type holidaySet struct {
	yearKnown int // the last one of which every holiday is certain
	named     map[Date]string
}

var sets = sync.OnceValue(func() map[string]*holidaySet {
	read, err := readHolidays(holidaysText)
	if err != nil {
		panic("data/holidays.txt: " + err.Error()) // it is a part of the program
	}
	return read
})

// readHolidays reads lines of "[SET] LAST_YEAR_KNOWN" and, below each, of the name of a holiday and its
// days as "MM-DD:YEARS", where YEARS are such as "2026,2028-2030"; all parts of these with tabs between.
func readHolidays(text string) (map[string]*holidaySet, error) {
	all := make(map[string]*holidaySet)
	var set *holidaySet
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var err error
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			name, year, _ := strings.Cut(line[1:], "] ")
			set = &holidaySet{named: make(map[Date]string)}
			set.yearKnown, err = strconv.Atoi(year)
			all[name] = set
		default:
			err = set.read(strings.Split(line, "\t"))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return all, nil
}

func (s *holidaySet) read(fields []string) error {
	for _, field := range fields[1:] {
		day, years, _ := strings.Cut(field, ":")
		at, err := time.Parse("01-02", day)
		if err != nil {
			return err
		}
		for part := range strings.SplitSeq(years, ",") {
			from, to, isRange := strings.Cut(part, "-")
			if !isRange {
				to = from
			}
			first, err := strconv.Atoi(from)
			if err != nil {
				return err
			}
			last, err := strconv.Atoi(to)
			if err != nil {
				return err
			}
			for year := first; year <= last; year++ {
				s.named[NewDate(year, at.Month(), at.Day())] = fields[0]
			}
		}
	}
	return nil
}

// HolidaySets are the names of all sets of holidays, sorted.
func HolidaySets() []string { return slices.Sorted(maps.Keys(sets())) }

// HolidaysKnown is the last year of which every holiday of a set is certain, 0 where there is no such
// set. Holidays of later years may be estimates, or missing.
func HolidaysKnown(set string) int {
	if s := sets()[set]; s != nil {
		return s.yearKnown
	}
	return 0
}

// addHolidays adds what a set of holidays closes. It is false where there is no such set. Where two
// holidays fall on one day, the first named of them is kept.
func addHolidays(set string, into map[Date]string) bool {
	s := sets()[set]
	if s == nil {
		return false
	}
	for d, name := range s.named {
		if into[d] == "" {
			into[d] = name + " (" + set + ")"
		}
	}
	return true
}
