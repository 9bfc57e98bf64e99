//go:build unix

package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"remit/config"
	"remit/executor"
	"remit/internal/service"
	"remit/planner"
	"remit/state"
)

// process is one command that somebody runs: an apply, or a person's words.
type process struct {
	world        *world
	machine      *machine
	off          atomic.Int64  // nanoseconds by which its machine's clock is further off than always
	turnedAt     time.Time     // when its clock was set latest; zero for never
	ahead        time.Duration // the furthest that its clock was ever ahead
	id           string        // of its run
	killed       context.Context
	kill         context.CancelFunc
	ctx          context.Context // ends at an interrupt
	interrupt    context.CancelFunc
	stoppedUntil time.Time
	conns        connections
	over         chan struct{} // closed when it has ended, or knows of its death

	path     string // of the state that it opened
	inode    int    // of its file
	original *model // of that state, where another process has a copy of it and it was left to this one; else nil
	store    Store
	journal  state.Journal
	open     []state.Snapshot // that are not closed yet
	unread   unread           // those of them that nobody reads any more
	client   *service.Client
	fencedAt time.Time // when its lock was taken away, or others of its run took it for lost
	crew     *crew     // with which it carries out its run; nil where nobody can take part
	cutUntil time.Time // until when it can't reach the state
	isCut    bool      // its session with the state ended
	broken   error     // what it is told of everything that it tries with the state
	ended    string    // in words
	// isUnnamed says that the file that names it as the holder is gone: until it begins a run, who reads the
	// state beside it takes the latest run, which is dead, for the holder.
	isUnnamed bool
	isBehind  bool // it did not begin, because its clock lies behind the newest event or jumped

	plan         *planner.Plan
	file         *savedPlan // that it is in; nil for one of its own
	plannedAt    time.Time  // by its own clock, when it had the plan
	isApproved   bool
	saved        bool
	sends        bool
	looksFirst   bool   // every ref_id is looked up before its first request
	controls     string // when it began
	planControls string // when its plan was made
	declared     map[string]config.Transfer
	intended     map[string]intended
	heard        heard
	failedAt     time.Time // when its journal failed; zero where it did not
}

// nothingToDo is how an apply ends that finds everything done.
const nothingToDo = "nothing to do"

// intended is a durable intent of a process.
type intended struct {
	intent state.Intent
	again  bool   // it was in doubt before
	before string // run of the intent before it
	first  time.Time
	local  time.Time // when it was written, by the clock of who wrote it
}

func (w *world) newProcess(name string) *process {
	w.runs++
	p := &process{
		world: w, id: fmt.Sprintf("%s-%d", name, w.runs), over: make(chan struct{}),
		intended: make(map[string]intended), heard: newHeard(), controls: w.author.controls,
	}
	machine, off := w.machines.boot()
	p.machine = machine
	p.stoppedUntil = w.kernel.wakes(machine) // somebody types the command, and it begins when the machine wakes
	p.off.Store(int64(off))
	p.ahead = p.wall().Sub(w.kernel.Now())
	p.killed, p.kill = context.WithCancel(context.Background())
	p.ctx, p.interrupt = context.WithCancel(context.Background())
	w.processes = append(w.processes, p)
	return p
}

func (p *process) isOver() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

func (p *process) line(refID string) *planner.Change {
	if p.plan == nil {
		return nil
	}
	for _, c := range p.plan.Changes.All() {
		if c.RefID == refID {
			return c
		}
	}
	return nil
}

func (p *process) holder(command string) state.Holder {
	return state.Holder{RunID: p.id, Command: command, User: "ada", Host: p.machine.name, Since: p.Now(), Version: "0"}
}

