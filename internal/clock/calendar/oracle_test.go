package calendar_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"remit/internal/clock/calendar"
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
		t.Skipf("Debian's Python has no module %s here (Debian: apt-get install quantlib-python python3-holidays)", module)
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

// dateHolidays prints the public holidays of a set's country or part of it from 2026 to 2030, as the
// package date-holidays of npm has them, a date a line.
const dateHolidays = `
const Holidays = require(process.argv[1] + "/node_modules/date-holidays")
for (const set of process.argv.slice(2)) {
    const theirs = new Holidays(...(set === "gb" ? ["GB", "ENG"] : set.toUpperCase().split("-")))
    for (let year = 2026; year <= 2030; year++) {
        for (const day of theirs.getHolidays(year).filter(day => day.type === "public")) {
            const first = Date.parse(day.date.slice(0, 10) + "T00:00Z")
            const days = Math.max(1, Math.round((day.end - day.start) / 864e5))
            for (let n = 0; n < days; n++) {
                console.log(set, new Date(first + n * 864e5).toISOString().slice(0, 10))
            }
        }
    }
}
`

// notCompared are the sets that are more or less than the public holidays which date-holidays
// 3.37.0 has for the whole day, and why.
func notCompared() map[string]string {
	const announced, local, eves = "governments say each year", "in some places of it", "evenings count as days there"
	return map[string]string{
		"ae": announced, "ar": announced, "cn": announced, "hu": announced, "in": announced, "kr": announced, "lv": announced,
		"ru": announced, "sg": announced, "ua": announced,
		"au-qld": local, "ch": local, "ch-ai": local, "ch-ar": local, "ch-fr": local, "ch-lu": local, "ch-ne": local, "ch-so": local, "ch-ur": local,
		"ch-vs": local, "au-nt": eves, "au-sa": eves, "ch-gl": eves, "is": eves,
		"br": "banks close for Carnival and Corpus Christi", "ca": "banks close for days of the federal government",
		"fi": "banks close on two eves", "se": "banks close on three eves",
		"bg": "a holiday on a Sunday is observed on the Monday", "gr": "a Labour Day on Easter Monday is moved",
		"mx": "1 October 2030 is the day of a new government", "nl": "Good Friday", "sk": "the law of 2025 ended some", "us": "a Veterans Day on a weekend is observed",
		"boe": "is gb", "boj": "banks", "ecb": "banks", "fed": "banks", "mw": "unknown there", "nc": "named otherwise there",
	}
}

// TestAgainstDateHolidays holds the holidays of the years ahead against a second source, day by day.
func TestAgainstDateHolidays(t *testing.T) {
	module := os.Getenv("REMIT_DATE_HOLIDAYS")
	if module == "" {
		t.Skip("REMIT_DATE_HOLIDAYS does not say where npm has installed date-holidays 3.37.0: .ci/run tests installs it")
	}
	args := []string{"-e", dateHolidays, module}
	for _, set := range calendar.HolidaySets() {
		if notCompared()[set] == "" {
			args = append(args, set)
		}
	}
	out, err := exec.Command("node", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		theirs[strings.TrimSpace(line)] = true
	}
	sets := args[3:]
	if len(sets) < 50 {
		t.Errorf("only %d sets are compared", len(sets))
	}
	for _, set := range sets {
		c := newCalendar(t, calendar.Rules{Holidays: []string{set}})
		for d := day(t, "2026-01-01"); d < day(t, "2031-01-01"); d++ {
			if d.Weekday() == 0 || d.Weekday() == 6 {
				continue
			}
			if got, want := c.Closed(d), theirs[set+" "+d.String()]; (got != "") != want {
				t.Errorf("%s: %s is %q; date-holidays has a holiday: %t", set, d, got, want)
			}
		}
	}
}

// TestHolidaysOfThisYear holds what laws of late have changed, and the years that sets know.
func TestHolidaysOfThisYear(t *testing.T) {
	for at, want := range map[string]string{
		"pl 2024-12-24": "", "pl 2027-12-24": "Christmas Eve (pl)", "it 2027-10-04": "Saint Francis of Assisi, Patron Saint of Italy (it)",
		"fed 2026-07-03": "", "us 2026-07-03": "Independence Day (observed) (us)", "fed 2027-07-05": "Independence Day (observed) (fed)",
		"hk 2026-04-03": "Good Friday (hk)", "in 2026-01-26": "Republic Day (in)", "sg 2026-08-10": "National Day (observed) (sg)",
		"mx 2026-11-16": "Revolution Day (mx)", "pt 2026-06-10": "Day of Portugal, Camões, and the Portuguese Communities (pt)",
		"cn 2026-02-17": "Chinese New Year (Spring Festival) (cn)", "ae 2025-03-31": "Eid al-Fitr Holiday (ae)", "boj 2026-12-31": "Bank holiday (boj)",
	} {
		set, text, _ := strings.Cut(at, " ")
		if got := newCalendar(t, calendar.Rules{Holidays: []string{set}}).Closed(day(t, text)); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
	c := newCalendar(t, calendar.Rules{Also: []*calendar.Calendar{newCalendar(t, calendar.Rules{Holidays: []string{"fed", "sg"}})}})
	for text, want := range map[string]string{"2027-12-31": " 0", "2028-01-01": "sg 2027", "2041-01-01": "fed 2040"} {
		if set, known := c.Unknown(day(t, text)); fmt.Sprint(set, " ", known) != want {
			t.Errorf("%s is unknown to %q, which knows %d; want %q", text, set, known, want)
		}
	}
	if calendar.HolidaysKnown("atlantis") != 0 {
		t.Error("a set that does not exist knows a year")
	}
}
