package rows

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"remit/internal/text/lazyregexp"
)

// shownDate is what of a date and a time a section shows.
type shownDate struct {
	year, month, day, hour, minute, second bool
	short                                  bool   // the year has two digits
	elapsed                                string // the largest unit, beyond its limit
	order                                  string // y, m and d in the cell's order
	dotted                                 bool   // points are between them
	odd                                    bool   // digits of its own, or what no one shows alike
}

// dateOf finds out what a section shows.
func dateOf(s *cellSection) shownDate {
	var d shownDate
	for i, t := range s.tokens {
		letters := strings.ToLower(t.text)
		switch {
		case t.kind == tokenElapsed:
			d.odd = d.odd || d.elapsed != "" || d.hour || d.minute
			d.elapsed = letters[:1]
			d.hour = d.hour || d.elapsed == "h"
		case t.kind != tokenDate:
			d.odd = d.odd || strings.ContainsFunc(t.text, func(c rune) bool { return unicode.IsNumber(c) || isHidden(c) || strings.ContainsRune(verticalBars, c) })
			d.dotted = d.dotted || t.text == "." && d.order != "" && len(d.order) < 3
		case letters == "am/pm" || letters == "a/p":
		case letters[0] == 'h':
			d.odd, d.hour = d.odd || d.hour, true
		case letters[0] == 's':
			d.odd, d.second = d.odd || d.second, true
		case letters[0] == 'm' && len(letters) < 3 && isMinute(s.tokens, i):
			d.odd, d.minute = d.odd || d.minute, true
		case letters[0] == 'm':
			d.odd, d.month = d.odd || d.month, true
			if len(letters) < 3 { // a name is in no wrong place
				d.order += "m"
			}
		case letters[0] == 'y':
			d.odd, d.year, d.short, d.order = d.odd || d.year, true, letters == "yy", d.order+"y"
		case len(letters) < 3: // longer ones are days of the week
			d.odd, d.day, d.order = d.odd || d.day, true, d.order+"d"
		}
	}
	return d
}

// isMinute says whether an m or mm is after hours or before seconds, where it means minutes.
func isMinute(tokens []formatToken, i int) bool {
	unit := func(t formatToken) byte {
		if t.kind == tokenElapsed || t.kind == tokenDate && !strings.Contains(t.text, "/") {
			return strings.ToLower(t.text)[0]
		}
		return 0
	}
	for j := i - 1; j >= 0; j-- {
		if u := unit(tokens[j]); u != 0 {
			if u == 'h' {
				return true
			}
			break
		}
	}
	for j := i + 1; j < len(tokens); j++ {
		if u := unit(tokens[j]); u != 0 {
			return u == 's'
		}
	}
	return false
}

const (
	dateLast    = 2958466   // after 9999-12-31
	elapsedMax  = 100_000   // beyond, LibreOffice shows none
	dateSure    = 61        // 1900-03-01: before, Excel has a day more than there was
	secondsADay = 24 * 3600 // of a workbook, which knows no others
	// dateNoise is the part of a second by which a time may be off: a double holds no more of it.
	dateNoise = 0.002
)

// dayZero is the day from which a workbook counts (ECMA-376, part 1, 18.17.4.1).
func dayZero(is1904 bool) time.Time {
	if is1904 {
		return time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
}

// date is a number of days as ISO 8601: a date, a time of day, both, or hours beyond a day. It is
// an error where the section shows less than that, or another thing.
func (f *cellFormat) date(days float64, s *cellSection, is1904 bool) (string, error) {
	d := dateOf(s)
	seconds := math.Round(days * secondsADay)
	isOff := math.Abs(days*secondsADay-seconds) > dateNoise
	if d.elapsed != "" {
		if days < 0 || days >= elapsedMax {
			return "", f.notAlike(fmt.Sprint(days))
		}
		n := int64(seconds)
		text := fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
		if d.odd || isOff || d.year || d.month || d.day || d.elapsed != "h" || !d.minute && n%3600 != 0 || !d.second && n%60 != 0 {
			return "", f.notWhole(text)
		}
		return text, nil
	}
	hasDate := d.year || d.month || d.day || days >= 1
	if days < 0 || days >= dateLast || hasDate && !is1904 && days < dateSure {
		return "", &shownError{f.code, fmt.Sprintf("cannot be read: %v is no date or time that each spreadsheet program would show alike", days), otherFormat}
	}
	t := dayZero(is1904).AddDate(0, 0, int(days)).Add(time.Duration(math.Round((days-math.Floor(days))*secondsADay)) * time.Second)
	hasTime := t.Hour()+t.Minute()+t.Second() > 0 || d.hour || d.minute || d.second
	text := t.Format("2006-01-02T15:04:05")
	switch {
	case !hasDate:
		text = t.Format("15:04:05")
	case !hasTime:
		text = t.Format("2006-01-02")
	}
	isLess := hasDate && (!d.year || !d.month || !d.day || d.short && (t.Year() < 1930 || t.Year() > 2029)) ||
		hasTime && (!d.hour || !d.minute && t.Minute() > 0 || !d.second && t.Second() > 0)
	if isLess || d.odd || isOff || d.order == "ydm" || d.order == "mdy" && d.dotted {
		return "", f.notWhole(text)
	}
	return text, nil
}

// notWhole is the mistake of a date of which a part does not show, or shows as another.
func (f *cellFormat) notWhole(text string) error {
	return &shownError{f.code, fmt.Sprintf("holds %s, and its number format %s shows less of it, or shows it in a way that can be misread", text, f.code), otherFormat}
}

// isoDate matches a date as a cell of the type d holds it.
var isoDate = lazyregexp.New(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.0+)?)?$`)

// daysOf is the number of days of a date in ISO 8601.
func daysOf(text string, is1904 bool) (string, bool) {
	if !isoDate.MatchString(text) {
		return "", false
	}
	text, _, _ = strings.Cut(text, ".")
	layout := "2006-01-02T15:04:05"
	t, err := time.Parse(layout[:len(text)], text)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%.10f", float64(t.Unix()-dayZero(is1904).Unix())/secondsADay), true
}
