//go:build unix

package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// sharing is the crew of a process as the executor sees it: each of its effects is an event.
type sharing struct{ p *process }

var _ state.Share = sharing{}

// errCut is what a process is told that can't reach the state.
var errCut = errors.New("the server that keeps the state can't be reached")

// waitAnswer is how long a process waits for the state.
const waitAnswer = 10 * time.Second

// ask has f happen as an effect of the process on a state that it may be cut off from. It waits for a while; a
// process that could not reach the state can't go on with it.
func (p *process) ask(key string, f func() error) error {
	for {
		var err error
		var isCut bool
		var wait time.Duration
		dead := p.do(key, func() {
			wait = p.cutUntil.Sub(p.world.kernel.Now())
			if isCut = p.crew != nil && p.broken == nil && wait > 0; isCut {
				return
			}
			if err = p.broken; err == nil {
				err = f()
			}
		})
		switch {
		case dead != nil || !isCut:
			return errors.Join(dead, err)
		case wait <= waitAnswer:
			if err := p.later(wait, key+" waits", nil); err != nil {
				return err
			}
		default:
			return errors.Join(p.later(waitAnswer, key+" gives up", func() {
				p.broken = errCut
				if p.failedAt.IsZero() {
					p.failedAt = p.world.kernel.Now()
				}
			}), errCut)
		}
	}
}

// do has f happen as an effect of a runner that others know of, with a sign of life.
func (s sharing) do(key string, f func(*crew, *member)) error {
	c := s.p.crew
	return s.p.ask(key, func() error {
		m := c.of(s.p)
		if m == nil {
			return errNoPlace
		}
		if err := c.sign(m); err != nil {
			return err
		}
		f(c, m)
		return nil
	})
}

// Wanted implements [state.Share].
func (s sharing) Wanted() bool {
	c := s.p.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.p.world.kernel.Now().Before(c.wanted)
}

// Open implements [state.Share]. A process that dies in the middle of it leaves a run that nobody can join.
func (s sharing) Open(_ context.Context, o state.Opening) error {
	p, c := s.p, s.p.crew
	if err := p.ask("publishes the run", func() error {
		c.plan, c.parts = o.Plan, nil
		for _, part := range o.Parts {
			c.parts = append(c.parts, &piece{Part: part})
		}
		return nil
	}); err != nil {
		return err
	}
	return p.ask("opens the run", func() error {
		now := c.world.kernel.Now()
		c.rates = o.Rates()
		for operation, rate := range c.rates {
			for _, age := range rate.Ages {
				c.permits[operation] = append(c.permits[operation], now.Add(state.Lateness(rate.Window)-age))
			}
		}
		m := c.enter(p)
		m.settled, m.tallies = o.Settled, kept(nil, o.Tally)
		m.known[0] = true
		inHand := slices.Sorted(slices.Values(o.InHand)) // in which order nobody promises
		c.parts = append(c.parts, &piece{Part: state.Part{RefIDs: inHand}, owner: m, isDone: len(inHand) == 0})
		c.isOpen, c.openedAt = true, now
		c.world.log("%s opens the run: %d parts, %d in hand", p.id, len(o.Parts), len(o.InHand))
		return nil
	})
}

func kept(tallies [][]byte, tally []byte) [][]byte {
	if len(tally) == 0 {
		return tallies
	}
	return append(tallies, tally)
}

// Claim implements [state.Share].
func (s sharing) Claim(_ context.Context, all bool) (parts []state.Part, done bool, err error) {
	most := 1
	if all {
		most = partsClaim
	}
	err = s.do("claims", func(c *crew, m *member) {
		level, isLeft := c.level()
		for _, one := range c.parts {
			isFree := one.owner == nil || one.owner == m && !m.known[one.Number]
			if isLeft && !one.isDone && one.Level == level && isFree && len(parts) < most {
				one.owner, m.known[one.Number] = m, true
				parts = append(parts, one.Part)
				c.world.log("%s claims part %d (again: %v): %v", s.p.id, one.Number, one.Again, one.RefIDs)
			}
		}
		done = !isLeft
	})
	return parts, done, err
}

// Done implements [state.Share].
func (s sharing) Done(_ context.Context, parts []int, settled int, tally []byte) error {
	return s.do(fmt.Sprintf("has done %v", parts), func(c *crew, m *member) {
		m.settled, m.tallies = settled, kept(m.tallies, tally)
		for _, one := range c.parts {
			if one.owner == m && slices.Contains(parts, one.Number) {
				one.isDone = true
			}
		}
	})
}

// Stop implements [state.Share].
func (s sharing) Stop(_ context.Context, reason string) error {
	return s.do("stops the run", func(c *crew, _ *member) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stopped == "" {
			c.stopped = reason
		}
	})
}

// Stopped implements [state.Share].
func (s sharing) Stopped() string {
	c := s.p.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// Reserve implements [state.Share]. A reserved start ages from twice its lateness on.
func (s sharing) Reserve(_ context.Context, operation transfer.Operation, rate state.Rate, wanted int) (starts int, within time.Duration, err error) {
	hold := state.Lateness(rate.Window)
	err = s.do("reserves "+string(operation), func(c *crew, _ *member) {
		now := c.world.kernel.Now()
		opened, ok := c.rates[operation]
		if !ok {
			opened = rate
			c.rates[operation] = rate
		}
		permits := slices.DeleteFunc(c.permits[operation], func(from time.Time) bool { return !from.Add(opened.Window).After(now) })
		starts, within = max(0, min(wanted, min(opened.Requests, rate.Requests)-len(permits))), hold
		for range starts {
			permits = append(permits, now.Add(2*hold))
		}
		slices.SortFunc(permits, time.Time.Compare)
		c.permits[operation] = permits
		if starts == 0 && len(permits) > 0 {
			within = max(time.Millisecond, permits[0].Add(opened.Window).Sub(now))
		}
	})
	return starts, within, err
}

// Runners implements [state.Share].
func (s sharing) Runners(context.Context) (runners []state.Runner, tallies [][]byte, err error) {
	err = s.do("adds up", func(c *crew, _ *member) {
		for _, m := range c.members {
			runners = append(runners, state.Runner{Number: m.number, User: "ada", Host: m.process.machine.name, Settled: m.settled, Lost: m.gone.isLost()})
			tallies = append(tallies, m.tallies...)
		}
	})
	return runners, tallies, err
}

// Alone implements [state.Share].
func (s sharing) Alone(context.Context) (isAlone bool, err error) {
	err = s.do("means to leave", func(c *crew, m *member) {
		c.lookAfter(m)
		if isAlone = !c.others(m) && m.gone == present; isAlone {
			c.isClosed = true
			return
		}
		c.leave(m)
	})
	return isAlone, err
}

// leave notes that a runner has left.
func (c *crew) leave(m *member) {
	if m.gone == present {
		m.gone = left
		c.world.log("%s leaves the run", m.process.id)
		c.free(m)
	}
}

// Leave implements [state.Share]. The last one to leave takes the lock away from those who were lost and may only
// stand still.
func (s sharing) Leave(context.Context) error {
	err := s.do("leaves", func(c *crew, m *member) {
		c.leave(m)
		isLost := slices.ContainsFunc(c.members, func(m *member) bool { return m.gone.isLost() })
		if isLost && !c.others(nil) {
			c.last = s.p
		}
	})
	if errors.Is(err, errNoPlace) {
		return nil
	}
	return err
}
