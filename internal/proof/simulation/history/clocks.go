//go:build unix

package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// machine is where commands run. Its clock is its own; its boot is what nobody can set.
type machine struct {
	name   string
	offset time.Duration // of its clock, for good
	drift  time.Duration // a day
	boots  int
	booted time.Time // in the time of the world

	// It sleeps from one time until another, and slept before for so long: guarded by the kernel's mutex.
	from, until time.Time
	slept       time.Duration
}

// machines are those of a history.
type machines struct {
	world *world
	list  []*machine
	slept int // times that one fell asleep
}

// bootedBefore is how long before a history its machines were booted.
const bootedBefore = time.Hour

// clocks are how the clocks of a history are wrong.
type clocks struct {
	machines []machine     // as each is when the history begins
	wrong    float64       // chance that one command finds its machine's clock far off
	noDate   bool          // the service's answers have no Date
	noBoot   bool          // the machines do not say how long they are up
	sets     float64       // of each step of an apply: somebody sets its machine's clock
	jumps    float64       // of each chapter that the service's clock jumps; of each step of an apply, a hundredth
	service  time.Duration // by which the service's own clock, which is its Date, is off
	drift    time.Duration // a day, of the service's clock
	reboots  float64       // chance of each command
	suspends float64       // of each step of an apply: the machine sleeps, for hours
	nightly  float64       // chance that the next command comes when the window has just ended, or nearly
	isTight  bool          // it comes within the last timeout of a request before the window ends
	once     *wrongOnce    // the one command that finds a wrong clock; nil where chance decides
}

const (
	skewMax  = 3*time.Minute + 30*time.Second // of a machine whose clock is called right
	aheadMax = time.Minute                    // of a service whose clock is
	driftMax = 30 * time.Second
)

// newClocks draws the clocks of one history. In half of them all are right.
func newClocks(r *rand.Rand) clocks {
	chance := func(p float64) bool { return r.Float64() < p }
	within := func(most time.Duration) time.Duration { return time.Duration(r.Int64N(int64(2*most)+1)) - most }
	c := clocks{machines: []machine{{name: "simulation", booted: epoch().Add(-time.Hour), boots: 1}}}
	c.noDate, c.noBoot = chance(0.25), chance(0.2)
	c.nightly = pick(r, 0, 0, 0.3, 0.6)
	if chance(0.5) {
		return c
	}
	for i := range r.IntN(3) {
		c.machines = append(c.machines, machine{name: fmt.Sprintf("simulation-%d", i+2), booted: epoch().Add(-time.Hour), boots: 1})
	}
	for i := range c.machines {
		m := &c.machines[i]
		m.offset = pick(r, 0, within(skewMax), pick(r, -skewMax, skewMax))
		m.drift = pick(r, 0, 0, within(5*time.Second))
	}
	c.service = pick(r, 0, 0, within(aheadMax))
	c.drift = pick(r, 0, 0, within(5*time.Second))
	c.wrong = pick(r, 0, 0.15, 0.3)
	c.reboots = pick(r, 0, 0.2)
	c.suspends = pick(r, 0, 0, 0.005)
	return c
}

// tightClocks are two machines whose clocks are as far apart as two may be, and commands that come at the very
// end of a doubt's window: nothing is left of it but the timeout of a request.
func tightClocks() clocks {
	const apart = 10*time.Minute - 6*time.Second
	c := clocks{nightly: 0.8, isTight: true}
	for i, offset := range []time.Duration{apart / 2, -apart / 2} {
		c.machines = append(c.machines, machine{name: fmt.Sprintf("simulation-%d", i+1), offset: offset, booted: epoch().Add(-time.Hour), boots: 1})
	}
	return c
}

// slackMax is how much less than the window a doubt's age must be for every clock to agree that the
// service still knows it.
const slackMax = 20 * time.Minute

// canProve reports whether nothing but the age of a doubt decides whether it is sent again, and all
// that tells the age is there.
func (t traits) canProve() bool {
	c := t.clocks
	return !t.hasLookup && !t.holdDoubt && !c.noDate && c.suspends == 0 && c.sets == 0 && c.jumps == 0
}

