package calendar

import (
	"strconv"
	"strings"
	"time"

	"remit/internal/text/lazyregexp"
)

var (
	bySlashes = lazyregexp.New(`^(\d{1,2})([/-])(\d{1,2})[/-](\d{4}|\d{2})$`)
	dayNumber = lazyregexp.New(`^[345]\d{4}(?:\.\d+)?$`)
)

// writtenForms are the forms of a day in which nobody takes it for another one.
var writtenForms = []string{
	"2.1.2006", "2.1.06", "2006/1/2", "2006-1-2", "20060102", "2006.1.2",
	"2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "2-Jan-2006", "2-Jan-06", "2-January-2006",
}

// Written are the days that somebody may mean who writes a day as spreadsheets show it: two of one such as 11/05/2026, the
// month first; none of any other text. A day of [ParseDate] is one of them.
func Written(text string) []Date {
	text = strings.TrimSpace(text)
	for _, form := range append([]string{time.DateOnly}, writtenForms...) {
		if t, err := time.Parse(form, text); err == nil {
			return ofYears(dateOf(t))
		}
	}
	if dayNumber.MatchString(text) {
		whole, _, _ := strings.Cut(text, ".")
		days, _ := strconv.Atoi(whole)
		return ofYears(NewDate(1899, time.December, 30+days))
	}
	parts := bySlashes.FindStringSubmatch(text)
	if parts == nil {
		return nil
	}
	year := parts[4]
	if len(year) == len("26") {
		year = "20" + year
	}
	var days []Date
	for _, parts := range [][2]string{{parts[1], parts[3]}, {parts[3], parts[1]}} {
		t, err := time.Parse("2006-1-2", year+"-"+strings.TrimLeft(parts[0], "0")+"-"+strings.TrimLeft(parts[1], "0"))
		if err == nil && (days == nil || days[0] != dateOf(t)) {
			days = append(days, dateOf(t))
		}
	}
	return ofYears(days...)
}

// ofYears are the days in the years that dates may be in.
func ofYears(days ...Date) []Date {
	for _, d := range days {
		if year := d.Midnight().Year(); year < YearMin || year > YearMax {
			return nil
		}
	}
	return days
}

// InWords is a day as no one takes it for another one, such as 5 November 2026.
func (d Date) InWords() string { return d.Midnight().Format("2 January 2006") }
