package planner

import (
	"strings"

	"remit/config"
	"remit/internal/text/lazyregexp"
)

// A fee of 11.00 for 2026-11, and one of 12.00 for 2026-12, have the digits of their amounts by chance. A month after a
// year is no amount, unless the ref_id is put together of a year and of an amount.

// yearFirst and yearLast are dates: a year and a month, and a day where there is one.
var (
	yearFirst = lazyregexp.New(`(?:19|20)[0-9]{2}[-_./](?:0[1-9]|1[0-2])(?:[-_./](?:0[1-9]|[12][0-9]|3[01]))?`)
	yearLast  = lazyregexp.New(`(?:(?:0[1-9]|[12][0-9]|3[01])[-_./])?(?:0[1-9]|1[0-2])[-_./](?:19|20)[0-9]{2}`)
)

// isOfDate reports whether the number at a place of a ref_id is the month or the day of a date.
func isOfDate(refID string, at int) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(refID) && refID[i] >= '0' && refID[i] <= '9' }
	const year = 4
	for _, date := range yearFirst.FindAllStringSubmatchIndex(refID, -1) {
		if at > date[0] && at < date[1] && !isDigit(date[0]-1) && !isDigit(date[1]) {
			return true
		}
	}
	for _, date := range yearLast.FindAllStringSubmatchIndex(refID, -1) {
		if at >= date[0] && at < date[1]-year && !isDigit(date[0]-1) && !isDigit(date[1]) {
			return true
		}
	}
	return false
}

// Parts of the words of a template: a reference that is a value as it is, and the text around it that may go on with a
// date.
var (
	plainReference = lazyregexp.New(`\$\{(?:var|each)\.[A-Za-z0-9_.-]+\}`)
	dateBefore     = lazyregexp.New(`(?:^|[0-9])[-_./]?$`)
	dateAfter      = lazyregexp.New(`^[-_./]?[0-9]`)
)

// hasWholeDates reports whether a date in the ref_id is of one value or of one written text: no part of it can be an
// amount. It is false where the words do not say it.
func (n named) hasWholeDates() bool {
	if n.fromLabel || n.naming == config.NamingWritten {
		return true
	}
	template, isTemplate := strings.CutPrefix(n.naming, `ref_id = "`)
	template, rest, _ := strings.Cut(template, `"`)
	if !isTemplate || rest != "" && (!strings.HasPrefix(rest, `, key = "`) || strings.Contains(rest, "…")) {
		return false
	}
	end := 0
	for _, at := range plainReference.FindAllStringSubmatchIndex(template, -1) {
		before := template[end:at[0]]
		if end == 0 && before == "" {
			before = "-- " // nothing is before the first one
		}
		if dateBefore.MatchString(before) || dateAfter.MatchString(template[at[1]:]) {
			return false
		}
		end = at[1]
	}
	return !strings.Contains(plainReference.ReplaceAllString(template, ""), "${")
}
