//go:build unix

package history

import (
	"time"
	"unsafe"
)

// wallTime is laid out as time.Time is. Only the clock of the real machine makes a time that knows two clocks,
// and the machines of a history have their own: one that anyone may set, and one that only goes on.
type wallTime struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

const (
	isMonotonic = 1 << 63
	wallYear    = 1885 // with which the seconds of such a time begin
	nanoBits    = 30
)

// twoClocks is what a program reads of a machine: the wall clock, and since when the other one runs. It
// panics where package time has another layout than this one.
func twoClocks(wall time.Time, monotonic time.Duration) time.Time {
	begin := time.Date(wallYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	t := wall.UTC()
	of := (*wallTime)(unsafe.Pointer(&t)) //nolint:gosec // see above
	of.wall = isMonotonic | uint64(wall.Unix()-begin)<<nanoBits | uint64(wall.Nanosecond())
	of.ext = int64(monotonic)
	return t
}

// checkTwoClocks says whether twoClocks does what it promises.
func checkTwoClocks() {
	noon := epoch().Add(3 * time.Hour)
	before, after := twoClocks(noon, time.Hour), twoClocks(noon.Add(-time.Hour), time.Hour+time.Second)
	if !before.Equal(before) || after.Sub(before) != time.Second || !after.Round(0).Equal(noon.Add(-time.Hour)) {
		panic("package time keeps its times in another way than the simulation knows")
	}
}
