package calendar_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"remit/internal/calendar"
)

// quantLib prints, for each calendar and each day of some years, whether QuantLib has it for
// a business day, and where its conventions move it.
const quantLib = `
import QuantLib as ql
calendars = [
    ("ecb", ql.TARGET()),
    ("fed", ql.UnitedStates(ql.UnitedStates.FederalReserve)),
    ("ecb fed", ql.JointCalendar(ql.TARGET(), ql.UnitedStates(ql.UnitedStates.FederalReserve))),
]
# QuantLib 1.29 closes the Friday before a Juneteenth on a Saturday. The banks are open then, as
# before every holiday on a Saturday: https://www.frbservices.org/about/holiday-schedules
for year in range(2021, 2042):
    if ql.Date(19, 6, year).weekday() == ql.Saturday:
        for name, calendar in calendars:
            calendar.removeHoliday(ql.Date(18, 6, year))
conventions = [ql.Following, ql.ModifiedFollowing, ql.Preceding, ql.ModifiedPreceding]
for name, calendar in calendars:
    day, last = ql.Date(1, 1, 2010), ql.Date(31, 12, 2040)
    while day <= last:
        moved = [calendar.adjust(day, c).ISO() for c in conventions]
        print(name, day.ISO(), *moved, sep=",")
        day += 1
`

// python runs a script with Debian's Python, which alone has Debian's modules. Where a module
// is missing the test is skipped.
func python(t *testing.T, script, module string) []byte {
	t.Helper()
	if err := exec.Command("/usr/bin/python3", "-c", "import "+module).Run(); err != nil {
		t.Skipf("Debian's Python has no module %s here", module)
	}
	out, err := exec.Command("/usr/bin/python3", "-c", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAgainstQuantLib holds the calendars of central banks and the conventions, day by day,
// against another implementation.
func TestAgainstQuantLib(t *testing.T) {
	calendars := map[string]*calendar.Calendar{}
	conventions := []calendar.Convention{calendar.Following, calendar.ModifiedFollowing, calendar.Preceding, calendar.ModifiedPreceding}
	compared, differ := 0, 0
	lines := bufio.NewScanner(bytes.NewReader(python(t, quantLib, "QuantLib")))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		c := calendars[fields[0]]
		if c == nil {
			c = newCalendar(t, calendar.Rules{Holidays: strings.Fields(fields[0])})
			calendars[fields[0]] = c
		}
		d := day(t, fields[1])
		for i, convention := range conventions {
			compared++
			got, err := c.Adjust(d, convention)
			if err != nil || got.String() != fields[2+i] {
				if differ++; differ <= 20 {
					t.Errorf("%s: %s of %s is %v, %v; QuantLib has %s", fields[0], convention, d, got, err, fields[2+i])
				}
			}
		}
	}
	if compared < 100_000 {
		t.Errorf("only %d dates were compared", compared)
	}
}

// holidays prints the public holidays of some countries as python3-holidays has them, as they
// are observed.
const holidays = `
import holidays
for name, cls in [
    ("us", holidays.US), ("it", holidays.IT), ("be", holidays.BE), ("de", holidays.DE), ("at", holidays.AT),
    ("no", holidays.NO), ("pl", holidays.PL),
]:
    for day, what in sorted(cls(years=range(2022, 2031)).items()):
        print(name, day.isoformat(), what, sep=",")
`

// TestAgainstPythonHolidays holds national holidays against another implementation, whichever
// of the two has a day that is no weekend.
func TestAgainstPythonHolidays(t *testing.T) {
	theirs := map[string]map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(python(t, holidays, "holidays")))
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), ",", 3)
		if theirs[fields[0]] == nil {
			theirs[fields[0]] = map[string]bool{}
		}
		theirs[fields[0]][fields[1]] = true
	}
	for name, days := range theirs {
		c := newCalendar(t, calendar.Rules{Holidays: []string{name}})
		for d := day(t, "2022-01-01"); d < day(t, "2031-01-01"); d++ {
			if strings.HasPrefix(c.Closed(d), "Juneteenth") {
				continue // Debian's release is older than the holiday
			}
			isWeekend := d.Weekday() == 0 || d.Weekday() == 6
			if got, want := c.Closed(d) != "", isWeekend || days[d.String()]; got != want {
				t.Errorf("%s: %s is closed: %t (%s); python3-holidays says %t", name, fmt.Sprint(d, " ", d.Weekday()), got, c.Closed(d), want)
			}
		}
	}
}
