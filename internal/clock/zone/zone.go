// Package zone has the time zones of the IANA database.
//
// Its one invariant: a zone is that of the database in this program, never the machine's, so
// that a bare container and a laptop agree on when a local time is.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the database
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"remit/internal/text/lazyregexp"
)

// Version is the release of the database that is embedded.
const Version = "2025c"

// database is lib/time/zoneinfo.zip of the Go distribution that has [Version]. The package
// time/tzdata would embed the same, but is asked only where the machine has no database.
//
//go:embed zoneinfo.zip
var database []byte

// archive lists the entries of the database.
var archive = sync.OnceValue(func() *zip.Reader {
	r, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		panic(fmt.Sprintf("the embedded time zones cannot be read: %v", err))
	}
	return r
})

// ErrUnknown says that the database has no such zone.
var ErrUnknown = errors.New("is no time zone of the IANA database, such as \"Europe/Berlin\"")

// offset is the difference of a clock from UTC, as people write it.
var offset = lazyregexp.New(`^(?:GMT|UTC|CET|EST|Z)? ?[+-] ?\d{1,2}(?::?\d{2})?$`)

// unknown is [ErrUnknown], with the zone that is called so in other letters, or whose city the name is.
func unknown(name string) error {
	if offset.MatchString(name) {
		return fmt.Errorf("%w. An offset follows no summer time: name a city of the country", ErrUnknown)
	}
	plain := strings.ReplaceAll(strings.TrimSpace(name), " ", "_")
	for _, known := range Names() {
		city := known[strings.LastIndexByte(known, '/')+1:]
		if strings.EqualFold(known, plain) || strings.EqualFold(city, plain) && strings.Contains(known, "/") {
			return fmt.Errorf("%w. Did you mean %q?", ErrUnknown, known)
		}
	}
	return ErrUnknown
}

// Load returns a zone by its name in the IANA database, such as "Europe/Berlin" or "UTC". The
// error is, or wraps, [ErrUnknown].
func Load(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	file, err := archive().Open(name)
	if err != nil {
		return nil, unknown(name)
	}
	defer func() { _ = file.Close() }() // only read, from memory
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, unknown(name) // a directory, such as "Europe"
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		panic(fmt.Sprintf("the embedded time zone %s cannot be read: %v", name, err))
	}
	return zone, nil
}

// Names lists the zones of the database.
func Names() []string {
	var names []string
	for _, file := range archive().File {
		if !strings.HasSuffix(file.Name, "/") {
			names = append(names, file.Name)
		}
	}
	return names
}

// offsetMax is more than any zone was ever away from UTC.
const offsetMax = 26 * time.Hour

// Midnight is when a day begins: after midnight where the clocks skip that, as they do in Chile. There [time.Date] is an hour early,
// on the day before. Months and days may be out of their ranges, as with time.Date.
func Midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	return At(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), zone)
}

// At is when the clocks of a zone show what wall shows in UTC. As RFC 5545 says in section
// 3.3.5, a time that the clocks skip is read with the offset before the gap, and of a time
// that they show twice the first is meant. No zone changes twice within two days since 2000.
//
// It asks for offsets alone: on the last day of a leap year, [time.Time.ZoneBounds] says that a
// period of a zone's rule is over, and never says when the next begins.
func At(wall time.Time, zone *time.Location) time.Time {
	wall = wall.UTC()
	with := func(offset int) time.Time { return wall.Add(-time.Duration(offset) * time.Second).In(zone) }
	_, before := wall.Add(-offsetMax).In(zone).Zone()
	_, after := wall.Add(offsetMax).In(zone).Zone()
	for _, offset := range []int{max(before, after), min(before, after)} { // the larger comes first
		if _, shown := with(offset).Zone(); shown == offset {
			return with(offset)
		}
	}
	return with(before)
}
