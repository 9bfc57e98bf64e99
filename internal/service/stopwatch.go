package service

import "time"

// watches makes stopwatches.
type watches struct {
	now func() time.Time
	up  func() time.Duration // of the machine, sleep included; nil where the system has no such clock
}

// stopwatch says how long ago it was started. The clock of timers stops while a machine sleeps, so
// that a timer alone holds no deadline.
type stopwatch struct {
	of    watches
	local time.Time
	up    time.Duration
}

func (w watches) start() stopwatch { return stopwatch{of: w, local: w.now(), up: w.sinceBoot()} }

func (w watches) sinceBoot() time.Duration {
	if w.up == nil {
		return 0
	}
	return w.up()
}

// passed returns the longest time that a clock says. Without the time since the boot the wall clock tells of a sleep.
func (s stopwatch) passed() time.Duration {
	now := s.of.now()
	passed := now.Sub(s.local)
	if up := s.of.sinceBoot(); up > 0 && s.up > 0 {
		return max(passed, up-s.up)
	}
	return max(passed, now.Round(0).Sub(s.local.Round(0)))
}
