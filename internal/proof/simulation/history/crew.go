//go:build unix

package history

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// The duties of runners to one another, in a state that several machines share.
const (
	leaseRunner = 10 * time.Second       // without a sign of life, after which a runner is lost
	pollLease   = time.Second            // between signs of life, and looks after those of others
	pollKnock   = 500 * time.Millisecond // between the questions of one who asks to take part
	knocksMax   = 30                     // of these, before it goes away
	partsClaim  = 256                    // that are claimed at once at most
)

// errNoPlace says that a runner asks of a run what only those who share it may.
var errNoPlace = errors.New("the run is not open to other runners")

// crew is a run that several runners carry out together, as the state knows it: a simulated [state.Share]
// over one real journal.
//
// Its one invariant: a part has one owner at a time, and gets another one only when the first has left, is dead,
// or has shown no sign of life for as long as its lease.
type crew struct {
	world *world
	runID string
	first *process

	// All runners write the same journal, and hold its lock together: it is free when the last session has ended.
	journal  state.Journal
	store    Store
	sessions map[*process]bool
	isTaken  bool     // somebody took the lock away
	isFree   bool     // none of them has the lock any more
	last     *process // with whose session the lock is free, whoever else stands still; nil before it is known

	isOpen, isClosed bool
	openedAt         time.Time
	haltedAt         time.Time // when an answer showed that the run must stop; zero for never
	plan             []byte
	parts            []*piece
	members          []*member                  // in the order of their numbers, of which the first is 1
	outcomes         map[string]executor.Result // of each ref_id, that the run wrote last
	rates            map[transfer.Operation]state.Rate
	permits          map[transfer.Operation][]time.Time // from when on each reserved start ages, oldest first

	mu      sync.Mutex
	wanted  time.Time // until when somebody asks to take part; guarded by mu
	stopped string    // guarded by mu
}

// piece is a part of the run, and whose it is.
type piece struct {
	state.Part
	owner  *member // nil for nobody
	isDone bool
}

// member is a runner of a crew.
type member struct {
	process *process
	number  int
	lease   time.Time // until when it is not lost, whatever it does
	gone    departure
	settled int
	known   map[int]bool // parts that it knows it has
	tallies [][]byte
}

// departure is how a runner came to be none any more.
type departure uint8

const (
	present  departure = iota
	left               // it said so
	dead               // its session ended
	outlived           // its lease did
)

func (d departure) isLost() bool { return d == dead || d == outlived }

// found makes the crew of a run that a process begins, which is alone until it opens the run.
func (w *world) found(p *process) {
	p.crew = &crew{
		world: w, runID: p.id, first: p, journal: p.journal, store: p.store, sessions: map[*process]bool{p: true},
		outcomes: make(map[string]executor.Result), rates: make(map[transfer.Operation]state.Rate), permits: make(map[transfer.Operation][]time.Time),
	}
	w.crew = p.crew
}

// knock is asked by one who wants to take part, and reports whether it does from now on.
func (c *crew) knock(p *process) (isIn bool, err error) {
	now := c.world.kernel.Now()
	switch {
	case c.isFree || c.isClosed || c.isTaken:
		return false, state.ErrNoRun
	case !c.isOpen:
		c.mu.Lock()
		c.wanted = now.Add(leaseRunner)
		c.mu.Unlock()
		return false, nil
	}
	p.crew, p.journal, p.path, p.inode = c, c.journal, c.first.path, c.first.inode
	c.sessions[p] = true
	c.enter(p)
	c.world.log("%s takes part in %s", p.id, c.runID)
	c.world.count("runner that takes part")
	return true, nil
}

// enter makes a process a runner.
func (c *crew) enter(p *process) *member {
	m := &member{process: p, number: len(c.members) + 1, lease: c.world.kernel.Now().Add(c.lease()), known: make(map[int]bool)}
	c.members = append(c.members, m)
	c.live(m)
	return m
}

// lease is how long one lasts.
func (c *crew) lease() time.Duration {
	if changed := c.world.client.Lease; changed > 0 {
		return changed
	}
	return leaseRunner
}

