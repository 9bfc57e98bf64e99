//go:build unix

package history

import (
	"fmt"
	"time"

	"remit/config"
	"remit/internal/clock/calendar"
)

// hours are when a window block is open, every day: from one minute of UTC's day until before another,
// which is on the next day where it is the earlier one.
type hours struct{ from, until int }

// isOpen is the simulation's own arithmetic: what a calendar makes of the same hours is held against it.
func (h hours) isOpen(t time.Time) bool {
	minute := t.UTC().Hour()*60 + t.UTC().Minute()
	if h.from < h.until {
		return h.from <= minute && minute < h.until
	}
	return h.from <= minute || minute < h.until
}

// block is what config makes of the window block.
func (h hours) block(name string) *config.Window {
	w := &calendar.Hours{Zone: time.UTC, From: calendar.Clock(h.from), To: calendar.Clock(h.until)}
	for i := range w.Days {
		w.Days[i] = true
	}
	return &config.Window{Name: name, Hours: w}
}

const minutesOfDay = 24 * 60

// drawWindow declares a window that opens or closes soon, and returns its name.
func (a *author) drawWindow() string {
	w := a.world
	now := w.kernel.Now().UTC()
	minute := now.Hour()*60 + now.Minute()
	k := w.kernel
	h := hours{
		from:  (minute + minutesOfDay - int(k.between(0, 3*time.Hour).Minutes())) % minutesOfDay,
		until: (minute + 1 + int(k.between(0, 40*time.Minute).Minutes())) % minutesOfDay,
	}
	if k.chance(0.3) { // it is closed now
		h.from = (minute + 1 + int(k.between(0, 30*time.Minute).Minutes())) % minutesOfDay
		h.until = (h.from + 2 + int(k.between(0, 3*time.Hour).Minutes())) % minutesOfDay
	}
	name := fmt.Sprintf("hours-%d", len(a.hours)+1)
	a.hours[name] = h
	w.log("window %s is open from %02d:%02d until %02d:%02d", name, h.from/60, h.from%60, h.until/60, h.until%60)
	return name
}