// clock is what a machine says, in a command by which its clock is further off than always.
func (ms *machines) clock(m *machine, off time.Duration) time.Time {
	w := ms.world
	now := w.kernel.Now()
	if w.healed {
		return now.Add(off)
	}
	return now.Add(m.offset + off + drifted(m.drift, now))
}

// clock is what the service says, and what it forgets by.
func (b *bank) clock() time.Time { return b.clockAt(b.world.kernel.Now()) }

// clockAt is what it says when it is t in the world.
func (b *bank) clockAt(t time.Time) time.Time {
	c := b.world.traits.clocks
	jumped := time.Duration(0)
	for _, j := range b.jumps {
		if !j.at.After(t) {
			jumped = j.off
		}
	}
	return t.Add(c.service + drifted(c.drift, t) + jumped)
}

// jump is when the service's clock was set, and by how much it is off from then on.
type jump struct {
	at  time.Time
	off time.Duration
}

// jump sets the service's clock.
func (b *bank) jump(off time.Duration) {
	w := b.world
	w.log("the clock of the service is off by %v", off)
	w.count("clock of the service set")
	b.jumps = append(b.jumps, jump{w.kernel.Now(), off})
}

// drifted is how far a clock went astray; it is never let go further than driftMax.
func drifted(aDay time.Duration, now time.Time) time.Duration {
	far := time.Duration(float64(aDay) * float64(now.Sub(epoch())) / float64(24*time.Hour))
	return max(-driftMax, min(driftMax, far))
}

// boot finds the machine of a new command, which may have been booted meanwhile and may have
// another time than it had.
func (ms *machines) boot() (*machine, time.Duration) {
	w := ms.world
	c, k := w.traits.clocks, w.kernel
	m := ms.list[k.random.IntN(len(ms.list))]
	if c.once != nil && c.once.command == w.runs {
		return m, ms.turn(m, c.once.off)
	}
	if w.healed {
		return m, 0
	}
	isUsed := slices.ContainsFunc(w.processes, func(p *process) bool { return p.machine == m && !p.isOver() })
	if k.chance(c.reboots) && !isUsed { // nobody lives through that
		w.log("%s boots", m.name)
		w.count("boot")
		m.boots++
		m.booted = k.Now()
	}
	if !k.chance(c.wrong) {
		return m, 0
	}
	off := pick(k.random, 4*time.Minute, 10*time.Hour, 10*time.Hour, 10*365*24*time.Hour)
	if k.chance(0.5) {
		off = -off
	}
	return m, ms.turn(m, off)
}

// turn notes that a command finds a clock off by this much, which it returns.
func (ms *machines) turn(m *machine, off time.Duration) time.Duration {
	w := ms.world
	word := "ahead"
	if off < 0 {
		word = "behind"
	}
	w.log("the clock of %s is off by %v", m.name, off)
	w.count(fmt.Sprintf("clock %s by %v", word, off.Abs()))
	return off
}

// suspend puts the machine of a process to sleep, with all that runs there.
func (ms *machines) suspend(p *process) {
	w := ms.world
	d := w.kernel.between(time.Minute, 30*time.Hour)
	if w.kernel.sleep(p.machine, w.processes, d) {
		ms.slept++
		w.log("%s sleeps for %v", p.machine.name, d)
		w.count("suspended machine")
	}
}

// set is somebody who sets the clock of a machine while commands run there: far off, or right.
func (ms *machines) set(p *process) {
	w := ms.world
	k := w.kernel
	off := pick(k.random, 0, 4*time.Minute, 10*time.Hour, 10*365*24*time.Hour)
	if k.chance(0.5) {
		off = -off
	}
	w.log("the clock of %s is set while %s runs: off by %v", p.machine.name, p.id, off)
	w.count("clock set while a command runs")
	for _, other := range w.processes {
		if other.machine == p.machine {
			other.off.Store(int64(off))
			other.turnedAt = k.Now()
			other.ahead = max(other.ahead, other.wall().Sub(k.Now()))
		}
	}
}