// take opens the state and locks it, and now and then, and after a crash, compares the rows that are
// stored with those that must be. It runs as an event.
func (p *process) take() error {
	ctx := context.Background()
	p.path, p.inode = p.world.storage.path, p.world.storage.inode
	var err error
	if p.store, err = p.world.storage.openStore(p.world.storage.way()); err != nil {
		return err
	}
	if p.journal, err = p.store.Lock(ctx, p.holder("apply"), 0); err != nil {
		return err
	}
	p.world.oracle.locked(p)
	if !p.world.storage.suspect && !p.world.kernel.chance(0.2) {
		return nil
	}
	p.world.storage.suspect = false
	snapshot, err := p.journal.Snapshot(ctx)
	if err != nil {
		return err
	}
	if err := p.world.oracle.model.compare(ctx, snapshot); err != nil {
		p.world.oracle.violate("I6", "what was durable is not there: %v", err)
	}
	return snapshot.Close()
}

// giveUp unlocks and closes the state. It runs as an event, or after the process's death on
// a copy of the state that nobody uses any more.
func (p *process) giveUp() {
	for _, snapshot := range p.open {
		_ = snapshot.Close() // it was only read
	}
	p.open = nil
	if p.crew != nil {
		p.crew.hangUp(p)
		p.journal, p.store = nil, nil
	}
	if p.journal != nil {
		if err := p.journal.Unlock(); err != nil && !errors.Is(err, state.ErrFenced) && p.killed.Err() == nil {
			p.world.oracle.violate("I6", "unlock: %v", err)
		}
		p.journal = nil
	}
	if p.store != nil && !p.world.storage.isShared(p.store) {
		_ = p.store.Close() // every append was durable when it returned
	}
	p.store = nil
}

// start runs body beside all that happens.
func (p *process) start(body func()) {
	go func() {
		defer close(p.over)
		body()
		if p.client != nil {
			p.client.Close()
		}
		_ = p.do("ends", p.giveUp)
	}()
}

// connect makes the real client of the service.
func (p *process) connect() error {
	options := service.Options{
		BaseURL: "http://127.0.0.1:1", TokenURL: "http://127.0.0.1:1" + tokenPath, ClientID: "client", ClientSecret: "secret",
		Timeout: time.Hour, InFlightMax: 8, UserAgent: "simulation", Dial: p.dial, Log: zerolog.Nop(), Now: p.Now,
		Up: func() time.Duration { return p.Boot().Up },
	}
	if p.world.traits.hasLookup {
		options.LookupPath = lookupPath
	}
	var err error
	p.client, err = service.New(options)
	return err
}

// apply is remit apply: of a saved plan, or of one of its own.
func (p *process) apply(file *savedPlan) {
	w := p.world
	var err error
	if p.do("opens", func() {
		if err = p.take(); err == nil && w.traits.shares.joins > 0 {
			w.found(p)
		}
	}) != nil || err != nil {
		p.ended = fmt.Sprint(err)
		return
	}
	if p.do("plans", func() { err = p.makePlan(file) }) != nil || err != nil {
		p.ended = fmt.Sprint(err)
		return
	}
	carryOut := executor.Apply
	switch {
	case !p.plan.Applicable() && w.traits.hasLookup:
		carryOut = executor.SettleByLookup
	case !p.plan.Applicable():
		p.ended = fmt.Sprintf("not applicable: %.300s", p.plan.Obstacles[0].Detail)
		return
	case !p.plan.Empty() && !p.isApproved:
		p.ended = "not approved"
		return
	case p.plan.Empty() && p.clockOff() != 0:
		p.ended = "nothing to do, by a clock that is off"
		return
	case p.plan.Empty():
		p.ended = nothingToDo
		return
	default:
		p.sends = true
	}
	if err := p.connect(); err != nil {
		panic(err) // the options are constant
	}
	p.carryOut(carryOut, p.run())
}

// carryOut runs what the executor is given, and checks how it ended.
func (p *process) carryOut(how func(context.Context, executor.Run) (executor.Summary, error), run executor.Run) {
	w := p.world
	if w.client.Run != nil {
		run = w.client.Run(run, p)
	}
	summary, err := how(p.ctx, run)
	p.prints(&summary)
	p.ended = fmt.Sprintf("requests %d, stopped %q, error %v", summary.Requests, summary.Stopped, err)
	_, p.isBehind = errors.AsType[*executor.BehindError](err)
	if _, isJumped := errors.AsType[*executor.JumpedError](err); isJumped {
		p.isBehind = true
		w.count("clock that jumped")
	}
	if err == nil && summary.Stopped == "" && !p.wasInterrupted() && !summary.Left {
		p.checkSent()
	}
	if p.ctx.Err() == nil && p.failedAt.IsZero() {
		p.checkAsked()
	}
	hasBegun := p.crew == nil || p == p.crew.first || err == nil // or it took no part
	if !summary.Left && hasBegun && !p.hasPartners() {           // else others may have requests under way
		p.checkEnd()
	}
}

