//go:build unix

package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"remit/executor"
)

// settleRoundsMax is how often the kernel yields for goroutines that can run before it takes
// one of them for running for ever.
const settleRoundsMax = 1_000_000

// runnable is the runtime's count of goroutines that could run now. With one P it is exact for the
// goroutine that runs on it.
const runnable = "/sched/goroutines/runnable:goroutines"

// outside is the runtime's count of goroutines in a call of the system or of C. On a busy machine one of SQLite
// lasts so long that its goroutine leaves the one P to others.
const outside = "/sched/goroutines/not-in-go:goroutines"

// errKilled is what a process is told of everything that it tries after its death.
var errKilled = errors.New("the process is dead")

// event is something that is about to happen. Nothing of the world happens outside of one.
type event struct {
	at     time.Time
	key    string // says what it is, and orders events that come at once
	number int
	urgent bool
	owner  *process // nil: of the world
	run    func()   // nil: somebody only waits
	done   chan struct{}
	dead   bool // its owner died before; guarded by the kernel's mutex
}

// kernel decides the next event, and its time. Its invariant: one thing happens at a time, and only
// once everybody who could go on waits for something.
type kernel struct {
	mu     sync.Mutex
	now    time.Time // guarded by mu
	events []*event  // guarded by mu
	number int       // guarded by mu

	acting atomic.Pointer[process] // whose event happened last; nil where it was the world's

	random *rand.Rand // of the goroutine that calls step
	dice   *rand.Rand // guarded by mu; of everybody else
	steps  int
	away   uint64 // goroutines outside that have nothing to do with the history
}

func newKernel(seed uint64, now time.Time) *kernel {
	return &kernel{
		now:    now,
		random: rand.New(rand.NewPCG(seed, 0x6b65726e656c)),
		dice:   rand.New(rand.NewPCG(seed, 0x64696365)),
		away:   count(outside),
	}
}

// count reads one of the runtime's counts.
func count(of string) uint64 {
	sample := []metrics.Sample{{Name: of}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Now is the time of the world.
func (k *kernel) Now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// awake is how long a machine was up and awake since before the history began, by the clock that timers go by.
func (k *kernel) awake(m *machine) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	awake := k.now.Sub(epoch()) + bootedBefore - m.slept
	if m.from.Before(k.now) {
		awake -= min(k.now.Sub(m.from), m.until.Sub(m.from))
	}
	return awake
}

// wakes is until when a machine sleeps; in the past where it is awake.
func (k *kernel) wakes(m *machine) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return m.until
}

// sleep puts a machine to sleep, with all that runs there and the timers of that. It reports false where
// it sleeps already.
func (k *kernel) sleep(m *machine, processes []*process, d time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.Before(m.until) {
		return false
	}
	m.slept += m.until.Sub(m.from)
	m.from, m.until = k.now, k.now.Add(d)
	for _, p := range processes {
		if p.machine == m {
			p.stoppedUntil = m.until
		}
	}
	for _, e := range k.events {
		if e.owner != nil && e.owner.machine == m && e.at.After(k.now) {
			e.at = e.at.Add(d)
		}
	}
	return true
}

// jitter is the executor's randomness.
func (k *kernel) jitter() float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dice.Float64()
}

// after has something happen after a while. Where run is nil, somebody waits for done.
func (k *kernel) after(owner *process, d time.Duration, key string, run func()) *event {
	e := &event{owner: owner, key: key, run: run, done: make(chan struct{})}
	k.add(e, d)
	return e
}

// first has something happen before anything else.
func (k *kernel) first(key string, run func()) {
	k.add(&event{urgent: true, key: key, run: run, done: make(chan struct{})}, 0)
}

func (k *kernel) add(e *event, d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.number++
	e.at, e.number = k.now.Add(max(0, d)), k.number
	if e.owner != nil && e.owner.killed.Err() != nil {
		e.dead = true
		close(e.done)
		return
	}
	k.events = append(k.events, e)
}

// drop removes an event that nobody waits for any more.
func (k *kernel) drop(e *event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = slices.DeleteFunc(k.events, func(other *event) bool { return other == e })
}

// isDead reports whether an event that is done never ran.
func (k *kernel) isDead(e *event) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return e.dead
}

