package zone_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"remit/internal/clock/zone"
)

func load(t rapid.TB, name string) *time.Location {
	t.Helper()
	location, err := zone.Load(name)
	if err != nil {
		t.Fatalf("%s %v", name, err)
	}
	return location
}

// TestVersion holds the release that the package names against the file: who replaces one has
// to change the other. The release stands in lib/time/update.bash beside the file.
func TestVersion(t *testing.T) {
	database, err := os.ReadFile("zoneinfo.zip")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(database)
	of := map[string]string{
		"8f55634d05f8bca1f7bc7c69c5933428c69357e0bdf565e5ba224e3f88ff12e8": "2025c",
	}
	if got := of[hex.EncodeToString(sum[:])]; got != zone.Version {
		t.Errorf("Version is %s, but the file with SHA-256 %x is of release %q", zone.Version, sum, got)
	}
}

func TestAt(t *testing.T) {
	for name, test := range map[string]struct{ zone, wall, want string }{
		"an ordinary time":                      {"America/New_York", "2026-07-01T17:00:00Z", "2026-07-01T17:00:00-04:00"},
		"UTC":                                   {"UTC", "2026-07-01T17:00:00Z", "2026-07-01T17:00:00Z"},
		"a gap, read with the offset before it": {"America/New_York", "2026-03-08T02:30:00Z", "2026-03-08T03:30:00-04:00"},
		"the first second of a gap":             {"America/New_York", "2026-03-08T02:00:00Z", "2026-03-08T03:00:00-04:00"},
		"the second behind a gap":               {"America/New_York", "2026-03-08T03:00:00Z", "2026-03-08T03:00:00-04:00"},
		"an overlap, of which the first counts": {"America/New_York", "2026-11-01T01:30:00Z", "2026-11-01T01:30:00-04:00"},
		"the second behind an overlap":          {"America/New_York", "2026-11-01T02:00:00Z", "2026-11-01T02:00:00-05:00"},
		"a gap of half an hour":                 {"Australia/Lord_Howe", "2026-10-04T02:15:00Z", "2026-10-04T02:45:00+11:00"},
		"a gap at midnight":                     {"Africa/Cairo", "2026-04-24T00:00:00Z", "2026-04-24T01:00:00+03:00"},
		"a day that was skipped":                {"Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-31T12:00:00+14:00"},
		"a time before all rules":               {"Europe/Berlin", "1800-01-01T00:00:00Z", "1799-12-31T23:06:32Z"},
		"a time long after the last rule":       {"Europe/Berlin", "2199-07-01T12:00:00Z", "2199-07-01T12:00:00+02:00"},
	} {
		t.Run(name, func(t *testing.T) {
			wall, err := time.Parse(time.RFC3339, test.wall)
			if err != nil {
				t.Fatal(err)
			}
			want, err := time.Parse(time.RFC3339, test.want)
			if err != nil {
				t.Fatal(err)
			}
			if got := zone.At(wall, load(t, test.zone)); !got.Equal(want) {
				t.Errorf("At(%s) = %s, want %s", test.wall, got.Format(time.RFC3339), test.want)
			}
		})
	}
}

// TestAtIsFirst holds At to its promise minute by minute: the clocks show wall, and did not an
// instant before; or they never show it, and At is as far behind the gap as wall is in it.
func TestAtIsFirst(t *testing.T) {
	names := zone.Names()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "zone")
		location := load(t, name)
		// Before 1972 some clocks were off by seconds.
		minute := rapid.Int64Range(3*365*24*60, 130*365*24*60).Draw(t, "minute")
		wall := time.Unix(minute*60, 0).UTC()
		got := zone.At(wall, location)
		shows := func(at time.Time) time.Time {
			_, offset := at.In(location).Zone()
			return at.UTC().Add(time.Duration(offset) * time.Second)
		}
		var first time.Time
		for at := wall.Add(-27 * time.Hour); at.Before(wall.Add(27 * time.Hour)); at = at.Add(time.Minute) {
			if shows(at).Equal(wall) {
				first = at
				break
			}
		}
		switch {
		case !first.IsZero() && !got.Equal(first):
			t.Fatalf("%s: At(%s) = %s, the clocks first show it at %s", name, wall, got, first)
		case first.IsZero() && shows(got).Before(wall):
			t.Fatalf("%s: At(%s) = %s lies before the gap", name, wall, got)
		}
	})
}

// TestMidnightIsOnItsDay goes through ten years of all zones.
func TestMidnightIsOnItsDay(t *testing.T) {
	for _, name := range zone.Names() {
		in := load(t, name)
		last := zone.Midnight(2020, 1, 0, in)
		for day := range 3653 {
			at, asked := zone.Midnight(2020, 1, day+1, in), time.Date(2020, 1, day+1, 0, 0, 0, 0, time.UTC)
			if at.Format(time.DateOnly) != asked.Format(time.DateOnly) || !at.After(last) {
				t.Fatalf("%s: %s begins at %s, and the day before at %s", name, asked.Format(time.DateOnly), at, last)
			}
			last = at
		}
	}
}

func TestLoadIgnoresTheMachine(t *testing.T) {
	t.Setenv("ZONEINFO", "/nonexistent")
	t.Setenv("TZ", "Asia/Tokyo")
	if got := zone.At(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), load(t, "Europe/Berlin")); got.UTC().Hour() != 10 {
		t.Errorf("12:00 in Berlin is %s", got.UTC())
	}
	for _, name := range []string{"", "Local", "Europe", "Europe/", "../Berlin", "Europe/Bonn", "europe/berlin", "EST5EDT4"} {
		if location, err := zone.Load(name); err == nil {
			t.Errorf("Load(%q) is %v", name, location)
		}
	}
}
