// Package machine is the machine that scripts run remit on.
//
// Its one invariant: all that it does is in the environment of a process, so a script sets it and a process that a script starts
// has it.
package machine

import (
	"cmp"
	"time"

	"remit/internal/cli"
	"remit/internal/clock/boot"
)

// The environment variables of a machine.
const (
	ClockVariable = "REMIT_TEST_CLOCK"       // the [Clock] of a script; "" is that of the real machine
	WrongVariable = "REMIT_TEST_WRONG_CLOCK" // how far the clock of remit's own machine is from the others
	BootVariable  = "REMIT_TEST_BOOT"        // the name of its boot; "none" is a machine that does not know it
)

// Of returns the machine of an environment: the real one's clock where that sets none, in its first boot. A busy machine tells
// its progress and gives a completion up, and an idle one does neither: nor does this one.
func Of(getenv func(string) string) cli.Machine {
	clock := ParseClock(getenv(ClockVariable))
	wrong, _ := time.ParseDuration(getenv(WrongVariable))
	name := cmp.Or(getenv(BootVariable), "first")
	return cli.Machine{
		Now: func() time.Time { return clock.Now().Add(wrong) },
		Boot: func() boot.Reading { // which a wrong clock does not change
			if name == "none" {
				return boot.Reading{}
			}
			up := clock.Now().Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
			return boot.Reading{ID: name, Machine: "the machine of the script", Up: up}
		},
		NoProgress: true,
		ShellWaits: 10 * time.Minute,
	}
}