// live has a runner show a sign of life each second, and look after the others, as long as it is one. Like
// everything that a process does, it waits while its machine or the process stands still.
func (c *crew) live(m *member) {
	p := m.process
	c.world.kernel.after(p, pollLease, p.id+" lives", func() {
		if m.gone != present || p.isOver() || c.isFree {
			return
		}
		if c.world.kernel.Now().After(p.cutUntil) && c.sign(m) == nil {
			c.lookAfter(m)
		}
		c.live(m)
	})
}

// of is the place of a process in the crew; nil where the run is not open.
func (c *crew) of(p *process) *member {
	i := slices.IndexFunc(c.members, func(m *member) bool { return m.process == p })
	if i < 0 {
		return nil
	}
	return c.members[i]
}

// sign is a sign of life. It fails where others have taken the runner for lost, or its session ended.
func (c *crew) sign(m *member) error {
	if m.gone == present && m.process.isCut {
		c.lose(m, dead)
	}
	switch {
	case m.gone.isLost():
		return fmt.Errorf("%w: %w", state.ErrTakenForLost, state.ErrFenced)
	case c.isTaken:
		return state.ErrFenced
	}
	m.lease = c.world.kernel.Now().Add(c.lease())
	return nil
}

// lookAfter takes those for lost who show no sign of life.
func (c *crew) lookAfter(by *member) {
	now := c.world.kernel.Now()
	for _, m := range c.members {
		switch {
		case m == by || m.gone != present:
		case !c.sessions[m.process] || m.process.isCut:
			c.lose(m, dead)
		case m.lease.Before(now):
			c.lose(m, outlived)
		}
	}
}

// lose frees what a runner had.
func (c *crew) lose(m *member, how departure) {
	m.gone = how
	if m.process.fencedAt.IsZero() {
		m.process.fencedAt = c.world.kernel.Now()
	}
	c.world.log("%s is lost to %s", m.process.id, c.runID)
	c.world.count("runner that is lost")
	c.free(m)
}

// free gives the parts of a runner that is gone to the others.
func (c *crew) free(m *member) {
	for _, one := range c.parts {
		if one.owner == m && !one.isDone {
			one.owner, one.Again = nil, true
		}
	}
}

// others are the runners that are present, but for one.
func (c *crew) others(than *member) bool {
	return slices.ContainsFunc(c.members, func(m *member) bool { return m != than && m.gone == present })
}

// carriesOn reports whether another process than p still holds the lock.
func (c *crew) carriesOn(p *process) bool {
	for other := range c.sessions {
		if other != p {
			return true
		}
	}
	return false
}

// hangUp ends the session of a process. The last one lets go of the lock.
func (c *crew) hangUp(p *process) {
	delete(c.sessions, p)
	if (len(c.sessions) == 0 || p == c.last) && !c.isFree {
		c.letGo(p)
	}
}

// letGo unlocks the state, whoever holds it still.
func (c *crew) letGo(p *process) {
	c.isFree = true
	if err := c.journal.Unlock(); err != nil && !errors.Is(err, state.ErrFenced) && p.killed.Err() == nil {
		c.world.oracle.violate("I6", "unlock: %v", err)
	}
	if !c.world.storage.isShared(c.store) {
		_ = c.store.Close() // every append was durable when it returned
	}
}

// unlocked notes that somebody took the lock away from all of them.
func (c *crew) unlocked(at time.Time) {
	c.isTaken = true
	for p := range c.sessions {
		if p.fencedAt.IsZero() {
			p.fencedAt = at
		}
	}
}

// piece is the part that has a ref_id; nil for none.
func (c *crew) piece(refID string) *piece {
	i := slices.IndexFunc(c.parts, func(one *piece) bool { return slices.Contains(one.RefIDs, refID) })
	if i < 0 {
		return nil
	}
	return c.parts[i]
}

// level is the lowest one that is not done; false where all are.
func (c *crew) level() (lowest int, isLeft bool) {
	for _, one := range c.parts {
		if !one.isDone && (!isLeft || one.Level < lowest) {
			lowest, isLeft = one.Level, true
		}
	}
	return lowest, isLeft
}