// settle lets everybody run until all wait. Nobody may wait for the garbage collector, of
// which the count does not tell: it rests while a history is played.
func (k *kernel) settle() {
	counts := []metrics.Sample{{Name: runnable}, {Name: outside}}
	for n := range settleRoundsMax {
		runtime.Gosched()
		metrics.Read(counts)
		switch isRunnable, isOutside := counts[0].Value.Uint64() > 0, counts[1].Value.Uint64() > k.away; {
		case !isRunnable && !isOutside:
			return
		case !isRunnable && n > 10: // the processor is somebody else's
			time.Sleep(10 * time.Microsecond)
		}
	}
	panic("a goroutine never waits")
}

// step lets the next thing happen, and reports what it was; nil where nothing is left.
func (k *kernel) step() *event {
	k.settle()
	e := k.take()
	if e == nil {
		return nil
	}
	k.steps++
	k.acting.Store(e.owner)
	if e.run != nil {
		e.run()
	}
	close(e.done)
	return e
}

// take removes the event that is next: an urgent one, or any of those whose time has come.
// Where none has, the time of the next one comes.
func (k *kernel) take() *event {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.events) == 0 {
		return nil
	}
	slices.SortFunc(k.events, func(a, b *event) int {
		return cmp.Or(k.due(a).Compare(k.due(b)), cmp.Compare(a.key, b.key), cmp.Compare(a.number, b.number))
	})
	if at := k.due(k.events[0]); at.After(k.now) {
		k.now = at
	}
	ready, choice := 0, -1
	for i, e := range k.events {
		if k.due(e).After(k.now) {
			break
		}
		ready++
		if e.urgent && choice < 0 {
			choice = i
		}
	}
	if choice < 0 {
		choice = k.random.IntN(ready)
	}
	e := k.events[choice]
	k.events = slices.Delete(k.events, choice, choice+1)
	return e
}

// due is when an event may happen: not while its process is stopped.
func (k *kernel) due(e *event) time.Time {
	if e.owner != nil && e.owner.stoppedUntil.After(e.at) {
		return e.owner.stoppedUntil
	}
	return e.at
}

// kill lets nothing that a process waits for happen any more.
func (k *kernel) kill(p *process) {
	p.kill()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = slices.DeleteFunc(k.events, func(e *event) bool {
		if e.owner != p {
			return false
		}
		e.dead = true
		close(e.done)
		return true
	})
}

// chance rolls the dice of the goroutine that calls step.
func (k *kernel) chance(p float64) bool { return p > 0 && k.random.Float64() < p }

// between is a random duration.
func (k *kernel) between(least, most time.Duration) time.Duration {
	return least + time.Duration(k.random.Int64N(int64(most-least)+1))
}

// do has f happen as an effect of the process, and returns when it has; errKilled where the
// process died before.
func (p *process) do(key string, f func()) error {
	return p.later(0, key, f)
}

func (p *process) later(d time.Duration, key string, f func()) error {
	k := p.world.kernel
	e := k.after(p, d, p.id+" "+key, func() {
		p.open = p.unread.close(p.open)
		if f != nil {
			f()
		}
	})
	<-e.done
	if k.isDead(e) {
		return errKilled
	}
	return nil
}

// Now implements executor.Clock.
func (p *process) Now() time.Time {
	return twoClocks(p.wall(), p.world.kernel.awake(p.machine))
}

// clockOff is by how much its machine's clock is further off than always.
func (p *process) clockOff() time.Duration { return time.Duration(p.off.Load()) }

// wall is what the clock of its machine says, which anyone may set.
func (p *process) wall() time.Time { return p.world.machines.clock(p.machine, p.clockOff()) }

// Boot implements executor.Clock.
func (p *process) Boot() executor.Boot {
	if p.world.traits.clocks.noBoot {
		return executor.Boot{}
	}
	return executor.Boot{
		ID: fmt.Sprintf("%s-boot-%d", p.machine.name, p.machine.boots), Machine: p.machine.name,
		Up: p.world.kernel.Now().Sub(p.machine.booted),
	}
}

// Sleep implements executor.Clock.
func (p *process) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	k := p.world.kernel
	e := k.after(p, d, p.id+" wake", nil)
	select {
	case <-e.done:
		if !k.isDead(e) {
			return nil
		}
		// A dead process does not wake up; crash ends ctx, unless nothing ends it.
		if ctx.Done() == nil {
			return errKilled
		}
		<-ctx.Done()
		return context.Cause(ctx)
	case <-ctx.Done():
		k.drop(e)
		return context.Cause(ctx)
	}
}