// checkSent expects an apply that carried out its plan to have sent doubts again, where
// all the evidence says that the service still knows it: who holds every doubt pays nobody.
func (p *process) checkSent() {
	w := p.world
	if p.saved || !w.traits.canProve() || p.clockOff() != 0 || p.original != nil {
		return
	}
	_ = p.do("has sent what it could", func() {
		now := w.kernel.Now()
		for _, c := range p.plan.Changes.All() {
			row := w.oracle.model.rows[c.RefID]
			isSent := p.hasIntended(c.RefID)
			isFree := c.Declared() && len(c.Differences) == 0 && len(c.After) == 0 && c.Expires.IsZero() && len(c.Windows) == 0 && !c.Until.After(now)
			age := now.Sub(row.IntendedAt)
			if c.Action == planner.Resolve && row.Status == state.InDoubt && !isSent && isFree && !w.oracle.misdated[c.RefID] && p.fencedAt.IsZero() && age < w.traits.replayWindow-slackMax {
				w.oracle.violate("I9", "%s is not sent again, although it is %v old and every clock says so", c.RefID, age)
			}
		}
	})
}

// hasPartners reports whether other runners of its run hold the lock with it.
func (p *process) hasPartners() bool { return p.crew != nil && p.crew.carriesOn(p) }

// wasInterrupted reports whether somebody interrupted a process, or another runner of its run.
func (p *process) wasInterrupted() bool {
	if p.crew != nil && slices.ContainsFunc(p.crew.members, func(m *member) bool { return m.process.ctx.Err() != nil }) {
		return true
	}
	return p.ctx.Err() != nil
}

// hasIntended reports whether a process, or another runner of its run, has written an intent of a ref_id.
func (p *process) hasIntended(refID string) bool {
	if p.crew != nil {
		for _, m := range p.crew.members {
			if _, ok := m.process.intended[refID]; ok {
				return true
			}
		}
	}
	_, ok := p.intended[refID]
	return ok
}

// checkAsked expects of an apply to have looked up what the service said that it knows.
func (p *process) checkAsked() {
	if !p.world.traits.hasLookup {
		return
	}
	_ = p.do("has looked up what it was told of", func() {
		for _, refID := range p.heard.unasked() {
			if p.fencedAt.IsZero() {
				p.world.oracle.violate("I9", "%s was told that %s is known, and did not look it up", p.id, refID)
			}
		}
	})
}

// checkEnd holds the exit code of an apply, as far as it tells of people, against what a plan says
// that is made right after it.
func (p *process) checkEnd() {
	w := p.world
	if p.saved || !p.failedAt.IsZero() {
		return // it may have been made of other declarations
	}
	_ = p.do("says how it ended", func() {
		if p.isUnnamed { // by now: others are read as in flight
			return
		}
		if !p.fencedAt.IsZero() || w.oracle.violated != nil || p.crew != nil && (p.isEdited() || p.crew.isFree) {
			return // the last of a crew has closed the state that they share here
		}
		ctx := context.Background()
		snapshot, err := p.journal.Snapshot(ctx)
		if err != nil {
			w.oracle.violate("I8", "the state can't be read after %s: %v", p.id, err)
			return
		}
		defer func() { _ = snapshot.Close() }() // it was only read
		if p.crew != nil {
			snapshot = released{snapshot}
		}
		left, err := executor.ReadLeftover(ctx, snapshot, p.plan)
		if err != nil {
			w.oracle.violate("I8", "%s can't say how it ended: %v", p.id, err)
			return
		}
		status, err := planner.New(ctx, w.author.transfers(), snapshot, w.planControls(snapshot, p), p.Now())
		if err != nil {
			w.oracle.violate("I8", "there is no status after %s: %v", p.id, err)
			return
		}
		if left.AsksForPerson() != status.AsksForPerson() {
			w.oracle.violate("I8", "%s ends as if a person had to look: %v; right after it, status says %v", p.id, left.AsksForPerson(), status.AsksForPerson())
		}
	})
}

