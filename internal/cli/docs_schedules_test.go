package cli_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/clock/calendar"
)

// TestDocsHolidays holds the holidays that schedules.md lists against those that there are.
func TestDocsHolidays(t *testing.T) {
	var got []string
	for _, row := range tableRows(readDocument(t, "schedules.md").sections["Calendars"]) {
		for _, name := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(row[1], -1) {
			got = append(got, name[1])
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(calendar.HolidaySets(), got); diff != "" {
		t.Errorf("schedules.md lists other holidays than there are (-there are +schedules.md):\n%s", diff)
	}
}
