package zone_test

import (
	"testing"
	"time"

	"remit/internal/clock/zone"
)

// TestAtEndOfLeapYear is that the clocks of every zone go on over the end of a leap year, where
// the package time finds no end of the period.
func TestAtEndOfLeapYear(t *testing.T) {
	for _, name := range zone.Names() {
		in, err := zone.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for year := 2012; year < 2100; year += 4 {
			for hour := range 96 {
				wall := time.Date(year, time.December, 30, hour, 30, 0, 0, time.UTC)
				if got := zone.At(wall, in).Format(time.DateTime); got != wall.Format(time.DateTime) {
					t.Fatalf("%s: %s shows %s", name, wall.Format(time.DateTime), got)
				}
			}
		}
	}
}
