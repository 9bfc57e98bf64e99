//go:build unix

package history

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// wrongOnce is a history in which all clocks are right, but at one command.
type wrongOnce struct {
	command int           // number of the command that finds the wrong clock; 0 for the init
	off     time.Duration // of that clock; 0 for none
	noDate  bool          // the service's answers have no Date
}

// offsets are how far the one wrong clock is off.
func offsets() []time.Duration {
	const year = 365 * 24 * time.Hour
	var both []time.Duration
	for _, off := range []time.Duration{4 * time.Minute, 10 * time.Hour, 10 * year} {
		both = append(both, off, -off)
	}
	return both
}

// clocks are right ones. Whether there is a boottime stays as it was drawn. Commands often come when the
// window of a doubt ends.
func (o *wrongOnce) clocks(drawn clocks) clocks {
	first := drawn.machines[0]
	first.offset, first.drift = 0, 0
	return clocks{machines: []machine{first}, noDate: o.noDate, noBoot: drawn.noBoot, nightly: 0.5, once: o}
}

// PlayWrongClocks plays the history of a seed again and again, each time with another offset of the
// clock of one command, the init included, and with no other clock wrong. Half of the seeds have a
// service with a Date. It returns a report of each, and of the same history with every clock right
// alone where that breaks an invariant already.
func (p *Player) PlayWrongClocks(seed uint64, client Client) []Report {
	right := wrongOnce{noDate: seed%2 == 0, command: -1}
	all := p.play(seed, client, &right)
	if all.Violation != nil {
		return []Report{all}
	}
	dice := rand.New(rand.NewPCG(seed, 0x636c6f636b73))
	var reports []Report
	for _, off := range offsets() {
		once := right
		// The last command is the simulation's own, which looks at how it all ended.
		once.command, once.off = dice.IntN(all.Runs), off
		r := p.play(seed, client, &once)
		r.WrongClock = fmt.Sprintf("command %d of %d by %v, Date %v", once.command, all.Runs, off, !once.noDate)
		reports = append(reports, r)
	}
	return reports
}
