package machine

import (
	"fmt"
	"time"
)

// Clock is the clock of a script: remit and the service go by it. The zero value is that of the real machine.
type Clock struct {
	set   time.Time // when it was set, by the clock of the real machine
	at    time.Time // what it said then
	speed int       // how many times as fast as a real clock it goes
}

// NewClock is a clock that is set now.
func NewClock(at time.Time, speed int) Clock { return Clock{set: time.Now(), at: at, speed: speed} }

// Now is what the clock says.
func (c Clock) Now() time.Time {
	if c.speed == 0 {
		return time.Now()
	}
	return c.at.Add(time.Since(c.set) * time.Duration(c.speed))
}

// String is the clock as an environment has it.
func (c Clock) String() string {
	return fmt.Sprintf("%s %s %d", c.set.Format(time.RFC3339Nano), c.at.Format(time.RFC3339Nano), c.speed)
}

// ParseClock reads what String wrote; any other text is the clock of the real machine.
func ParseClock(text string) Clock {
	var set, at string
	var c Clock
	if _, err := fmt.Sscan(text, &set, &at, &c.speed); err != nil {
		return Clock{}
	}
	c.set, _ = time.Parse(time.RFC3339Nano, set)
	c.at, _ = time.Parse(time.RFC3339Nano, at)
	return c
}
