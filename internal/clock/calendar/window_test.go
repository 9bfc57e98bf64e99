package calendar_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/clock/calendar"
	"remit/internal/clock/zone"
)

func instant(t rapid.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func clock(t rapid.TB, text string) calendar.Clock {
	t.Helper()
	c, err := calendar.ParseClockEnd(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func location(t rapid.TB, name string) *time.Location {
	t.Helper()
	found, err := zone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var everyDay = [7]bool{true, true, true, true, true, true, true}

func TestIntervals(t *testing.T) {
	business := newCalendar(t, calendar.Rules{Holidays: []string{"ecb"}})
	for name, test := range map[string]struct {
		window         calendar.Hours
		zone, from, to string // of the window
		after, before  string
		want           string
	}{
		"business days": {
			calendar.Hours{Days: everyDay, Calendar: business},
			"Europe/Berlin", "09:00", "17:00",
			"2026-12-24T12:00:00Z", "2026-12-29T12:00:00Z", // Christmas is a Friday
			"2026-12-24T08:00:00Z/2026-12-24T16:00:00Z 2026-12-28T08:00:00Z/2026-12-28T16:00:00Z 2026-12-29T08:00:00Z/2026-12-29T12:00:00Z",
		},
		"overnight, on the day after the last that opens": {
			calendar.Hours{Days: [7]bool{time.Friday: true}},
			"UTC", "22:00", "04:00",
			"2026-11-28T01:00:00Z", "2026-12-05T12:00:00Z",
			"2026-11-27T22:00:00Z/2026-11-28T04:00:00Z 2026-12-04T22:00:00Z/2026-12-05T04:00:00Z",
		},
		"day and night": {
			calendar.Hours{Days: everyDay},
			"America/New_York", "00:00", "24:00",
			"2026-10-30T00:00:00Z", "2026-11-03T00:00:00Z",
			"2026-10-28T04:00:00Z/2026-11-03T00:00:00Z",
		},
		"over the end of daylight saving": {
			calendar.Hours{Days: everyDay},
			"America/New_York", "01:30", "03:00",
			"2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z",
			"2026-11-01T05:30:00Z/2026-11-01T08:00:00Z",
		},
		"a start that the clocks skip": {
			calendar.Hours{Days: everyDay},
			"America/New_York", "02:30", "04:00",
			"2026-03-08T00:00:00Z", "2026-03-09T00:00:00Z",
			"2026-03-08T07:30:00Z/2026-03-08T08:00:00Z",
		},
		"a window that the clocks skip": {
			calendar.Hours{Days: everyDay},
			"America/New_York", "02:30", "03:00",
			"2026-03-07T00:00:00Z", "2026-03-10T00:00:00Z",
			"2026-03-07T07:30:00Z/2026-03-07T08:00:00Z 2026-03-09T06:30:00Z/2026-03-09T07:00:00Z",
		},
		"from the instant at which it closes": {
			calendar.Hours{Days: everyDay},
			"UTC", "09:00", "17:00",
			"2026-11-27T17:00:00Z", "2026-11-28T09:00:00Z", // at which it does not open yet
			"",
		},
		"from ten to ten on the next day": {
			calendar.Hours{Days: [7]bool{time.Friday: true}},
			"UTC", "10:00", "10:00",
			"2026-11-27T00:00:00Z", "2026-11-30T00:00:00Z",
			"2026-11-27T10:00:00Z/2026-11-28T10:00:00Z",
		},
		"the earliest of several cut-offs, whatever their order": {
			calendar.Hours{
				Days: [7]bool{time.Friday: true},
				CutOffs: []calendar.CutOff{
					{Days: everyDay, At: clock(t, "15:00")}, {Days: everyDay, At: clock(t, "12:00")}, {Days: everyDay, At: clock(t, "16:00")},
				},
			},
			"UTC", "09:00", "17:00",
			"2026-11-27T00:00:00Z", "2026-11-30T00:00:00Z",
			"2026-11-27T09:00:00Z/2026-11-27T12:00:00Z",
		},
		"cut-offs of an overnight window, before midnight and after": {
			calendar.Hours{
				Days:    everyDay,
				CutOffs: []calendar.CutOff{{Days: [7]bool{time.Friday: true}, At: clock(t, "02:00")}, {Dates: []calendar.Date{day(t, "2026-11-28")}, At: clock(t, "23:00")}},
			},
			"UTC", "22:00", "04:00",
			"2026-11-27T12:00:00Z", "2026-11-30T12:00:00Z",
			"2026-11-27T22:00:00Z/2026-11-28T02:00:00Z 2026-11-28T22:00:00Z/2026-11-28T23:00:00Z 2026-11-29T22:00:00Z/2026-11-30T04:00:00Z",
		},
		"denials that overlap the window and each other, whatever their order": {
			calendar.Hours{
				Days: everyDay,
				Denies: []calendar.Deny{
					{instant(t, "2026-11-27T16:00:00Z"), instant(t, "2026-11-28T09:30:00Z")},
					{instant(t, "2026-11-27T07:00:00Z"), instant(t, "2026-11-27T10:00:00Z")},
					{instant(t, "2026-11-27T12:00:00Z"), instant(t, "2026-11-27T13:00:00Z")},
					{instant(t, "2026-11-27T11:00:00Z"), instant(t, "2026-11-27T12:30:00Z")},
				},
			},
			"UTC", "09:00", "17:00",
			"2026-11-27T00:00:00Z", "2026-11-29T00:00:00Z",
			"2026-11-27T10:00:00Z/2026-11-27T11:00:00Z 2026-11-27T13:00:00Z/2026-11-27T16:00:00Z 2026-11-28T09:30:00Z/2026-11-28T17:00:00Z",
		},
		"cut-offs and denials": {
			calendar.Hours{
				Days:    everyDay,
				CutOffs: []calendar.CutOff{{Days: [7]bool{time.Friday: true}, At: clock(t, "15:00")}, {Dates: []calendar.Date{day(t, "2026-12-03")}, At: clock(t, "12:00")}},
				Denies:  []calendar.Deny{{instant(t, "2026-12-02T10:00:00Z"), instant(t, "2026-12-02T11:00:00Z")}},
			},
			"UTC", "09:00", "17:00",
			"2026-12-02T00:00:00Z", "2026-12-05T00:00:00Z",
			"2026-12-02T09:00:00Z/2026-12-02T10:00:00Z 2026-12-02T11:00:00Z/2026-12-02T17:00:00Z 2026-12-03T09:00:00Z/2026-12-03T12:00:00Z 2026-12-04T09:00:00Z/2026-12-04T15:00:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := test.window
			w.Zone, w.From, w.To = location(t, test.zone), clock(t, test.from), clock(t, test.to)
			var got []string
			for _, i := range w.Intervals(instant(t, test.after), instant(t, test.before)) {
				got = append(got, i.Opens.UTC().Format(time.RFC3339)+"/"+i.Closes.UTC().Format(time.RFC3339))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestIntervalsMinuteByMinute asks of each minute whether the clocks of the zone show a time
// between from and to, on a day of the week that opens, and holds the intervals against that.
// The days on which the clocks are changed are left out: a start that they skip or show twice
// has its own rule.
func TestIntervalsMinuteByMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := calendar.Hours{
			Zone: location(t, rapid.SampledFrom([]string{"UTC", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago"}).Draw(t, "zone")),
			From: calendar.Clock(rapid.IntRange(0, 1439).Draw(t, "from")),
		}
		w.To = calendar.Clock(rapid.IntRange(0, 1440).Filter(func(to int) bool { return calendar.Clock(to) != w.From }).Draw(t, "to"))
		for i := range w.Days {
			w.Days[i] = rapid.Bool().Draw(t, "opens")
		}
		start := instant(t, "2026-05-04T00:00:00Z").Add(time.Duration(rapid.IntRange(0, 200_000).Draw(t, "minute")) * time.Minute)
		if month := start.Month(); month > time.September {
			t.Skip()
		}
		all := w.Intervals(start, start.AddDate(0, 0, 4))
		for at := start; at.Before(start.AddDate(0, 0, 4)); at = at.Add(time.Minute) {
			local := at.In(w.Zone)
			now := calendar.Clock(local.Hour()*60 + local.Minute())
			yesterday := (local.Weekday() + 6) % 7
			var want bool
			if w.From < w.To {
				want = w.Days[local.Weekday()] && w.From <= now && now < w.To
			} else {
				want = w.Days[local.Weekday()] && w.From <= now || w.Days[yesterday] && now < w.To
			}
			got := false
			for _, i := range all {
				got = got || !at.Before(i.Opens) && at.Before(i.Closes)
			}
			if got != want {
				t.Fatalf("%s: open is %t, want %t; %v", local, got, want, all)
			}
		}
	})
}

// TestAWindowThatOpensInWeeksIsFound closes a window for some days, and for more than are looked through.
func TestAWindowThatOpensInWeeksIsFound(t *testing.T) {
	from := instant(t, "2026-11-27T12:00:00Z")
	for days, want := range map[int]string{0: "2026-11-27T09:00:00Z", 1: "2026-11-28T12:00:00Z", 10: "2026-12-07T12:00:00Z", 300: "2027-09-23T12:00:00Z", 365: "2027-11-27T12:00:00Z", 366: ""} {
		w := calendar.Hours{
			Zone: time.UTC, Days: everyDay, From: clock(t, "09:00"), To: clock(t, "17:00"),
			Denies: []calendar.Deny{{From: from, To: from.AddDate(0, 0, days)}},
		}
		if days == 0 {
			w.Denies = nil
		}
		next, found := w.Next(from)
		if got := next.Opens.Format(time.RFC3339); found != (want != "") || found && got != want {
			t.Errorf("denied for %d days: it opens at %s, %t, want %q", days, got, found, want)
		}
	}
}

// TestAWindowThatOpensOnceIsFound has one business day in a year.
func TestAWindowThatOpensOnceIsFound(t *testing.T) {
	w := calendar.Hours{
		Zone: time.UTC, Days: everyDay, From: clock(t, "09:00"), To: clock(t, "17:00"),
		Calendar: newCalendar(t, calendar.Rules{Weekend: []time.Weekday{0, 1, 2, 3, 4, 5, 6}, Except: []calendar.Date{day(t, "2027-02-01")}}),
	}
	want := calendar.Interval{Opens: instant(t, "2027-02-01T09:00:00Z"), Closes: instant(t, "2027-02-01T17:00:00Z")}
	if got, found := w.Next(instant(t, "2026-11-27T12:00:00Z")); !found || !got.Opens.Equal(want.Opens) || !got.Closes.Equal(want.Closes) {
		t.Errorf("%v, %t, want %v", got, found, want)
	}
}

func TestTimesOfDay(t *testing.T) {
	for text, want := range map[string]string{
		"09:00": "09:00", "00:00": "00:00", "23:59": "23:59",
		"9:00": "", "09:0": "", "24:00": "", "24:01": "", "09:60": "", "09:00:00": "", "9am": "", "": "",
	} {
		c, err := calendar.ParseClock(text)
		if got := c.String(); want != "" && (err != nil || got != want) || want == "" && !errors.Is(err, calendar.ErrClock) {
			t.Errorf("%q is %s, %v, want %q", text, got, err, want)
		}
	}
	if c, err := calendar.ParseClockEnd("24:00"); err != nil || c.String() != "24:00" {
		t.Errorf("the end of the day is %s, %v", c, err)
	}
}