// run is what the executor is given.
func (p *process) run() executor.Run {
	w, h := p.world, p.plan.Header
	p.looksFirst = w.looksFirst()
	run := executor.Run{
		Plan: p.plan, Saved: p.saved,
		Begun: state.Begun{
			RunID: p.id, By: p.holder("apply"), PlanID: h.PlanID, Digest: p.plan.Digest,
			Author: h.Author, Controls: h.Controls, Accepted: h.Accepted, PlanSHA256: p.plan.SHA256,
		},
		Journal: gated{p}, Share: p.share(), Submitter: submitter{p}, Handler: p, Clock: p, Random: w.kernel.jitter,
		Settings: executor.Settings{
			FingerprintKey: w.traits.fingerprintKey, ReplayWindow: w.traits.replayWindow, HoldDoubt: w.traits.holdDoubt,
			LookUpFirst: p.looksFirst, InFlightMax: w.traits.inFlight, RequestTimeout: requestTimeout,
			RateLimits: w.traits.rateLimits, Wait: time.Minute,
		},
	}
	if w.traits.hasLookup {
		run.Finder = finder{p}
	}
	return run
}

// looksFirst reports whether every ref_id is looked up before its first request.
func (w *world) looksFirst() bool {
	return w.traits.hasLookup && (!w.traits.rules.trusts || w.storage.lineages > 0)
}

// makePlan plans, or reads a saved plan and checks it. It runs as an event.
func (p *process) makePlan(file *savedPlan) error {
	ctx, w := context.Background(), p.world
	snapshot, err := p.journal.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	p.file, p.plannedAt = file, p.wall()
	if file == nil {
		if p.plan, err = w.plan(snapshot, p); err == nil {
			p.isApproved = p.approves(p.plan)
		}
		p.declared, p.planControls = w.author.declaredNow(), p.controls
		return err
	}
	p.saved, p.declared, p.planControls = true, file.declared, file.controls
	whole, err := planner.Open(bytes.NewReader(file.text))
	if err != nil {
		w.oracle.violate("I9", "a plan that was just saved can't be read: %v", err)
		return err
	}
	if w.client.Header != nil {
		whole.Header = w.client.Header(whole.Header)
	}
	p.isApproved = p.approves(whole)
	controls := w.author.controlsOf(p.controls)
	if w.client.Controls != nil {
		controls = w.client.Controls(whole)
	}
	if w.client.Unchecked {
		p.plan = whole
		return whole.CheckHeader(snapshot.Meta(), controls, p.Now())
	}
	left, err := whole.Recheck(ctx, state.Past{Snapshot: snapshot}, planner.Controls{Declared: controls, Scales: scales()}, p.Now())
	if err != nil {
		return fmt.Errorf("the saved plan is refused: %w", err)
	}
	p.plan = left
	return nil
}

// Handle implements executor.Handler.
func (p *process) Handle(e executor.Event) {
	if e.Type != executor.EventSettled {
		if e.Type == executor.EventStopping || e.Type == executor.EventWaiting {
			p.world.kernel.first("told", func() {
				if p.killed.Err() == nil { // else nobody heard it
					p.world.log("%s %s: %.150s", p.id, e.Type, e.Reason)
				}
			})
		}
		return
	}
	p.world.kernel.first("settled "+e.RefID, func() {
		if p.killed.Err() != nil {
			return // nobody heard it
		}
		p.world.log("%s settles %s: %s %.150s", p.id, e.RefID, e.Result, e.Reason)
		if e.Detail != nil {
			p.world.oracle.settledEvent(p, e.RefID, e.Detail.Status)
		}
	})
}

// mortal is ctx that ends with the process, since what the client does between two events
// is its own.
func (p *process) mortal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(p.killed, cancel)
	return ctx, func() { detach(); cancel() }
}
